"""The sizes of images and the numbers of samples, without more files and bytes than they need."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from reader import Dataset, FormatError, Limits, Loader, Mix, SampleError
from reader.format import Manifest


def change(folder: Path, **changes: Any) -> None:
    content = replace(Manifest.load(folder), **changes)
    (folder / "dataset.json").write_text(content.dump())


@pytest.fixture
def without_indexes(packed_copy: Path) -> Path:
    """A dataset of which only dataset.json can be read, and the tars."""
    for path in packed_copy.rglob("*.safetensors"):
        path.unlink()
    return packed_copy


@pytest.mark.parametrize("mixed", [False, True])
def test_a_loader_without_transforms_opens_no_index(without_indexes: Path, mixed: bool) -> None:
    dataset = Dataset(without_indexes)
    given = Mix([dataset, dataset]) if mixed else dataset
    with Loader(given, batch_size=3, workers=0) as loader:
        assert len(loader) == 13 * (1 + mixed)


def test_without_recorded_sizes_the_indexes_tell_them(packed_copy: Path) -> None:
    known = Dataset(packed_copy).size_bounds
    with Loader(packed_copy, batch_size=13, workers=0) as loader:
        expected = [image for images, _ in loader for image in images]
    change(packed_copy, sizes={})
    assert Dataset(packed_copy).size_bounds == known
    with Loader(packed_copy, batch_size=13, workers=0) as loader:
        found = [image for images, _ in loader for image in images]
    assert len(found) == 39
    assert all(map(np.array_equal, found, expected))


def test_bounds_are_of_what_the_dataset_gives(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    folder = make_dataset(
        {
            "a.jpg": encode(make_image(0, 30, 50), "JPEG", exif=exif),
            "b.png": encode(make_image(0, 20, 40), "PNG"),
            "c.png": encode(make_image(1, 20, 40), "PNG"),
        },
        shard_samples=1,
    )
    whole = Dataset(folder)
    lying, small = Dataset(folder, upright=False), Dataset(folder, limits=Limits(pixels=1000))
    for dataset in (whole, lying):
        assert dataset.sizes() == {image.shape[:2] for image, _ in dataset}
    for dataset in (whole, lying, small, whole.subset([2, 1]), whole.subset([2, 0])):
        sizes = sorted(dataset.sizes())
        heights, widths = zip(*sizes, strict=True)
        found = dataset.size_bounds
        assert found.least == (min(heights), min(widths))
        assert found.most == (max(heights), max(widths))
        assert found.largest == max(sizes, key=lambda size: size[0] * size[1])
    assert whole.subset([2, 1]).size_bounds.is_one


@pytest.mark.parametrize(
    ("field", "told"),
    [("image", r"dataset\.json has other sizes than the index"), ("mask.png", "of shape")],
)
def test_images_of_other_sizes_than_are_recorded_are_errors_and_no_pixels(
    field: str, told: str, write_samples: Callable[..., Path], encode: Callable[..., bytes]
) -> None:
    sizes = ((20, 40), (10, 40), (20, 50))
    pictures = [encode(Image.new("L", size[::-1]), "PNG") for size in sizes]
    folder = write_samples({str(n): {"png": p, "mask.png": p} for n, p in enumerate(pictures)})
    change(folder, sizes={"": Dataset(folder, subset=[0]).size_bounds})
    with Loader(folder, batch_size=1, workers=0, fields=(field,)) as loader:
        batches = iter(loader)
        assert next(batches)[0].shape[-2:] == (20, 40)
        for _ in range(2):
            with pytest.raises(SampleError, match=told):
                next(batches)


def test_a_number_takes_as_few_bytes_as_the_largest_needs(packed: Path) -> None:
    dataset = Dataset(packed)
    for scale, kind in ((1, "u1"), (-1, "i1"), (200, "u2"), (-200, "i2"), (1 << 40, "i8")):
        found = dataset.computed(lambda columns, by=scale: by * columns["label"], "label")
        assert found.dtype == kind
        assert (found == dataset.labels * scale).all()
    assert dataset.labels.dtype == np.int64


def test_columns_of_a_subset_open_the_indexes_of_its_shards_only(packed_copy: Path) -> None:
    whole = Dataset(packed_copy)
    heights, chosen = whole.columns("height")["height"], [12, 3, 11]
    *_, last = sorted(packed_copy.glob("*.safetensors"))
    last.unlink()
    some = whole.subset(chosen)
    assert some.columns("height", "label")["height"].tolist() == heights[chosen].tolist()
    assert some.computed(itemgetter("height"), "height").tolist() == heights[chosen].tolist()
    with pytest.raises(FormatError, match="index cannot be read"):
        whole.columns("height")


def test_a_function_chooses_by_the_columns_that_it_asks_for(packed: Path) -> None:
    seen: list[set[str]] = []

    def first_class(columns: Any) -> Any:
        found = columns["label"] == 0
        seen.append({*columns})
        return found

    assert len(Dataset(packed, subset=first_class)) == 13
    assert seen == [{"label"}]


def test_targets_of_one_class_are_one_object(write_samples: Callable[..., Path]) -> None:
    labels = [-1, *range(998, 1000), 999]
    folder = write_samples(
        {str(number): {"raw": bytes(12)} for number in range(4)}, labels=labels, raw=(2, 2, 3)
    )
    targets = Dataset(folder).targets
    assert targets == labels
    assert targets[2] is targets[3]


def test_a_subset_takes_four_bytes_for_a_sample_and_has_the_fingerprint_of_its_numbers(
    packed: Path,
) -> None:
    whole = Dataset(packed)
    numbers = np.array([38, 1, 17, 20, 2])
    some = whole.subset(numbers)
    assert some.places.chosen is not None
    assert some.places.chosen.nbytes == 4 * len(numbers)
    digest = hashlib.blake2b(numbers.astype("<i8").tobytes()).hexdigest()[:12]
    assert some.places.description == f"5 numbers, fingerprint {digest}"
