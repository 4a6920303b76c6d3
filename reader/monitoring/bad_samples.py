"""Limit unreadable samples, and warn of dropped boxes."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Any

from reader.errors import SampleError, warn


class BadSamples:
    def __init__(self, count: int, on_error: str, max_bad: float) -> None:
        self.reasons: dict[int, str] = {}
        self.filtered: set[int] = set()  # samples that `map_sample` dropped
        self._count = count
        self._max_bad = max_bad
        # Computed with the decimal fraction as written: 0.07 of 100 is 7.
        self._most = ceil(Fraction(str(float(max_bad))) * count)
        self._unreadable = 0  # rows of all ranks before the first readable one
        self._has_none = on_error == "substitute"  # until a readable one is delivered

    def add(self, found: Iterable[tuple[int, str]]) -> None:
        """Count samples by number, with the reason; "" if `map_sample` dropped one."""
        for number, reason in found:
            if reason:
                self.reasons[number] = reason
            else:
                self.filtered.add(number)
        if len(self.reasons) > self._most:
            raise SampleError(
                f"{len(self.reasons)} samples cannot be read; max_bad={self._max_bad} allows "
                f"{self._most} of {self._count}. Restore the dataset, or give a larger max_bad=. "
                f"The first error: {self._first}"
            )

    def delivered(self, valid: Any, own: int, world_size: int) -> None:
        if not self._has_none:
            return
        self._has_none = not valid.any()
        self._unreadable += own * world_size
        if self._has_none and self._unreadable >= self._count:
            raise SampleError(
                f"None of {self._count} samples can be read, so nothing can be substituted. "
                f"Restore the dataset. The first error: {self._first}"
                if self.reasons
                else f"map_sample returned None for all of {self._count} samples."
            )

    @property
    def _first(self) -> str:
        return next(iter(self.reasons.values()))


def warn_of_boxes(count: int) -> None:
    boxes, were = ("1 box", "was") if count == 1 else (f"{count} boxes", "were")
    warn(
        f"{boxes} {were} dropped so far: a side was below min_size= before any crop, or the box "
        "was outside the image. If that is wrong, check format= and normalized= of reader.Boxes "
        "or reader.Polygons, or give a smaller min_size=. loader.statistics().dropped_boxes has "
        "the count."
    )
