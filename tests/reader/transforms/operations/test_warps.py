"""Warps show what Pillow's show: by the nearest pixel, with a fill."""

from typing import Any

import numpy as np
import pytest
from made_images import make_image
from PIL import Image

from reader.transforms.operations.warps import Warp, moved, sheared_across, sheared_down, turned

SIZES = [(64, 64), (50, 77)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("fill", [None, 7, (10, 20, 200)])
@pytest.mark.parametrize(
    "matrix",
    [
        *(sheared_across(slope) for slope in (0.09, -0.33, 0.99)),
        *(sheared_down(slope) for slope in (-0.09, 0.33)),
        *(moved(*by) for by in ((9, 0), (-31, 0), (0, 12), (0, -3), (99, 0), (0, -64))),
        *(degrees for degrees in (9, -30, 44, 100, 135, 180)),
    ],
    ids=str,
)
def test_a_warp_shows_what_pillow_shows(
    matrix: Any, size: tuple[int, int], mode: str, fill: Any
) -> None:
    image = make_image(5, *size, mode)
    if mode == "L" and isinstance(fill, tuple):
        fill = fill[:1]
    colour = (fill[0] if mode == "L" else fill) if isinstance(fill, tuple) else fill or 0
    if isinstance(colour, int) and mode == "RGB":
        colour = (colour,) * 3
    if isinstance(matrix, tuple):
        affine = Image.Transform.AFFINE
        expected = image.transform(image.size, affine, matrix, fillcolor=colour)
    else:
        expected = image.rotate(matrix, fillcolor=colour)
        matrix = turned(matrix, size)
    pixels = np.array(image)
    Warp(matrix, "nearest", fill).change(pixels)
    # Places exactly between two pixels are rounded differently.
    assert (pixels != np.asarray(expected)).mean() < 0.02


def test_a_bilinear_warp_mixes_pixels_and_fades_into_the_fill() -> None:
    pixels = np.full((8, 8, 3), 100, np.uint8)
    Warp((1, 0, 2.5, 0, 1, 0), "bilinear", (200, 100, 0)).change(pixels)
    assert (pixels[:, :5] == 100).all()
    assert pixels[0, 5].tolist() == [150, 100, 50]
    assert (pixels[:, 6:] == (200, 100, 0)).all()
