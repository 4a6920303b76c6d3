"""Pictures by Pillow: as formats that are packed alone, and under our own limit of pixels."""

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

# Pillow's names and the index's; it knows other formats, some of which start programs.
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
    """Open the picture in `data`, one of Pillow's `formats` or of any that is packed, undecoded."""
    # Whoever opens it compares its size with a limit.
    from PIL import Image  # few datasets need it, and workers should start fast

    accepted = formats or tuple(PILLOW_FORMATS)
    with ExitStack() as while_open:
        while_open.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # Pillow's remarks on metadata and sizes
        try:
            picture = Image.open(io.BytesIO(data), formats=accepted)
        except Image.DecompressionBombError:
            while_open.enter_context(no_limit_of_pillow)
            picture = Image.open(io.BytesIO(data), formats=accepted)
        yield while_open.enter_context(picture)


class _NoLimitOfPillow:
    """While a thread is inside, Pillow has no global limit; only huge pictures need this."""

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
