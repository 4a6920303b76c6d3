"""Members and the samples that they are for, as a source."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage, UnusableInput
from packer.samples.records import Facts, Place, Reader, Sample, Skipped
from packer.sources.scanners.keyed.samples import KnownSamples

_SHOWN = 3


class Members(NamedTuple):
    """The members of one sample."""

    name: str  # key or image name of the sample
    where: Sequence[str]  # the row or the files, for a person
    places: Mapping[str, Place]  # by extension
    size: int  # bytes of all
    mtime_ns: int  # when the newest file was written


@dataclass
class KeyedSource:
    """All samples of a dataset: those with members as they come, then the others."""

    known: KnownSamples
    members: Iterable[Members | Skipped]
    files: Reader
    most: int  # bytes of a sample
    what: str  # the members come from, such as "a table"
    numbers: "array[int]" = field(default_factory=lambda: array("q"))  # of the samples as they came

    classes = ()

    @property
    def facts(self) -> Facts:
        """It has no images, and belongs to the samples of another dataset in their order."""
        return Facts(has_images=False, identity=self.known.identity)

    @property
    def order(self) -> NDArray[np.int64]:
        """The places of the scanned samples, in the dataset's order."""
        return np.argsort(np.frombuffer(self.numbers, np.int64))

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield each sample of the dataset once, and what belongs to none."""
        known, taken = self.known, np.zeros(len(self.known), np.bool_)
        lacking: list[str] = []
        for found in self.members:
            if isinstance(found, Skipped):
                yield found
                continue
            try:
                number = known.find(found.name)
                if found.size > self.most:
                    raise BadImage(
                        f"its members have {found.size} bytes; {self.most} are the most "
                        "(--max-bytes)"
                    )
                if taken[number]:
                    raise BadImage("an earlier one is for the same sample")
            except BadImage as error:
                lacking += [found.name] * (len(lacking) < _SHOWN)
                reason = f"{found.name!r}: {error}"
                yield from (Skipped(where, reason, damaged=True) for where in found.where)
                continue
            taken[number] = True
            self.numbers.append(number)
            yield known.sample(number, found.places, found.size, found.mtime_ns)
        if not taken.any():
            keys = ", ".join(repr(known.key(n)) for n in range(min(_SHOWN, len(known))))
            raise UnusableInput(
                f"{self.what} names no sample of {known.name}: it has "
                f"{', '.join(map(repr, lacking)) or 'no members'}, and keys there are {keys}."
            )
        for number in np.flatnonzero(~taken).tolist():
            self.numbers.append(number)
            yield known.sample(number, {}, 0, 0)
