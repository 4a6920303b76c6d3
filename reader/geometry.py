"""An image on its way through a pipeline of transforms: which part of it ends up where.

A `Geometry` remembers one box of the upright source, however many transforms there were, so that a
decoder decodes only that box and resizes it once.
"""

from dataclasses import dataclass

import numpy as np

from reader.errors import ReaderError

# Rows of four numbers (N, 4), of boxes of a format, times this are corners x, y, x, y.
CORNERS_OF = {
    "xyxy": np.eye(4),
    "xywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], np.float64),
    "cxcywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-0.5, 0, 0.5, 0], [0, -0.5, 0, 0.5]]),
}

HALF_PIXEL = 0.5  # of the source: a box that reaches over its edge by less is taken to lie within


@dataclass
class Geometry:
    """An image on its way through a pipeline; or many of one size, with arrays for its numbers.

    Attributes:
        height, width: pixels of the image as the next transform sees it.
        top, left, box_height, box_width: the box of the upright source that it shows, in source
            pixels.
        seen: top, left, bottom and right of what is left of the source; the rest of the box has the
            grey value `fill`, whatever the source has there.
        hflip, vflip: whether it is mirrored after all else.
        filter: how it is scaled: None for the quick way, or as Pillow does, "nearest", "bilinear"
            or "bicubic".

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
        """The whole of an upright image."""
        return cls(height, width, 0, 0, height, width, (0, 0, height, width))

    def crop(self, top: int, left: int, height: int, width: int, fill: int | None = None) -> None:
        """Keep a box, given in pixels of the image as it is now; it may reach over the edge.

        Args:
            fill: the grey value beyond the edge; None for the one that it has been so far.

        Raises:
            ReaderError: the image shows a border of another grey value already.
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
        """Scale to a new size; images are scaled once, by the `filter` of the last time."""
        if filter is not None:  # which looks beyond a pixel's own box, but for what is cropped away
            self.seen = self._still_seen()
        self.height, self.width, self.filter = height, width, filter

    def _pad(self, fill: int) -> None:
        """Take away what the source has beyond the image's edges, for a border in its place."""
        bottom, right = self.top + self.box_height, self.left + self.box_width
        seen = self.seen
        borders = seen[0] - self.top, seen[1] - self.left, bottom - seen[2], right - seen[3]
        if fill != self.fill and any(np.max(border) > HALF_PIXEL for border in borders):
            raise ReaderError(
                f"a border of the grey value {fill} would surround one of {self.fill}: give both "
                "transforms the same fill"
            )
        self.fill = fill
        self.seen = self._still_seen()

    def _still_seen(self) -> tuple[float, float, float, float]:
        """What is left of the source within the box."""
        top, left, bottom, right = self.seen
        return (
            np.maximum(top, self.top),
            np.maximum(left, self.left),
            np.minimum(bottom, self.top + self.box_height),
            np.minimum(right, self.left + self.box_width),
        )
