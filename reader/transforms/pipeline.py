"""Apply a pipeline of transforms to a geometry, and find the room that its images need.

Geometry moves pixels once, when they are decoded, until a transform has changed them. What follows
such a change moves the changed pixels: that is another `Stage`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import chain, product
from typing import NamedTuple, Protocol

from reader.errors import ArgumentError, ReaderError
from reader.format.sizes import SizeBounds
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.choices import Choice
from reader.transforms.operations.operation import Operation
from reader.transforms.pixels.pixel_transform import PixelTransform
from reader.transforms.transform import Transform, states

_MOST_ALTERNATIVES = 1000


def transformed(
    size: tuple[int, int], transforms: Iterable[Transform], rng: SampleRandom
) -> Geometry:
    geometry = Geometry.of(*size)
    for transform in transforms:
        transform.apply(geometry, rng)
    return geometry


class Stage(NamedTuple):
    """A geometry of the source, or of what the stage before it shows, and what is done with it."""

    geometry: Geometry
    operations: list[Operation]


def staged(
    size: tuple[int, int], transforms: Iterable[Transform], rng: SampleRandom
) -> tuple[Geometry, list[Stage]]:
    """Return the geometry of all transforms, as `transformed` does, and the stages of the pixels.

    With one stage, its geometry is that of all.
    """
    whole = Geometry.of(*size)
    stages = [Stage(whole, [])]
    for transform in _drawn(transforms, rng):
        geometry, operations = stages[-1]
        if isinstance(transform, PixelTransform):
            operations += transform.draw((whole.height, whole.width), rng)
            continue
        if operations:
            if geometry is whole:
                stages[0] = Stage(copy(whole), operations)
            geometry = Geometry.of(whole.height, whole.width)
            stages.append(Stage(geometry, []))
        if geometry is not whole:
            transform.apply(geometry, rng.copy())
        transform.apply(whole, rng)
    return whole, stages


def _drawn(transforms: Iterable[Transform], rng: SampleRandom) -> Iterator[Transform]:
    """Yield transforms, in place of a choice those that it draws."""
    for transform in transforms:
        if isinstance(transform, Choice):
            yield from _drawn(transform.chosen(rng), rng)
        else:
            yield transform


def members(transforms: Iterable[Transform]) -> Iterator[Transform]:
    """Yield all transforms, in place of a choice all that it may draw."""
    for transform in transforms:
        if isinstance(transform, Choice):
            yield from members(transform.transforms)
        else:
            yield transform


def pixel_transforms(transforms: Iterable[Transform]) -> list[PixelTransform]:
    return [one for one in members(transforms) if isinstance(one, PixelTransform)]


class Images(Protocol):
    """The sizes of images as (height, width)."""

    @property
    def size_bounds(self) -> SizeBounds: ...

    def sizes(self) -> Iterable[tuple[int, int]]:
        """Return all sizes, which takes longer."""


def largest_output(transforms: Sequence[Transform], images: Images) -> tuple[tuple[int, int], bool]:
    """Return the largest output (height, width) of a pipeline, and whether it is the only one."""
    pipelines = [*_alternatives([one for one in transforms if _may_resize(one)])]
    try:
        found = _outputs(pipelines, ((487, 1031), (1031, 487), (11, 13)))
    except ReaderError:  # the images may not have the size that failed
        found = set()
    if len(found) != 1:
        bounds = images.size_bounds
        if pipelines == [[]]:
            return bounds.largest, bounds.is_one
        found = _outputs(pipelines, [bounds.largest] if bounds.is_one else images.sizes())
    return max(found, key=lambda size: (size[0] * size[1], size)), len(found) == 1


def _outputs(
    pipelines: Sequence[Sequence[Transform]], sizes: Iterable[tuple[int, int]]
) -> set[tuple[int, int]]:
    found = (
        transformed(size, transforms, SampleRandom(0, 0, 0))
        for size in sizes
        for transforms in pipelines
    )
    return {(geometry.height, geometry.width) for geometry in found}


def _may_resize(transform: Transform) -> bool:
    if isinstance(transform, Choice):
        return any(map(_may_resize, transform.transforms))
    return not (isinstance(transform, PixelTransform) or states(transform, "is_mirror"))


def _alternatives(transforms: Sequence[Transform]) -> Iterator[list[Transform]]:
    """Yield all pipelines that choices may draw, without what keeps the size."""
    ways = [
        [way for one in transform.alternatives() for way in _alternatives(one)]
        if isinstance(transform, Choice)
        else [[transform]]
        for transform in transforms
        if _may_resize(transform)
    ]
    if math.prod(map(len, ways)) > _MOST_ALTERNATIVES:
        raise ArgumentError(
            f"The choices among transforms allow more than {_MOST_ALTERNATIVES:,} pipelines of "
            "different sizes. Put what resizes or crops before or after them."
        )
    return ([*chain.from_iterable(way)] for way in product(*ways))
