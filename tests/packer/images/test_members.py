"""What is stored for pictures and arrays beside an image whose pixels change."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from packer.errors import BadImage
from packer.images.encode import Policy
from packer.images.members import encode_member
from reader.format.frames import EITHER, UNKNOWN, Packed, Picture

STORED = Picture(60, 80, 6)
SAME = Packed(STORED, STORED)
SMALLER = Packed(STORED, Picture(30, 40, 6))
FITTED = Packed(STORED, Picture(40, 40), is_fitted=True)
VALUES = np.arange(60 * 80).reshape(60, 80)  # of each pixel, as the image is stored


def palette() -> Image.Image:
    picture = Image.fromarray((VALUES % 200).astype(np.uint8))
    picture.putpalette([value for number in range(256) for value in (number, 255 - number, 7)])
    return picture


PICTURES = {
    "grey": Image.fromarray((VALUES % 251).astype(np.uint8)),
    "16 bits": Image.fromarray(VALUES.astype(np.uint16)),
    "palette": palette(),
    "black and white": Image.fromarray(VALUES % 3 == 0),
    "colours": Image.fromarray(np.stack([VALUES % 7, VALUES % 11, VALUES % 13], -1).astype("u1")),
}


def saved(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    picture.save(file := io.BytesIO(), kind, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


def upright(picture: Image.Image) -> Image.Image:
    return picture.transpose(Image.Transpose.ROTATE_270)


@pytest.mark.parametrize("name", PICTURES)
def test_a_mask_follows_its_image_by_nearest_pixel_in_its_own_mode(name: str) -> None:
    picture = PICTURES[name]
    values = np.asarray(picture)
    rows, columns = np.arange(30) * 2 + 1, np.arange(40) * 2 + 1  # below the middles
    for given in (picture, upright(picture)):
        stored = opened(encode_member("mask.png", saved(given), SMALLER, Policy()).data)
        assert stored.mode == picture.mode
        assert np.array_equal(np.asarray(stored), values[rows][:, columns])
        assert stored.getpalette() == picture.getpalette()
        stored = opened(encode_member("mask.png", saved(given), FITTED, Policy()).data)
        shown = np.asarray(upright(picture))[10:70]  # covers a square, and is cropped
        middles = ((np.arange(40) + 0.5) * 1.5).astype(int)
        assert np.array_equal(np.asarray(stored), shown[middles][:, middles])


@pytest.mark.parametrize("name", PICTURES)
def test_an_upright_mask_is_turned_as_its_image_is_stored(name: str) -> None:
    picture = PICTURES[name]
    stored = encode_member("mask.png", saved(upright(picture)), SAME, Policy())
    assert np.array_equal(np.asarray(opened(stored.data)), np.asarray(picture))
    assert stored.frame == UNKNOWN


def test_a_mask_as_its_image_is_stored_keeps_its_bytes() -> None:
    data = saved(PICTURES["16 bits"])
    assert encode_member("mask.png", data, SAME, Policy()).data == data


def test_a_mask_of_the_size_that_is_stored_in_the_end_keeps_its_bytes() -> None:
    data = saved(PICTURES["16 bits"].resize((40, 30)))
    assert encode_member("mask.png", data, SMALLER, Policy()).data == data


def test_a_mask_that_may_be_upright_is_kept_and_told() -> None:
    for picture in (Picture(60, 80, 3), Picture(80, 80, 6)):
        data = saved(Image.new("L", (picture.width, picture.height)))
        stored = encode_member("mask.png", data, Packed(picture, picture), Policy(banded=False))
        assert (stored.data, stored.frame) == (data, EITHER)


@pytest.mark.parametrize("image", [SAME, SMALLER, FITTED], ids=["same", "smaller", "fitted"])
def test_a_mask_of_another_size_is_refused(image: Packed) -> None:
    with pytest.raises(BadImage, match=r"its \.mask\.png is 81 x 60 pixels, and the image 80 x 60"):
        encode_member("mask.png", saved(Image.new("L", (81, 60))), image, Policy())


def test_values_that_png_lacks_are_stored_without_loss() -> None:
    depth = Image.fromarray(VALUES.astype(np.float32) / 3)
    stored = encode_member("depth.tif", saved(depth, "TIFF"), SMALLER, Policy())
    assert np.array_equal(np.asarray(opened(stored.data)), np.asarray(depth)[1::2, 1::2])


def test_a_photograph_is_resized_smoothly_and_one_of_values_is_not() -> None:
    stripes = Image.fromarray(np.tile([[0, 255]], (60, 40)).astype(np.uint8))
    data = saved(stripes, "JPEG", quality=100)
    grey = opened(encode_member("right.jpg", data, SMALLER, Policy()).data)
    mask = opened(encode_member("mask.jpg", data, SMALLER, Policy()).data)
    assert grey.format == mask.format == "JPEG"
    assert np.abs(np.asarray(grey).astype(int) - 127).max() < 30
    assert np.asarray(mask).min() > 250


def test_an_upright_jpeg_beside_an_image_that_is_kept_is_refused() -> None:
    data = saved(Image.new("L", (60, 80)), "JPEG")
    with pytest.raises(BadImage, match="does not turn without loss: convert it to PNG"):
        encode_member("mask.jpg", data, SAME, Policy())


@pytest.mark.parametrize("shape", [(60, 80), (60, 80, 12), (80, 60), (3, 60, 80)], ids=str)
def test_an_array_over_an_image_that_changes_is_refused(shape: tuple[int, ...]) -> None:
    np.save(file := io.BytesIO(), np.zeros(shape, np.uint16))
    assert encode_member("npy", file.getvalue(), SAME, Policy()).data == file.getvalue()
    with pytest.raises(BadImage, match="does not become smaller with it"):
        encode_member("npy", file.getvalue(), SMALLER, Policy())


@pytest.mark.parametrize("shape", [(768,), (60,), (12, 768), ()], ids=str)
def test_an_array_that_is_no_picture_is_kept(shape: tuple[int, ...]) -> None:
    np.save(file := io.BytesIO(), np.zeros(shape))
    assert encode_member("npy", file.getvalue(), SMALLER, Policy()).data == file.getvalue()
