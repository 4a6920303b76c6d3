"""Makes images."""

import io

from PIL import Image


def image(seed: int = 0, kind: str = "JPEG") -> bytes:
    """A small image file."""
    file = io.BytesIO()
    Image.new("RGB", (16, 12), (seed * 40 % 256, 90, 30)).save(file, kind)
    return file.getvalue()
