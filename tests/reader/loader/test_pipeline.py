"""Slots of batches: lent to the consumer, taken back, and never mixed up."""

import gc
from pathlib import Path
from typing import Any

import pytest
import torch
from delivered import COUNT, CROP, indexes, load
from live_workers import workers

from reader import Loader

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_tensors_stay_valid_after_close_and_after_the_loader_is_gone(
    packed: Path, truth: list[tuple[torch.Tensor, int, str]]
) -> None:
    loader = Loader(packed, batch_size=4, workers=1, transforms=[CROP], fields=["image", "index"])
    iterator = iter(loader)
    image, index = next(iterator)
    row = next(iterator)[0][1]  # a view of a batch that nothing else holds
    loader.close()
    del loader, iterator
    gc.collect()
    with Loader(packed, batch_size=4, workers=1, transforms=[CROP]) as other:
        list(other)
    assert torch.equal(image, torch.stack([truth[number][0] for number in index.tolist()]))
    assert torch.equal(row, truth[5][0])
    image.zero_()  # the memory is the consumer's


def test_many_abandoned_epochs_leak_no_slots(packed: Path) -> None:
    with load(packed, batch_size=2, workers=2) as loader:
        for number in range(60):
            iterator = iter(loader)
            for _ in range(number % 7):
                next(iterator)
            del iterator
        assert indexes(loader) == list(range(COUNT))
        assert loader.statistics().copied == 0


def test_iterators_that_the_garbage_collector_drops_at_any_moment_do_no_harm(packed: Path) -> None:
    with load(packed, batch_size=2, workers=2) as loader:
        thresholds = gc.get_threshold()
        try:
            for number in range(60):
                gc.disable()
                abandoned: list[Any] = [iter(loader)]
                abandoned.append(abandoned)  # a cycle, as exceptions with a traceback make them
                next(abandoned[0])
                iterator = iter(loader)
                gc.collect(0)
                del abandoned
                gc.set_threshold(1 + number)  # from here on it comes after so many allocations
                gc.enable()
                assert indexes(iterator) == list(range(COUNT))
        finally:
            gc.set_threshold(*thresholds)
            gc.enable()


def test_the_batches_lie_in_memory_without_a_name(packed: Path) -> None:
    with Loader(packed, batch_size=4, workers=2, transforms=[CROP]) as loader:
        next(iter(loader))
        for process in workers():
            mapped = ""
            while "memfd:shardfeed" not in mapped:  # a worker may still be starting
                mapped = Path(f"/proc/{process.pid}/maps").read_text()
            assert "/dev/shm" not in mapped
