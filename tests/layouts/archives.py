"""Makes images and tars of them."""

import io
import tarfile
from collections.abc import Mapping

from PIL import Image


def image(seed: int = 0, kind: str = "JPEG") -> bytes:
    """A small image file."""
    file = io.BytesIO()
    Image.new("RGB", (16, 12), (seed * 40 % 256, 90, 30)).save(file, kind)
    return file.getvalue()


def tar(files: Mapping[str, str | bytes], mode: str = "w") -> bytes:
    """A tar of these files; an empty text stands for an image."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for number, (name, content) in enumerate(files.items()):
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data := data or image(number))
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()
