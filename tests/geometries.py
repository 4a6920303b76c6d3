"""Geometries of transforms, and what they show, in tests."""

import numpy as np
from numpy.typing import NDArray

from reader import (
    Geometry,
    Transform,
)
from reader.rng import SampleRandom

Coordinates = NDArray[np.int64]  # (height, width, 2): which pixel of the source is where; -1: none


def rng(position: int = 0) -> SampleRandom:
    return SampleRandom(0, 0, position)


def applied(transform: Transform, height: int, width: int, position: int = 0) -> Geometry:
    geometry = Geometry.of(height, width)
    transform.apply(geometry, rng(position))
    return geometry


def coordinates(height: int, width: int) -> Coordinates:
    return np.stack(list(np.mgrid[:height, :width]), axis=-1)


def cut(image: Coordinates, top: int, left: int, height: int, width: int) -> Coordinates:
    """The box of `image`, -1 where it reaches over the edge."""
    out = np.full((height, width, 2), -1)
    rows = range(max(top, 0), min(top + height, image.shape[0]))
    columns = range(max(left, 0), min(left + width, image.shape[1]))
    if len(rows) and len(columns):
        out[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = image[
            rows.start : rows.stop, columns.start : columns.stop
        ]
    return out


def shown(geometry: Geometry, height: int, width: int) -> Coordinates:
    """What a geometry without scaling shows of a source of that size."""
    assert (geometry.box_height, geometry.box_width) == (geometry.height, geometry.width)
    box = (geometry.top, geometry.left, geometry.height, geometry.width)
    assert all(float(number).is_integer() for number in box)
    top, left, bottom, right = (max(int(edge), 0) for edge in geometry.seen)
    source = np.full((height, width, 2), -1)
    source[top:bottom, left:right] = coordinates(height, width)[top:bottom, left:right]
    out = cut(source, *map(int, box))
    out = out[::-1] if geometry.vflip else out
    return out[:, ::-1] if geometry.hflip else out
