"""What is stored for an image under each policy."""

import io
from collections.abc import Callable

import numpy as np
import pytest
from made_images import encode, make_image, turned
from PIL import Image, ImageOps
from png_chunks import chunk

from packer.errors import BadImage
from packer.images import encode as encoding
from packer.images.encode import Policy
from packer.images.probe import ImageInfo

ToBytes = Callable[..., bytes]


def pixels(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), dtype=np.int64)


def test_a_png_is_banded_with_every_pixel_unless_it_is_to_stay_as_it_is() -> None:
    data = encode(make_image(3, 100, 120), "PNG")
    stored = encoding.encode(data, Policy(check=True))
    assert stored.bands is not None
    assert np.array_equal(pixels(stored.data), pixels(data))
    assert encoding.encode(data, Policy(banded=False)).data == data


def test_a_png_that_cannot_be_banded_stays_as_it_is_with_the_reason() -> None:
    deep = encode(Image.fromarray(np.zeros((90, 90), np.uint16)), "PNG")
    stored = encoding.encode(deep, Policy())
    assert (stored.data, stored.bands) == (deep, None)
    assert stored.unbanded == "its values have 16 bits, not 8"


def test_a_png_too_small_for_bands_to_help_stays_as_it_is() -> None:
    data = encode(make_image(3, 28, 28, "L"), "PNG")
    stored = encoding.encode(data, Policy())
    assert (stored.data, stored.bands, stored.unbanded) == (data, None, None)


def test_a_cmyk_jpeg_is_stored_as_it_is_and_the_reason_is_told() -> None:
    data = encode(make_image(4, mode="CMYK"), "JPEG")
    stored = encoding.encode(data, Policy())
    assert stored.data == data
    assert "CMYK" in str(stored.untiled)


@pytest.mark.parametrize("is_cut_short", [True, False])
def test_damage_that_decoders_only_warn_of_is_told_by_tiling_alone(is_cut_short: bool) -> None:
    sound = encode(make_image(5, 160, 200), "JPEG", quality=95)
    half = len(sound) // 2
    rest = b"\xff\xd9" if is_cut_short else bytes(40) + sound[half + 40 :]
    damaged = sound[:half].rstrip(b"\xff") + rest
    for tiled in (True, False):
        stored = encoding.encode(damaged, Policy(tiled=tiled))
        assert (stored.data, stored.tiles) == (damaged, None)
        assert bool(stored.untiled) == tiled


def test_a_transcode_that_changes_pixels_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    data, other = (encode(make_image(seed, 80, 80), "JPEG") for seed in (5, 6))
    right = encoding.tile
    monkeypatch.setattr(encoding, "tile", lambda data, header: right(other, header))
    stored = encoding.encode(data, Policy(check=True))
    assert stored.data == data
    assert "pixels" in str(stored.untiled)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_max_side_shrinks_larger_images_and_keeps_their_shape(kind: str) -> None:
    data = encode(make_image(7, 300, 400), kind)
    stored = encoding.encode(data, Policy(max_side=200))
    assert (stored.info.format, stored.info.height, stored.info.width) == ("jpg", 150, 200)
    assert stored.tiles is not None
    with Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(image.resize((200, 150), Image.Resampling.LANCZOS), dtype=np.int64)
    assert np.abs(pixels(stored.data) - expected).mean() < 6


def test_max_side_leaves_smaller_images_alone() -> None:
    data = encode(make_image(8, 100, 100), "JPEG")
    assert encoding.encode(data, Policy(tiled=False, max_side=100)).data == data


def test_quality_re_encodes_and_keeps_exif_and_icc() -> None:
    exif = turned(6)
    data = encode(make_image(9), "JPEG", quality=95, exif=exif, icc_profile=b"profile")
    stored = encoding.encode(data, Policy(quality=50))
    assert len(stored.data) < len(data)
    assert stored.info.orientation == 6
    with Image.open(io.BytesIO(stored.data)) as image:
        assert image.getexif()[0x0112] == 6
        assert image.info["icc_profile"] == b"profile"


def in_exif(encode: ToBytes, image: Image.Image, kind: str, exif: bytes) -> bytes:
    return encode(image, kind, exif=exif)


def in_xmp(encode: ToBytes, image: Image.Image, kind: str, exif: bytes) -> bytes:
    xmp = b'<x tiff:Orientation="%d"/>' % orientation_in(exif)
    if kind != "PNG":
        return encode(image, kind, xmp=xmp)
    return in_chunk(encode(image, "PNG"), b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp)


def in_xmp_beside_exif(encode: ToBytes, image: Image.Image, kind: str, exif: bytes) -> bytes:
    other = Image.Exif()
    other[0x010F] = "a camera"
    return encode(image, kind, exif=other, xmp=b'<x tiff:Orientation="%d"/>' % orientation_in(exif))


def in_raw_profile(encode: ToBytes, image: Image.Image, kind: str, exif: bytes) -> bytes:
    profile = f"\nexif\n{len(exif):8}\n{exif.hex()}\n".encode()
    return in_chunk(encode(image, kind), b"tEXt", b"Raw profile type exif\0" + profile)


def in_exif_that_no_jpeg_holds(
    encode: ToBytes, image: Image.Image, kind: str, exif: bytes
) -> bytes:
    return encode(image, kind, exif=exif + bytes(70_000))


def in_chunk(png: bytes, name: bytes, content: bytes) -> bytes:
    return png[:33] + chunk(name, content) + png[33:]


def orientation_in(exif: bytes) -> int:
    found = Image.Exif()
    found.load(exif)
    return int(found[0x0112])


def upright(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"), dtype=np.int64)


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize(
    ("kind", "place"),
    [
        *(("JPEG", place) for place in (in_exif, in_xmp, in_xmp_beside_exif)),
        *(("PNG", place) for place in (in_exif, in_xmp, in_raw_profile)),
        ("PNG", in_exif_that_no_jpeg_holds),
        *(("WEBP", place) for place in (in_exif, in_xmp)),
    ],
)
def test_every_reader_shows_what_is_re_encoded_as_pillow_shows_the_file(
    kind: str, place: Callable[..., bytes], orientation: int
) -> None:
    exif = turned(orientation)
    data = place(encode, make_image(14, 40, 60), kind, exif.tobytes())
    expected = upright(data)
    for policy in (Policy(quality=95), Policy(max_side=59, quality=95)):
        stored = encoding.encode(data, policy)
        assert stored.info.orientation == orientation
        if policy.max_side is None:
            found = upright(stored.data)
            assert found.shape == expected.shape
            assert np.abs(found - expected).mean() < 8  # turned otherwise it is 40 and more
        with Image.open(io.BytesIO(stored.data)) as image:
            assert image.getexif()[0x0112] == orientation
    raw = encoding.encode(data, Policy(raw=(expected.shape[0], expected.shape[1])))
    assert raw.data == expected.astype(np.uint8).tobytes()


def test_metadata_that_pillow_cannot_read_turns_nothing() -> None:
    image = make_image(15, 40, 60)
    data = encode(image, "PNG", exif=b"Exif\0\0nonsense")
    stored = encoding.encode(data, Policy(raw=(40, 60)))
    assert stored.data == np.asarray(image).tobytes()


def test_re_encoding_is_tiled_without_jpegtran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    stored = encoding.encode(encode(make_image(10, 200, 300), "PNG"), Policy(quality=80))
    assert stored.tiles is not None
    assert len(stored.tiles.segments) > 1


def test_an_image_is_re_encoded_once_and_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(make_image(10, 200, 300), "PNG")
    whole = encoding.encode(data, Policy(quality=80, tiled=False)).data
    saved: list[str] = []
    save = Image.Image.save

    def counted(image: Image.Image, file: object, kind: str, **options: object) -> None:
        saved.append(kind)
        save(image, file, kind, **options)

    monkeypatch.setattr(Image.Image, "save", counted)
    tiled = encoding.encode(data, Policy(quality=80))
    assert saved == ["JPEG"]
    assert tiled.data == encoding.encode(whole, Policy()).data


def test_a_grey_image_stays_grey_when_re_encoded() -> None:
    stored = encoding.encode(encode(make_image(11, mode="L"), "PNG"), Policy(quality=80))
    assert stored.info.channels == 1


def test_raw_stores_upright_pixels_of_the_size_asked_for() -> None:
    exif = turned(6)
    image = make_image(12, 40, 60)
    stored = encoding.encode(encode(image, "PNG", exif=exif), Policy(raw=(30, 20)))
    assert stored.info == ImageInfo("raw", 30, 20, 3, 1)
    found = np.frombuffer(stored.data, np.uint8).reshape(30, 20, 3).astype(int)
    expected = np.asarray(image.rotate(-90, expand=True).resize((20, 30)), dtype=int)
    assert np.abs(found - expected).mean() < 6


def test_raw_stores_the_high_bits_of_16_upright() -> None:
    values = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30) * 100
    exif = turned(6)
    data = encode(Image.fromarray(values), "PNG", exif=exif)
    stored = encoding.encode(data, Policy(raw=(30, 20)))
    pixels = np.frombuffer(stored.data, np.uint8).reshape(30, 20, 3)
    assert np.array_equal(pixels[..., 0], np.rot90(values >> 8, -1))


def test_raw_cuts_about_the_centre_what_has_another_shape() -> None:
    pixels = np.zeros((10, 30, 3), np.uint8)
    pixels[:, 10:20] = 200
    stored = encoding.encode(pixels, Policy(raw=(10, 10)))
    assert set(stored.data) == {200}


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("colours", [0, 1, 3, 17, 256])
def test_numbers_above_a_palette_keep_what_pillow_shows(mode: str, colours: int) -> None:
    numbers = np.resize(np.array([0, 1, 2, 16, 255], np.uint8), (20, 30))
    picture = Image.fromarray(numbers)
    picture.putpalette([(n * 7 + 1) % 256 for n in range(colours * len(mode))], mode)
    with Image.open(io.BytesIO(encoding.encode(picture, Policy()).data)) as stored:
        assert np.array_equal(stored, numbers)
        assert np.array_equal(stored.convert("RGBA"), picture.convert("RGBA"))


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_become_a_jpeg_where_a_quality_or_a_size_asks_for_it(channels: int) -> None:
    pixels = np.full((64, 96, channels), 100, np.uint8)
    for policy, size in ((Policy(quality=90), (64, 96)), (Policy(max_side=48), (32, 48))):
        stored = encoding.encode(pixels, policy)
        assert (stored.info.format, stored.info.height, stored.info.width) == ("jpg", *size)
        assert stored.info.channels == channels
        assert stored.tiles is not None


def test_a_damaged_image_is_refused_for_raw_as_well() -> None:
    data = encode(make_image(13), "PNG")
    with pytest.raises(BadImage, match="damaged"):
        encoding.encode(data[: len(data) // 2], Policy(raw=(8, 8)))
