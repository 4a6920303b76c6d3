"""Map sample numbers to shards and rows, also of subsets, and to keys and names."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from reader.checks import brief
from reader.dataset.shard import Shard
from reader.errors import ArgumentError

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SampleLocator:
    """The places of samples: all of them, shard after shard, or a subset in any order."""

    ends: Numbers  # number of samples before each shard, and in total
    chosen: NDArray[Any] | None = None  # places among all samples, of uint32 if these do; None: all

    @classmethod
    def of(cls, counts: Sequence[int]) -> "SampleLocator":
        return cls(np.cumsum([0, *counts]))

    def __len__(self) -> int:
        return self.total if self.chosen is None else len(self.chosen)

    @property
    def total(self) -> int:
        return int(self.ends[-1])

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(np.diff(self.ends).tolist())

    @cached_property
    def description(self) -> str | None:
        """What a state records of a subset; a CUDAPrefetcher asks for each batch."""
        return None if self.chosen is None else described(self.chosen)

    def choose(self, numbers: Numbers) -> "SampleLocator":
        chosen = numbers if self.chosen is None else self.chosen[numbers]
        kind = np.uint32 if self.total < 1 << 32 else np.int64
        return replace(self, chosen=chosen.astype(kind, copy=False))

    def find(self, number: int) -> tuple[int, int]:
        place = number if self.chosen is None else int(self.chosen[number])
        position = int(self.ends.searchsorted(place, "right")) - 1
        return position, place - int(self.ends[position])

    def find_all(self, numbers: Numbers) -> Iterator[tuple[int, Numbers | slice, Numbers]]:
        """Yield each shard, which of `numbers` are in it (a slice for all), and their rows."""
        places = numbers if self.chosen is None else self.chosen[numbers].astype(np.int64)
        if len(self.ends) == 2:
            yield 0, slice(None), places
            return
        positions = np.searchsorted(self.ends, places, side="right") - 1
        for position, which in grouped(positions):
            yield position, which, places[which] - int(self.ends[position])

    def rows(self) -> Iterator[tuple[int, Numbers | slice]]:
        """Yield each shard with samples, and their rows in ascending order."""
        if self.chosen is None:
            yield from ((position, slice(None)) for position in range(len(self.ends) - 1))
            return
        ordered = self.chosen if self._is_ordered else np.sort(self.chosen)
        parts = np.split(ordered, np.searchsorted(ordered, self._own_ends[1:-1]))
        for position, part in enumerate(parts):
            if len(part):
                yield position, part - self.ends[position]

    def by_shard(self) -> tuple[Numbers | None, list[int]]:
        """Return the sample numbers by shard (None: in order), and the number in each shard."""
        if self.chosen is None:
            return None, list(self.counts)
        numbers = None if self._is_ordered else np.argsort(self.chosen, kind="stable")
        ends = np.searchsorted(self.chosen, self._own_ends, sorter=numbers)
        return numbers, np.diff(ends).tolist()

    @cached_property
    def _is_ordered(self) -> bool:
        """Whether the numbers of the chosen samples ascend with their places."""
        return self.chosen is None or bool((self.chosen[1:] >= self.chosen[:-1]).all())

    @property
    def _own_ends(self) -> NDArray[Any]:
        """The `ends` in the type of `chosen`, which would be copied into theirs otherwise."""
        return self.ends if self.chosen is None else self.ends.astype(self.chosen.dtype)


_SHOWN = 3  # where they are printed
_AT_ONCE = 1 << 20  # numbers that are copied together


class Texts(Sequence[str]):
    """The key or name of each sample, read from its shard's index on access."""

    def __init__(
        self, column: Literal["key", "name"], count: int, locate: Callable[[int], tuple[Shard, int]]
    ) -> None:
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


Columns = Mapping[str, NDArray[Any]]
Subset = Sequence[int] | NDArray[Any] | Callable[[Columns], NDArray[Any]]


class _Columns(dict[str, NDArray[Any]]):
    """Columns that are read as they are asked for."""

    def __init__(self, read: Callable[..., Columns]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, name: str) -> NDArray[Any]:
        self.update(self._read(name))
        return self[name]


def chosen_by(subset: Subset, total: int, columns: Callable[..., Columns]) -> Numbers:
    if callable(subset):
        mask = np.asarray(subset(_Columns(columns)))
        if mask.shape != (total,) or mask.dtype != np.bool_:
            raise ArgumentError("A subset's function must return one bool for each sample.")
        return np.flatnonzero(mask)
    given = array_of(subset)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iubO"):
        raise ArgumentError(
            "A subset is a list of sample numbers, one bool for each sample, or a function of the "
            f"columns that returns these bools, not {brief(subset)}."
        )
    if given.dtype == np.bool_:
        if len(given) != total:
            raise ArgumentError(
                f"A subset of bools has one for each sample: {total}, not {len(given)}."
            )
        return np.flatnonzero(given)
    if not hasattr(subset, "dtype"):  # NumPy turns a list such as [True, 2] into integers
        return np.array([sample_number(one, total, "subset") for one in subset], np.int64)
    for number in given[(given < 0) | (given >= total)][:1]:
        sample_number(number, total, "subset")
    return given.astype(np.int64)


def sample_number(given: Any, total: int, what: str = "sampler") -> int:
    """Return a sample number as an int, also from NumPy's or torch's integers."""
    if type(given) is not int:
        array = array_of(given)
        if array.ndim or array.dtype.kind not in "iu":
            advice = ""
            if isinstance(given, (list, tuple)):
                advice = ". To give lists of them, use batch_sampler="
            raise ArgumentError(f"A {what} yields sample numbers, not {brief(given)}{advice}.")
        given = int(array)
    if not 0 <= given < total:
        raise ArgumentError(f"The {what} yields sample {given}; the dataset has 0 to {total - 1}.")
    return given


def array_of(given: Any, dtype: Any = None) -> NDArray[Any]:
    """Return `given` as an array; an empty scalar of type object if that is not possible."""
    try:
        return np.asarray(given, dtype)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths; a GPU's tensor
        return np.empty((), object)


def grouped(values: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield each distinct value, in ascending order, with the ascending places that have it."""
    if not values.size:
        return
    least = values.min()
    few = int(values.max() - least) < 1 << 16
    # NumPy sorts 16 bits by radix.
    keys = (values - least).astype(np.uint16) if few else values
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order])) + 1
    for places in np.split(order, begins):
        yield int(values[places[0]]), places


def described(numbers: NDArray[Any]) -> str:
    kind, digest = "<f8" if numbers.dtype.kind == "f" else "<i8", hashlib.blake2b()
    for part in np.array_split(numbers, len(numbers) // _AT_ONCE + 1):
        digest.update(part.astype(kind, order="C", copy=False).data)
    return f"{len(numbers)} numbers, fingerprint {digest.hexdigest()[:12]}"
