"""Arrays of numbers: those that people give for samples, and groups of equal ones (pure)."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.errors import ArgumentError

Columns = Mapping[str, NDArray[Any]]
Subset = Sequence[int] | NDArray[Any] | Callable[[Columns], NDArray[Any]]


class _Columns(dict[str, NDArray[Any]]):
    """What a subset's predicate is given."""

    def __missing__(self, name: str) -> NDArray[Any]:
        known = ", ".join(self)
        raise ArgumentError(
            f"A subset's predicate asks for the column {name!r}; there are {known}."
        )


def chosen_by(subset: Subset, total: int, columns: Callable[[], Columns]) -> NDArray[np.int64]:
    """The numbers that `subset` chooses of `total` samples."""
    if callable(subset):
        mask = np.asarray(subset(_Columns(columns())))
        if mask.shape != (total,) or mask.dtype != np.bool_:
            raise ArgumentError("A subset's predicate must give one bool for each sample.")
        return np.flatnonzero(mask)
    given = array_of(subset)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iubO"):
        raise ArgumentError(
            "A subset is a list of sample numbers, one bool for each sample, or a function of the "
            f"columns that gives these, not {subset!r:.200}."
        )
    if given.dtype == np.bool_:
        if len(given) != total:
            raise ArgumentError(
                f"A subset of bools has one for each sample: {total}, not {len(given)}."
            )
        return np.flatnonzero(given)
    if not hasattr(subset, "dtype"):  # of a list such as [True, 2] NumPy makes integers
        return np.array([sample_number(one, total, "subset") for one in subset], np.int64)
    for number in given[(given < 0) | (given >= total)][:1]:
        sample_number(number, total, "subset")
    return given.astype(np.int64)


def sample_number(given: Any, total: int, what: str = "sampler") -> int:
    """Return a sample's number of an integer, also NumPy's, or torch's from its samplers."""
    if type(given) is not int:
        array = array_of(given)
        if array.ndim or array.dtype.kind not in "iu":
            advice = ""
            if isinstance(given, (list, tuple)):
                advice = ": lists of them are given as batch_sampler="
            raise ArgumentError(f"A {what} gives sample numbers, not {given!r:.200}{advice}.")
        given = int(array)
    if not 0 <= given < total:
        raise ArgumentError(
            f"The {what} gives sample {given}; those of the dataset are 0 to {total - 1}."
        )
    return given


def array_of(given: Any, dtype: Any = None) -> NDArray[Any]:
    """`given` as an array; one of nothing's shape and type where it cannot become one."""
    try:
        return np.asarray(given, dtype)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths; a GPU's tensor
        return np.empty((), object)


def grouped(values: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
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
    """How many numbers these are, and their fingerprint: the same for the same numbers alone."""
    digest = hashlib.blake2b(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes())
    return f"{len(numbers)} numbers, fingerprint {digest.hexdigest()[:12]}"
