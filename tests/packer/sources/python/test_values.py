"""What is an image or a label, and what a person is told to do with anything else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from packer.errors import BadImage
from packer.sources.python.values import image_of, label_of


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
        (torch.zeros(3, 4, 5), "float32 (3, 4, 5), .*leave ToTensor() out"),
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
    with (
        Image.open(tmp_path / "x.png") as image,
        pytest.raises(BadImage, match="it is damaged or cut short"),
    ):
        image_of(image)


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
    with pytest.raises(BadImage, match=r"give classes=\[\.\.\.\], the names in label order"):
        label_of("cat", {})
