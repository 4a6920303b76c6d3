"""What could not be delivered: bad samples, how many a loader puts up with, and dropped boxes."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Any

from reader.errors import SampleError, warn


class BadSamples:
    def __init__(self, count: int, on_error: str, max_bad: float) -> None:
        self.reasons: dict[int, str] = {}
        self._count = count
        self._max_bad = max_bad
        # Of the decimal fraction that was written: 0.07 of 100 is 7.
        self._most = ceil(Fraction(str(float(max_bad))) * count)
        self._in_vain = 0  # rows of all ranks, as far as none has come that could be read
        self._is_in_doubt = on_error == "substitute"  # whether there is one that could

    def add(self, found: Iterable[tuple[int, str]]) -> None:
        self.reasons.update(found)
        if len(self.reasons) > self._most:
            raise SampleError(
                f"{len(self.reasons)} samples cannot be read, more than max_bad={self._max_bad} of "
                f"{self._count} samples allows ({self._most}). Restore the dataset, or give a "
                f"larger max_bad. The first: {self._first}"
            )

    def delivered(self, valid: Any, own: int, world_size: int) -> None:
        """Take note of a batch: which rows are valid, and how many of them do not pad."""
        if not self._is_in_doubt:
            return
        self._is_in_doubt = not valid.any()
        self._in_vain += own * world_size
        if self._is_in_doubt and self._in_vain >= self._count:
            raise SampleError(
                f"None of {self._count} samples can be read, so nothing can be substituted. "
                f"Restore the dataset. The first: {self._first}"
            )

    @property
    def _first(self) -> str:
        return next(iter(self.reasons.values()))


def warn_of_boxes(count: int) -> None:
    """Warn of so many dropped boxes."""
    boxes, were = ("1 box", "was") if count == 1 else (f"{count} boxes", "were")
    warn(
        f"{boxes} so far had a side below min_size before any crop, or lay outside of the image, "
        f"and {were} dropped. If that is wrong: a smaller min_size, larger images, or another "
        "format= or normalized= of Boxes or Polygons. loader.statistics() counts on as "
        "dropped_boxes."
    )
