"""Make the crop plan: the part of a stored image that a geometry shows (pure).

The box of a `Geometry` is mapped back through the EXIF orientation into the stored image. This
determines the segments of a tiled JPEG to read, and the scale at which to decode it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.decode.bands import BandCut, cut_bands
from reader.decode.splice import Box, Cut, cut
from reader.decode.stored import StoredImage, as_stored
from reader.format.bands import BandTable
from reader.format.frames import TURNS, Frame
from reader.geometry import HALF_PIXEL, Geometry

MIN_REDUCTION = 2  # a smaller reduction has no fast inverse DCT

# Radius of a filter around an output's pixel, in pixels of the coarser image.
_RADIUS = {"nearest": 0.5, "bilinear": 1.0, "bicubic": 2.0}
_ROUNDING = 1e-6  # of a pixel: tolerance for rounding errors

Area = tuple[float, float, float, float]  # top, left, height, width


@dataclass  # not frozen: that would take 1 us
class View:
    """The crop plan: what to decode, and how to resize and place it."""

    image: StoredImage
    box: Box  # the part of the stored image to decode
    shown: Area  # the visible part; a filter needs the rest of `box`
    eighths: int  # the scale to decode a JPEG at
    cut: Cut | BandCut | None  # the segments or bands to decode; None: all, or decoded
    size: tuple[int, int]  # (height, width) of the output
    target: Box  # the part of the output that `shown` fills; the rest has the grey value `fill`
    transpose: bool  # after resizing, before `hflip` and `vflip`
    hflip: bool
    vflip: bool
    fill: int = 0
    filter: str | None = None  # as in `Geometry`

    @property
    def is_seen(self) -> bool:
        return bool(self.target[2] and self.target[3])

    @property
    def shown_in_box(self) -> Area:
        top, left, height, width = self.shown
        return top - self.box[0], left - self.box[1], height, width

    @property
    def is_mirrored(self) -> bool:
        """Whether the output shows the stored image as a mirror does."""
        return self.transpose ^ self.hflip ^ self.vflip

    @property
    def needs(self) -> tuple[int, int]:
        """The range of the image's bytes to read, without its header."""
        if self.cut is not None:
            return self.cut.start, self.cut.stop
        return (0, self.image.size) if self.decoded is None else (0, 0)

    @property
    def decoded(self) -> NDArray[Any] | None:
        """The whole stored image, if it is already decoded at the view's scale."""
        return self.image.pixels if self.eighths == 8 else None

    def of_other(self, data: bytes, format: str, bands: BandTable | None = None) -> "View":
        """Return the same view of another picture over the image."""
        image = self.image.covered_by(data, format, bands)
        part = _cut(image, self.box, 8) if self.is_seen else None
        return replace(self, image=image, cut=part, eighths=8)

    def carry(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Map points of the stored image, (N, 2) as x and y, to the output, also outside it."""
        top, left, height, width = self.shown
        moved = (points - (left, top)) / (width or 1, height or 1)
        if self.transpose:
            moved = moved[:, ::-1]
        if self.hflip or self.vflip:
            moved = np.where((self.hflip, self.vflip), 1 - moved, moved)
        return moved * (self.target[3], self.target[2]) + (self.target[1], self.target[0])

    def matrix(self, frame: Frame) -> NDArray[np.float32]:
        """Return the affine matrix, (2, 3), that maps points of `frame` to the output."""
        points = np.array([(0, 0), (1, 0), (0, 1)], np.float64)
        origin, across, down = self.carry(frame.to_stored(points))
        return np.column_stack([across - origin, down - origin, origin]).astype(np.float32)


def plan(image: StoredImage, geometry: Geometry) -> View:
    """Return the crop plan of `geometry`, whose box is in the upright image."""
    upright, seen, filter = image.upright_size, geometry.seen, geometry.filter
    tops = _clip(geometry.top, geometry.box_height, seen[::2], upright[0], geometry.height)
    lefts = _clip(geometry.left, geometry.box_width, seen[1::2], upright[1], geometry.width)
    target = [tops[2], lefts[2], tops[3], lefts[3]]
    if geometry.vflip:
        target[0] = geometry.height - target[0] - target[2]
    if geometry.hflip:
        target[1] = geometry.width - target[1] - target[3]
    is_seen = bool(target[2] and target[3])
    box = as_stored(image, (tops[0], lefts[0], tops[1], lefts[1]))
    shown: Area = box
    if filter is not None and is_seen:
        down = _filtered(geometry.top, geometry.box_height / geometry.height, tops[2:], filter)
        across = _filtered(geometry.left, geometry.box_width / geometry.width, lefts[2:], filter)
        shown = as_stored(image, (down[0], across[0], down[1], across[1]))
        first, rows = _whole(*down[2:], seen[::2], upright[0])
        left, columns = _whole(*across[2:], seen[1::2], upright[1])
        box = as_stored(image, (first, left, rows, columns))
    eighths, part = 8, None
    if is_seen:
        if filter is None and image.is_for_libjpeg:
            # Scales are eighths: the smallest that keeps the box as large as the target.
            reduction = min(tops[1] / target[2], lefts[1] / target[3])
            eighths = 8 if reduction < MIN_REDUCTION else math.ceil(8 / reduction)
        part = _cut(image, box, eighths)
    transpose, hflip, vflip = TURNS[image.orientation]
    return View(
        image,
        box,
        shown,
        eighths,
        part,
        (geometry.height, geometry.width),
        (target[0], target[1], target[2], target[3]),
        transpose,
        hflip != geometry.hflip,
        vflip != geometry.vflip,
        geometry.fill,
        filter,
    )


def join(views: Sequence[View]) -> View | None:
    """Return one view that covers several of one image, to decode it once.

    None if decoding each is less work: small boxes far apart in a tiled image.
    """
    image = views[0].image
    boxes = [view.box for view in views if view.is_seen]
    if not boxes:
        return None
    top, left = min(box[0] for box in boxes), min(box[1] for box in boxes)
    height = max(box[0] + box[2] for box in boxes) - top
    width = max(box[1] + box[3] for box in boxes) - left
    eighths, part = max(view.eighths for view in views), None
    box = (top, left, height, width)
    if any(view.cut is not None for view in views):
        if sum(box[2] * box[3] for box in boxes) < height * width:
            return None
        part = _cut(image, box, eighths)
    return replace(views[0], box=box, eighths=eighths, cut=part)


def _cut(image: StoredImage, box: Box, eighths: int) -> Cut | BandCut | None:
    if eighths == 8 and image.pixels is not None:
        return None
    if image.bands is not None and image.format == "png":
        return cut_bands(image.bands, image.size, image.height, image.width, box)
    if image.tiles is None or not image.is_for_libjpeg:
        return None
    return cut(image.tiles, image.size, image.height, image.width, box, eighths < 8)


def _clip(start: float, length: float, seen: tuple[float, ...], limit: int, target: int) -> Box:
    """Return start and length of the source, and of the target, along one axis in whole pixels.

    Only the part of the source, of length `limit`, between both numbers of `seen` is visible.
    """
    if start >= seen[0] - HALF_PIXEL and start + length <= seen[1] + HALF_PIXEL:
        first = min(max(round(start), 0), limit - 1)
        return first, max(min(round(start + length), limit) - first, 1), 0, target
    scale = target / length
    inside, end = max(start, seen[0]), min(start + length, seen[1])
    if end <= inside:
        return 0, 0, 0, 0
    begin, stop = round((inside - start) * scale), round((end - start) * scale)
    first = min(round(inside), limit - 1)
    return first, max(round(end) - first, 1), begin, stop - begin


def _filtered(
    start: float, scale: float, target: tuple[int, int], filter: str
) -> tuple[float, float, float, float]:
    """Return start and length in the source along one axis, and start and end of the filter.

    The output begins at `start`, with `scale` source pixels for each of its own; `target` is start
    and length of its part that shows the source.
    """
    begin, length = start + target[0] * scale, target[1] * scale
    reach = _RADIUS[filter] * max(scale, 1) - scale / 2  # beyond the first and the last pixel
    return begin, length, begin - reach + HALF_PIXEL, begin + length + reach + HALF_PIXEL


def _whole(begin: float, end: float, seen: tuple[float, ...], limit: int) -> tuple[int, int]:
    first = max(math.floor(begin), math.floor(seen[0] + _ROUNDING), 0)
    last = min(math.floor(end), math.ceil(seen[1] - _ROUNDING), limit)
    first = min(first, limit - 1)
    return first, max(last - first, 1)
