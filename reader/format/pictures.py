"""Pictures by Pillow: as formats that are packed alone, and under our own limit of pixels."""

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

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
    """Open the picture in `data`, one of Pillow's `formats` or of any that is packed, undecoded.

    Whoever opens it compares its size with a limit.
    """
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
