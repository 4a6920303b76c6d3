"""The prefetcher's values, its order and what it holds, on a CPU; GPU: `test_transfer.py`."""

import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import indexes, load
from PIL import Image
from torch.utils.data import DataLoader

from reader import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    ArgumentError,
    CenterCrop,
    CUDAPrefetcher,
    Loader,
    ReaderError,
)
from reader.cuda.transfer import BatchSender, Transfer
from reader.loader.epochs import EpochIterator

CROP = CenterCrop((48, 64))
SHUFFLED: dict[str, Any] = {"batch_size": 16, "workers": 0, "transforms": [CROP], "shuffle": True}

Pair = namedtuple("Pair", ["image", "label"])


@pytest.fixture
def loader(packed: Path) -> Iterator[Loader]:
    with Loader(packed, **SHUFFLED) as opened:
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
        ["a", "b"],
        "name",
        3,
        None,
        {"path": "p"},
    ],
)
def test_what_is_no_image_passes_unchanged(other: Any) -> None:
    ((seen, image),) = on_cpu([(other, images())])
    assert image.is_floating_point()
    if isinstance(other, torch.Tensor):
        assert seen.dtype == other.dtype
        assert torch.equal(seen, other)
    else:
        assert seen == other


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_float_images_of_map_sample_are_normalised_as_bytes_are(
    packed: Path, kind: torch.dtype
) -> None:
    def floats(sample: dict[str, Any]) -> dict[str, Any]:
        image = torch.from_numpy(sample["image"]).permute(2, 0, 1)
        return sample | {"image": (image.double() / 255).to(kind)}

    options: dict[str, Any] = {"batch_size": 16, "workers": 0, "fields": ("label", "image")}
    for transforms in ([CROP], []):  # one tensor, and a list of images
        seen = []
        for change in (floats, None):
            with Loader(packed, map_sample=change, transforms=transforms, **options) as loader:
                seen.append(next(iter(on_cpu(loader, dtype=torch.float32)))[1])
        with Loader(packed, transforms=transforms, **options) as loader:
            raw = next(iter(loader))[1]
        for found, image in zip(seen[1], raw, strict=True):
            torch.testing.assert_close(found.double(), normalised(image), atol=1e-5, rtol=0)
        is_listed = not transforms or kind == torch.bfloat16  # which NumPy has not
        assert isinstance(seen[0], list) is is_listed
        tolerance = {torch.float16: 3e-3, torch.bfloat16: 3e-2}.get(kind, 1e-5)
        for found, expected in zip(*seen, strict=True):
            assert found.dtype == torch.float32
            torch.testing.assert_close(found, expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize("change", [lambda image: image, lambda image: (image / 255 - 0.5) / 0.2])
@pytest.mark.parametrize("transforms", [[CROP], []], ids=["tensor", "list"])
def test_float_images_of_another_scale_are_refused_with_what_to_do(
    packed: Path, change: Any, transforms: Any
) -> None:
    def wrong(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": change(sample["image"].astype(np.float32))}

    options: dict[str, Any] = {"batch_size": 16, "workers": 0, "transforms": transforms}
    with Loader(packed, map_sample=wrong, **options) as loader:
        with pytest.raises(ArgumentError, match=r"from 0 to 1. .* divide by 255 in map_sample"):
            next(iter(on_cpu(loader)))
        plain = next(iter(CUDAPrefetcher(loader, device="cpu")))[0]
        loader.set_epoch(0)
        for found, given in zip(plain, next(iter(loader))[0], strict=True):
            assert torch.equal(found, given), "without mean and std they come as they are"


def test_the_floats_of_another_iterable_are_images_where_no_bytes_are() -> None:
    raw = images()
    expected = normalised(raw)
    for batch in ((raw / 255, torch.arange(4)), {"image": list(raw / 255)}):
        (seen,) = on_cpu([batch])
        found = seen[0] if isinstance(seen, tuple) else torch.stack(seen["image"])
        torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=0)
    (unchanged,) = CUDAPrefetcher([raw / 255], device="cpu")
    assert torch.equal(unchanged, raw / 255)
    with pytest.raises(ArgumentError, match="For normalised values, leave mean="):
        list(on_cpu([expected]))


def test_map_batch_gets_float_images_normalised_and_other_floats_pass(packed: Path) -> None:
    def added(sample: dict[str, Any]) -> dict[str, Any]:
        features = np.full((3, 4, 4), 200, np.float32)
        return sample | {"features": features, "image": np.float32(sample["image"] / 255)}

    def change(batch: Any) -> Any:
        return *batch, batch[1] * 100

    options: dict[str, Any] = {"fields": ("features?", "image"), "map_sample": added}
    with load(packed, transforms=[CROP], map_batch=change, **options) as loader:
        features, image, larger = next(iter(on_cpu(loader)))
    assert (features == 200).all()
    assert image.min() < -1
    assert torch.equal(larger, image * 100)


def test_masks_of_three_samples_are_no_image(
    write_samples: Callable[..., Path], encode: Callable[..., bytes]
) -> None:
    picture = Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3))
    members = {"png": encode(picture, "PNG"), "mask.png": encode(picture.convert("L"), "PNG")}
    folder = write_samples(dict.fromkeys("abc", members))
    for views in (1, 3):
        with Loader(
            folder, batch_size=3, workers=0, views=views, fields=("mask.png", "image")
        ) as loader:
            ((raw, _),) = loader
            loader.set_epoch(0)
            ((masks, pictures),) = on_cpu(loader)
        if views == 1:
            raw, masks, pictures = [raw], [masks], [pictures]
        for mask, expected, image in zip(masks, raw, pictures, strict=True):
            assert mask.dtype == torch.uint8
            assert torch.equal(mask, expected)
            assert image.is_floating_point()


@pytest.mark.parametrize("container", [list, tuple])
def test_of_other_batches_a_list_of_nothing_but_single_images_is_images(
    container: Callable[[Any], Any],
) -> None:
    raw, masks = images(3), images(5)[:3, 0, :3]
    batch = [raw, container(raw), container([masks, raw[0].float()]), masks, {"masks": masks}]
    ((whole, single, others, mask, nested),) = on_cpu([batch])
    assert torch.equal(torch.stack(list(single)), whole)
    assert torch.equal(others[0], masks)
    assert torch.equal(mask, masks)
    assert torch.equal(nested["masks"], masks)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda image, number: (image, number), lambda batch: batch),
        (lambda image, number: {"a": image, "b": number}, lambda batch: (batch["a"], batch["b"])),
        (lambda image, number: Pair(image, number), lambda batch: (batch.image, batch.label)),
        (lambda image, number: ({"a": [image]}, (number, "x")), lambda b: (b[0]["a"][0], b[1][0])),
    ],
    ids=["tuple", "dict", "namedtuple", "nested"],
)
def test_the_batches_of_a_torch_data_loader_keep_their_structure(make: Any, parts: Any) -> None:
    raw = images(6)
    batches = DataLoader([make(image, number) for number, image in enumerate(raw)], batch_size=4)
    for mine, (start, stop) in zip(on_cpu(batches), [(0, 4), (4, 6)], strict=True):
        image, label = parts(mine)
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
    with Loader(packed, **SHUFFLED) as loader:
        expected = [[label.tolist() for _, label in loader] for _ in range(3)]
    with Loader(packed, **SHUFFLED) as loader:
        prefetcher = on_cpu(loader)
        assert [epoch_with_next(prefetcher) for _ in range(3)] == expected
    assert expected[0] != expected[1]


def test_a_prefetcher_prints_where_batches_go_and_where_they_come_from(loader: Loader) -> None:
    assert repr(on_cpu(loader)) == f"<CUDAPrefetcher on cpu, none ahead, of {loader!r}>"


@pytest.mark.parametrize(
    ("asked", "strides"),
    [
        (torch.contiguous_format, (90, 30, 5, 1)),
        (torch.channels_last, (90, 1, 15, 3)),
        (torch.preserve_format, (90, 30, 5, 1)),
    ],
)
def test_images_come_in_the_memory_format_asked_for(
    asked: torch.memory_format, strides: tuple[int, ...]
) -> None:
    raw = images()
    for given in (raw, raw.contiguous(memory_format=torch.channels_last)):
        for dtype in (torch.float32, torch.float16):
            (seen,) = on_cpu([given], memory_format=asked, dtype=dtype)
            if asked != torch.preserve_format:
                assert seen.stride() == strides
            else:
                assert seen.stride() == given.stride()
            (plain,) = on_cpu([raw], dtype=dtype)
            assert torch.equal(seen, plain)
    (singles,) = on_cpu([list(raw)], memory_format=asked)
    assert [image.stride() for image in singles] == [image.stride() for image in raw]


@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor])
def test_mean_and_std_may_be_a_list_a_tuple_an_array_or_a_tensor(kind: Any) -> None:
    batch = torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)
    mean, std = kind([0.5, 0.25, 0.0]), kind([0.5, 0.5, 0.5])
    ((image,),) = CUDAPrefetcher([(batch,)], mean=mean, std=std, device="cpu")
    assert image[0, :, 0, 0].tolist() == [1.0, 1.5, 2.0]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
@pytest.mark.parametrize("device", ["cuda", "cuda:1", 0])
def test_a_gpu_where_there_is_none_is_refused(device: str | int) -> None:
    with pytest.raises(ReaderError, match="torch finds no CUDA"):
        CUDAPrefetcher([], device=device)


def darker(batch: Any) -> Any:
    image, label = batch
    return {"image": image - 1, "first": label[0], "is_float": image.is_floating_point()}


def test_map_batch_gets_what_is_on_the_device_normalised(loader: Loader, packed: Path) -> None:
    expected = list(on_cpu(loader))
    with Loader(packed, map_batch=darker, **SHUFFLED) as mapped:
        seen = list(on_cpu(mapped))
        assert not next(iter(mapped))["is_float"], "without a prefetcher it is what the loader has"
    assert len(seen) == len(expected) == 3
    for batch, (image, label) in zip(seen, expected, strict=True):
        assert torch.equal(batch["image"], image - 1)
        assert batch["first"] == label[0]
        assert batch["is_float"]


def test_an_error_of_map_batch_comes_at_its_batch_and_the_next_one_follows(packed: Path) -> None:
    numbers = iter(range(3))

    def fail_once(batch: Any) -> Any:
        if (number := next(numbers)) == 1:
            raise ValueError("broken")
        return number

    with Loader(packed, map_batch=fail_once, **SHUFFLED) as mapped:
        batches = iter(on_cpu(mapped))
        assert next(batches) == 0
        with pytest.raises(ValueError, match="broken"):
            next(batches)
        assert list(batches) == [2]


class Failing:
    """Batches, of which some are exceptions."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __iter__(self) -> "Failing":
        self.left = iter(self.items)
        return self

    def __next__(self) -> Any:
        item = next(self.left)
        if isinstance(item, Exception):
            raise item
        return torch.tensor([item])


class ManualTransfer(Transfer):
    """A copy that ends when the test says so."""

    is_done = False
    waited = False

    def is_over(self) -> bool:
        return self.is_done

    def wait(self) -> None:
        self.waited = self.is_done = True


class ManualSender(BatchSender):
    """A device with a stream, in the test's hands."""

    runs_ahead = True
    transfers: list[ManualTransfer]

    def send(self, batch: Any, place: Any = None) -> Transfer:
        self.transfers.append(ManualTransfer(batch.clone()))
        return self.transfers[-1]


@pytest.fixture
def transfers(monkeypatch: pytest.MonkeyPatch) -> list[ManualTransfer]:
    """The copies of prefetchers made in this test, which run ahead as on a GPU."""
    made: list[ManualTransfer] = []
    monkeypatch.setattr(ManualSender, "transfers", made, raising=False)
    monkeypatch.setattr("reader.cuda.prefetcher.BatchSender", ManualSender)
    return made


class Hosts:
    """Batches 0, 1, ... of which those that somebody still holds are known; with a state."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.given: list[weakref.ref[torch.Tensor]] = []

    def __iter__(self) -> Iterator[torch.Tensor]:
        for number in range(self.count):
            tensor = torch.tensor([number])
            self.given.append(weakref.ref(tensor))
            yield tensor
            del tensor

    def state_dict(self) -> int:
        return len(self.given)

    def held(self) -> list[int]:
        return [number for number, ref in enumerate(self.given) if ref() is not None]


def test_a_host_batch_is_held_until_its_copy_has_ended_and_no_longer(
    transfers: list[ManualTransfer],
) -> None:
    hosts = Hosts(8)
    iterator = iter(CUDAPrefetcher(hosts, device="cpu"))
    assert next(iterator).item() == 0
    assert hosts.held() == [0, 1]
    transfers[0].is_done = True
    assert next(iterator).item() == 1
    assert hosts.held() == [1, 2, 3]
    transfers[2].is_done = True  # out of turn: the copies of one stream end in order
    transfers[1].is_done = True
    assert next(iterator).item() == 2
    assert hosts.held() == [3, 4]
    assert not any(transfer.waited for transfer in transfers)


@pytest.mark.parametrize("how", ["closed", "left", "dropped"])
def test_an_epoch_that_is_abandoned_holds_its_host_batches_until_their_copies_have_ended(
    transfers: list[ManualTransfer], how: str
) -> None:
    hosts = Hosts(8)
    prefetcher = CUDAPrefetcher(hosts, device="cpu")
    batches = iter(prefetcher)
    assert next(batches).item() == 0
    assert hosts.held() == [0, 1]
    assert not any(transfer.waited for transfer in transfers)
    del batches
    if how == "closed":
        prefetcher.close()
    elif how == "left":
        with prefetcher:
            pass
    else:
        del prefetcher
    assert hosts.held() == []
    assert all(transfer.waited for transfer in transfers)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_as_many_batches_are_under_way_as_asked_for(
    transfers: list[ManualTransfer], depth: int
) -> None:
    iterator = iter(CUDAPrefetcher(Hosts(30), device="cpu", depth=depth))
    for number in range(10):
        next(iterator)
        assert len(transfers) <= number + 1 + depth
    assert len(transfers) == 10 + depth


def test_a_loader_without_a_batch_ready_does_not_hold_up_one_that_is_on_the_device(
    packed: Path, transfers: list[ManualTransfer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EpochIterator, "is_ready", lambda self: False)
    with Loader(packed, batch_size=8, workers=1, transforms=[CROP], fields=("label",)) as loader:
        monkeypatch.setattr(ManualSender, "send", lambda self, batch, place: Transfer(batch))
        iterator = iter(CUDAPrefetcher(loader, device="cpu"))
        (first,) = next(iterator)
        assert loader.statistics().batches == 1  # none was waited for but the first
        assert torch.equal(
            torch.cat([first, *(label for (label,) in iterator)]),
            torch.tensor(loader.dataset.targets),
        )


def test_an_iterator_knows_whether_its_next_batch_is_decoded(packed: Path) -> None:
    with Loader(packed, batch_size=39, workers=1, transforms=[CROP]) as loader:
        iterator = iter(loader)
        while not iterator.is_ready():
            pass
        next(iterator)
        assert iterator.is_ready()  # to say that this was all
        assert next(iterator, None) is None


@pytest.mark.parametrize("runs_ahead", [False, True])
def test_errors_come_at_the_batch_where_they_happened(
    runs_ahead: bool, transfers: list[ManualTransfer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ManualSender, "runs_ahead", runs_ahead)
    source = Failing(0, 1, ValueError("two"), 3, OSError("four"), 5)
    iterator = iter(CUDAPrefetcher(source, device="cpu", depth=4))
    assert [next(iterator).item() for _ in range(2)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(iterator)
    assert next(iterator).item() == 3
    with pytest.raises(OSError, match="four"):
        next(iterator)
    assert [batch.item() for batch in iterator] == [5]


def test_a_generator_that_raises_ends_the_epoch_after_its_error() -> None:
    def batches() -> Iterator[torch.Tensor]:
        yield torch.tensor([0])
        raise ValueError("broken")

    iterator = iter(CUDAPrefetcher(batches(), device="cpu"))
    next(iterator)
    with pytest.raises(ValueError, match="broken"):
        next(iterator)
    assert list(iterator) == []


@pytest.mark.parametrize("runs_ahead", [False, True])
def test_the_state_counts_what_was_consumed_not_what_was_fetched(
    runs_ahead: bool, transfers: list[ManualTransfer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ManualSender, "runs_ahead", runs_ahead)
    hosts = Hosts(8)
    prefetcher = CUDAPrefetcher(hosts, device="cpu", depth=3)
    assert prefetcher.state_dict() == 0
    for number, _ in enumerate(prefetcher):
        assert prefetcher.state_dict() == number + 1
        if number == 3:
            break
    assert prefetcher.state_dict() == 4
    assert len(hosts.given) == (4 if not runs_ahead else 7)


@pytest.mark.parametrize("runs_ahead", [False, True])
def test_a_loader_without_an_end_goes_on_after_the_batch_consumed_last(
    packed: Path, monkeypatch: pytest.MonkeyPatch, runs_ahead: bool
) -> None:
    monkeypatch.setattr(BatchSender, "runs_ahead", runs_ahead)
    monkeypatch.setattr(EpochIterator, "is_ready", lambda self: True)
    with load(packed, epochs=None, workers=1) as loader:
        prefetcher = CUDAPrefetcher(loader, device="cpu")
        for start in (0, 8, 16):
            assert indexes(islice(prefetcher, 2)) == list(range(start, start + 8))
        loader.set_epoch(3)  # somebody else moved it
        assert next(iter(prefetcher))[0].tolist() == [0, 1, 2, 3]


@pytest.mark.gpu
def test_data_parallel_scatters_what_the_prefetcher_gives(loader: Loader) -> None:
    model = torch.nn.DataParallel(torch.nn.Flatten()).cuda()
    for image, label in CUDAPrefetcher(loader, IMAGENET_MEAN, IMAGENET_STD):
        assert torch.equal(model(image), image.flatten(1))
        assert label.device == image.device


@pytest.mark.parametrize(
    ("batch", "end"), [({"image": images()}, None), (images(), None), ([images()], (None,))]
)
def test_next_ends_with_nones_in_the_shape_of_a_batch(batch: Any, end: Any) -> None:
    prefetcher = on_cpu([batch])
    assert type(prefetcher.next()) is (tuple if isinstance(batch, list) else type(batch))
    assert prefetcher.next() == end
