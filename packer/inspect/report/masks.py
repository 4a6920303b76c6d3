"""What masks hold: the values that occur, and how they are shown (pure)."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

VALUES = 256  # that are counted one by one
VOID = 255


def values_of(mask: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which of 256 values occur; None of a mask whose values are colours, or of more bits."""
    if mask.ndim != 2 or mask.dtype != np.uint8:
        return None
    return np.bincount(mask.ravel(), minlength=VALUES) > 0


def shown(mask: NDArray[Any], height: int, width: int) -> bytes:
    """A PNG of this size with a colour for each value; 0 is clear."""
    from PIL import Image

    rows = (np.arange(height) * mask.shape[0]) // height
    columns = (np.arange(width) * mask.shape[1]) // width
    small = mask[rows][:, columns]
    if small.ndim == 2:
        numbers = np.where(small == 0, 0, (small.astype(np.int64) - 1) % (VALUES - 1) + 1)
        image = Image.fromarray(numbers.astype(np.uint8)).convert("P")
        image.putpalette(_palette().tobytes())
        options: dict[str, Any] = {"transparency": 0}
    else:
        image, options = Image.fromarray(small[..., :3].astype(np.uint8)), {}
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True, **options)
    return file.getvalue()


def _palette() -> NDArray[np.uint8]:
    """256 colours that differ from their neighbours: the golden ratio around the wheel of hues."""
    hue = (np.arange(VALUES) * 0.618034) % 1 * 6
    wheel = np.abs((hue[:, None] + np.array([0, 4, 2])) % 6 - 3) - 1
    colours = (55 + 200 * wheel.clip(0, 1)).astype(np.uint8)
    colours[VOID] = 235
    return colours
