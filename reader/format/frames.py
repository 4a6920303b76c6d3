"""The pictures that coordinates are of: an image as its source stores it, or upright.

Members keep the numbers of their source. The index has what packing did to the pixels, and which
picture an annotation is of, so that a reader maps the numbers to the stored image. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reader.format.columns import FORMATS, FRAME, SOURCE, Column

UNKNOWN, STORED, UPRIGHT, EITHER, NEITHER = range(5)
"""The values of a column ``EXT.frame``."""

# EXIF orientation -> (transpose, then mirror left-right, then mirror up-down) makes it upright.
TURNS = {
    1: (False, False, False),
    2: (False, True, False),
    3: (False, True, True),
    4: (False, False, True),
    5: (True, False, False),
    6: (True, True, False),
    7: (True, True, True),
    8: (True, False, True),
}

Points = NDArray[np.float64]  # (N, 2) as x and y


@dataclass(frozen=True)
class Picture:
    """A picture before the EXIF `orientation` that makes it upright."""

    height: int
    width: int
    orientation: int = 1

    @property
    def size(self) -> tuple[int, int]:
        """The height and width as stored."""
        return self.height, self.width

    @property
    def upright_size(self) -> tuple[int, int]:
        """The height and width once it is turned."""
        is_transposed = TURNS[self.orientation][0]
        return (self.width, self.height) if is_transposed else (self.height, self.width)

    def frame_of(self, height: int, width: int) -> int:
        """Return the frame of an annotation that gives this size of its picture."""
        size = height, width
        if size not in (self.size, self.upright_size):
            return NEITHER
        if self.orientation == 1:
            return UNKNOWN  # both are one
        if self.size == self.upright_size:
            return EITHER
        return STORED if size == self.size else UPRIGHT

    def from_upright(self, points: Points) -> Points:
        """Map points of the upright picture to the stored one."""
        if self.orientation == 1:
            return points
        transpose, hflip, vflip = TURNS[self.orientation]
        height, width = self.upright_size
        turned = np.where((hflip, vflip), (width, height) - points, points)
        return turned[:, ::-1] if transpose else turned

    def to_upright(self, points: Points) -> Points:
        """Map points of the stored picture to the upright one."""
        if self.orientation == 1:
            return points
        transpose, hflip, vflip = TURNS[self.orientation]
        height, width = self.upright_size
        turned = points[:, ::-1] if transpose else points
        return np.where((hflip, vflip), (width, height) - turned, turned)


@dataclass(frozen=True)
class Packed:
    """An image of a source, and what packing made of it."""

    source: Picture
    stored: Picture
    is_fitted: bool = False  # turned upright, scaled to cover its new size, cropped at the centre

    @classmethod
    def of_row(cls, columns: Mapping[str, Column], row: int) -> "Packed":
        """Return the image of an index's row."""
        names = "height", "width", "orientation"
        stored = Picture(*(int(columns[name][row]) for name in names))
        if "source_height" not in columns or not columns["source_height"][row]:
            return cls(stored, stored)
        source = Picture(*(int(columns[name][row]) for name in SOURCE))
        return cls(source, stored, FORMATS[columns["format"][row]] == "raw")

    @property
    def is_changed(self) -> bool:
        """Whether packing changed the size or the orientation."""
        return self.source != self.stored

    @property
    def crop(self) -> tuple[float, float, float, float]:
        """The left, top, right and bottom of the upright source that a fitted image shows.

        These are the numbers of Pillow's ``ImageOps.fit``.
        """
        height, width = self.source.upright_size
        shape, wanted = width / height, self.stored.width / self.stored.height
        across = wanted * height if shape > wanted else float(width)
        down = width / wanted if shape < wanted else float(height)
        left, top = (width - across) * 0.5, (height - down) * 0.5
        return left, top, left + across, top + down


@dataclass(frozen=True)
class Frame:
    """The picture that coordinates are of: that of the source, as it was stored or upright."""

    image: Packed
    is_upright: bool

    @property
    def size(self) -> tuple[int, int]:
        """The picture's height and width, of which fractions are parts."""
        source = self.image.source
        return source.upright_size if self.is_upright else source.size

    def to_stored(self, points: Points) -> Points:
        """Map points in pixels of the picture to the stored image."""
        source, stored = self.image.source, self.image.stored
        if self.image.is_fitted:
            left, top, right, bottom = self.image.crop
            points = points if self.is_upright else source.to_upright(points)
            scale = stored.width / (right - left), stored.height / (bottom - top)
            return (points - (left, top)) * scale
        points = source.from_upright(points) if self.is_upright else points
        if not self.image.is_changed:
            return points
        return points * (stored.width / source.width, stored.height / source.height)

    @cached_property
    def edges(self) -> Points:
        """The corners (2, 2) of the whole picture in the stored image, which may show a part."""
        height, width = self.size
        corners = np.array([(0, 0), (width, height)], np.float64)
        return np.sort(self.to_stored(corners), axis=0)

    @property
    def is_mirrored(self) -> bool:
        """Whether the stored image shows the picture as a mirror does."""
        is_odd = sum(TURNS[self.image.source.orientation]) % 2 == 1
        return is_odd and self.is_upright != self.image.is_fitted


def frame_columns(
    sources: Mapping[int, Picture], frames: Mapping[str, Mapping[int, int]], rows: int
) -> dict[str, Column]:
    """Return the columns of what packing changed, and of frames by member, from values by row."""
    columns = {f"{ext}.frame": np.zeros(rows, FRAME) for ext in frames}
    for ext, known in frames.items():
        columns[f"{ext}.frame"][list(known)] = list(known.values())
    if sources:
        parts = zip(*((*one.size, one.orientation) for one in sources.values()), strict=True)
        for (name, kind), values in zip(SOURCE.items(), parts, strict=True):
            columns[name] = np.zeros(rows, kind)
            columns[name][list(sources)] = values
    return columns


def frame_in(columns: Mapping[str, Column], row: int, ext: str) -> int:
    """Return what an index records of the frame of a member."""
    recorded = columns.get(f"{ext}.frame")
    return UNKNOWN if recorded is None else int(recorded[row])


Doubts = dict[tuple[str, int], list[int]]
"""The rows of doubtful frames, `EITHER` or `NEITHER`, by member and frame."""


def doubts_in(columns: Mapping[str, Column]) -> Doubts:
    """Return the rows whose frames their annotations do not tell, or contradict."""
    found: Doubts = {}
    for name in (name for name in columns if name.endswith(".frame")):
        for frame in (EITHER, NEITHER):
            if rows := np.flatnonzero(columns[name] == frame).tolist():
                found[name.removesuffix(".frame"), frame] = rows
    return found
