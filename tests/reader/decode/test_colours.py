"""Masks that are coded by colour become the numbers of their classes."""

from pathlib import Path

import numpy as np
import pytest
from delivered import Write, only
from made_images import encode, png
from numpy.typing import NDArray
from PIL import Image

import reader
from reader import ArgumentError, Mask, SampleError

COLORS = [(0, 0, 0), (64, 128, 64), (192, 0, 128), (255, 255, 255)]


def numbers(seed: int, count: int, size: tuple[int, int] = (40, 60)) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, count, size).astype(np.uint8)


def coloured(classes: NDArray[np.uint8], colors: list[tuple[int, int, int]] = COLORS) -> bytes:
    return png(np.array(colors, np.uint8)[classes])


def sample(mask: bytes, size: tuple[int, int] = (40, 60)) -> dict[str, bytes]:
    return {"png": png(np.zeros((*size, 3), np.uint8)), "mask.png": mask}


def read(dataset: Path, field: Mask, *transforms: reader.Transform) -> NDArray[np.uint8]:
    options = {"fields": (field,), "shuffle": False, "workers": 0, "transforms": transforms}
    (masks,) = only(dataset, batch_size=1, **options)
    found: NDArray[np.uint8] = masks[0].numpy()
    return found


@pytest.mark.parametrize("seed", range(5))
def test_every_pixel_becomes_the_class_of_its_colour(write_samples: Write, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.choice(1 << 24, 256, replace=False).tolist()
    colors = [(code >> 16, code >> 8 & 255, code & 255) for code in codes]
    classes = numbers(seed, 256, (240, 320))
    dataset = write_samples({"a": sample(coloured(classes, colors), (240, 320))})
    found = read(dataset, Mask("mask.png", colors=colors))
    assert found.dtype == np.uint8
    assert np.array_equal(found, classes)


@pytest.mark.parametrize(
    "pipeline",
    [
        [reader.Resize((90, 130))],
        [reader.Resize((15, 25)), reader.RandomHorizontalFlip(1.0)],
        [reader.RandomResizedCrop((31, 17), scale=(0.1, 0.5)), reader.RandomVerticalFlip(0.5)],
        [reader.Letterbox(96)],
        [reader.CenterCrop((50, 50))],
    ],
    ids=str,
)
def test_crops_and_sizes_are_those_of_masks_of_numbers(
    write_samples: Write, pipeline: list[reader.Transform]
) -> None:
    classes = numbers(0, 4)
    by_number = read(write_samples({"a": sample(png(classes))}), Mask("mask.png", 9), *pipeline)
    dataset = write_samples({"a": sample(coloured(classes))})
    by_colour = read(dataset, Mask("mask.png", 9, COLORS), *pipeline)
    assert np.array_equal(by_colour, by_number)


@pytest.mark.parametrize("is_palette", [False, True])
def test_any_picture_of_the_colours_is_read(write_samples: Write, is_palette: bool) -> None:
    classes = numbers(1, 4)
    picture = Image.fromarray(np.array(COLORS, np.uint8)[classes]).convert("RGBA")
    if is_palette:
        picture = Image.fromarray(3 - classes)
        picture.putpalette([value for color in reversed(COLORS) for value in color])
    dataset = write_samples({"a": sample(encode(picture, "PNG"))})
    assert np.array_equal(read(dataset, Mask("mask.png", colors=COLORS)), classes)


def test_another_colour_is_an_error_that_names_all_or_is_ignored(write_samples: Write) -> None:
    pixels = np.array(COLORS, np.uint8)[numbers(2, 4)]
    pixels[7, 9] = 1, 2, 3
    dataset = write_samples({"street": sample(png(pixels))})
    with pytest.raises(SampleError) as error:
        read(dataset, Mask("mask.png", colors=COLORS))
    for part in ("street", "shard-000000", "(1, 2, 3)", "4 colours", "ignore=255"):
        assert part in str(error.value)
    found = read(dataset, Mask("mask.png", colors=COLORS, ignore=255))
    assert found[7, 9] == 255
    assert np.array_equal(np.flatnonzero(found == 255), [7 * 60 + 9])
    assert np.array_equal(found[found < 255], np.delete(numbers(2, 4).ravel(), 7 * 60 + 9))


def test_ignore_needs_colours(write_samples: Write) -> None:
    dataset = write_samples({"a": sample(png(numbers(0, 4)))})
    with pytest.raises(ArgumentError, match=r"ignore= is for masks coded by colour.*class_dict"):
        read(dataset, Mask("mask.png", ignore=255))


def test_a_mask_without_colours_stays_as_it_is(write_samples: Write) -> None:
    classes = numbers(3, 4)
    dataset = write_samples({"a": sample(coloured(classes))})
    assert np.array_equal(read(dataset, Mask("mask.png")), np.array(COLORS, np.uint8)[classes])
