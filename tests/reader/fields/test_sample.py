"""`map_sample`: what it gives for each sample is what arrives, whatever its shape."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write, damage, epoch_of
from made_images import png
from numpy.typing import NDArray
from PIL import Image

from reader import Bands, CenterCrop, Dataset, Loader, ReaderError, Resize, SampleError, pad_collate

SIZES = [(20, 30), (12, 40), (41, 17), (20, 30), (9, 9), (33, 50), (20, 31), (64, 48)]
SIDE = 32  # larger than some of the sources, smaller than others

Sample = dict[str, Any]
Pixels = NDArray[Any]


def pixels_of(number: int) -> Pixels:
    return np.random.default_rng(number).integers(0, 255, (*SIZES[number], 3), np.uint8)


@pytest.fixture
def varied(write_samples: Write) -> Path:
    """Photographs of many sizes, each with a mask of its own size; sample n has label n % 2."""
    return write_samples(
        {
            f"s{n}": {"png": png(pixels_of(n)), "mask.png": png(pixels_of(n)[..., 0])}
            for n in range(len(SIZES))
        },
        shard_samples=3,
        labels=[n % 2 for n in range(len(SIZES))],
    )


def batches(dataset: Path, **options: Any) -> list[Any]:
    return epoch_of(dataset, **{"workers": 0, "batch_size": 3, "fields": ("image",), **options})


def resized(image: Pixels) -> Pixels:
    """Nearest pixels, so that every source pixel counts."""
    rows = np.arange(SIDE) * image.shape[0] // SIDE
    columns = np.arange(SIDE) * image.shape[1] // SIDE
    return image[rows][:, columns]


def first_planes(image: Pixels) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)


def arriving(made: Any) -> torch.Tensor:
    """What has to arrive of an image that map_sample made: a tensor as it is, else its planes."""
    if isinstance(made, torch.Tensor):
        return made
    pixels = np.array(made, order="C")
    return torch.from_numpy(pixels) if 3 in (pixels.ndim + 1, len(pixels)) else first_planes(pixels)


# What map_sample makes of an image.
RESIZED: dict[str, Callable[[Pixels], Any]] = {
    "array of (H, W, 3)": resized,
    "array of (3, H, W)": lambda image: resized(image).transpose(2, 0, 1),
    "tensor of (3, H, W)": lambda image: first_planes(resized(image)),
    "normalised float32": lambda image: first_planes(resized(image)).float() / 255 - 0.5,
    "float16": lambda image: (resized(image) / 256).astype(np.float16),
    "one channel": lambda image: first_planes(resized(image))[:1],
    "grey without a channel": lambda image: resized(image)[..., 1],
    "Pillow": lambda image: Image.fromarray(resized(image)),
}
LEFT: dict[str, Callable[[Pixels], Any]] = {
    "as they are": lambda image: image,
    "transposed": lambda image: image.transpose(1, 0, 2),
    "larger": lambda image: image.repeat(2, 0),
    "smaller": lambda image: image[1:, :-2],
    "float tensors": lambda image: first_planes(image).float() / 255,
    "Pillow images": Image.fromarray,
    "single channels": lambda image: first_planes(image)[2:],
}


@pytest.mark.parametrize("name", [*RESIZED, *LEFT])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_images_that_map_sample_resizes_come_as_a_tensor_and_those_of_many_sizes_as_a_list(
    varied: Path, name: str, batch_size: int
) -> None:
    change = (RESIZED | LEFT)[name]
    given = batches(
        varied,
        batch_size=batch_size,
        workers=int(name in LEFT and batch_size > 1),
        fields=("image", "label", "key"),
        map_sample=lambda sample: {**sample, "image": change(sample["image"])},
    )
    number = 0
    for images, labels, keys in given:
        assert isinstance(images, list) is (name in LEFT and batch_size > 1)
        for image, label, key in zip(images, labels.tolist(), keys, strict=True):
            expected = arriving(change(pixels_of(number)))
            assert image.dtype == expected.dtype
            assert torch.equal(image, expected)
            assert (label, key) == (number % 2, f"s{number}")
            number += 1
    assert number == len(SIZES)


@pytest.mark.parametrize("odd", [0, 1, 4])
def test_the_odd_sample_out_makes_a_list_of_its_batch_alone(varied: Path, odd: int) -> None:
    """Also where it is the one that the shapes were learnt from."""

    def change(sample: Sample) -> Sample:
        side = 10 if sample["index"] == odd else 8
        return {**sample, "image": sample["image"][:side, :side].repeat(2, 0)[:, :7]}

    given = batches(
        varied, fields=("image", "index"), transforms=[CenterCrop(12)], map_sample=change
    )
    plain = torch.cat([images for (images,) in batches(varied, transforms=[CenterCrop(12)])])
    for images, index in given:
        assert isinstance(images, torch.Tensor) == (odd not in index and odd != 0)
        for image, number in zip(images, index.tolist(), strict=True):
            side = 10 if number == odd else 8
            wanted = plain[number][:, :side, :7].repeat_interleave(2, 1)
            assert torch.equal(image, wanted)


def test_samples_that_no_sampler_draws_may_be_beyond_map_sample(varied: Path) -> None:
    def change(sample: Sample) -> Sample:
        assert sample["index"] in (0, 3)
        return sample

    ((images, index),) = batches(
        varied, fields=("image", "index"), sampler=[3, 0], map_sample=change
    )
    assert index.tolist() == [3, 0]
    for image, number in zip(images, (3, 0), strict=True):
        assert torch.equal(image, first_planes(pixels_of(number)))


def test_masks_that_map_sample_leaves_as_they_are_come_as_lists_beside_one_tensor(
    varied: Path,
) -> None:
    given = batches(
        varied,
        fields=("image", "mask.png"),
        map_sample=lambda sample: {**sample, "image": resized(sample["image"])},
    )
    number = 0
    for images, masks in given:
        assert isinstance(images, torch.Tensor)
        for image, mask in zip(images, masks, strict=True):
            assert torch.equal(image, first_planes(resized(pixels_of(number))))
            assert torch.equal(mask, torch.from_numpy(pixels_of(number)[..., 0].copy()))
            number += 1


def test_labels_that_become_vectors_come_as_one_tensor_and_of_many_lengths_as_a_list(
    varied: Path,
) -> None:
    def one_hot(sample: Sample) -> Sample:
        return {**sample, "label": np.eye(2, dtype=np.float32)[sample["label"]]}

    def many(sample: Sample) -> Sample:
        return {**sample, "label": torch.full((sample["index"] % 3,), sample["index"])}

    ((labels,),) = batches(varied, batch_size=8, fields=("label",), map_sample=one_hot)
    assert labels.tolist() == [[1.0, 0.0], [0.0, 1.0]] * 4
    ((labels, _),) = batches(varied, batch_size=8, fields=("label", "index"), map_sample=many)
    assert [label.tolist() for label in labels] == [[n] * (n % 3) for n in range(8)]


def test_a_list_of_points_in_place_of_the_image_is_left_as_it_is(varied: Path) -> None:
    points = np.arange(15, dtype=np.float32).reshape(5, 3)
    ((found,),) = batches(varied, batch_size=8, map_sample=lambda sample: {"image": points})
    assert torch.equal(found, torch.from_numpy(points).expand(8, 5, 3))


def test_an_array_here_and_none_there_come_as_a_list(varied: Path) -> None:
    def change(sample: Sample) -> Sample:
        return {**sample, "boxes": None if sample["index"] == 5 else np.ones(2)}

    fields = ("boxes?", "index")
    for boxes, index in batches(varied, fields=fields, map_sample=change):
        assert isinstance(boxes, torch.Tensor) == (5 not in index)
        assert [box is None for box in boxes] == [number == 5 for number in index.tolist()]


def test_a_type_unlike_the_first_is_named_with_the_remedy(varied: Path) -> None:
    def change(sample: Sample) -> Sample:
        return {**sample, "label": 0.5 if sample["index"] == 5 else 1}

    with pytest.raises(SampleError, match=r"'s5' .* its label is of type float64, .* collate_fn="):
        batches(varied, fields=("label", "index"), map_sample=change)


def test_what_map_sample_adds_is_a_field_or_refused(varied: Path) -> None:
    def add(sample: Sample) -> Sample:
        return {**sample, "mean": sample["image"].mean()}

    with pytest.raises(ReaderError, match=r"'mean' for sample 's0', .* Add \"mean\?\" to"):
        batches(varied, map_sample=add)
    given = batches(varied, fields=("image", "mean?"), map_sample=add)
    means = torch.cat([means for _, means in given])
    assert means.tolist() == [pixels_of(number).mean() for number in range(len(SIZES))]


@pytest.mark.parametrize(
    ("name", "value"), [("key", "mine"), ("index", 77), ("valid", True), ("size", (1, 1))]
)
def test_a_field_that_map_sample_cannot_change_is_not_dropped_in_silence(
    varied: Path, name: str, value: Any
) -> None:
    fields = ("image", "key", "index", "valid", "size")
    with pytest.raises(ReaderError, match=f"changed '{name}' of sample 's0'.*\"my_{name}\\?\""):
        batches(varied, fields=fields, map_sample=lambda sample: {**sample, name: value})


def test_an_image_changed_in_place_is_not_what_the_cache_keeps(varied: Path) -> None:
    def spoil(sample: Sample) -> Sample:
        image = resized(sample["image"]).copy()
        sample["image"][:] = 7
        return {**sample, "image": image}

    for transforms in ([], [Resize((9, 11))]):
        options: dict[str, Any] = {"map_sample": spoil, "transforms": transforms, "batch_size": 8}
        fresh = batches(varied, **options)[0][0]
        with Loader(varied, fields=("image",), cache="decoded", workers=0, **options) as loader:
            epochs = [images for _ in range(3) for (images,) in loader]
            assert loader.statistics().cached
        assert all(torch.equal(images, fresh) for images in epochs)


@pytest.mark.parametrize("size", [(3, 7), (7, 3), (3, 3), (3, 20)])
@pytest.mark.parametrize("change", ["none", "a copy", "channels first"])
def test_an_image_of_three_rows_or_columns_comes_as_it_is_or_is_named(
    write_samples: Write, size: tuple[int, int], change: str
) -> None:
    def made(sample: dict[str, Any]) -> dict[str, Any]:
        image = sample["image"]
        if change == "channels first":
            image = np.ascontiguousarray(np.moveaxis(image, -1, 0))
        return sample if change == "none" else {**sample, "image": image.copy()}

    pixels = np.random.default_rng(0).integers(0, 256, (*size, 3), np.uint8)
    plain = np.zeros((20, 20, 3), np.uint8)
    folder = write_samples({"a": {"png": png(plain)}, "b": {"png": png(pixels)}})
    options: dict[str, Any] = {"map_sample": made, "batch_size": 2, "fields": ("image", "valid")}
    if size == (3, 3) and change != "none":  # whether they were moved, nothing says
        with pytest.raises(SampleError, match=r"'b' .* may be \(3, H, W\) or \(H, W, 3\)"):
            epoch_of(folder, **options)
        ((images, valid),) = epoch_of(folder, **options, on_error="mask", max_bad=1.0)
        assert valid.tolist() == [True, False]
        return
    ((images, valid),) = epoch_of(folder, **options)
    assert valid.tolist() == [True, True]
    assert np.array_equal(images[1], np.moveaxis(pixels, -1, 0))


def test_a_grey_image_of_one_row_comes_as_it_is(write_samples: Write) -> None:
    pixels = np.arange(9, dtype=np.uint8)[None]
    folder = write_samples({"a": {"png": png(pixels)}})
    dataset = Dataset(folder, channels=1)
    ((image,),) = epoch_of(dataset, fields=("image",), map_sample=lambda sample: sample)
    assert np.array_equal(image[0], pixels[None])


def test_masked_samples_are_padded_by_pad_collate_in_masks_and_bands(
    write_samples: Write,
) -> None:
    file = io.BytesIO()
    np.save(file, np.full((6, 8), 7, np.float32))
    mask = png(np.full((6, 8), 5, np.uint8))
    good = {"png": png(np.full((6, 8, 3), 9, np.uint8)), "mask.png": mask, "npy": file.getvalue()}
    folder = write_samples({"a": good, "b": good, "c": good})
    damage(folder, 1)
    given: dict[str, Any] = {"batch_size": 3, "on_error": "mask", "max_bad": 1.0}
    fields = ("image", "mask.png", Bands("npy"), "valid")
    ((images, masks, bands, valid),) = epoch_of(
        folder, fields=fields, collate_fn=pad_collate, **given
    )
    assert valid.tolist() == [True, False, True]
    assert images.shape == (3, 3, 6, 8)
    assert masks.amax((1, 2)).tolist() == [5, 0, 5]
    assert bands.amax((1, 2, 3)).tolist() == [7, 0, 7]
    (samples,) = epoch_of(folder, fields=fields, collate_fn=list, **given)
    assert samples[1][1:3] == (None, None)  # a function of one's own sees what is missing


def test_pad_collate_keeps_the_none_of_a_member_that_a_sample_lacks(write_samples: Write) -> None:
    image = png(np.zeros((6, 8, 3), np.uint8))
    folder = write_samples(
        {"a": {"png": image, "mask.png": png(np.ones((6, 8), np.uint8))}, "b": {"png": image}}
    )
    ((masks,),) = epoch_of(folder, batch_size=2, fields=("mask.png?",), collate_fn=pad_collate)
    assert masks[1] is None
