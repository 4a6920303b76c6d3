"""Images: what packer tells from their bytes, and the reader's decoders on the same bytes.

The limits are low here and memory is bounded, so that whatever allocates by a header's word
is found. The checksums of PNG are also made right. What was found sound has no faults and decodes
to the shape that was told; the same bytes under another description do, or are refused.
"""

import contextlib
import zlib
from collections.abc import Iterator

import numpy as np

from packer.errors import BadImage
from packer.images import jpeg
from packer.images import probe as images
from packer.inspect.shard import image_faults
from packer.inspect.verify import contradictions
from reader.decode.decoder import Decoder
from reader.decode.formats import read_values
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.format import FORMATS
from reader.format.errors import DecodeError
from reader.geometry import Geometry
from targets.making import LIMITS, encoded, picture

_PNG = b"\x89PNG\r\n\x1a\n"


def seeds() -> Iterator[bytes]:
    """Every format that packer knows, in some modes."""
    for kind in ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM"):
        yield encoded(kind)
    for kind, mode in (("PNG", "P"), ("PNG", "I;16"), ("PNG", "RGBA"), ("PNG", "1")):
        yield encoded(kind, mode="L" if mode == "I;16" else mode)
    for mode in ("L", "CMYK"):
        yield encoded("JPEG", mode=mode)
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    yield encoded("JPEG", exif=exif)
    yield encoded("JPEG", progressive=True, restart_marker_blocks=2)
    yield encoded("WEBP", mode="RGBA", lossless=True)
    yield encoded("WEBP", exif=exif)
    for kind in ("GIF", "PNG", "WEBP", "TIFF"):  # several frames
        yield encoded(kind, save_all=True, append_images=[picture(1), picture(2)])
    yield encoded("TIFF", compression="tiff_lzw")
    yield encoded("TIFF", mode="L", compression="tiff_adobe_deflate")


def one(data: bytes) -> None:
    """Probe an image, and decode it."""
    for content in {data, _sealed(data)}:
        with contextlib.suppress(ValueError):
            header = jpeg.read_header(content)
            assert header.frame_offset + 4 <= header.scan_offset <= len(content)
            jpeg.is_plain(content, header)
        with contextlib.suppress(BadImage):
            info = images.probe(content, LIMITS)
            decoded = Decoder().whole(_stored(content, info))  # what is packed can be read
            assert decoded.shape == (*_stored(content, info).upright_size, 3)
            assert list(_faults(content, info)) == []
        for format in ("jpg", "png", "webp"):
            _decode(content, images.ImageInfo(format, 24, 72, 3, 1))
        with contextlib.suppress(DecodeError):
            image = _stored(content, images.ImageInfo("png", 24, 72, 3, 1))
            assert read_values([plan(image, Geometry.of(24, 72))])[0].shape[:2] == (24, 72)


def _decode(data: bytes, info: images.ImageInfo) -> None:
    stored = _stored(data, info)
    with contextlib.suppress(DecodeError):
        assert Decoder().whole(stored).shape == (*stored.upright_size, 3)


def _stored(data: bytes, info: images.ImageInfo) -> StoredImage:
    return StoredImage(
        lambda start, stop: memoryview(data)[start:stop],
        len(data),
        info.format,
        info.height,
        info.width,
        info.channels,
        info.orientation,
    )


def _faults(data: bytes, info: images.ImageInfo) -> Iterator[str]:
    columns = {
        "crc32": np.array([zlib.crc32(data)], np.uint32),
        "format": np.array([FORMATS.index(info.format)]),
        "height": np.array([info.height]),
        "width": np.array([info.width]),
        "channels": np.array([info.channels]),
        "orientation": np.array([info.orientation]),
    }
    yield from image_faults(columns, 0, memoryview(data))
    yield from contradictions(columns, 0, data, LIMITS)


def _sealed(data: bytes) -> bytes:
    """`data` with the right checksum behind each chunk, if it is a PNG."""
    if not data.startswith(_PNG):
        return data
    content, at = bytearray(data), len(_PNG)
    while at + 12 <= len(content):
        end = at + 8 + int.from_bytes(content[at : at + 4], "big")
        if end + 4 > len(content):
            break
        content[end : end + 4] = zlib.crc32(content[at + 4 : end]).to_bytes(4, "big")
        at = end + 4
    return bytes(content)
