"""The way to a GPU, on one that is pretended: what runs where, in what order, with what memory."""

import contextlib
import itertools
import sys
import types
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simplejpeg
import torch
from pretended_gpu import DEVICE, AtOnce, Late, OnGPU, PretendedGPU, pretended_gpu

from reader import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    CenterCrop,
    CUDAPrefetcher,
    CutMix,
    Loader,
    MixUp,
    RandomChoice,
    RandomHorizontalFlip,
    RandomResizedCrop,
    ReaderError,
    SampleError,
)
from reader.cuda import transfer as sender
from reader.gpu_decode import decoders
from reader.gpu_decode.images import EncodedImages
from reader.gpu_decode.parcels import Parcel, parcels
from reader.gpu_decode.resample import Source, resample, sent

NORM: dict[str, Any] = {"mean": IMAGENET_MEAN, "std": IMAGENET_STD}
CROP = CenterCrop((48, 64))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendedGPU]:
    """A GPU whose events are over 20 launches later, and a torchvision for it."""
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pretended_gpu(monkeypatch) as made:
        modes = types.SimpleNamespace(RGB="rgb")
        parts = {"ImageReadMode": modes, "decode_jpeg": made.decode_jpeg}
        for name in ("torchvision", "torchvision.io"):
            module = types.ModuleType(name)
            module.__dict__.update(parts)
            monkeypatch.setitem(sys.modules, name, module)
        caches = sender._side_stream, decoders._own_stream, decoders.choose
        for cached in caches:
            cached.cache_clear()
        yield made
        for cached in caches:
            cached.cache_clear()


def batches(gpu: PretendedGPU, count: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches in page-locked memory, watched."""
    for number in range(count):
        image = torch.arange(4 * 3 * 6 * 5).reshape(4, 3, 6, 5).add(number).to(torch.uint8)
        image = image.contiguous(memory_format=torch.channels_last)
        yield gpu.watch(image), gpu.watch(torch.arange(4) + number)


def consume(gpu: PretendedGPU, loop: Any, stream: Any = None) -> list[torch.Tensor]:
    """Use each batch as a training step does, and let it go at once."""
    sums = []
    with gpu.stream(stream or gpu.default):
        for images, labels in loop:
            assert type(images) is type(labels) is OnGPU
            sums.append(images.double().sum((1, 2, 3)) + labels)
            del images, labels
    return sums


@pytest.mark.parametrize(
    ("dtype", "layout"),
    [(torch.float32, torch.preserve_format), (torch.float16, torch.contiguous_format)],
)
@pytest.mark.parametrize("is_default", [True, False])
def test_all_is_in_order_and_nothing_is_waited_for(
    gpu: PretendedGPU, dtype: torch.dtype, layout: torch.memory_format, is_default: bool
) -> None:
    options: dict[str, Any] = {**NORM, "dtype": dtype, "memory_format": layout}
    expected = CUDAPrefetcher(list(batches(gpu, 12)), device="cpu", **options)
    expected = [images.double().sum((1, 2, 3)) + labels for images, labels in expected]
    prefetcher = CUDAPrefetcher(batches(gpu, 12), **options)
    assert prefetcher.device == DEVICE
    before = gpu.waits
    seen = consume(gpu, prefetcher, None if is_default else gpu.Stream())
    assert gpu.waits == before
    gpu.streams[-1].synchronize()
    gpu.default.synchronize()
    assert gpu.faults == []
    assert all(torch.equal(one.cpu(), other) for one, other in zip(seen, expected, strict=True))


def test_copies_that_fall_far_behind_are_waited_for(gpu: PretendedGPU) -> None:
    gpu.lag = 10**9
    prefetcher = CUDAPrefetcher(batches(gpu, 12), **NORM)
    before = gpu.waits
    consume(gpu, prefetcher)
    assert gpu.waits > before
    assert gpu.faults == []


def test_an_epoch_that_is_left_lets_no_memory_go_too_early(gpu: PretendedGPU) -> None:
    gpu.lag = 10**9
    for _ in range(5):
        for images, _ in CUDAPrefetcher(batches(gpu, 12), **NORM, depth=3):
            images.sum()
            break
    assert gpu.faults == []


def test_tensors_made_on_the_gpu_are_read_after_they_are_made(gpu: PretendedGPU) -> None:
    def made() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for number in range(8):
            image = torch.full((2, 3, 4, 4), number, dtype=torch.uint8, device=DEVICE)
            yield image, torch.zeros(2, device=DEVICE)

    sums = consume(gpu, CUDAPrefetcher(made(), mean=(0, 0, 0), std=(1 / 255,) * 3))
    assert gpu.faults == []
    assert [float(one[0]) for one in sums] == pytest.approx([48 * n for n in range(8)])


@dataclass
class Mixed:
    """A batch as a person's own code may make it."""

    images: torch.Tensor
    others: OrderedDict[str, list[torch.Tensor]]


def test_what_map_batch_gives_comes_as_it_is_and_keeps_its_memory(
    packed: Path, gpu: PretendedGPU
) -> None:
    def mix(batch: Any) -> Mixed:
        images, labels = batch
        return Mixed(images * 2, OrderedDict(labels=[labels + 1]))

    with Loader(packed, batch_size=4, workers=0, transforms=[CROP], map_batch=mix) as loader:
        for batch in CUDAPrefetcher(loader):
            assert type(batch) is Mixed
            assert type(batch.others) is OrderedDict
            batch.images.double().sum((1, 2, 3)) + batch.others["labels"][0]
            del batch
    assert gpu.faults == []


@pytest.mark.parametrize("decode", ["cpu", "gpu"])
def test_mixing_waits_for_nothing_and_is_drawn_by_place_in_any_thread(
    packed: Path, gpu: PretendedGPU, decode: Any
) -> None:
    """A thread of the sender's sends batches that the GPU decodes."""
    either = RandomChoice([MixUp(mode="elem"), CutMix(mode="elem")])
    given: dict[str, Any] = {"batch_size": 4, "workers": 0, "transforms": [CROP]}
    with Loader(packed, **given, map_batch=either) as loader:
        expected = [labels for _, labels in CUDAPrefetcher(loader, device="cpu")]
    seen = []
    with Loader(packed, **given, map_batch=either, decode=decode) as loader:
        prefetcher = CUDAPrefetcher(loader, **NORM)
        before = gpu.waits
        for images, labels in prefetcher:
            images.double().sum((1, 2, 3))
            seen.append(labels)
        assert gpu.waits == before or decode == "gpu"  # whose decoder waits
    gpu.streams[-1].synchronize()
    gpu.default.synchronize()
    assert gpu.faults == []
    for labels, label in zip(seen, expected, strict=True):
        torch.testing.assert_close(labels.cpu(), label)


def test_a_batch_that_cannot_be_sent_waits_for_what_is_queued_of_it(gpu: PretendedGPU) -> None:
    class Odd(torch.Tensor):
        def to(self, *_: Any, **__: Any) -> Any:
            raise ValueError("odd")

    def source() -> Iterator[Any]:
        yield gpu.watch(torch.zeros(3)), torch.zeros(2).as_subclass(Odd)

    prefetcher = CUDAPrefetcher(source())
    before = gpu.waits
    with pytest.raises(ValueError, match="odd"):
        next(iter(prefetcher))
    assert gpu.waits == before + 1
    assert gpu.faults == []


@pytest.mark.parametrize(
    ("where", "name", "instead", "fault"),
    [
        ("pretended_gpu.Stream", "wait_event", lambda self, event: None, "in no order"),
        ("pretended_gpu.OnGPU", "record_stream", lambda self, stream: None, "freed while"),
        ("reader.cuda.transfer.Transfer", "is_over", lambda self: True, "let go before"),
    ],
)
def test_the_pretended_gpu_sees_what_would_go_wrong_without(
    gpu: PretendedGPU,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    name: str,
    instead: Any,
    fault: str,
) -> None:
    monkeypatch.setattr(f"{where}.{name}", instead)
    consume(gpu, CUDAPrefetcher(batches(gpu, 12), **NORM))
    assert fault in gpu.faults[0]


def encoded(packed: Path, **options: Any) -> Loader:
    transforms = [RandomResizedCrop(32), RandomHorizontalFlip()]
    options = {"workers": 0, "transforms": transforms, "decode": "gpu", **options}
    return Loader(packed, batch_size=8, **options)


@pytest.mark.parametrize(
    ("decode", "lag", "thread"),
    [("gpu", 0, Late), ("gpu", 10**9, AtOnce), ("auto", 50, Late)],
)
def test_images_decoded_on_the_gpu_are_in_order_too(
    packed: Path,
    gpu: PretendedGPU,
    monkeypatch: pytest.MonkeyPatch,
    lag: int,
    thread: type,
    decode: str,
) -> None:
    gpu.lag = lag
    monkeypatch.setattr(sender, "ThreadPoolExecutor", thread)
    with encoded(packed) as all_sent, encoded(packed, decode="cpu") as all_drawn:
        whole = [images.decode() for _ in range(2) for images, _ in all_sent]
        drawn = [images for _ in range(2) for images, _ in all_drawn]
    share = 0.5 if decode == "auto" else 0
    expected = [
        torch.cat([first[: round(share * len(first))], rest[round(share * len(first)) :]])
        for first, rest in zip(drawn, whole, strict=True)
    ]
    with encoded(packed, decode=decode) as loader:
        loader.load_state_dict({**loader.state_dict(), "decode_share": share})
        prefetcher = CUDAPrefetcher(loader, mean=(0, 0, 0), std=(1 / 255,) * 3)
        before = gpu.waits
        seen = [images for _ in range(2) for images, _ in prefetcher]
        consume(gpu, prefetcher)
        assert lag or gpu.waits - before <= len(seen) * 4 // 3, "only the decoder's stream"
    gpu.default.synchronize()
    assert gpu.faults == []
    for mine, other in zip(seen, expected, strict=True):
        torch.testing.assert_close(mine.cpu(), other.float(), atol=1e-3, rtol=0)


@pytest.mark.parametrize("thread", [AtOnce, Late])
def test_an_error_of_the_decoder_comes_in_its_turn_and_is_passed(
    packed: Path, gpu: PretendedGPU, monkeypatch: pytest.MonkeyPatch, thread: type
) -> None:
    decode = EncodedImages.queue

    def fail_once(self: EncodedImages, device: Any, decoder: Any) -> Any:
        if next(calls) == 1:
            raise SampleError("the second batch is damaged")
        return decode(self, device, decoder)

    monkeypatch.setattr(sender, "ThreadPoolExecutor", thread)
    with encoded(packed) as loader:
        expected = [images.decode() for images, _ in loader]
        loader.set_epoch(0)
        calls = itertools.count()
        monkeypatch.setattr(EncodedImages, "queue", fail_once)
        batches = iter(CUDAPrefetcher(loader, mean=(0, 0, 0), std=(1 / 255,) * 3))
        seen = [next(batches)[0]]
        with pytest.raises(SampleError, match="second batch"):
            next(batches)
        seen += [images for images, _ in batches]
    gpu.default.synchronize()
    for mine, other in zip(seen, [expected[0], *expected[2:]], strict=True):
        torch.testing.assert_close(mine.cpu(), other.float(), atol=1e-3, rtol=0)


def test_to_shrink_images_whose_rows_are_shifted_needs_no_wait(gpu: PretendedGPU) -> None:
    parcel = Parcel(height=16, width=32, box_height=16, box_width=16, shifted=2)
    columns = parcels(np.array([parcel._replace(target_height=4, target_width=4)]))
    pixels = torch.arange(3 * 16 * 32).reshape(3, 16, 32).to(torch.uint8)
    drawn = []
    for device in ("cpu", DEVICE):
        before = gpu.waits
        out = torch.zeros((1, 4, 4, 3), dtype=torch.uint8, device=device)
        resample([Source(sent(pixels, torch.device(device)), np.array([0, 8]))], columns, out)
        assert gpu.waits == before
        assert not gpu.ordinary, "from memory that is let go at once"
        drawn.append(out.cpu())
    assert torch.equal(*drawn)
    assert gpu.faults == []


@pytest.mark.parametrize("left_out", ["synchronize", "record_stream"])
def test_the_decoder_would_write_to_memory_in_use_without(
    packed: Path, gpu: PretendedGPU, monkeypatch: pytest.MonkeyPatch, left_out: str
) -> None:
    gpu.lag = 10**9
    if left_out == "synchronize":
        monkeypatch.setattr(decoders, "_own_stream", gpu.current_stream)
        monkeypatch.setattr("pretended_gpu.Stream.synchronize", lambda self: None)
    else:
        monkeypatch.setattr(OnGPU, "record_stream", lambda self, stream: None)
    with encoded(packed) as loader:
        consume(gpu, CUDAPrefetcher(loader))
    assert {"synchronize": "decoder may write", "record_stream": "freed while"}[left_out] in str(
        gpu.faults
    )


@pytest.mark.parametrize("whose", ["the consumer", "the copies"])
def test_the_decoder_may_have_got_a_stream_that_others_have_too(
    packed: Path, gpu: PretendedGPU, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    gpu.lag = 10**9
    shared = gpu.default if whose == "the consumer" else sender._side_stream(DEVICE)
    monkeypatch.setattr(decoders, "_own_stream", lambda device: shared)
    with encoded(packed) as loader:
        consume(gpu, CUDAPrefetcher(loader))
    assert gpu.faults == []


def test_what_the_decoder_refuses_is_decoded_by_the_cpu(packed: Path, gpu: PretendedGPU) -> None:
    calls = itertools.count()

    def decode_once(jpegs: list[torch.Tensor], device: Any, stream: Any) -> list[torch.Tensor]:
        if next(calls):
            raise RuntimeError("nvJPEG status 2")
        return gpu.decode_jpeg(jpegs, "rgb", device)

    with encoded(packed) as loader:
        expected = next(iter(loader))[0].decode()
        loader.set_epoch(0)
        norm: dict[str, Any] = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}
        prefetcher = CUDAPrefetcher(loader, **norm, decoder=decode_once)
        with pytest.warns(RuntimeWarning, match="decode_once cannot.*status 2.*The CPU decodes it"):
            images, _ = next(iter(prefetcher))
        torch.testing.assert_close(images.cpu(), expected.float(), atol=1e-3, rtol=0)


@pytest.mark.parametrize("sizes_differ", ["on the GPU", "on the CPU too"])
def test_an_image_of_another_size_than_its_header_has_is_never_shown(
    packed: Path, gpu: PretendedGPU, monkeypatch: pytest.MonkeyPatch, sizes_differ: str
) -> None:
    calls = itertools.count()

    def cut(jpegs: list[torch.Tensor], device: Any, stream: Any) -> list[torch.Tensor]:
        top = min(next(calls), 1)
        return [image[:, top:] for image in gpu.decode_jpeg(jpegs, "rgb", device)]

    with encoded(packed) as loader:
        prefetcher = CUDAPrefetcher(loader, decoder=cut)
        with contextlib.ExitStack() as expected:
            expected.enter_context(pytest.warns(RuntimeWarning, match="has the shape"))
            if sizes_differ == "on the CPU too":
                decode = simplejpeg.decode_jpeg
                less = lambda data, mode, **options: decode(data, mode, **options)[1:]  # noqa: E731
                monkeypatch.setattr(simplejpeg, "decode_jpeg", less)
                sentence = "its own header has"
                expected.enter_context(pytest.raises(SampleError, match=sentence))
            next(iter(prefetcher))


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_torchvision_that_is_missing_or_cannot_decode_is_named(
    packed: Path, gpu: PretendedGPU, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    def without(*_: Any, **__: Any) -> Any:
        raise RuntimeError("torchvision not compiled with nvJPEG support")

    if is_installed:
        monkeypatch.setattr(sys.modules["torchvision.io"], "decode_jpeg", without)
    else:
        monkeypatch.setitem(sys.modules, "torchvision.io", None)
    reason = "torchvision: torchvision not compiled" if is_installed else "torchvision: import of"
    with encoded(packed) as loader, pytest.raises(ReaderError, match=f"{reason}.*\\[gpu\\]"):
        CUDAPrefetcher(loader)


def test_a_gpu_beyond_the_last_is_refused(gpu: PretendedGPU) -> None:
    with pytest.raises(ReaderError, match="no device 'cuda:3': the last is 'cuda:0'"):
        CUDAPrefetcher([], device=3)


def test_the_loaders_memory_is_registered_once_and_let_go_with_it(
    packed: Path, gpu: PretendedGPU
) -> None:
    with Loader(packed, batch_size=16, workers=1, transforms=[CROP]) as loader:
        for _ in range(2):
            prefetcher = CUDAPrefetcher(loader)
        memory = loader._epochs.pipeline._ring.memory.bytes
        assert gpu.registered == {memory.ctypes.data: memory.nbytes}
        del memory
        consume(gpu, prefetcher)
    prefetcher.close()
    assert gpu.registered == {}
    assert gpu.faults == []


def test_after_a_refused_registration_an_error_is_not_left_behind(
    packed: Path, gpu: PretendedGPU
) -> None:
    gpu.refusal = 712
    with Loader(packed, batch_size=16, workers=1, transforms=[CROP]) as loader:
        with pytest.warns(RuntimeWarning, match="error 712"):
            prefetcher = CUDAPrefetcher(loader)
        launched = gpu.launches
        assert launched  # the kernel that takes the error of CUDA's last call
        consume(gpu, prefetcher)
    assert gpu.registered == {}
