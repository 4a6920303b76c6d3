"""Loaders that are made, used, left and forgotten in every way leave nothing behind."""

import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from reader import Loader

COUNT = 24

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture(scope="module")
def folder(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """24 tiny images in 3 shards."""
    files = {f"{n:02d}.png": encode(make_image(n, 8, 8), "PNG") for n in range(COUNT)}
    return make_dataset(files, shard_samples=10)


def load(folder: Path, **options: Any) -> Loader:
    return Loader(folder, **{"batch_size": 8, "workers": 1, "fields": ["index"], **options})


def read(batches: Any) -> int:
    return sum(len(index) for (index,) in batches)


def held() -> tuple[list[int], list[int]]:
    """The processes of this one and its workers, and the descriptors of each."""
    processes = [psutil.Process(), *psutil.Process().children()]
    return [process.pid for process in processes], [process.num_fds() for process in processes]


def memory() -> int:
    """Bytes that this process and its workers hold alone."""
    processes = [psutil.Process(), *psutil.Process().children()]
    return sum(process.memory_full_info().uss for process in processes)


def test_a_thousand_epochs_leave_processes_descriptors_and_memory_as_they_were(
    folder: Path,
) -> None:
    with load(folder, shuffle=True) as loader:
        for _ in range(100):
            assert read(loader) == COUNT
        before, bytes_before = held(), memory()
        for _ in range(900):
            assert read(loader) == COUNT
        assert held() == before
        assert memory() - bytes_before < 2 << 20  # a leak of 2 KB an epoch
        assert loader.statistics().copied == 0


def leave(folder: Path, number: int) -> None:
    """Make a pair of loaders and part with them in one of six ways."""
    train, val = load(folder, shuffle=True), load(folder, batch_size=5)
    if number == 0:
        return
    for step, _ in enumerate(train):
        if number == 1:
            break
        assert read(val) == COUNT
        if number == 2:
            raise ZeroDivisionError
        if number == 3 and step == 1:
            val.close()
            train.close()
            return
    if number == 4:
        with train, val:
            next(iter(train))
            return
    thread = threading.Thread(target=lambda: read(train))
    thread.start()
    thread.join()
    cycle: list[Any] = [train, val, iter(train), iter(val)]
    cycle.append(cycle)


def test_pairs_of_loaders_left_in_every_way_are_cleaned_up_without_close(folder: Path) -> None:
    leave(folder, 5)
    gc.collect()
    before = held()
    for number in range(6):
        with suppress(ZeroDivisionError):
            leave(folder, number)
        gc.collect()
        assert held() == before
