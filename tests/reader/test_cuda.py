"""The prefetcher's values and its loop; on a CPU, and where there is a GPU, there too."""

from collections import namedtuple
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from reader import IMAGENET_MEAN, IMAGENET_STD, CenterCrop, CUDAPrefetcher, Loader

CROP = CenterCrop((48, 64))

Pair = namedtuple("Pair", ["image", "label"])


@pytest.fixture
def loader(packed: Path) -> Iterator[Loader]:
    with Loader(packed, batch_size=16, workers=1, transforms=[CROP], shuffle=True) as opened:
        yield opened


def images(count: int = 4, channels: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(count)
    return torch.randint(0, 256, (count, channels, 6, 5), dtype=torch.uint8, generator=generator)


def normalised(image: torch.Tensor) -> torch.Tensor:
    mean, std = (
        torch.tensor(values, dtype=torch.float64).reshape(3, 1, 1)
        for values in (IMAGENET_MEAN, IMAGENET_STD)
    )
    return (image.double() / 255 - mean) / std


def on_cpu(batches: Any, **options: Any) -> CUDAPrefetcher:
    return CUDAPrefetcher(batches, IMAGENET_MEAN, IMAGENET_STD, device="cpu", **options)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)]
)
def test_images_are_normalised_in_the_dtype_asked_for(
    loader: Loader, dtype: torch.dtype, tolerance: float
) -> None:
    expected = list(loader)
    loader.set_epoch(0)
    seen = list(on_cpu(loader, dtype=dtype))
    assert len(seen) == len(expected) == 3
    for (image, label), (raw, number) in zip(seen, expected, strict=True):
        assert image.dtype == dtype
        assert image.shape == raw.shape
        assert image.is_contiguous(memory_format=torch.channels_last)
        torch.testing.assert_close(image.double(), normalised(raw), atol=tolerance, rtol=0)
        assert torch.equal(label, number)
        assert label.dtype == torch.int64


def test_a_low_precision_is_rounded_once_from_float32() -> None:
    batch = [images()]
    exact = next(iter(on_cpu(batch)))
    for dtype in (torch.float16, torch.bfloat16):
        assert torch.equal(next(iter(on_cpu(batch, dtype=dtype))), exact.to(dtype))


def test_without_mean_and_std_images_lie_between_0_and_1() -> None:
    raw = images()
    (seen,) = CUDAPrefetcher([raw], device="cpu")
    torch.testing.assert_close(seen, raw / 255)


def test_the_loaders_own_batches_are_left_as_they_are() -> None:
    raw = images()
    kept = raw.clone()
    list(on_cpu([(raw, torch.arange(4))]))
    assert torch.equal(raw, kept)


@pytest.mark.parametrize(
    "other",
    [
        torch.arange(4),
        torch.rand(4, 3, 6, 5),
        images(channels=1),
        images(channels=4),
        torch.arange(9, dtype=torch.uint8).reshape(3, 3),
    ],
)
def test_tensors_that_are_no_images_pass_unchanged(other: torch.Tensor) -> None:
    ((seen, _),) = on_cpu([(other, images())])
    assert seen.dtype == other.dtype
    assert torch.equal(seen, other)


def test_what_is_no_tensor_passes_unchanged() -> None:
    batch = (images(), ["a", "b"], "name", 3, None, {"path": "p"})
    ((image, *others),) = on_cpu([batch])
    assert image.is_floating_point()
    assert others == [["a", "b"], "name", 3, None, {"path": "p"}]


def test_images_of_different_sizes_are_normalised_one_by_one(packed: Path) -> None:
    with Loader(packed, batch_size=16, workers=1) as loader:
        raw = next(iter(loader))[0]
        loader.set_epoch(0)
        seen = next(iter(on_cpu(loader)))[0]
    assert isinstance(raw, list)
    assert len({image.shape for image in raw}) > 1
    for mine, image in zip(seen, raw, strict=True):
        torch.testing.assert_close(mine.double(), normalised(image), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["tuple", "dict", "namedtuple", "nested"])
def test_the_batches_of_a_torch_data_loader_keep_their_structure(kind: str) -> None:
    raw = images(6)
    samples: dict[str, list[Any]] = {
        "tuple": [(image, number) for number, image in enumerate(raw)],
        "dict": [{"image": image, "label": number} for number, image in enumerate(raw)],
        "namedtuple": [Pair(image, number) for number, image in enumerate(raw)],
        "nested": [({"image": [image]}, (number, "x")) for number, image in enumerate(raw)],
    }
    batches = DataLoader(samples[kind], batch_size=4)
    seen = list(on_cpu(batches))
    assert len(seen) == 2
    for mine, (start, stop) in zip(seen, [(0, 4), (4, 6)], strict=True):
        if kind == "dict":
            image, label = mine["image"], mine["label"]
        elif kind == "namedtuple":
            assert type(mine) is Pair
            image, label = mine.image, mine.label
        elif kind == "nested":
            image, (label, text) = mine[0]["image"][0], mine[1]
            assert list(text) == ["x"] * (stop - start)
        else:
            image, label = mine
        assert label.tolist() == list(range(start, stop))
        torch.testing.assert_close(image.double(), normalised(raw[start:stop]), atol=1e-5, rtol=0)


def epoch_with_next(prefetcher: CUDAPrefetcher) -> list[list[int]]:
    """The loop of NVIDIA apex's examples."""
    found = []
    image, label = prefetcher.next()
    while image is not None:
        assert image.is_floating_point()
        found.append(label.tolist())
        image, label = prefetcher.next()
    assert label is None
    return found


def test_the_loop_of_apex_runs_epoch_after_epoch(packed: Path) -> None:
    options: dict[str, Any] = {
        "batch_size": 16,
        "workers": 1,
        "transforms": [CROP],
        "shuffle": True,
    }
    with Loader(packed, **options) as loader:
        expected = [[label.tolist() for _, label in loader] for _ in range(3)]
    with Loader(packed, **options) as loader:
        prefetcher = on_cpu(loader)
        assert [epoch_with_next(prefetcher) for _ in range(3)] == expected
    assert expected[0] != expected[1]


def test_next_gives_as_many_nones_as_the_loader_has_fields(packed: Path) -> None:
    fields = ("image", "label", "index")
    with Loader(packed, batch_size=39, workers=1, transforms=[CROP], fields=fields) as loader:
        prefetcher = on_cpu(loader)
        assert len(prefetcher.next()) == 3
        assert prefetcher.next() == (None, None, None)


def test_the_prefetcher_is_as_long_as_its_loader_and_begins_anew(loader: Loader) -> None:
    prefetcher = on_cpu(loader)
    assert len(prefetcher) == len(loader) == 3
    first, second = ([label.tolist() for _, label in prefetcher] for _ in range(2))
    assert sorted(chain(*first)) == sorted(chain(*second))
    assert first != second


def test_breaking_out_of_the_prefetcher_and_starting_again_works(loader: Loader) -> None:
    prefetcher = on_cpu(loader)
    for _ in prefetcher:
        break
    assert sum(len(label) for _, label in prefetcher) == 39


def test_the_device_is_a_gpu_exactly_if_there_is_one() -> None:
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert CUDAPrefetcher([]).device.type == expected


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_gpu_gives_the_values_of_the_cpu(loader: Loader, dtype: torch.dtype) -> None:
    expected = list(on_cpu(loader, dtype=dtype))
    loader.set_epoch(0)
    prefetcher = CUDAPrefetcher(loader, IMAGENET_MEAN, IMAGENET_STD, dtype)
    seen = list(prefetcher)  # all are kept, so none may be overwritten by a later one
    assert len(seen) == len(expected) == 3
    for (image, label), (other, number) in zip(seen, expected, strict=True):
        assert image.is_cuda
        assert label.is_cuda
        torch.testing.assert_close(image.cpu(), other)
        assert torch.equal(label.cpu(), number)


@pytest.mark.gpu
@needs_gpu
def test_a_gpu_at_work_on_other_streams_sees_complete_batches(loader: Loader) -> None:
    expected = [int(image.sum()) for image, _ in loader] * 5
    prefetcher = CUDAPrefetcher(loader, (0,) * 3, (1 / 255,) * 3, depth=1)
    stream = torch.cuda.Stream()
    ballast = torch.rand(2048, 2048, device="cuda")
    sums = []
    with torch.cuda.stream(stream):
        for _ in range(5):
            loader.set_epoch(0)
            for image, _ in prefetcher:
                ballast = ballast @ ballast / ballast.norm()
                sums.append(image.double().sum())
    stream.synchronize()
    assert np.allclose([float(one) for one in sums], expected, rtol=1e-5)
