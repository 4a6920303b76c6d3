import struct
import zlib

import png_chunks
import pytest
from made_images import encode, make_image, turned
from PIL import ImageFile

from packer.errors import BadImage
from packer.images import jpeg
from packer.images.probe import ImageInfo, probe
from reader.format import Limits

KINDS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return {kind: encode(make_image(3, 40, 50), kind) for kind in KINDS}


def png_of(height: int, width: int) -> bytes:
    """A sound PNG of black pixels, one bit each."""

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((1 + (width + 7) // 8) * height), 1)
    # With EXIF, so that Pillow has no reason to look for it behind the pixels.
    exif = turned(1).tobytes().removeprefix(b"Exif\0\0")
    chunks = [(b"IHDR", header), (b"eXIf", exif), (b"IDAT", rows), (b"IEND", b"")]
    return png_chunks.SIGNATURE + b"".join(png_chunks.chunk(*each) for each in chunks)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_image_is_told_by_its_bytes(files: dict[str, bytes], kind: str) -> None:
    info, name = probe(files[kind]), {"JPEG": "jpg"}.get(kind, kind.lower())
    assert (info.format, info.height, info.width, info.orientation) == (name, 40, 50, 1)


@pytest.mark.parametrize(
    ("kind", "mode", "channels"),
    [
        *(("JPEG", "L", 1), ("JPEG", "RGB", 3), ("JPEG", "CMYK", 4), ("PNG", "1", 1)),
        *(("PNG", "L", 1), ("PNG", "LA", 2), ("PNG", "RGB", 3), ("PNG", "RGBA", 4)),
        *(("PNG", "I;16", 1), ("WEBP", "RGBA", 4), ("PPM", "L", 1), ("TIFF", "L", 1)),
    ],
)
def test_the_channels_are_those_that_are_stored(kind: str, mode: str, channels: int) -> None:
    image = make_image(1).convert("RGB" if mode == "RGB" else "L").convert(mode)
    if "A" in mode:
        image.putalpha(100)
    assert probe(encode(image, kind)).channels == channels


def test_a_jpeg_may_be_progressive_have_two_pictures_and_go_on_behind_its_end() -> None:
    image = make_image(1, 30, 20)
    for data in (
        encode(image, "JPEG", progressive=True),
        encode(image, "MPO", save_all=True, append_images=[make_image(2)]),
        encode(image, "JPEG") + b"appended by a camera",
    ):
        assert probe(data) == ImageInfo("jpg", 30, 20, 3, 1)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_the_orientation_is_told_and_the_size_is_as_stored(kind: str, orientation: int) -> None:
    info = probe(encode(make_image(1, 30, 20), kind, exif=turned(orientation)))
    assert (info.height, info.width, info.orientation) == (30, 20, orientation)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize(
    "exif",
    [
        *(b"Exif\0\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0II*"),
        *(turned(value).tobytes() for value in (0, 9, 65535)),
    ],
    ids=range(6),
)
def test_an_orientation_that_does_not_exist_counts_as_upright(kind: str, exif: bytes) -> None:
    assert probe(encode(make_image(1), kind, exif=exif)).orientation == 1


def test_a_turned_tiff_has_the_size_that_pillow_decodes_it_to() -> None:
    data = encode(make_image(1, 30, 20), "TIFF", exif=turned(6))
    info = probe(data)
    assert (info.height, info.width, info.orientation) == (20, 30, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_an_image_cut_short_is_rejected(files: dict[str, bytes], kind: str, part: float) -> None:
    data = files[kind]
    with pytest.raises(BadImage):
        probe(data[: int(len(data) * part)])


def test_a_progressive_jpeg_cut_short_is_rejected() -> None:
    data = encode(make_image(1, 200, 300), "JPEG", progressive=True)
    with pytest.raises(BadImage):
        probe(data[: len(data) * 2 // 3])


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"just some text\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.7"),
        *(b"\xff\xd8", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"RIFF", b"II*\0"),
        bytes(9),
    ],
    ids=repr,
)
def test_what_is_no_image_is_rejected(data: bytes) -> None:
    with pytest.raises(BadImage):
        probe(data)


@pytest.mark.parametrize(
    ("data", "name", "way"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC", "Pillow opens it with pillow-heif"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "HEIC", "Pillow opens it with pillow-heif"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", "AVIF", "Pillow opens it"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL", "djxl"),
        (b"\xff\x0a\0\0", "JPEG XL", "djxl"),
    ],
)
def test_a_format_that_is_not_packed_has_a_way_out(data: bytes, name: str, way: str) -> None:
    with pytest.raises(BadImage, match=rf"it is {name}, which is not packed: .* \({way}"):
        probe(data + bytes(40))


def test_a_video_is_not_taken_for_an_image() -> None:
    with pytest.raises(BadImage, match="it is not an image of a known format"):
        probe(b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + bytes(40))


def test_a_png_with_a_wrong_checksum_is_rejected(files: dict[str, bytes]) -> None:
    data = bytearray(files["PNG"])
    data[len(data) // 2] ^= 1
    with pytest.raises(BadImage):
        probe(bytes(data))


@pytest.mark.parametrize("factors", [0x00, 0x10, 0x01, 0x55, 0xFF])
def test_a_jpeg_of_impossible_sampling_is_rejected(files: dict[str, bytes], factors: int) -> None:
    data = bytearray(files["JPEG"])
    at = jpeg.read_header(files["JPEG"]).frame_offset
    data[at + 6 : at + 15 : 3] = bytes([factors] * 3)
    with pytest.raises(BadImage):
        probe(bytes(data))


def test_an_image_of_too_many_pixels_is_rejected_for_that(files: dict[str, bytes]) -> None:
    data = bytearray(files["JPEG"])
    at = jpeg.read_header(files["JPEG"]).frame_offset
    data[at : at + 4] = struct.pack(">HH", 60_000, 60_000)
    for large in (bytes(data), png_of(30_000, 30_000)):
        with pytest.raises(BadImage, match=f"{Limits().pixels} are the most"):
            probe(large)


def test_a_large_png_within_the_bounds_is_sound() -> None:
    assert probe(png_of(15_000, 15_000)) == ImageInfo("png", 15_000, 15_000, 1, 1)


@pytest.mark.parametrize(
    "error",
    [
        *(AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError),
        *(struct.error, zlib.error),
    ],
)
def test_whatever_pillow_raises_on_a_damaged_image_rejects_it(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], error: type[Exception]
) -> None:
    def load(image: object) -> None:
        raise error("as Pillow's plugins raise now and then")

    monkeypatch.setattr(ImageFile.ImageFile, "load", load)
    with pytest.raises(BadImage):
        probe(files["BMP"])


def test_a_bare_jpeg_is_known_without_pillow_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for mode in ("L", "RGB"):
        data = encode(make_image(1, 30, 41, mode), "JPEG", comment=b"a heron")
        found = probe(data)
        with monkeypatch.context() as patch:
            patch.setattr(jpeg, "is_bare", lambda *_: False)
            assert probe(data) == found
        with pytest.raises(BadImage, match="41 x 30 pixels"):
            probe(data, Limits(pixels=1000))
