"""The geometry of an image in a pipeline of transforms.

A `Geometry` keeps one box of the upright source for any number of transforms, so that a decoder
decodes only that box and resizes it once.
"""

from dataclasses import dataclass

import numpy as np

from reader.errors import ReaderError

# Boxes (N, 4) of a format, times its matrix, are corners x, y, x, y.
CORNERS_OF = {
    "xyxy": np.eye(4),
    "xywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], np.float64),
    "cxcywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-0.5, 0, 0.5, 0], [0, -0.5, 0, 0.5]]),
}

HALF_PIXEL = 0.5  # of the source: a box that exceeds its edge by less counts as inside


@dataclass
class Geometry:
    """The geometry of an image in a pipeline; or of many of one size, with arrays as attributes.

    Attributes:
        height, width: size in pixels, as the next transform sees it.
        top, left, box_height, box_width: the visible box of the upright source, in source pixels.
        seen: top, left, bottom and right of the visible source, in source pixels; the rest of the
            box has the grey value `fill`.
        hflip, vflip: whether it is mirrored, as the last step.
        filter: filter for resizing: None for the fastest, or Pillow's "nearest", "bilinear" or
            "bicubic".

    Example:
        >>> geometry = reader.Geometry.of(60, 80)
        >>> reader.CenterCrop(40).apply(geometry, None)
        >>> geometry.height, geometry.width, geometry.top, geometry.left
        (40, 40, 10.0, 20.0)
    """

    __module__ = "reader"

    height: int
    width: int
    top: float
    left: float
    box_height: float
    box_width: float
    seen: tuple[float, float, float, float]
    hflip: bool = False
    vflip: bool = False
    fill: int = 0
    filter: str | None = None

    @classmethod
    def of(cls, height: int, width: int) -> "Geometry":
        """Return the geometry of a whole upright image, in pixels."""
        return cls(height, width, 0, 0, height, width, (0, 0, height, width))

    def crop(self, top: int, left: int, height: int, width: int, fill: int | None = None) -> None:
        """Keep a box, in pixels of the current image; it may exceed the image.

        Args:
            fill: grey value outside the image; None for the current one.

        Raises:
            ReaderError: the image already has a border of another grey value.
        """
        bottom, right = top + height, left + width
        if np.count_nonzero((top < 0) | (left < 0) | (bottom > self.height) | (right > self.width)):
            self._pad(self.fill if fill is None else fill)
        top = top + self.vflip * (self.height - 2 * top - height)  # from the other side
        left = left + self.hflip * (self.width - 2 * left - width)
        down, across = self.box_height / self.height, self.box_width / self.width
        self.top += top * down
        self.left += left * across
        self.box_height, self.box_width = height * down, width * across
        self.height, self.width = height, width

    def resize(self, height: int, width: int, filter: str | None = None) -> None:
        """Scale to a new size, in pixels; images are scaled once, with the last `filter`."""
        if filter is not None:  # it reads outside a pixel's own box, but not what is cropped away
            self.seen = self._still_seen()
        self.height, self.width, self.filter = height, width, filter

    def _pad(self, fill: int) -> None:
        bottom, right = self.top + self.box_height, self.left + self.box_width
        seen = self.seen
        borders = seen[0] - self.top, seen[1] - self.left, bottom - seen[2], right - seen[3]
        if fill != self.fill and any(np.max(border) > HALF_PIXEL for border in borders):
            raise ReaderError(
                f"a border of grey value {fill} would surround one of {self.fill}: give both "
                "transforms the same fill="
            )
        self.fill = fill
        self.seen = self._still_seen()

    def _still_seen(self) -> tuple[float, float, float, float]:
        top, left, bottom, right = self.seen
        return (
            np.maximum(top, self.top),
            np.maximum(left, self.left),
            np.minimum(bottom, self.top + self.box_height),
            np.minimum(right, self.left + self.box_width),
        )
