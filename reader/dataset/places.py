"""Where the samples of a dataset lie, numbers to shards and rows, and what they are called."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from reader.dataset.numbers import described, grouped
from reader.dataset.shard import Shard

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Samples of one shard after the other, or some of these in an order of their own.

    Attributes:
        ends: how many samples lie before each shard, and in all.
        chosen: of each sample its place among those of all shards; None: as it is.
    """

    ends: Numbers
    chosen: Numbers | None = None

    @classmethod
    def of(cls, counts: Sequence[int]) -> "Places":
        """All samples of shards of so many."""
        return cls(np.cumsum([0, *counts]))

    def __len__(self) -> int:
        return self.total if self.chosen is None else len(self.chosen)

    @property
    def total(self) -> int:
        """The samples of all shards."""
        return int(self.ends[-1])

    @property
    def counts(self) -> tuple[int, ...]:
        """The samples of each shard."""
        return tuple(np.diff(self.ends).tolist())

    @property
    def description(self) -> str | None:
        """What tells the chosen samples from others; None where they are all, as they are."""
        return None if self.chosen is None else described(self.chosen)

    def choose(self, numbers: Numbers) -> "Places":
        """Those of these samples alone."""
        return replace(self, chosen=numbers if self.chosen is None else self.chosen[numbers])

    def find(self, number: int) -> tuple[int, int]:
        """In which shard a sample lies, and its row there."""
        place = number if self.chosen is None else int(self.chosen[number])
        position = int(np.searchsorted(self.ends, place, side="right")) - 1
        return position, place - int(self.ends[position])

    def find_all(self, numbers: Numbers) -> Iterator[tuple[int, Numbers | slice, Numbers]]:
        """Each shard that some samples lie in, which of `numbers` these are, and their rows.

        Where it is one shard, a slice says that all of them do.
        """
        places = numbers if self.chosen is None else self.chosen[numbers]
        if len(self.ends) == 2:
            yield 0, slice(None), places
            return
        positions = np.searchsorted(self.ends, places, side="right") - 1
        for position, which in grouped(positions):
            yield position, which, places[which] - int(self.ends[position])

    def rows(self) -> Iterator[tuple[int, Numbers | slice]]:
        """Each shard that samples lie in, and in which rows, in ascending order."""
        if self.chosen is None:
            yield from ((position, slice(None)) for position in range(len(self.ends) - 1))
            return
        ordered = np.sort(self.chosen)
        parts = np.split(ordered, np.searchsorted(ordered, self.ends[1:-1]))
        for position, part in enumerate(parts):
            if len(part):
                yield position, part - self.ends[position]

    def by_shard(self) -> tuple[Numbers | None, list[int]]:
        """The sample numbers one shard after the other, and how many lie in each; None: as is."""
        if self.chosen is None:
            return None, list(self.counts)
        positions = np.searchsorted(self.ends, self.chosen, side="right") - 1
        counts = np.bincount(positions, minlength=len(self.ends) - 1)
        return np.argsort(self.chosen, kind="stable"), counts.tolist()


_SHOWN = 3  # where they are printed


class Texts(Sequence[str]):
    """The text of each sample in a column of its shard's index, read as it is asked for."""

    def __init__(
        self, column: Literal["key", "name"], count: int, locate: Callable[[int], tuple[Shard, int]]
    ) -> None:
        """Take what `Dataset.locate` is, over `count` samples."""
        self._column = column
        self._count = count
        self._locate = locate

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:_SHOWN])) + ", ..." * (len(self) > _SHOWN)
        return f"<{self._column}s ({len(self):,}): {shown}>"

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        shard, row = self._locate(number)
        return shard.index.key(row) if self._column == "key" else shard.index.name(row)
