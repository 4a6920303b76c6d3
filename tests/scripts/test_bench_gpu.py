"""How long a device waits, and what the GPU benchmark compares with, tried out on a CPU."""

import time
from collections.abc import Iterator
from itertools import islice

import pytest
import torch
from benchmarks.gpu_ways import apex, ways
from benchmarks.waiting import Waiting
from pretended_gpu import DEVICE, pretended_gpu


def test_the_share_of_waiting_is_the_time_between_two_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("benchmarks.waiting.time.perf_counter", lambda: now)
    waiting = Waiting(torch.device("cpu"))

    def batches(count: int, seconds: float) -> Iterator[int]:
        nonlocal now
        for number in range(count):
            now += seconds
            yield number

    for _ in waiting.over(batches(3, seconds=1.0)):  # the first wait has nothing before it
        now += 3.0
    assert waiting.share() == pytest.approx(2 / 11)
    for _ in waiting.over(batches(2, seconds=5.0)):
        now += 0.5
        break
    assert waiting.share() == pytest.approx(2 / 11)  # what lies between two loops is not counted


def test_on_a_gpu_the_share_is_that_of_the_time_between_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pretended_gpu(monkeypatch) as gpu:

        def work(launches: int) -> None:
            for _ in range(launches):
                gpu.launch("kernel", set(), set())

        def batches() -> Iterator[int]:
            for launches in (7, 8, 9):
                work(1)
                yield launches

        waiting = Waiting(DEVICE)
        for launches in waiting.over(batches()):
            work(launches)
        assert waiting.share() == pytest.approx(2 / 26)
        assert gpu.waits == len(gpu.streams)


def test_the_peers_prefetcher_keeps_to_the_rules_of_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for number in range(8):
            images = torch.full((2, 3, 4, 4), number, dtype=torch.uint8)
            yield images.to(DEVICE) if number % 2 else images, torch.arange(2)

    with pretended_gpu(monkeypatch) as gpu:
        for images, labels in islice(apex(batches(), DEVICE), 6):
            (images.mean() + labels).sum()
            del images, labels
        assert gpu.faults == []


@pytest.mark.parametrize("can_decode", [True, False])
def test_decoding_on_the_gpu_is_compared_where_torchvision_can(
    monkeypatch: pytest.MonkeyPatch, can_decode: bool
) -> None:
    def decode(jpegs: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
        assert isinstance(device, torch.device)
        if not can_decode:
            raise RuntimeError("no nvJPEG")
        return []

    monkeypatch.setattr("reader.gpu_decode.nvjpeg.decode", decode)
    assert ("shardfeed, GPU decode" in ways(DEVICE)) is can_decode


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_that_is_starved_is_seen_to_wait() -> None:
    def late(count: int) -> Iterator[int]:
        for number in range(count):
            torch.cuda.synchronize()
            time.sleep(0.05)  # the GPU has nothing to do meanwhile
            yield number

    fed, starved = Waiting(torch.device("cuda")), Waiting(torch.device("cuda"))
    for waiting, batches in ((fed, range(10)), (starved, late(10))):
        for _ in waiting.over(batches):
            torch.cuda._sleep(50_000_000)
    assert fed.share() < 0.1 < starved.share()
