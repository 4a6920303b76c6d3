"""The one rule for objects that reach outside of their image, or are none of it (pure).

What overlaps its image is kept as written, and counted: a reader clips it. What does not touch it,
has no area, or repeats an object is left out, and named.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from packer.samples.records import Place

Size = tuple[float, float]
"""The width and height of an image, in the unit of its boxes."""

FRACTIONS: Size = (1, 1)
BEYOND = 1  # of an image's side: numbers further outside are no fractions, also for a reader
_ROUNDED = 1e-3  # of an image's side, or a pixel: so much further is not outside


class Made(bytes):
    """The member of an image's objects, without those that are left out.

    Attributes:
        left_out: the place and the reason of each one.
        reaching: number of the others that reach outside of the image.
    """

    left_out: Sequence[tuple[str, str]] = ()
    reaching: int = 0


@dataclass
class Kept:
    """The objects of one image that are kept; `size` is None where it is not known."""

    size: Size | None
    numbers: list[int] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    reaching: int = 0
    _same: dict[Hashable, list[tuple[int, str]]] = field(default_factory=dict)

    def add(
        self,
        number: int,
        name: str,
        corners: tuple[float, float, float, float],
        key: Hashable,
        equal: Callable[[int, int], bool] = lambda one, other: True,
    ) -> None:
        """Add an object; it repeats one of the same `key` to which it is `equal`, by number."""
        left, top, right, bottom = corners
        width, height = self.size or (math.inf, math.inf)
        if left >= right or top >= bottom:
            self.left_out.append((name, "it has no area"))
        elif right <= 0 or bottom <= 0 or left >= width or top >= height:
            self.left_out.append((name, f"it does not touch its image{self._of}"))
        else:
            same = self._same.setdefault(key, [])
            for other, first in same:
                if equal(number, other):
                    self.left_out.append((name, f"it repeats {first}"))
                    return
            same.append((number, name))
            self.numbers.append(number)
            across, down = (_ROUNDED * width, _ROUNDED * height) if self.size else (1, 1)
            self.reaching += (
                min(left + across, top + down) < 0
                or right > width + across
                or bottom > height + down
            )

    @property
    def _of(self) -> str:
        if self.size in (None, FRACTIONS):
            return ""
        return ", which has {:g} x {:g} pixels by its annotation".format(*self.size or ())

    def made(self, data: bytes) -> Made:
        """Return the member that has them."""
        found = Made(data)
        found.left_out, found.reaching = self.left_out, self.reaching
        return found


def made_in(places: Sequence[Place]) -> Iterator[tuple[Made, str]]:
    """Yield what a scan has made of objects for a sample, and the file that it is made of."""
    for place in places:
        if isinstance(place, list) and place and isinstance(place[0], Made):
            yield place[0], place[1] if len(place) > 1 else ""
