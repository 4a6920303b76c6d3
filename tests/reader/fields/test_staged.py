"""Changed pixels depend on seed, epoch and place in it; what cannot follow is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import digest, load, only
from made_images import encode, make_image, npy, png

import reader
from reader import (
    ArgumentError,
    AugMix,
    AutoAugment,
    CenterCrop,
    ColorJitter,
    Dataset,
    GaussianBlur,
    GaussianNoise,
    Grayscale,
    Loader,
    RandAugment,
    RandomApply,
    RandomChoice,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomInvert,
    RandomOrder,
    RandomPhotometricDistort,
    RandomResizedCrop,
    Transform,
    TrivialAugmentWide,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

RECIPE = [
    RandomResizedCrop(24),
    RandomChoice([RandAugment(), TrivialAugmentWide(), AutoAugment(), AugMix()]),
    RandomApply([ColorJitter(0.4, 0.4, 0.4, 0.1), RandomHorizontalFlip()], p=0.8),
    RandomOrder([GaussianBlur(5), RandomPhotometricDistort(), RandomGrayscale(0.2)]),
    RandomErasing(0.3, value="random"),
    GaussianNoise(sigma=0.02),
    RandomHorizontalFlip(),
]
GIVEN: dict[str, Any] = {"transforms": RECIPE, "batch_size": 7, "shuffle": True, "seed": 3}


@pytest.mark.parametrize("views", [1, 2])
def test_pixels_are_the_same_with_any_workers_and_after_a_resume(packed: Path, views: int) -> None:
    found = []
    for workers in (0, 2):
        with Loader(packed, workers=workers, views=views, **GIVEN) as loader:
            found.append([digest_of(batch) for _ in range(2) for batch in loader])
    assert found[0] == found[1]
    assert len(set(found[0])) == len(found[0])
    with Loader(packed, workers=0, views=views, **GIVEN) as loader:
        batches = iter(loader)
        assert [digest_of(next(batches)) for _ in range(3)] == found[0][:3]
        state = loader.state_dict()
    with Loader(packed, workers=0, views=views, **GIVEN) as loader:
        loader.load_state_dict(state)
        rest = [digest_of(batch) for batch in loader]
    assert rest == found[0][3 : 3 + len(rest)]
    assert len(rest) == len(found[0]) // 2 - 3


def digest_of(batch: Any) -> str:
    images, labels = batch
    return digest([[*images, labels] if isinstance(images, list) else [images, labels]])


def test_two_ranks_see_what_one_sees(packed: Path) -> None:
    given = {**GIVEN, "fields": ("image", "index")}
    whole: dict[int, torch.Tensor] = {}
    ranks: list[dict[str, Any]] = [{}, *({"rank": one, "world_size": 2} for one in (0, 1))]
    for options in ranks:
        with Loader(packed, workers=0, drop_last=True, **given, **options) as loader:
            for images, index in loader:
                for image, number in zip(images, index.tolist(), strict=True):
                    assert torch.equal(whole.setdefault(number, image), image)


def test_views_and_repeated_draws_of_a_sample_differ(packed: Path) -> None:
    jitter = [CenterCrop(24), ColorJitter(0.5, 0.5, 0.5)]
    (first, second), _ = only(packed, batch_size=39, transforms=jitter, views=2)
    assert all(not torch.equal(*pair) for pair in zip(first, second, strict=True))
    weights = [1.0] + [0.0] * 38
    repeated = only(packed, batch_size=39, transforms=jitter, sampler=reader.Weighted(weights))[0]
    assert len({image.numpy().tobytes() for image in repeated}) == 39


def test_a_view_may_be_changed_and_another_one_not(packed: Path) -> None:
    crop = CenterCrop(24)
    views = [[crop], [crop, RandomInvert(1)], [crop, RandomInvert(1), RandomHorizontalFlip(1)]]
    (plain, inverted, mirrored), _ = only(packed, batch_size=39, views=views)
    assert torch.equal(inverted, 255 - plain)
    assert torch.equal(mirrored, inverted.flip(-1))


@pytest.mark.parametrize("channels", [1, 3])
def test_every_transform_of_a_recipe_takes_grey_images(packed: Path, channels: Any) -> None:
    images = only(Dataset(packed, channels=channels), **{**GIVEN, "batch_size": 39})[0]
    assert images.shape == (39, channels, 24, 24)


@pytest.mark.parametrize(
    "transforms",
    [
        [CenterCrop(24), RandomHorizontalFlip(), RandomGrayscale(0.5), RandomHorizontalFlip()],
        [CenterCrop(24), RandomGrayscale(0.5), CenterCrop(20)],
        [RandomGrayscale(0.5), CenterCrop(24)],
        RECIPE,
    ],
)
def test_a_cache_of_decoded_images_changes_no_pixel(packed: Path, transforms: Any) -> None:
    found = []
    for cache in (None, "decoded"):
        with Loader(packed, batch_size=7, transforms=transforms, workers=0, cache=cache) as loader:
            found.append([digest(loader) for _ in range(2)])
    assert found[0] == found[1]


def test_masks_and_bands_follow_the_geometry_and_keep_their_values(
    write_samples: Callable[..., Path],
) -> None:
    classes = np.arange(60 * 80).reshape(60, 80).astype(np.uint8)
    jpeg = encode(make_image(1), "JPEG")
    folder = write_samples({"a": {"jpg": jpeg, "mask.png": png(classes)}})
    steps = [CenterCrop(40), RandomInvert(1), CenterCrop(20), RandomHorizontalFlip(1)]
    image, mask, geometry = only(
        folder, transforms=steps, fields=("image", "mask.png", "geometry"), batch_size=1
    )
    assert np.array_equal(mask[0], classes[20:40, 30:50][:, ::-1])
    assert geometry[0].tolist() == [[-1, 0, 50], [0, 1, -20]]
    plain = only(folder, transforms=[CenterCrop(20)], fields=("image",), batch_size=1)[0]
    assert torch.equal(image, 255 - plain.flip(-1))


@pytest.mark.parametrize(
    ("transform", "options", "reason"),
    [
        (Grayscale(), {}, r"images have 3 channels.*reader.Grayscale\(3\)"),
        (RandomErasing(value=(1, 2)), {}, "value has 2 values, but images have 3 channels"),
        (RandAugment(fill=(1, 2)), {}, "fill has 2 values, but images have 3 channels"),
        (RandAugment(), {"fields": ("image", "geometry")}, "geometry would not follow"),
        (
            RandomApply([RandomOrder([AugMix()])]),
            {"fields": ("image", "geometry")},
            "geometry would not follow",
        ),
        (ColorJitter(0.4), {"decode": "gpu"}, "change pixels, such as ColorJitter"),
        (RandomApply([RandomGrayscale()]), {"decode": "auto"}, "change pixels, such as"),
    ],
    ids=str,
)
def test_what_has_no_meaning_for_the_images_is_refused_when_the_loader_is_made(
    packed: Path, transform: Any, options: dict[str, Any], reason: str
) -> None:
    given = {"transforms": [CenterCrop(24), transform], "fields": ("image",), **options}
    with pytest.raises(ArgumentError, match=reason):
        load(packed, **given)


@pytest.mark.parametrize("field", ["right.jpg", reader.Bands("npy")], ids=str)
def test_pictures_and_bands_that_would_stay_as_they_are_are_refused(
    write_samples: Callable[..., Path], field: Any
) -> None:
    jpeg, bands = encode(make_image(1), "JPEG"), npy(np.zeros((60, 80, 5), np.float32))
    folder = write_samples({"a": {"jpg": jpeg, "right.jpg": jpeg, "npy": bands}})
    given: dict[str, Any] = {"fields": ("image", field), "batch_size": 1}
    with pytest.raises(ArgumentError, match=r"RandomInvert.* changes the image, and .* would stay"):
        load(folder, transforms=[CenterCrop(24), RandomInvert()], **given)
    load(folder, transforms=[CenterCrop(24)], **given).close()


def test_grey_images_refuse_three_channels(packed: Path) -> None:
    grey = Dataset(packed, channels=1)
    with pytest.raises(ArgumentError, match="images have 1 channel"):
        load(grey, transforms=[Grayscale(3)], fields=("image",))
    load(grey, transforms=[CenterCrop(24), Grayscale()], fields=("image",)).close()


def test_the_time_for_changes_counts_as_the_transforms(packed: Path) -> None:
    steps: list[Transform] = [CenterCrop(48), *[GaussianBlur(23, 3.0)] * 8]
    with Loader(packed, batch_size=13, transforms=steps, workers=0) as loader:
        list(loader)
        blurred = loader.statistics().transform
    with Loader(packed, batch_size=13, transforms=steps[:1], workers=0) as loader:
        list(loader)
        assert blurred > 2 * loader.statistics().transform
