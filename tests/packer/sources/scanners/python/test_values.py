"""What is an image or a label, and what a person is told to do with anything else."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from packer.errors import BadImage
from packer.images.encode import Policy, encode
from packer.sources.scanners.python.values import image_of, label_of


def named(value: Any) -> str:
    """A name for a case that every process gives it."""
    plain = isinstance(value, (str, int, float))
    told = value if plain else getattr(value, "shape", getattr(value, "size", ""))
    return f"{type(value).__name__} {told}"


GREY, COLOUR = np.zeros((4, 5), np.uint8), np.zeros((4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        (GREY, "L"),
        (GREY[:, :, None], "L"),
        (COLOUR, "RGB"),
        (torch.zeros(4, 5, 3, dtype=torch.uint8), "RGB"),
        (Image.new("RGBA", (5, 4)), "RGBA"),
        (Image.new("I;16", (5, 4)), "I;16"),
    ],
    ids=named,
)
def test_pixels_are_taken_as_they_are(value: Any, mode: str) -> None:
    image = image_of(value)
    assert isinstance(image, Image.Image)
    assert (image.mode, image.size) == (mode, (5, 4))


def test_bytes_of_a_file_are_kept_whoever_has_them(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(b"data")
    for value in (
        *(b"data", bytearray(b"data"), memoryview(b"data"), path, str(path)),
        {"bytes": b"data", "path": "y.jpg"},
        {"bytes": None, "path": str(path)},
    ):
        assert image_of(value) == b"data"


def untouched(image: Image.Image) -> None:
    """Leave it unread."""


def looked_at(image: Image.Image) -> None:
    image.load()
    image.getpixel((0, 0))


@pytest.mark.parametrize("use", [untouched, looked_at])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF"])
def test_an_open_picture_that_nobody_changed_gives_the_bytes_of_its_file(
    kind: str, use: Callable[[Image.Image], None], tmp_path: Path
) -> None:
    path = tmp_path / "x"
    Image.effect_mandelbrot((30, 20), (-2, -1, 1, 1), 50).save(path, kind)
    with Image.open(path) as image:
        use(image)
        assert image_of(image) == path.read_bytes()
        image.load()  # it is read where it was left


def test_a_picture_opened_from_memory_gives_its_bytes_until_it_is_read() -> None:
    file = io.BytesIO()
    Image.new("RGB", (5, 4)).save(file, "JPEG")
    image = Image.open(file)
    assert image_of(image) == file.getvalue()
    image.load()
    assert isinstance(image_of(image), Image.Image)


def test_an_error_that_mentions_memory_is_that_of_the_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_: Image.Image) -> None:
        raise ValueError("out of memory of a strange kind")

    monkeypatch.setattr(Image.Image, "load", fails)
    with pytest.raises(BadImage, match="strange kind"):
        image_of(Image.new("RGB", (5, 4)))


def drafted(image: Image.Image) -> None:
    image.draft("L", (40, 30))


def drawn_into(image: Image.Image) -> None:
    image.putpixel((0, 0), (255, 0, 255))


def turned(image: Image.Image) -> None:
    exif = image.getexif()
    exif[0x0112] = 3
    image.info["exif"] = exif.tobytes()
    ImageOps.exif_transpose(image, in_place=True)


def shrunk(image: Image.Image) -> None:
    image.thumbnail((20, 20))


@pytest.mark.parametrize("change", [drafted, drawn_into, turned, shrunk])
def test_a_picture_that_was_changed_in_place_gives_its_pixels(
    change: Callable[[Image.Image], None], tmp_path: Path
) -> None:
    path = tmp_path / "x.jpg"
    noise = np.random.default_rng(0).integers(0, 255, (60, 80, 3), np.uint8)
    Image.fromarray(noise).save(path)
    with Image.open(path) as image:
        change(image)
        found = image_of(image)
        assert isinstance(found, Image.Image)
        assert np.array_equal(np.asarray(found), np.asarray(image))


def test_a_later_frame_is_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tiff"
    frames = [Image.new("RGB", (5, 4), colour) for colour in ("red", "blue")]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    with Image.open(path) as image:
        image.seek(1)
        found = image_of(image)
        assert isinstance(found, Image.Image)
        assert found.getpixel((0, 0)) == (0, 0, 255)


def test_a_file_that_was_written_anew_is_not_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    Image.new("RGB", (5, 4), "red").save(path)
    with Image.open(path) as image:
        image.load()
    Image.new("RGB", (5, 4), "blue").save(path)
    assert isinstance(image_of(image), Image.Image)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "it holds no image (None)"),
        ({"bytes": None, "path": None}, "it holds no image (None)"),
        (b"", "its image is empty"),
        ("missing.jpg", "missing.jpg cannot be read: No such file"),
        (3, "its image is an int: give a PIL image, an array, the bytes of an image file"),
        ([COLOUR], "its image is a list"),
        (Image.new("CMYK", (2, 2)), 'of mode CMYK, which PNG has not: give image.convert("RGB")'),
        (Image.new("F", (2, 2)), "of mode F"),
        (np.zeros((3, 4, 5), np.uint8), "uint8 (3, 4, 5), .*np.moveaxis(image, 0, -1)"),
        (torch.zeros(3, 4, 5), "float32 (3, 4, 5), .*remove ToTensor()"),
        (np.zeros((4, 5, 4), np.uint8), 'Image.fromarray(image, "RGBA")'),
        (np.zeros((4, 5, 3), np.float32), "(image * 255).astype(np.uint8)"),
        (np.zeros((4, 5), np.uint16), "(image >> 8).astype(np.uint8)"),
        (np.zeros((4, 5), bool), "image.astype(np.uint8) * 255"),
        (np.zeros(9, np.uint8), "give array.tobytes()"),
        (np.zeros((0, 5, 3), np.uint8), "(0, 5, 3)"),
        (torch.zeros(4, 5, requires_grad=True), "that is no array"),
    ],
    ids=named,
)
def test_what_is_not_an_image_is_refused_with_the_next_step(value: Any, told: str) -> None:
    with pytest.raises(BadImage) as error:
        image_of(value)
    for part in told.split(".*"):
        assert part in str(error.value)


def test_a_picture_whose_file_is_cut_short_is_refused(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "x.png")
    (tmp_path / "x.png").write_bytes((tmp_path / "x.png").read_bytes()[:3000])
    with Image.open(tmp_path / "x.png") as image:
        data = image_of(image)
    assert isinstance(data, bytes)
    with pytest.raises(BadImage, match="it is damaged or cut short"):
        encode(data, Policy())


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (2, 2),
        (np.int64(0), 0),
        (torch.tensor(1), 1),
        (np.array(2), 2),
        ("b", 1),
        (None, -1),
        (-1, -1),
    ],
    ids=named,
)
def test_a_label_is_a_number_or_a_name(value: Any, number: int) -> None:
    assert label_of(value, {"a": 0, "b": 1, "c": 2}) == number


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (3, "its label, 3, is none of the 3 classes"),
        (-2, "its label, -2, is none"),
        ("d", "its label, 'd', is none of the 3 classes"),
        (0.5, 'its label is a float, .* "json": {"target": ...}'),
        (True, "its label is a bool"),
        ([0, 1], "its label is a list"),
        (np.zeros(3), "its label is an array of float64 (3,)"),
    ],
    ids=named,
)
def test_another_label_is_refused(value: Any, told: str) -> None:
    with pytest.raises(BadImage) as error:
        label_of(value, {"a": 0, "b": 1, "c": 2})
    for part in told.split(" .* "):
        assert part in str(error.value)


def test_a_name_that_nobody_has_numbered_is_refused_with_the_argument_that_does() -> None:
    with pytest.raises(BadImage, match=r"pass classes=\[\.\.\.\], the names in label order"):
        label_of("cat", {})


@pytest.mark.parametrize("form", ["JPEG2000", "PCX", "JPEG"])
def test_a_picture_that_failed_to_load_stays_damaged_however_often_it_is_read(
    form: str, make_image: Callable[..., Image.Image]
) -> None:
    file = io.BytesIO()
    make_image(64, 48).save(file, form)
    picture = Image.open(io.BytesIO(file.getvalue()[: len(file.getvalue()) * 2 // 3]))
    if form == "JPEG":
        assert isinstance(image_of(picture), bytes)  # which packing finds to be damaged
        return
    reasons = set()
    for _ in range(3):
        with pytest.raises(BadImage) as raised:
            image_of(picture)
        reasons.add(str(raised.value))
    assert len(reasons) == 1


def test_a_palette_that_was_exchanged_before_loading_is_what_is_stored(tmp_path: Path) -> None:
    Image.new("P", (8, 8), 3).save(tmp_path / "a.png")
    picture, loaded = (Image.open(tmp_path / "a.png") for _ in range(2))
    loaded.load()
    for one in (picture, loaded):
        one.putpalette([255 - value for value in range(256) for _ in range(3)])
    found = image_of(picture)
    assert isinstance(found, Image.Image)
    assert found.convert("RGB").getpixel((3, 3)) == loaded.convert("RGB").getpixel((3, 3))
    assert isinstance(image_of(Image.open(tmp_path / "a.png")), bytes)


def test_a_picture_that_was_closed_before_it_was_read_is_named_as_that(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as by_pillow:
        pass
    with open(tmp_path / "a.png", "rb") as file:
        by_file = Image.open(file)
    for picture in (by_pillow, by_file):
        with pytest.raises(BadImage, match="was closed before it was read"):
            image_of(picture)
