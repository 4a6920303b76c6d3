"""Open pictures with Pillow: only formats that are packed, with our own limit of pixels."""

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

# Pillow's names and the index's; it has other formats, some of which start programs.
PILLOW_FORMATS = {
    "JPEG": "jpg",
    "PNG": "png",
    "WEBP": "webp",
    "BMP": "bmp",
    "GIF": "gif",
    "TIFF": "tiff",
    "PPM": "ppm",
}


@contextmanager
def opened(data: bytes | memoryview, *formats: str) -> Iterator["Image.Image"]:
    """Open the picture in `data`, undecoded, in one of Pillow's `formats` or any that is packed.

    The caller must check its size.
    """
    from PIL import Image  # rarely used, and workers should start fast

    accepted = formats or tuple(PILLOW_FORMATS)
    with ExitStack() as while_open:
        while_open.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # Pillow's warnings about metadata and sizes
        try:
            picture = Image.open(io.BytesIO(data), formats=accepted)
        except Image.DecompressionBombError:
            while_open.enter_context(no_limit_of_pillow)
            picture = Image.open(io.BytesIO(data), formats=accepted)
        yield while_open.enter_context(picture)


class _NoLimitOfPillow:
    """Disables Pillow's global limit while a thread is inside; only huge pictures need it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._pillows: int | None = None

    def __enter__(self) -> None:
        from PIL import Image

        with self._lock:
            if not self._inside:
                self._pillows, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        from PIL import Image

        with self._lock:
            self._inside -= 1
            if not self._inside:
                Image.MAX_IMAGE_PIXELS = self._pillows


no_limit_of_pillow = _NoLimitOfPillow()


_BITS_PER_SAMPLE, _SAMPLE_FORMAT = 258, 339  # tags of TIFF
_UNSIGNED = 1


def in_8_bits(image: "Image.Image") -> "Image.Image":
    """Return the high 8 bits of unsigned integers; any other picture unchanged.

    Pillow itself clips values to 0 to 255, so that most become white; this remains for signed
    numbers and floats. `image` must be undecoded: its file has the number of bits.
    """
    bits = bits_of(image)
    if bits is None:
        return image
    from PIL import Image  # rarely used, and workers should start fast

    values = np.asarray(image)
    values = values.view(np.uint32) if bits == 32 else values.clip(0, 2**bits - 1)
    grey = Image.fromarray((values >> (bits - 8)).astype(np.uint8))
    grey.info = image.info  # has the orientation
    return grey


def bits_of(image: "Image.Image") -> int | None:
    tags = getattr(image, "tag_v2", {})
    if image.mode.startswith("I;16"):
        return int(tags.get(_BITS_PER_SAMPLE, (16,))[0])  # 12 in some TIFFs
    if image.mode != "I":
        return None
    if image.format == "PPM":
        return 16  # Pillow stores them in 32
    is_unsigned = tags and tags.get(_SAMPLE_FORMAT, (_UNSIGNED,))[0] == _UNSIGNED
    return 32 if is_unsigned else None
