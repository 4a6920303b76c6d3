"""Grey images on request, one channel each: whatever they are stored as, and wherever they go."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_images import encode, make_image
from PIL import Image
from torch.utils.data import DataLoader

import reader
from packer.options.declared import SourceOptions
from reader import CUDAPrefetcher, Dataset, Loader

MODES = {"grey.png": "L", "grey.jpg": "L", "colour.png": "RGB", "colour.jpg": "RGB"}
MODES |= {"print.jpg": "CMYK", "palette.png": "P", "faint.png": "LA", "turned.jpg": "L"}
GREY = ("grey.png", "grey.jpg", "faint.png", "turned.jpg")
PIPELINES: dict[str, list[Any]] = {
    "crops": [
        reader.RandomResizedCrop(24),
        reader.RandomHorizontalFlip(),
        reader.RandomVerticalFlip(),
    ],
    "smaller": [reader.Resize((11, 13))],
    "antialiased": [reader.Resize((30, 30), antialias=True, interpolation="bicubic")],
    "letterbox": [reader.Letterbox(40)],
    "beyond": [reader.RandomCrop(90, padding=8)],
}


@pytest.fixture(scope="module")
def folder(make_dataset: Callable[..., Path]) -> Path:
    """An image of each mode, of 96 x 120 pixels, so that the JPEGs are tiled."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return make_dataset(
        {
            name: encode(
                make_image(seed, 96, 120, mode),
                {"jpg": "JPEG", "png": "PNG"}[name[-3:]],
                **({"exif": exif} if name == "turned.jpg" else {}),
            )
            for seed, (name, mode) in enumerate(MODES.items())
        },
        source=SourceOptions(kind="folder"),
    )


def load(folder: Path, channels: Any = 1, **options: Any) -> Loader:
    given = {"batch_size": len(MODES), "workers": 0, "fields": ("image", "name"), "seed": 3}
    return Loader(Dataset(folder, channels=channels), **{**given, **options})


def only(loader: Loader) -> dict[str, torch.Tensor]:
    """Each image by its name; the second epoch, in which a cache is full."""
    with loader:
        list(loader)
        ((images, names),) = loader
    return dict(zip(names, images, strict=True))


@pytest.mark.parametrize("cache", [None, "decoded"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_of_a_grey_image_one_channel_has_the_pixels_of_all_three(
    folder: Path, pipeline: str, cache: Any
) -> None:
    options = {"transforms": PIPELINES[pipeline], "cache": cache}
    grey, colour = only(load(folder, **options)), only(load(folder, 3, **options))
    for name in MODES:
        assert grey[name].shape == (1, *colour[name].shape[1:])
        if name in GREY:
            assert torch.equal(grey[name].expand(3, -1, -1), colour[name])


def test_of_a_colour_image_it_is_its_brightness(folder: Path) -> None:
    dataset, colour = Dataset(folder, channels=1), Dataset(folder)
    for number, name in enumerate(dataset.names):
        pixels, (expected, _) = dataset[number][0], colour[number]
        assert pixels.shape == (*expected.shape[:2], 1)
        wanted = np.asarray(Image.fromarray(expected).convert("L")).astype(int)
        difference = abs(pixels[..., 0] - wanted)
        assert difference.max() <= (8 if name == "colour.jpg" else 1)  # whose RGB was clipped
        assert difference.mean() < 1


def test_views_and_lists_of_sizes_are_grey(folder: Path) -> None:
    crops = [[reader.CenterCrop(32)], [reader.RandomResizedCrop(16)]]
    with load(folder, views=crops, workers=0) as loader:
        ((views, _),) = loader
    assert [view.shape[1:] for view in views] == [(1, 32, 32), (1, 16, 16)]
    with load(folder) as loader:
        ((images, names),) = loader
    sizes = dict(zip(names, (image.shape for image in images), strict=True))
    assert sizes.pop("turned.jpg") == (1, 120, 96)
    assert set(sizes.values()) == {(1, 96, 120)}


def test_a_torch_data_loader_gets_them_as_from_mnist(folder: Path) -> None:
    modes = []

    def to_tensor(image: Image.Image) -> torch.Tensor:
        modes.append(image.mode)
        return torch.from_numpy(np.array(image.crop((0, 0, 64, 64))))[None]

    dataset = Dataset(folder, channels=1, transform=to_tensor)
    ((images, _),) = DataLoader(dataset, batch_size=len(MODES))
    assert images.shape == (len(MODES), 1, 64, 64)
    assert set(modes) == {"L"}


def test_map_sample_gets_height_width_and_one_channel(folder: Path) -> None:
    def lighter(sample: dict[str, Any]) -> dict[str, Any]:
        assert sample["image"].shape == (32, 32, 1)
        return sample | {"image": sample["image"] // 2}

    crop = [reader.CenterCrop(32)]
    changed, plain = (
        only(load(folder, transforms=crop, map_sample=lighter)),
        load(folder, transforms=crop),
    )
    for name, image in only(plain).items():
        assert torch.equal(changed[name], image // 2)


def test_a_mask_lies_over_a_grey_image(write_samples: Callable[..., Path]) -> None:
    image = encode(make_image(1, mode="L"), "PNG")
    mask = encode(make_image(1, mode="L").point(lambda value: value // 64), "PNG")
    folder = write_samples({"a": {"png": image, "mask.png": mask}})
    fields = ("image", "mask.png")
    with load(folder, transforms=[reader.CenterCrop(40)], fields=fields) as loader:
        ((images, masks),) = loader
    assert masks.shape == (1, 40, 40)
    assert torch.equal(masks, images[:, 0] // 64)


@pytest.mark.parametrize("stored", [1, 3])
@pytest.mark.parametrize("transforms", [(), (reader.RandomCrop(10, padding=2),)])
def test_raw_images_are_grey(
    write_samples: Callable[..., Path], stored: int, transforms: Any
) -> None:
    pixels = np.random.default_rng(stored).integers(0, 255, (20, 12, 10, stored), np.uint8)
    samples = {f"k{n}": {"raw": image.tobytes()} for n, image in enumerate(pixels)}
    folder = write_samples(samples, shard_samples=7, raw=(12, 10, stored))
    with load(folder, batch_size=20, transforms=transforms) as loader:
        ((grey, _),) = loader
    with load(folder, 3, batch_size=20, transforms=transforms) as loader:
        ((colour, _),) = loader
    assert grey.shape == (20, 1, *colour.shape[2:])
    luma = (colour.float() * torch.tensor([0.299, 0.587, 0.114]).reshape(3, 1, 1)).sum(1, True)
    assert (grey - luma).abs().max() <= 0.51
    if not transforms and stored == 1:
        assert np.array_equal(grey[:, 0].numpy(), pixels[..., 0])


@pytest.mark.parametrize("norm", [{}, {"mean": (0.1307,), "std": (0.3081,)}])
def test_a_prefetcher_normalises_them(folder: Path, norm: dict[str, Any]) -> None:
    with load(folder, transforms=[reader.CenterCrop(32)]) as loader:
        ((raw, _),) = loader
        ((image, _),) = CUDAPrefetcher(loader, **norm, device="cpu")
    mean, std = norm.get("mean", (0,))[0], norm.get("std", (1,))[0]
    torch.testing.assert_close(image, (raw / 255 - mean) / std)


def test_one_number_serves_all_channels_as_in_torchvision(folder: Path) -> None:
    with load(folder, 3, transforms=[reader.CenterCrop(32)]) as loader:
        ((raw, _),) = loader
        ((image, _),) = CUDAPrefetcher(loader, (0.5,), (0.5,), device="cpu")
    torch.testing.assert_close(image, (raw / 255 - 0.5) / 0.5)
    grey = torch.zeros((2, 1, 4, 4), dtype=torch.uint8)
    ((one, three),) = CUDAPrefetcher(
        [(grey, grey.expand(2, 3, 4, 4))], (0.5,), (0.5,), device="cpu"
    )
    assert one.unique().tolist() == three.unique().tolist() == [-1.0]
