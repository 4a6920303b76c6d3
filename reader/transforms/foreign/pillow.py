"""Operations as Pillow does them, where OpenCV has another filter, or other edges."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reader.transforms.operations.operation import Operation, Pixels
from reader.transforms.operations.warps import Fill, Matrix

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class PillowWarp(Operation):
    """Each pixel from where the matrix leads, also bicubic, in the coordinates of `Warp`."""

    matrix: Matrix
    interpolation: str
    fill: Fill

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        from PIL import Image  # takes a while, and is rarely used

        colour = tuple(int(level) for level in np.ravel(self.fill or 0))
        fill = colour * 3 if pixels.ndim == 3 and len(colour) == 1 else colour
        _change(
            pixels,
            lambda image: image.transform(
                image.size,
                Image.Transform.AFFINE,
                self.matrix,
                Image.Resampling[self.interpolation.upper()],
                fillcolor=fill if pixels.ndim == 3 else fill[0],
            ),
        )


@dataclass(frozen=True)
class PillowBlur(Operation):
    """Pillow's Gaussian blur, which is three box blurs."""

    radius: float

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        from PIL import ImageFilter

        _change(pixels, lambda image: image.filter(ImageFilter.GaussianBlur(self.radius)))


def _change(pixels: Pixels, change: "Callable[[Image], Image]") -> None:
    from PIL import Image

    pixels[...] = np.asarray(change(Image.fromarray(pixels)))
