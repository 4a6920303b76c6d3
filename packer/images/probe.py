"""What an image file is, from its bytes: format, size, channels, orientation.

A plain JPEG is known by its markers alone. Whatever looks odd, and every other format, is decoded
with Pillow, which has the last word: what it does not decode whole is rejected.
"""

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import simplejpeg
from PIL import Image, UnidentifiedImageError

from packer.errors import BadImage
from packer.images import jpeg
from reader.format import Limits

Image.MAX_IMAGE_PIXELS = None  # `Limits` has the limit, and this module says so in its own words

# What Pillow's plugins raise on damaged files.
PILLOW_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    RuntimeError,
    TypeError,
    struct.error,
    zlib.error,
)

_FORMATS = {
    "JPEG": "jpg",
    "PNG": "png",
    "WEBP": "webp",
    "BMP": "bmp",
    "GIF": "gif",
    "TIFF": "tiff",
    "PPM": "ppm",
}
PILLOW_FORMATS = tuple(_FORMATS)  # it knows others, some of which start programs
_NAMES = {**_FORMATS, "MPO": "jpg"}  # what Pillow calls a JPEG with further images behind it
_ORIENTATION = 0x0112
_PNG = b"\x89PNG\r\n"
ONE_CHANNEL = {"1", "L", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"}


@dataclass(frozen=True)
class ImageInfo:
    """What the index says of an image; `height` and `width` as stored, before `orientation`."""

    format: str
    height: int
    width: int
    channels: int
    orientation: int


def probe(data: bytes, limits: Limits = Limits()) -> ImageInfo:  # noqa: B008  # frozen
    """Tell what an image is and that it is whole.

    Raises:
        BadImage: it is no image of a known format, cut short, damaged, or too large.
    """
    if data.startswith(b"\xff\xd8"):
        info = _probe_jpeg(data, limits)
        if info is not None:
            return info
    return _probe_with_pillow(data, limits)


def _probe_jpeg(data: bytes, limits: Limits) -> ImageInfo | None:
    """None where the markers do not prove that Pillow decodes it."""
    try:
        header = jpeg.read_header(data)
        if header.process not in (0xC0, 0xC1) or header.precision != 8:
            return None
        if len(header.sampling) not in (1, 3):
            return None
        if not jpeg.is_plain(data, header):
            return None
        simplejpeg.decode_jpeg_header(data)  # of what is odd in the header, it complains
    except ValueError:
        return None
    _check_pixels(header.height, header.width, limits)
    orientation = _orientation(lambda: _parsed(header.exif)) if header.exif else 1
    return ImageInfo("jpg", header.height, header.width, len(header.sampling), orientation)


def _probe_with_pillow(data: bytes, limits: Limits) -> ImageInfo:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's remarks on metadata; the pixels decide
            if data.startswith(_PNG):
                with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
                    image.verify()  # the checksums, which decoding passes over
            with Image.open(io.BytesIO(data), formats=PILLOW_FORMATS) as image:
                _check_pixels(image.height, image.width, limits)
                info = ImageInfo(
                    _NAMES[str(image.format)],
                    image.height,
                    image.width,
                    1 if image.mode in ONE_CHANNEL else len(image.getbands()),
                    # Pillow turns a TIFF upright itself, and gives its upright size.
                    1 if image.format == "TIFF" else _orientation(image.getexif),
                )
                image.load()  # cut short or damaged, it does not
    except UnidentifiedImageError:
        raise BadImage(_why_unknown(data)) from None
    except PILLOW_ERRORS as error:
        raise damaged(error) from error
    return info


def damaged(error: Exception) -> BadImage | MemoryError:
    """What an error of Pillow's means."""
    if "out of memory" in str(error):
        return MemoryError(str(error))  # which says nothing of the file
    return BadImage(f"it is damaged or cut short ({error})")


def _why_unknown(data: bytes) -> str:
    """Why Pillow does not know it."""
    if data.startswith(_PNG):
        return "it is a PNG with a damaged header"
    if not data.startswith(b"\xff\xd8"):
        return "it is not an image of a known format"
    try:
        header = jpeg.read_header(data)
    except ValueError as error:
        return f"it is a damaged JPEG: {error}"
    if header.precision != 8:
        return f"it is a JPEG of {header.precision} bits a sample, and those of 8 can be read"
    return f"it is a JPEG whose header says {header.width} x {header.height} pixels"


def _check_pixels(height: int, width: int, limits: Limits) -> None:
    if height * width > limits.pixels:
        raise BadImage(
            f"it has {width} x {height} pixels; {limits.pixels} are the most (--max-pixels)"
        )


def _orientation(read: Callable[[], Image.Exif]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = read().get(_ORIENTATION)
    except PILLOW_ERRORS:
        return 1  # metadata that cannot be read says nothing
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _parsed(exif: bytes) -> Image.Exif:
    tags = Image.Exif()
    tags.load(exif)
    return tags
