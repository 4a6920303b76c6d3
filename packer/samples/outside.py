"""The one rule for objects that reach outside of their image, or are none of it (pure).

What overlaps its image is kept as written, and counted: a reader clips it. What does not touch it,
has no area, or repeats an object is left out, and named.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from packer.images.annotated import Size
from packer.samples.records import Place

FRACTIONS: Size = (1, 1)
BEYOND = 1  # of an image's side: numbers further outside are no fractions, also for a reader
_ROUNDED = 1e-3  # of an image's side, or a pixel: so much further is not outside


class Made(bytes):
    """The member of an image's objects, without those that are left out.

    Attributes:
        left_out: the place and the reason of each one.
        reaching: number of the others that reach outside of the image.
        picture: width and height in pixels that the annotation gives of the picture that they are
            of, if it has any coordinates.
    """

    left_out: Sequence[tuple[str, str]] = ()
    reaching: int = 0
    picture: tuple[int, int] | None = None


@dataclass
class Kept:
    """The objects of one image that are kept, by number.

    `size`, in the unit of the boxes, is None where it is not known; `name_of` an object is for a
    person; one repeats another of the same key if they are `equal`.
    """

    size: Size | None
    name_of: Callable[[int], str]
    equal: Callable[[int, int], bool] = lambda one, other: True
    numbers: list[int] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    reaching: int = 0
    _same: dict[Hashable, int] = field(default_factory=dict)

    def add(self, number: int, corners: tuple[float, float, float, float], key: Hashable) -> None:
        """Add an object, or leave it out."""
        left, top, right, bottom = corners
        width, height = self.size or (math.inf, math.inf)
        if left >= right or top >= bottom:
            self._leave_out(number, "it has no area")
        elif right <= 0 or bottom <= 0 or left >= width or top >= height:
            self._leave_out(number, f"it does not touch its image{self._of}")
        else:
            while (other := self._same.setdefault(key, number)) != number:
                if self.equal(number, other):
                    self._leave_out(number, f"it repeats {self.name_of(other)}")
                    return
                key = key, other
            self.numbers.append(number)
            if left < 0 or top < 0 or right > width or bottom > height:
                across, down = (_ROUNDED * width, _ROUNDED * height) if self.size else (1, 1)
                self.reaching += (
                    min(left + across, top + down) < 0
                    or right > width + across
                    or bottom > height + down
                )

    def _leave_out(self, number: int, reason: str) -> None:
        self.left_out.append((self.name_of(number), reason))

    @property
    def _of(self) -> str:
        if self.size in (None, FRACTIONS):
            return ""
        return ", which has {:g} x {:g} pixels by its annotation".format(*self.size or ())

    def made(self, data: bytes) -> Made:
        found = Made(data)
        found.left_out, found.reaching = self.left_out, self.reaching
        return found


def made_in(places: Sequence[Place]) -> Iterator[tuple[Made, str]]:
    """Yield what a scan has made of objects for a sample, and the file that it is made of."""
    for place in places:
        if isinstance(place, list) and place and isinstance(place[0], Made):
            yield place[0], place[1] if len(place) > 1 else ""
