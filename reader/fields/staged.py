"""Images whose pixels transforms change: decoded, changed in their row of the batch, and moved."""

import time
from collections.abc import Sequence
from itertools import chain

import numpy as np

from reader.decode.decoder import Decoder, Pixels
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.errors import ArgumentError
from reader.fields.field import Recipe, Tools
from reader.fields.pictures import Bands
from reader.fields.pixels import Planned
from reader.geometry import Geometry
from reader.transforms.operations.run import change
from reader.transforms.pipeline import Stage, pixel_transforms


def check_changes(recipe: Recipe, channels: int) -> None:
    """Refuse transforms of pixels that have no meaning for the images, or that a field misses."""
    others = [one for one in recipe.fields if one.follows_image and one.name != "image"]
    followers = [one.name for one in others]
    alike = [one.name for one in others if one.is_picture or isinstance(one, Bands)]
    for transform in pixel_transforms(chain(recipe.transforms, *recipe.further)):
        transform.check(channels)
        if alike:
            raise ArgumentError(
                f"{transform} changes the image, and {', '.join(alike)} would stay as before. "
                "Leave out the transform or these fields, or change both in map_sample=."
            )
        if transform.moves_pixels and followers:
            raise ArgumentError(
                f"{transform} shears, turns and moves the image, and {', '.join(followers)} would "
                "not follow. Leave out the transform or these fields, or warp both in map_sample=."
            )


def draw_staged(planned: Planned, outs: Sequence[Pixels], tools: Tools) -> None:
    """Write the views of a sample's image to `outs`, each after all its stages."""
    places = [
        out if len(stages) == 1 else _empty(stages[0].geometry, out)
        for stages, out in zip(planned.stages, outs, strict=True)
    ]
    tools.source.draw(planned, places)
    began = time.perf_counter_ns()
    for stages, pixels, out in zip(planned.stages, places, outs, strict=True):
        _finish(stages, pixels, out, tools.decoder)
    tools.changing += time.perf_counter_ns() - began


def _finish(stages: Sequence[Stage], pixels: Pixels, out: Pixels, decoder: Decoder) -> None:
    change(stages[0].operations, pixels)
    for stage in stages[1:]:
        image = _decoded(pixels)
        pixels = out if stage is stages[-1] else _empty(stage.geometry, out)
        decoder.draw(plan(image, stage.geometry), pixels)
        change(stage.operations, pixels)


def _empty(geometry: Geometry, like: Pixels) -> Pixels:
    return np.empty((geometry.height, geometry.width, like.shape[2]), np.uint8)


def _decoded(pixels: Pixels) -> StoredImage:
    """Return pixels as an image that is already decoded."""
    height, width, depth = pixels.shape
    nothing = memoryview(b"")
    return StoredImage(
        lambda start, stop: nothing, 0, "raw", height, width, depth, 1, pixels=pixels, depth=depth
    )
