"""Which 8 bits a grey picture of more bits stands for: one rule for packing and reading."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

_BITS_PER_SAMPLE, _SAMPLE_FORMAT = 258, 339  # tags of TIFF
_UNSIGNED = 1


def in_8_bits(image: "Image.Image") -> "Image.Image":
    """Return the high 8 bits of unsigned whole numbers; any other picture as it is.

    Pillow itself cuts values to 0 to 255, so that most become white. That remains for signed
    numbers and floats. `image` is as opened: its file says how many bits there are.
    """
    bits = _bits(image)
    if bits is None:
        return image
    from PIL import Image  # few datasets need it, and workers should start fast

    values = np.asarray(image)
    values = values.view(np.uint32) if bits == 32 else values.clip(0, 2**bits - 1)
    grey = Image.fromarray((values >> (bits - 8)).astype(np.uint8))
    grey.info = image.info  # which has the orientation
    return grey


def _bits(image: "Image.Image") -> int | None:
    tags = getattr(image, "tag_v2", {})
    if image.mode.startswith("I;16"):
        return int(tags.get(_BITS_PER_SAMPLE, (16,))[0])  # 12 of a TIFF
    if image.mode != "I":
        return None
    if image.format == "PPM":
        return 16  # which Pillow holds in 32
    is_unsigned = tags and tags.get(_SAMPLE_FORMAT, (_UNSIGNED,))[0] == _UNSIGNED
    return 32 if is_unsigned else None
