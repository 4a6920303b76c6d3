"""The Compose of a script, given unchanged: a batch as a DataLoader over ImageFolder makes it.

torchvision's and timm's own, where they are installed.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from packing import run_pack
from PIL import Image
from torch.utils.data import DataLoader

import reader
from reader import ArgumentError, Loader
from reader.loader.from_torchvision import as_own
from reader.rng import SampleRandom
from reader.transforms.operations.run import change

torchvision = pytest.importorskip("torchvision")
T, V2 = torchvision.transforms, pytest.importorskip("torchvision.transforms.v2")

MEAN, STD = reader.IMAGENET_MEAN, reader.IMAGENET_STD
COUNT = 12


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photograph-like `images`, and their `shards`."""
    root = tmp_path_factory.mktemp("composed")
    for number in range(COUNT):
        path = root / "images" / f"class{number % 3}" / f"{number:02d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        y, x = np.mgrid[: 150 + number * 3, : 190 - number * 2]
        noise = np.random.default_rng(number).normal(0, 3, x.shape)
        channels = [x * 0.9 + noise, 120 + 60 * np.sin((x + y) / 17), (x + 2 * y) * 0.4]
        pixels = np.stack(channels, -1).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(path)
    run_pack(root / "images", root / "shards", seed=None)
    return root


def timm_transform(**options: Any) -> Any:
    return pytest.importorskip("timm.data").create_transform(**options)


def v1(*steps: Any) -> Any:
    return T.Compose([*steps, T.ToTensor(), T.Normalize(MEAN, STD)])


def preset(module: Any, *steps: Any, erase: float = 0) -> Any:
    """torchvision's references/classification/presets.py."""
    to_float = (
        module.ConvertImageDtype(torch.float)
        if module is T
        else module.ToDtype(torch.float, scale=True)
    )
    end = [module.RandomErasing(p=erase)] if erase else []
    pure = [] if module is T else [module.ToPureTensor()]
    found = [*steps, module.PILToTensor(), to_float, module.Normalize(MEAN, STD), *end, *pure]
    return module.Compose(found)


BICUBIC = T.InterpolationMode.BICUBIC

# What has no random step, and so is equal.
FIXED: dict[str, Callable[[], Any]] = {
    "torchvision, eval": lambda: preset(T, T.Resize(128, antialias=True), T.CenterCrop(112)),
    "torchvision v2, eval": lambda: preset(V2, V2.Resize(128), V2.CenterCrop(112)),
    "timm, eval": lambda: timm_transform(input_size=112),
    "timm, eval, bicubic": lambda: timm_transform(
        input_size=112, interpolation="bicubic", crop_pct=0.9
    ),
    "timm, eval, squash": lambda: timm_transform(input_size=(96, 112), crop_mode="squash"),
    "timm, eval, wide": lambda: timm_transform(input_size=(96, 128)),
    "MAE, eval": lambda: v1(T.Resize(128, interpolation=3), T.CenterCrop(112)),
    "pytorch/examples, val": lambda: v1(T.Resize(128), T.CenterCrop(112)),
    "a tutorial": lambda: T.Compose(
        [
            T.Resize(128),
            T.CenterCrop(112),
            T.ToTensor(),
            T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    ),
    "a tutorial, tensors first": lambda: T.Compose(
        [T.ToTensor(), T.Resize((96, 112)), T.Normalize((0.5,), (0.5,))]
    ),
    "fastai-like": lambda: V2.Compose(
        [
            V2.ToImage(),
            V2.Resize((96, 96)),
            V2.ToDtype(torch.float32, scale=True),
            V2.Normalize(MEAN, STD),
        ]
    ),
}


def batch_of(data: Path, transform: Any) -> tuple[torch.Tensor, torch.Tensor]:
    random.seed(3)  # timm's strongest Posterize is an error of Pillow's
    np.random.seed(3)
    folder = torchvision.datasets.ImageFolder(data / "images", transform)
    images, labels = next(iter(DataLoader(folder, COUNT)))
    return images, labels


def own_batch(data: Path, transform: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    with Loader(data / "shards", COUNT, transforms=transform, workers=0, **options) as loader:
        images, labels = next(iter(loader))
    return images, labels


def levels(images: torch.Tensor, transform: Any) -> torch.Tensor:
    """Normalised images on the scale to 255."""
    (end,) = (one for one in transform.transforms if type(one).__name__ == "Normalize")
    mean, std = (torch.as_tensor(values).reshape(-1, 1, 1) for values in (end.mean, end.std))
    return (images * std + mean) * 255


@pytest.mark.parametrize("name", FIXED)
def test_a_compose_without_chance_gives_a_data_loaders_batch(data: Path, name: str) -> None:
    transform = FIXED[name]()
    expected, labels = batch_of(data, transform)
    found, own_labels = own_batch(data, transform)
    assert torch.equal(own_labels, labels)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    differences = (levels(found, transform) - levels(expected, transform)).abs()
    assert (differences > 1.01).double().mean() < 1e-4  # bicubic, two levels
    assert differences.max() < 2.01
    with Loader(data / "shards", COUNT, transforms=transform, workers=0) as loader:
        (moved, _), *_ = reader.CUDAPrefetcher(loader, device="cpu")
    assert torch.equal(moved, found)


def jitter(module: Any) -> Any:
    return module.RandomApply([module.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8)


# What draws: its crop is compared below, the rest is taken.
RANDOM: dict[str, Callable[[], Any]] = {
    "torchvision, train": lambda: preset(
        T,
        T.RandomResizedCrop(112, antialias=True),
        T.RandomHorizontalFlip(0.5),
        T.TrivialAugmentWide(interpolation=T.InterpolationMode.BILINEAR),
        erase=0.1,
    ),
    "torchvision v2, train": lambda: preset(
        V2,
        V2.RandomResizedCrop(112),
        V2.RandomHorizontalFlip(0.5),
        V2.RandAugment(magnitude=9),
        erase=0.1,
    ),
    "torchvision, augmix": lambda: preset(T, T.RandomResizedCrop(112), T.AugMix(severity=3)),
    "torchvision, policy": lambda: preset(
        T, T.RandomResizedCrop(112), T.AutoAugment(T.AutoAugmentPolicy.IMAGENET)
    ),
    "pytorch/examples, train": lambda: v1(T.RandomResizedCrop(112), T.RandomHorizontalFlip()),
    "MAE, pretraining": lambda: v1(
        T.RandomResizedCrop(112, scale=(0.2, 1.0), interpolation=3), T.RandomHorizontalFlip()
    ),
    "SimCLR": lambda: T.Compose(
        [
            T.RandomResizedCrop(size=112),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.GaussianBlur(kernel_size=11),
            T.ToTensor(),
        ]
    ),
    "MoCo v3": lambda: v1(
        T.RandomResizedCrop(112, scale=(0.08, 1.0)),
        jitter(T),
        T.RandomGrayscale(p=0.2),
        T.RandomApply([T.GaussianBlur(23, (0.1, 2.0))], p=1.0),
        T.RandomApply([T.RandomSolarize(128, 1)], p=0.2),
        T.RandomHorizontalFlip(),
    ),
    "timm, train": lambda: timm_transform(input_size=112, is_training=True),
    "timm, train, random erasing": lambda: timm_transform(
        input_size=112, is_training=True, re_prob=0.25, re_mode="pixel", re_count=3
    ),
    **{
        f"timm, train, {config}": partial(
            timm_transform, input_size=112, is_training=True, auto_augment=config, **options
        )
        for config, options in (
            ("rand-m9-mstd0.5-inc1", {"re_prob": 0.25}),
            ("rand-m7-n3-mstd101-p0.8-tweights", {"interpolation": "bicubic"}),
            ("rand-m12-mmax15-n4", {"interpolation": "random"}),
            ("3a", {"color_jitter": 0.3}),
            ("original-mstd0.5", {}),
            ("augmix-m5-w4-d2", {}),
        )
    },
    "timm, no augmentation": lambda: timm_transform(input_size=112, is_training=True, no_aug=True),
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_compose_that_draws_is_taken_whole(data: Path, name: str) -> None:
    transform = RANDOM[name]()
    expected, labels = batch_of(data, transform)
    found, own_labels = own_batch(data, transform)
    assert torch.equal(own_labels, labels)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert abs(found.mean() - expected.mean()) < 0.6
    assert torch.equal(own_batch(data, transform)[0], found)


def test_a_drawn_crop_has_the_pixels_of_torchvision(data: Path) -> None:
    transform = v1(T.RandomResizedCrop((96, 112), antialias=True), T.RandomHorizontalFlip(0))
    fields = ("image", "geometry", "index")
    with Loader(data / "shards", COUNT, transforms=transform, workers=0, fields=fields) as loader:
        images, matrices, numbers = next(iter(loader))
        for image, matrix, number in zip(images, matrices, numbers.tolist(), strict=True):
            across, _, left, _, down, top = matrix.double().flatten().tolist()
            box = round(-top / down), round(-left / across), round(96 / down), round(112 / across)
            picture = Image.fromarray(loader.dataset[number][0])
            cropped = T.functional.resized_crop(picture, *box, (96, 112), antialias=True)
            expected = T.functional.normalize(T.functional.to_tensor(cropped), MEAN, STD)
            difference = (levels(image, transform) - levels(expected, transform)).abs()
            assert difference.max() < 1.01


def operation_pixels(op: Any, pixels: Any, seed: int, size: tuple[int, int]) -> Any:
    """What reader makes of an image with timm's operation, with its first drawn numbers."""
    own: Any = as_own([type_of_rand([op], 1)], 3)[0][0]
    changed = pixels.copy()
    change(own.draw(size, SampleRandom(seed, 0, 0)), changed)
    return changed


def type_of_rand(ops: Any, layers: int) -> Any:
    return pytest.importorskip("timm.data.auto_augment").RandAugment(ops, layers)


@pytest.mark.parametrize("filters", [2, 3])
def test_each_operation_of_timm_has_its_pixels(data: Path, filters: int) -> None:
    theirs = pytest.importorskip("timm.data.auto_augment")
    pixels = np.asarray(Image.open(data / "images" / "class0" / "00.png"))
    picture, size = Image.fromarray(pixels), pixels.shape[:2]
    hparams = {"img_mean": (124, 116, 104), "interpolation": filters, "translate_const": 50}
    for name in theirs.NAME_TO_OP:
        for magnitude in (3, 9):
            op = theirs.AugmentOp(name, 1.0, magnitude, hparams)
            # Signs are drawn: one of both is the same.
            if name == "GaussianBlurRand":
                continue
            found = operation_pixels(op, pixels, 5, size)
            both = [np.asarray(op(picture)).astype(int) for _ in range(12)]
            differences = [np.abs(found - one) for one in both]
            best = min(differences, key=lambda each: each.mean())
            assert (best > 1).mean() < 0.001, (name, magnitude)


class DataAugmentationDINO:
    """In the way of DINO's: two kinds of views of a picture."""

    def __init__(self) -> None:
        self.global_transfo = v1(T.RandomResizedCrop(112), jitter(T))
        self.local_transfo = v1(T.RandomResizedCrop(48), T.RandomHorizontalFlip())

    def __call__(self, image: Any) -> Any:
        return [self.global_transfo(image), self.local_transfo(image), self.local_transfo(image)]


def test_a_function_that_makes_views_is_refused_with_the_list_of_its_views(data: Path) -> None:
    augmentation = DataAugmentationDINO()
    with pytest.raises(ArgumentError, match="DataAugmentationDINO") as caught:
        own_batch(data, augmentation)
    assert "views=[DataAugmentationDINO(...).global_transfo, " in str(caught.value)
    views = [augmentation.global_transfo, *[augmentation.local_transfo] * 2]
    images: Any = own_batch(data, (), views=views)[0]
    assert [tuple(one.shape[2:]) for one in images] == [(112, 112), (48, 48), (48, 48)]
    assert all(one.dtype == torch.float32 for one in images)
    assert not torch.equal(images[1], images[2])


@pytest.mark.parametrize("name", ["RandomPerspective", "RandomAffine", "ElasticTransform"])
def test_what_is_not_taken_is_named_with_its_place(data: Path, name: str) -> None:
    arguments = {"RandomAffine": (10,)}.get(name, ())
    transform = v1(T.Resize((96, 96)), T.RandomApply([getattr(T, name)(*arguments)]))
    with pytest.raises(ArgumentError, match=rf"transforms\[1\], RandomApply: .*\[0\], {name}: "):
        own_batch(data, transform)
