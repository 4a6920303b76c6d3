"""Apply a pipeline of transforms to a geometry, and find the room that its images need."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from reader.errors import ReaderError
from reader.format.sizes import SizeBounds
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.transform import Transform, states


def transformed(
    size: tuple[int, int], transforms: Iterable[Transform], rng: SampleRandom
) -> Geometry:
    geometry = Geometry.of(*size)
    for transform in transforms:
        transform.apply(geometry, rng)
    return geometry


class Images(Protocol):
    """The sizes of images as (height, width)."""

    @property
    def size_bounds(self) -> SizeBounds: ...

    def sizes(self) -> Iterable[tuple[int, int]]:
        """Return all sizes, which takes longer."""


def largest_output(transforms: Sequence[Transform], images: Images) -> tuple[tuple[int, int], bool]:
    """Return the largest output (height, width) of a pipeline, and whether it is the only one."""
    try:
        found = {_output(transforms, size) for size in ((487, 1031), (1031, 487), (11, 13))}
    except ReaderError:  # the images may not have the size that failed
        found = set()
    if len(found) != 1:
        bounds = images.size_bounds
        if bounds.is_one or all(states(transform, "is_mirror") for transform in transforms):
            return _output(transforms, bounds.largest), bounds.is_one
        found = {_output(transforms, size) for size in images.sizes()}
    return max(found, key=lambda size: (size[0] * size[1], size)), len(found) == 1


def _output(transforms: Sequence[Transform], size: tuple[int, int]) -> tuple[int, int]:
    geometry = transformed(size, transforms, SampleRandom(0, 0, 0))
    return geometry.height, geometry.width
