"""Probes an image file from its bytes: format, size, channels, orientation.

Files that Pillow does not open, decode whole and convert to RGB are rejected, as by the reader. The
markers of a plain JPEG prove that it decodes; anything else is decoded.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import simplejpeg
from PIL import Image, ImageFile, UnidentifiedImageError

from packer.errors import BadImage, message_of
from packer.images import jpeg
from packer.words import Message, option, typed
from reader.errors import lacks_memory
from reader.format import FORMATS, Limits
from reader.format.columns import ImageRow, MemberRow
from reader.format.pictures import PILLOW_FORMATS, bits_of, opened

# What Pillow's plugins raise on damaged files.
PILLOW_ERRORS = (
    *(OSError, SyntaxError, ValueError, EOFError, AttributeError, IndexError, KeyError),
    *(OverflowError, RuntimeError, TypeError, struct.error, zlib.error),
)

_NAMES = {**PILLOW_FORMATS, "MPO": "jpg"}  # what Pillow calls a JPEG with further images behind it
ORIENTATION = 0x0112  # EXIF's tag
_BITS, _SAMPLES = 258, 277  # tags of TIFF
_MOST_PAGES = 100  # that are counted
_PNG = b"\x89PNG\r\n"
_BEGINNINGS = {
    b"\xff\xd8": "jpg",
    b"\x89PNG": "png",
    b"RIFF": "webp",
    b"GIF8": "gif",
    b"BM": "bmp",
    b"II*\0": "tif",
    b"MM\0*": "tif",
}
_JXL_BOX = b"\0\0\0\x0cJXL \r\n\x87\n"
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
ONE_CHANNEL = {"1", "L", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"}


@dataclass(frozen=True)
class ImageInfo:
    """The index columns of an image; `height` and `width` are stored, before `orientation`."""

    format: str
    height: int
    width: int
    channels: int
    orientation: int
    dropped: tuple[str, ...] = field(default=(), repr=False, compare=False)  # what no reader shows

    def row(self, place: MemberRow, label: int) -> ImageRow:
        """Return the index's row of an image at this offset, of a sample with this label."""
        return ImageRow(
            *(place.offset, place.size, label, self.height, self.width),
            *(FORMATS.index(self.format), self.channels, self.orientation, place.crc32),
        )


def probe(data: bytes, limits: Limits = Limits()) -> ImageInfo:  # noqa: B008  # frozen
    """Return what an image is, or raise BadImage: the reader decodes it whole, and to RGB."""
    proven = _proven(data) if data.startswith(b"\xff\xd8") else None
    if proven is not None and jpeg.is_bare(data, proven):
        check_size(proven.height, proven.width, limits)
        return ImageInfo("jpg", proven.height, proven.width, len(proven.sampling), 1)
    try:
        if data.startswith(_PNG):
            with opened(data, "PNG") as image:
                image.verify()  # the checksums, which decoding passes over
        with opened(data) as image:
            check_size(image.height, image.width, limits)
            channels = channels_of(image)
            is_jpeg = _NAMES[str(image.format)] == "jpg"
            lost = () if is_jpeg else (*pages_of(image), *dropped(image))
            if proven is None:
                image.load()  # cut short or damaged, it does not
                try:  # whether there is a way from its mode to RGB
                    image.crop((0, 0, 1, 1)).convert("RGB")
                except ValueError:
                    reason = f"Pillow does not convert its pixels ({image.mode}) to RGB"
                    raise BadImage(reason) from None
            # Pillow turns a TIFF upright itself, and gives its upright size.
            orientation = 1 if image.format == "TIFF" else orientation_of(image)
            name = _NAMES[str(image.format)]
            return ImageInfo(name, image.height, image.width, channels, orientation, lost)
    except UnidentifiedImageError:
        raise BadImage(_why_unknown(data)) from None
    except PILLOW_ERRORS as error:
        raise damaged(error) from error


def _proven(data: bytes) -> jpeg.JpegHeader | None:
    """Return the header of a JPEG whose markers prove that Pillow decodes it, if it opens it."""
    try:
        header = jpeg.read_header(data)
        if header.process not in (0xC0, 0xC1) or len(header.sampling) not in (1, 3):
            return None
        check_for_reader(data)
    except ValueError:
        return None
    return header if jpeg.is_plain(data, header) else None


def check_for_reader(data: bytes) -> None:
    """Raise ValueError if the reader's own decoder complains of a JPEG's header."""
    try:
        simplejpeg.decode_jpeg_header(data)
    except KeyError:
        raise ValueError("simplejpeg has no name for its sampling") from None


def damaged(error: Exception) -> BadImage | MemoryError:
    if lacks_memory(error):
        return MemoryError(str(error))  # which says nothing of the file
    return BadImage(f"it is damaged or cut short ({message_of(error)})")


def _why_unknown(data: bytes) -> str:
    if data.startswith(_PNG):
        return "it is a PNG with a damaged header"
    if not data.startswith(b"\xff\xd8"):
        return _not_packed(data)
    try:
        header = jpeg.read_header(data)
    except ValueError as error:
        return f"it is a damaged JPEG: {error}"
    if header.precision != 8:
        return f"it is a JPEG of {header.precision} bits a sample, and those of 8 can be read"
    if header.width == 0 or header.height == 0:
        return f"it is a JPEG whose header says {header.width} x {header.height} pixels"
    return "it is a JPEG with a segment in its header that Pillow does not read"


def _not_packed(data: bytes) -> str:
    is_box = data[4:8] == b"ftyp"
    brands = data[8 : min(int.from_bytes(data[:4], "big"), 256)] if is_box else b""
    if data.startswith((b"\xff\x0a", _JXL_BOX)):
        known = "JPEG XL", "djxl does it, and gives back the very JPEG where it was one"
    elif b"avif" in brands or b"avis" in brands:
        known = "AVIF", "Pillow opens it"
    elif brands.startswith(_HEIC_BRANDS):
        known = "HEIC", "Pillow opens it with pillow-heif"
    elif (bands := _bands_of(data)) > 1:
        return Message(
            f"it is a TIFF of {bands} bands of a kind that Pillow does not open. Save its bands as "
            "an array (.npy) and a picture of it under the same name in two folders, and pack "
            "both: ",
            typed("pack", "PICTURES", "NEW", "--pair", "bands=ARRAYS"),
        )
    else:
        return "it is not an image of a known format"
    return "it is {}, which is not packed: convert it to JPEG or PNG ({})".format(*known)


def _bands_of(data: bytes) -> int:
    """Return the bands of a TIFF, by the first directory of its tags (TIFF 6.0); 0: of no TIFF."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    with suppress(struct.error):
        if order is not None:
            (at,) = struct.unpack_from(f"{order}I", data, 4)
            (count,) = struct.unpack_from(f"{order}H", data, at)
            for entry in range(at + 2, at + 2 + 12 * count, 12):
                tag, _, _, value = struct.unpack_from(f"{order}HHIH", data, entry)
                if tag == _SAMPLES:
                    return int(value)
    return 0


def extension_of(data: bytes, name: str) -> str:
    """Return the extension that an image file would have; `name`: of the column that holds it."""
    for begin, ext in _BEGINNINGS.items():
        if data.startswith(begin):
            return ext
    raise BadImage(f"what its {name!r} holds is not an image of a known format")


def channels_of(image: Image.Image) -> int:
    return 1 if image.mode in ONE_CHANNEL else len(image.getbands())


def pages_of(image: Image.Image) -> Iterator[str]:
    """Yield what is lost of a picture with further pages or frames."""
    if image.format != "TIFF":
        if getattr(image, "is_animated", False):
            yield "several frames; the first is used"
        return
    count = 1
    with suppress(*PILLOW_ERRORS):
        while count < _MOST_PAGES:
            image.seek(count)
            count += 1
    image.seek(0)
    if count > 1:
        yield f"{count}{' or more' * (count == _MOST_PAGES)} pages; the first is used"


def dropped(image: Image.Image) -> Iterator[str]:
    """Yield what is lost of a picture when it becomes RGB or grey of 8 bits; it is undecoded."""
    tags = getattr(image, "tag_v2", {})
    is_transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    if (bands := tags.get(_SAMPLES, 1)) > 3 and not is_transparent and image.mode != "CMYK":
        used = "first is" if image.mode in ONE_CHANNEL else "first 3 are"
        yield f"{bands} bands; the {used} used"
    if is_transparent or "transparency" in image.info:
        yield "transparency, which is dropped"
    if image.mode in ("F", "I") and bits_of(image) is None:
        yield "signed or floating-point values; they are clipped to 0 to 255"
    elif (bits := bits_of(image) or max(tags.get(_BITS, (_deep(image),)))) > 8:
        yield f"{bits} bits a value; the highest 8 are used"


def _deep(image: Image.Image) -> int:
    """Return the bits of a value that is stored in one or two bytes, as PNG's and PPM's are."""
    coded = image.tile[0].args if isinstance(image, ImageFile.ImageFile) and image.tile else ""
    is_deep = image.format == "PPM" and isinstance(coded, tuple) and coded[-1] > 255
    return 16 if is_deep or ";16" in str(coded) else 8


TOO_LARGE = re.compile(r"it has (\d+) x (\d+) pixels; \d+ are the most")


def check_size(height: int, width: int, limits: Limits) -> None:
    if height * width > (most := limits.pixels):
        raise BadImage(
            f"it has {width} x {height} pixels; {most} are the most (to allow more, pass a larger ",
            option("max_pixels"),
            ")",
        )


def orientation_of(image: Image.Image) -> int:
    """Return the orientation by EXIF, a PNG's raw profile or XMP, as Pillow has it; 1 for none."""
    try:
        value = image.getexif().get(ORIENTATION)
    except PILLOW_ERRORS:
        return 1  # metadata that cannot be read says nothing
    return value if isinstance(value, int) and 1 <= value <= 8 else 1
