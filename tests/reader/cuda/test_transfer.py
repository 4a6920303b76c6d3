"""Where there is a GPU: its streams, its values, page-locked memory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import reader
from reader import IMAGENET_MEAN, IMAGENET_STD, CenterCrop, CUDAPrefetcher, Loader
from reader.cuda.device import CUDAHostMemory, default_device
from reader.cuda.transfer import BatchSender

CROP = CenterCrop((48, 64))
PLAIN: dict[str, Any] = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}  # images keep their 0 to 255


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
needs_two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="no second CUDA device")


@pytest.fixture
def loader(packed: Path) -> Iterator[Loader]:
    with Loader(packed, batch_size=16, workers=2, transforms=[CROP], shuffle=True) as opened:
        yield opened


@pytest.fixture
def slow_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies that begin a few milliseconds after they are queued."""
    send = BatchSender.send

    def send_late(self: BatchSender, batch: Any, *where: Any) -> Any:
        with torch.cuda.device(self.device), torch.cuda.stream(self._stream):
            torch.cuda._sleep(10_000_000)
        return send(self, batch, *where)

    monkeypatch.setattr(BatchSender, "send", send_late)


def normalised(loader: Loader, device: str, dtype: torch.dtype, **options: Any) -> CUDAPrefetcher:
    return CUDAPrefetcher(loader, IMAGENET_MEAN, IMAGENET_STD, dtype, device, **options)


@pytest.mark.parametrize("layout", [torch.channels_last, torch.contiguous_format])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_gpu_gives_the_values_of_the_cpu(
    loader: Loader, dtype: torch.dtype, layout: torch.memory_format
) -> None:
    expected = list(normalised(loader, "cpu", dtype))
    loader.set_epoch(0)
    # All are kept, so none may be overwritten by a later one.
    seen = list(normalised(loader, "cuda", dtype, memory_format=layout))
    assert len(seen) == len(expected) == 3
    for (image, label), (other, number) in zip(seen, expected, strict=True):
        assert image.is_cuda
        assert label.is_cuda
        assert image.is_contiguous(memory_format=layout)
        if dtype == torch.float32:
            assert torch.equal(image.cpu(), other)
        torch.testing.assert_close(image.cpu(), other)
        assert torch.equal(label.cpu(), number)


def test_map_batch_runs_on_the_stream_of_the_copies(packed: Path) -> None:
    streams = []

    def mix(batch: Any) -> Any:
        image, label = batch
        if image.is_cuda:
            streams.append(torch.cuda.current_stream())
        return image.flip(0) * 0.25 + image * 0.75, label

    seen = []
    for device in ("cpu", "cuda"):
        with Loader(
            packed, batch_size=16, workers=1, transforms=[CROP], shuffle=True, map_batch=mix
        ) as loader:
            seen.append(list(normalised(loader, device, torch.float32)))
    assert len(streams) == 3
    assert torch.cuda.current_stream() not in streams
    for (image, label), (other, number) in zip(*seen, strict=True):
        assert other.is_cuda
        torch.testing.assert_close(other.cpu(), image)
        assert torch.equal(number.cpu(), label)


def test_batches_lie_in_page_locked_memory(loader: Loader) -> None:
    CUDAPrefetcher(loader)
    image, label = next(iter(loader))
    assert image.is_pinned()
    assert label.is_pinned()


def test_after_a_refused_registration_the_gpu_goes_on(loader: Loader) -> None:
    memory = loader._epochs.pipeline._ring.memory.bytes
    cuda = CUDAHostMemory(default_device())
    assert cuda.register(memory.ctypes.data, memory.nbytes) == ""
    with pytest.warns(RuntimeWarning, match="already"):
        prefetcher = CUDAPrefetcher(loader)
    assert torch.ones(1000, device="cuda").sum().item() == 1000  # no error is left behind
    assert sum(len(label) for _, label in prefetcher) == 39
    cuda.unregister(memory.ctypes.data)


@pytest.mark.usefixtures("slow_copies")
def test_no_slot_is_filled_anew_before_its_copy_has_ended(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "transforms": [CROP], "shuffle": True}
    with Loader(packed, workers=1, **options) as loader:
        expected = [image.float() for _ in range(10) for image, _ in loader]
    with Loader(packed, workers=4, **options) as loader:  # who overwrite a free slot at once
        prefetcher = CUDAPrefetcher(loader, **PLAIN, depth=1)
        seen = [image for _ in range(10) for image, _ in prefetcher]
    for image, other in zip(seen, expected, strict=True):
        torch.testing.assert_close(image.cpu(), other, atol=0.01, rtol=0)


@pytest.mark.usefixtures("slow_copies")
def test_a_batch_is_whole_after_its_epoch_was_abandoned_and_its_loader_closed(packed: Path) -> None:
    seen = []
    for _ in range(10):
        with Loader(packed, batch_size=16, workers=4, transforms=[CROP]) as loader:
            for image, _ in CUDAPrefetcher(loader, **PLAIN):
                seen.append(image)
                break
    with Loader(packed, batch_size=16, workers=1, transforms=[CROP]) as loader:
        expected = next(iter(loader))[0].float()
    for image in seen:
        torch.testing.assert_close(image.cpu(), expected, atol=0.01, rtol=0)


def test_a_late_consumer_on_a_stream_of_its_own_sees_its_batch_and_no_later_one(
    loader: Loader,
) -> None:
    expected = [float(image.double().sum()) for image, _ in loader] * 5
    prefetcher = CUDAPrefetcher(loader, **PLAIN, depth=1)
    stream = torch.cuda.Stream()
    sums = []
    with torch.cuda.stream(stream):
        for _ in range(5):
            loader.set_epoch(0)
            for image, _ in prefetcher:
                torch.cuda._sleep(20_000_000)  # the consumer is behind, and drops its batch at once
                sums.append(image.double().sum())
                del image
    stream.synchronize()
    assert [float(one) for one in sums] == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_nothing_synchronises_between_batches(loader: Loader) -> None:
    prefetcher = normalised(loader, "cuda", torch.float16)
    list(prefetcher)
    torch.cuda.set_sync_debug_mode("error")
    try:
        seen = list(prefetcher)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(seen) == 3


def test_batches_that_are_on_the_gpu_already_are_read_after_they_are_made() -> None:
    def batches() -> Iterator[torch.Tensor]:
        for value in range(20):
            torch.cuda._sleep(5_000_000)
            yield torch.full((4, 3, 64, 64), value, dtype=torch.uint8, device="cuda")

    with torch.cuda.stream(torch.cuda.Stream()):
        for value, image in enumerate(CUDAPrefetcher(batches(), **PLAIN)):
            assert float(image.mean()) == pytest.approx(value, rel=1e-5)


def test_a_thousand_epochs_need_no_more_memory_than_twenty(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[int] = []
    register = CUDAHostMemory.register

    def count(self: CUDAHostMemory, address: int, size: int) -> str:
        registered.append(size)
        return register(self, address, size)

    monkeypatch.setattr(CUDAHostMemory, "register", count)
    with Loader(packed, batch_size=16, workers=4, transforms=[CROP], shuffle=True) as loader:
        for epoch in range(1000):
            # As with apex's, some people make one for every epoch.
            for image, _ in CUDAPrefetcher(loader, IMAGENET_MEAN, IMAGENET_STD):
                image.mean()
                if epoch % 3 == 0:
                    break
            if epoch == 20:
                torch.cuda.synchronize()
                before = torch.cuda.memory_reserved()
        torch.cuda.synchronize()
        # A late GPU takes some segments of 2 MB more; to lose one batch in ten would take 130 MB.
        assert torch.cuda.memory_reserved() <= before + 32e6
        assert len(registered) == 1


@needs_two
@pytest.mark.parametrize("chosen", ["device=1", "device='cuda:1'", ""])
def test_no_context_is_made_on_the_first_gpu_by_another_rank(packed: Path, chosen: str) -> None:
    code = f"""
import reader, torch
with reader.Loader({str(packed)!r}, batch_size=16, workers=1, fields=("label",)) as loader:
    for _ in reader.CUDAPrefetcher(loader, {chosen}):
        pass
print(torch._C._cuda_hasPrimaryContext(0), torch._C._cuda_hasPrimaryContext(1))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(reader.__file__).parent.parent),
            "LOCAL_RANK": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "True"]
