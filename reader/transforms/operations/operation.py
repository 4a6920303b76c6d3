"""What an operation is: a change of an image's pixels in place, by drawn numbers.

It has only its numbers, so that another device can do the same with them.
"""

from typing import Any

from numpy.typing import NDArray

Pixels = NDArray[Any]  # uint8, (height, width, 3), or (height, width) if grey
Size = tuple[int, int]  # height, width


class Operation:
    """A change of pixels, whose numbers are drawn."""

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        raise NotImplementedError
