"""Changes of pixels as Pillow does them, which torchvision calls for Pillow's images."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps

import reader

Pixels = NDArray[np.uint8]
Change = Callable[[Image.Image], Image.Image]


def turned_hue(factor: float) -> Change:
    def turn(image: Image.Image) -> Image.Image:
        if image.mode == "L":
            return image
        hue, saturation, value = image.convert("HSV").split()
        turned = np.array(hue) + np.array(factor * 255).astype(np.int32).astype(np.uint8)
        return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")

    return turn


def blurred(size: int, sigma: float) -> Change:
    """A Gaussian blur with all weights of the kernel, in float64."""

    def blur(image: Image.Image) -> Image.Image:
        places = np.arange(size) - size // 2
        kernel = np.exp(-(places**2) / (2 * sigma**2))
        pixels = np.asarray(image, np.float64)
        for axis in (0, 1):
            pads = [(size // 2,) * 2 if axis == one else (0, 0) for one in range(pixels.ndim)]
            padded = np.pad(pixels, pads, mode="reflect")
            length = pixels.shape[axis]
            parts = [padded.take(range(at, at + length), axis) for at in range(size)]
            pixels = np.tensordot(kernel / kernel.sum(), np.stack(parts), 1)
        return Image.fromarray(np.rint(pixels).astype(np.uint8))

    return blur


def enhanced(kind: Any, factor: float) -> Change:
    return lambda image: kind(image).enhance(factor)


# The transform, what Pillow does, and how many levels they may differ.
CHANGES: dict[str, tuple[Any, Change, int]] = {
    **{
        f"brightness {f}": (reader.ColorJitter((f, f)), enhanced(ImageEnhance.Brightness, f), 1)
        for f in (0, 0.3, 1.4)
    },
    **{
        f"contrast {f}": (reader.ColorJitter(0, (f, f)), enhanced(ImageEnhance.Contrast, f), 1)
        for f in (0, 0.6, 1.7)
    },
    **{
        f"saturation {f}": (reader.ColorJitter(0, 0, (f, f)), enhanced(ImageEnhance.Color, f), 1)
        for f in (0, 0.4, 1.9)
    },
    **{
        f"sharpness {f}": (
            reader.RandomAdjustSharpness(f, 1),
            enhanced(ImageEnhance.Sharpness, f),
            1,
        )
        for f in (0, 0.5, 1.9, 4)
    },
    **{f"blur {s}": (reader.GaussianBlur(9, s), blurred(9, s), 1) for s in (0.1, 0.5, 1.2, 2)},
    "grey": (reader.RandomGrayscale(1), lambda one: one.convert("L").convert(one.mode), 1),
    "invert": (reader.RandomInvert(1), ImageOps.invert, 0),
    "solarize": (reader.RandomSolarize(99.5, 1), lambda one: ImageOps.solarize(one, 100), 0),
    "posterize": (reader.RandomPosterize(3, 1), lambda one: ImageOps.posterize(one, 3), 0),
    "equalize": (reader.RandomEqualize(1), ImageOps.equalize, 0),
    "autocontrast": (reader.RandomAutocontrast(1), ImageOps.autocontrast, 1),
}
