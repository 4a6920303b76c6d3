"""What comes out for each kind of image file: pixels as Pillow and libjpeg-turbo see them."""

import contextlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import simplejpeg
from delivered import Write
from guarded import guarded_simplejpeg
from lossless_jpeg import lossless
from made_images import encode, make_image
from made_images import turned as turned_to
from numpy.typing import NDArray
from PIL import Image, ImageOps

from reader import CenterCrop, Dataset, Geometry, Loader, Resize, Transform
from reader.decode.decoder import Decoder
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.format.errors import DecodeError
from reader.rng import SampleRandom

Pixels = NDArray[Any]
Decode = Callable[..., Pixels]


@pytest.fixture
def decode(make_dataset: Write) -> Decode:
    """`decode("name.png", data, upright=True)`: pack the file and read it back."""

    def read_back(name: str, data: bytes, upright: bool = True, **options: Any) -> Pixels:
        return Dataset(make_dataset({name: data}, **options), upright=upright)[0][0]

    return read_back


def with_pillow(data: bytes) -> Pixels:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def upright(image: Image.Image) -> Pixels:
    return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def cropped(top: int, left: int, height: int, width: int) -> Transform:
    class Crop:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            geometry.crop(top, left, height, width)

    return Crop()


def loaded(folder: Path | Dataset, transforms: Sequence[Transform], **options: Any) -> list[Pixels]:
    with Loader(folder, transforms=transforms, workers=0, batch_size=4, **options) as loader:
        return [image.permute(1, 2, 0).numpy() for images, _ in loader for image in images]


JPEGS: dict[str, tuple[str, dict[str, Any]]] = {
    "4:2:0": ("RGB", {"subsampling": 2}),
    "4:2:2": ("RGB", {"subsampling": 1}),
    "4:4:4": ("RGB", {"subsampling": 0}),
    "progressive": ("RGB", {"progressive": True}),
    "optimised": ("RGB", {"optimize": True, "quality": 30}),
    "grey": ("L", {}),
    "grey progressive": ("L", {"progressive": True}),
    "stored as RGB": ("RGB", {"keep_rgb": True}),
    "restart markers": ("RGB", {"restart_marker_blocks": 2}),
    "restart markers by row": ("RGB", {"restart_marker_rows": 1}),
}


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        *((kind, (61, 83)) for kind in JPEGS),
        *(("4:2:0", size) for size in ((64, 80), (1, 1), (7, 200))),
        *(("restart markers", size) for size in ((64, 80), (1, 1), (7, 200), (300, 400))),
    ],
)
def test_a_jpeg_decodes_exactly_as_libjpeg_turbo_decodes_it(
    decode: Decode, kind: str, size: tuple[int, int]
) -> None:
    mode, options = JPEGS[kind]
    data = encode(make_image(1, *size, mode), "JPEG", **options)
    for jpeg in ("tiled", "verbatim"):
        seen = decode("image.jpg", data, jpeg=jpeg)
        assert np.array_equal(seen, simplejpeg.decode_jpeg(data, "RGB")), jpeg


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        *(("PNG", mode, {}) for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
        *(("PNG", "P", {"bits": bits}) for bits in (1, 2, 4)),
        # What is transparent shows its colours.
        ("PNG", "P", {"transparency": 7}),
        ("PNG", "L", {"transparency": 0}),
        ("PNG", "RGB", {"transparency": (0, 0, 0)}),
        *(("JPEG", "CMYK", options) for options in ({}, {"progressive": True})),
        ("WEBP", "RGB", {}),
        ("WEBP", "RGB", {"lossless": True}),
        ("WEBP", "RGBA", {"lossless": True, "exact": True}),
        *(("BMP", mode, {}) for mode in ("1", "L", "P", "RGB")),
        *(("GIF", mode, {}) for mode in ("1", "L", "P")),
        *(("TIFF", mode, {}) for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "LAB")),
        *(("TIFF", "RGB", {"compression": name}) for name in ("tiff_lzw", "tiff_adobe_deflate")),
        *(("PPM", mode, {}) for mode in ("1", "L", "RGB")),
    ],
)
def test_every_mode_of_a_format_decodes_as_pillow_converts_it(
    decode: Decode, kind: str, mode: str, options: dict[str, Any]
) -> None:
    image = make_image(4, 40, 30, mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(make_image(5, 40, 30, "L"))
    data = encode(image, kind, **options)
    assert np.array_equal(decode(f"image.{kind.lower()}", data), with_pillow(data))


def test_of_16_bits_in_a_tiff_the_high_bytes_are_shown(decode: Decode) -> None:
    """`odd_images` has those of other formats."""
    deep = np.random.default_rng(0).integers(0, 2**16, (40, 30, 3), dtype=np.uint16)
    data = cv2.imencode(".tiff", deep[:, :, ::-1])[1].tobytes()
    assert np.array_equal(decode("rgb.tif", data), deep >> 8)


def test_a_png_wider_than_opencv_accepts_decodes_all_the_same(decode: Decode) -> None:
    row = np.random.default_rng(0).integers(0, 256, (1, 2**20 + 1), dtype=np.uint8)
    seen = decode("image.png", encode(Image.fromarray(row), "PNG"))
    assert np.array_equal(seen, np.stack([row] * 3, axis=-1))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_oriented_image_is_turned_upright(decode: Decode, orientation: int) -> None:
    """`odd_images` has those of other formats."""
    data = encode(make_image(6, 37, 59), "PNG", exif=turned_to(orientation))
    seen = decode("image.png", data)
    assert seen.shape[:2] == ((59, 37) if orientation > 4 else (37, 59))
    assert np.array_equal(seen, upright(Image.open(io.BytesIO(data))))


@pytest.fixture(scope="module", params=["tiled", "verbatim"])
def turned(request: pytest.FixtureRequest, make_dataset: Write) -> Path:
    """JPEGs (plain, progressive, with restart markers) and PNGs in all eight orientations."""
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "plain.jpg": ("JPEG", {"quality": 90}),
        "progressive.jpg": ("JPEG", {"progressive": True}),
        "restart.jpg": ("JPEG", {"restart_marker_blocks": 1}),
        "lossless.png": ("PNG", {}),
    }
    return make_dataset(
        {
            f"{8 * number + orientation}.{name.partition('.')[2]}": encode(
                make_image(orientation, 90, 120), kind, exif=turned_to(orientation), **options
            )
            for number, (name, (kind, options)) in enumerate(kinds.items())
            for orientation in range(1, 9)
        },
        jpeg=request.param,
    )


@pytest.mark.parametrize(
    ("box", "upright"),
    [
        ((0, 0, 90, 90), True),
        ((13, 29, 50, 41), True),
        ((13, 29, 50, 41), False),
        ((70, 3, 20, 80), True),
        ((33, 33, 1, 1), True),
    ],
)
def test_a_crop_equals_the_same_part_of_the_whole_image_in_every_orientation(
    turned: Path, box: tuple[int, int, int, int], upright: bool
) -> None:
    top, left, height, width = box
    dataset = Dataset(turned, upright=upright)
    crops = loaded(dataset, [cropped(*box)])
    assert len(crops) == len(dataset) == 32
    for number, crop in enumerate(crops):
        whole, _ = dataset[number]
        assert np.array_equal(crop, whole[top : top + height, left : left + width]), number


def test_a_crop_over_the_edge_is_black_there_and_flips_mirror_it_in_every_orientation(
    turned: Path,
) -> None:
    class Flip:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            geometry.hflip, geometry.vflip = True, True

    dataset = Dataset(turned)
    for number, crop in enumerate(loaded(turned, [cropped(-5, 40, 200, 300), Flip()])):
        whole, _ = dataset[number]
        expected = np.zeros((200, 300, 3), np.uint8)
        expected[5 : 5 + whole.shape[0], : whole.shape[1] - 40] = whole[:, 40:]
        assert np.array_equal(crop, expected[::-1, ::-1]), number
    for box in ((-40, 0, 40, 40), (0, 400, 40, 40)):
        assert all(not crop.any() for crop in loaded(turned, [cropped(*box)]))


@pytest.fixture(scope="module")
def smooth(make_dataset: Write) -> dict[str, Any]:
    """Images of 480 x 640 pixels without fine detail, by file name; and their dataset."""
    image = make_image(3, 60, 80).resize((640, 480), Image.Resampling.BICUBIC)
    on_its_side = image.transpose(Image.Transpose.ROTATE_90)
    files = {
        "1.jpg": encode(image, "JPEG", quality=95),
        "2.jpg": encode(image, "JPEG", quality=95, subsampling=0, restart_marker_blocks=40),
        "3.jpg": encode(image, "JPEG", quality=95, progressive=True),
        "4.jpg": encode(image.convert("L"), "JPEG", quality=95),
        "5.jpg": encode(on_its_side, "JPEG", quality=95, exif=turned_to(6)),
        "6.png": encode(image, "PNG"),
    }
    upright_images = [
        Image.fromarray(upright(Image.open(io.BytesIO(data)))) for data in files.values()
    ]
    return {"folder": make_dataset(files), "images": upright_images}


def by_pillow(image: Image.Image, *steps: int | tuple[int, ...]) -> Pixels:
    """What Pillow makes of it: a shorter side, (height, width), or a box to crop."""
    for step in steps:
        if isinstance(step, tuple) and len(step) == 4:
            top, left, height, width = step
            image = image.crop((left, top, left + width, top + height))
        else:
            sides = (
                [int(step * side / min(image.size)) for side in image.size[::-1]]
                if isinstance(step, int)
                else step
            )
            image = image.resize(sides[::-1], Image.Resampling.BILINEAR)
    return np.asarray(image)


@pytest.mark.parametrize(
    ("transforms", "steps"),
    [
        ([Resize((300, 400))], [(300, 400)]),
        ([Resize(200)], [200]),
        ([Resize(100)], [100]),
        ([Resize((50, 60))], [(50, 60)]),
        ([Resize(900)], [900]),
        ([CenterCrop((333, 222))], [(74, 209, 333, 222)]),
        ([Resize(256), CenterCrop(224)], [256, (16, 58, 224, 224)]),
        ([CenterCrop(400), Resize((64, 48))], [(40, 120, 400, 400), (64, 48)]),
        ([cropped(33, 47, 211, 301), Resize((64, 64))], [(33, 47, 211, 301), (64, 64)]),
        ([cropped(133, 147, 101, 133), Resize((224, 224))], [(133, 147, 101, 133), (224, 224)]),
    ],
)
def test_crops_and_resizes_agree_with_pillow(
    smooth: dict[str, Any], transforms: list[Transform], steps: list[Any]
) -> None:
    for mine, image in zip(loaded(smooth["folder"], transforms), smooth["images"], strict=True):
        expected = by_pillow(image, *steps)
        assert mine.shape == expected.shape
        error = np.abs(mine.astype(int) - expected)
        # Measured: a mean of 0.1 to 1.5 and 9 at most, where a JPEG is decoded at 3/8 its scale.
        assert error.mean() < 2
        assert error.max() <= 12


def programs() -> list[list[tuple[str, tuple[int, ...]]]]:
    """Random pipelines of crops (also over the edge), resizes and flips, and some nasty ones."""
    rng = np.random.default_rng(0)
    found: list[list[tuple[str, tuple[int, ...]]]] = [
        [("resize", (500, 700)), ("crop", (0, 697, 500, 100))],
        [("resize", (500, 700)), ("crop", (499, 699, 50, 50))],
        [("resize", (500, 700)), ("crop", (-49, -49, 50, 50))],
        [("resize", (9, 9)), ("crop", (8, 8, 1, 1))],
        [("resize", (1, 1))],
        [("crop", (59, 79, 1, 1)), ("resize", (30, 30))],
    ]
    while len(found) < 40:
        found.append([])
        for kind in rng.choice(["resize", "crop", "hflip", "vflip"], rng.integers(1, 5)):
            if kind == "resize":
                found[-1].append((kind, tuple(rng.integers(10, 150, 2).tolist())))
            elif kind == "crop":
                corner, size = rng.integers(-10, 40, 2), rng.integers(5, 90, 2)
                found[-1].append((kind, (*corner.tolist(), *size.tolist())))
            else:
                found[-1].append((kind, ()))
    return found


def test_any_pipeline_shows_the_box_of_its_geometry_and_black_outside(make_dataset: Write) -> None:
    pipelines = programs()

    class ByHeight:
        """Applies a pipeline that it knows by the image's height."""

        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            number = geometry.height - 60
            for name, arguments in pipelines[number] if number in range(len(pipelines)) else ():
                if name in ("hflip", "vflip"):
                    setattr(geometry, name, not getattr(geometry, name))
                else:
                    getattr(geometry, name)(*arguments)
            geometry.resize(40, 50)

    def ramp(height: int) -> Image.Image:
        rows, columns = np.mgrid[:height, :80]
        pixels = np.stack([10 + 2 * rows, 10 + 2 * columns, 0 * rows + 128], axis=-1)
        return Image.fromarray(pixels.astype(np.uint8))

    folder = make_dataset(
        {f"{n:02d}.png": encode(ramp(60 + n), "PNG") for n in range(len(pipelines))}
    )
    for number, seen in enumerate(loaded(folder, [ByHeight()])):
        geometry = Geometry.of(60 + number, 80)
        ByHeight().apply(geometry, SampleRandom(0, 0, 0))
        # Where in the source the middle of each pixel lies, and how large it is there.
        scale = np.array([geometry.box_height / 40, geometry.box_width / 50])
        at = (np.stack(np.mgrid[:40, :50], axis=-1) + 0.5) * scale + (geometry.top, geometry.left)
        at = at[::-1] if geometry.vflip else at
        at = at[:, ::-1] if geometry.hflip else at
        margin = 1 + scale
        start, stop = geometry.seen[:2], geometry.seen[2:]
        is_inside = ((at >= start + margin) & (at <= stop - margin)).all(axis=-1)
        is_outside = ((at < start - margin) | (at > stop + margin)).any(axis=-1)
        expected = np.concatenate([10 + 2 * (at - 0.5), np.full((40, 50, 1), 128)], axis=-1)
        # The box is taken in whole pixels of the source, so it may be one (two grey levels) off.
        assert np.abs(seen - expected)[is_inside].max(initial=0) <= 2.5, pipelines[number]
        assert not seen[is_outside].any(), pipelines[number]


def stored(kind: str, data: bytes, height: int, width: int, channels: int = 3) -> StoredImage:
    def read(start: int, stop: int) -> memoryview:
        return memoryview(data)[start:stop]

    return StoredImage(read, len(data), kind, height, width, channels, 1)


@pytest.mark.parametrize("kind", ["jpg", "png", "webp", "raw"])
@pytest.mark.parametrize("data", [b"", b"\0", b"\x89PNG\r\n\x1a\n"], ids=len)
def test_what_is_no_image_is_refused(kind: str, data: bytes) -> None:
    with pytest.raises(DecodeError):
        Decoder().whole(stored(kind, data, 5, 7))


def resized(image: StoredImage, height: int, width: int) -> Pixels:
    """The whole image made (height, width), by a decoder whose memory has a guard behind it."""
    geometry = Geometry.of(*image.upright_size)
    geometry.resize(height, width)
    out = np.zeros((height, width, 3), np.uint8)
    with guarded_simplejpeg():
        Decoder().draw(plan(image, geometry), out)
    return out


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("side", [96, 50, 20])
def test_a_lossless_jpeg_is_made_smaller_as_every_other_image(side: int, mode: str) -> None:
    image = make_image(1, 200, 300).convert(mode)
    data = lossless(np.asarray(image))
    found = resized(stored("jpg", data, 200, 300), side, side)
    expected = image.convert("RGB").resize((side, side), Image.Resampling.BOX)
    assert np.abs(found.astype(int) - np.asarray(expected)).mean() < 6


@pytest.mark.parametrize("process", range(0xC0, 0xD0), ids=hex)
@pytest.mark.parametrize("side", [1, 30, 40])
def test_no_size_in_an_index_has_a_jpeg_decoded_beyond_the_memory_for_it(
    process: int, side: int
) -> None:
    image = make_image(1, 60, 80)
    own = 0xC3 if process == 0xC3 else 0xC0
    data = bytearray(lossless(np.asarray(image)) if own == 0xC3 else encode(image, "JPEG"))
    data[data.index(bytes([0xFF, own])) + 1] = process
    # Some processes take arithmetic coding for what it is not.
    is_sound = process in (0xC0, 0xC1, 0xC3)
    with contextlib.nullcontext() if is_sound else contextlib.suppress(DecodeError):
        found = resized(stored("jpg", bytes(data), 60, 80), side, side)
        assert not is_sound or abs(found.mean() - np.mean(image)) < 6
    for claimed in [(64, 96), (480, 640), (8, 8), (60, 79)]:
        with pytest.raises(DecodeError):
            resized(stored("jpg", bytes(data), *claimed), side, side)


@pytest.mark.parametrize("side", [2**31, 2**32 - 1])
def test_a_size_that_no_memory_has_is_refused(side: int) -> None:
    with pytest.raises(DecodeError, match=f"its {side * side} pixels do not fit"):
        Decoder().whole(stored("jpg", b"", side, side))


def test_an_image_for_which_no_memory_is_left_is_not_called_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def memory_runs_out(*_: object, **__: object) -> None:
        raise MemoryError

    decoder, picture = Decoder(), make_image(1, 5, 7)
    image, bmp = (
        stored({"JPEG": "jpg"}.get(kind, "bmp"), encode(picture, kind), 5, 7)
        for kind in ("JPEG", "BMP")
    )
    out = np.empty((5, 7, 3), np.uint8)
    monkeypatch.setattr(np, "empty", memory_runs_out)
    monkeypatch.setattr(Image.Image, "convert", memory_runs_out)
    for look in (
        lambda: decoder.whole(image),
        lambda: decoder.draw(plan(image, Geometry.of(5, 7)), out),
        lambda: decoder.stored(image),
        lambda: decoder.whole(bmp),
    ):
        with pytest.raises(MemoryError):
            look()


def test_raw_grey_with_alpha_shows_the_grey() -> None:
    pixels = Decoder().whole(stored("raw", bytes([10, 255, 20, 0]), 1, 2, 2))
    assert pixels.tolist() == [[[10] * 3, [20] * 3]]
