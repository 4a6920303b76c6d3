"""Faults in each way to read: raw images, memory, a dataset by itself, torch, the prefetcher."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from live_workers import workers
from packing import run_pack
from torch.utils.data import DataLoader

from reader import CUDAPrefetcher, Dataset, SampleError, ShardfeedError
from tests.faults.reading import ERRORS, SHORT, Faults, expected, loader, one_pass, run, samples_of

pytestmark = pytest.mark.usefixtures("no_leftovers")

COUNT = 39


@pytest.fixture
def faults(tmp_path: Path) -> Iterator[Faults]:
    with closing(Faults(tmp_path / "faults")) as made:
        yield made


def test_raw_images_are_exact_or_named(source: Path, tmp_path: Path) -> None:
    run_pack(source, tmp_path / "raw", shard_samples=10, raw=(20, 24))
    kinds, bad = run(tmp_path / "raw", tmp_path, step=262)
    assert bad == []
    assert sum(kinds.values()) > 2


def read_all(dataset: Dataset) -> Iterator[bytes | SampleError]:
    for number in range(len(dataset)):
        try:
            yield dataset[number][0].tobytes()
        except SampleError as error:
            yield error


def test_a_dataset_by_itself_fails_at_the_sample_alone(packed: Path, faults: Faults) -> None:
    dataset = Dataset(packed)
    truth = list(read_all(dataset))
    with faults.in_this_process():
        faults.arm("EIO", 1 << 60)
        list(read_all(dataset))
        every = product(range(1, faults.calls + 1), [*ERRORS, *SHORT])
        for first, effect in islice(every, 0, None, 17):
            faults.arm(effect, first)
            found = list(read_all(dataset))
            failed = [number for number in range(COUNT) if found[number] != truth[number]]
            assert len(failed) == (effect in ("nothing", *ERRORS)), (effect, first)
            assert all(repr(dataset.keys[n]) in str(found[n]) for n in failed)
    assert list(read_all(dataset)) == truth


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_torchs_loader_raises_what_the_dataset_does_and_goes_on(
    packed: Path, faults: Faults
) -> None:
    with faults.in_this_process():
        batches = DataLoader(Dataset(packed), 4, num_workers=1, collate_fn=list)
        faults.arm("ESTALE", 17)
        found, errors = [], []
        steps = iter(batches)
        for _ in range(len(batches)):
            try:
                found += [image.tobytes() for image, _ in next(steps)]
            except ShardfeedError as error:
                errors.append(str(error))
        faults.disarm()
        del steps
        (text,) = errors
        assert str(packed) in text
        assert len(found) == COUNT - 4
        assert set(found) < set(read_all(Dataset(packed)))


@pytest.mark.parametrize("way", ["memory", "prefetcher"])
def test_a_fault_is_told_at_its_batch_in_every_way_to_read(
    packed: Path, faults: Faults, way: str
) -> None:
    dataset = Dataset(packed, cache="ram" if way == "memory" else None)
    with faults.in_workers(), loader(dataset) as running:
        source: Any = CUDAPrefetcher(running, device="cpu") if way == "prefetcher" else running
        truth = {sample[0]: sample for batch in source for sample in samples_of(batch)}
        for effect in ("EIO", "half", "SIGKILL"):
            faults.arm(effect, 20)
            outcome = one_pass(source, truth)
            while not faults.done:
                outcome.join(one_pass(source, truth))
            outcome.join(one_pass(source, truth))
            assert len(outcome.errors) == (effect == "EIO")
            assert all("shard-" in str(error) for error in outcome.errors)
            lost = (4, COUNT % 4) if effect == "EIO" else (0,)  # the last batch is not full
            assert COUNT - len(outcome.exact) in lost
            assert not outcome.wrong


def test_signals_that_interrupt_a_worker_change_nothing(packed: Path) -> None:
    parent = os.getpid()

    def listen(sample: dict[str, Any]) -> dict[str, Any]:
        if os.getpid() != parent:
            signal.signal(signal.SIGUSR1, lambda number, frame: None)
        return sample

    truth = expected(packed)
    with loader(packed, map_sample=listen) as running:
        assert one_pass(running, truth).exact == set(truth)
        (worker,) = workers()
        is_over = threading.Event()

        def interrupt() -> None:
            while not is_over.wait(0.001):
                worker.send_signal(signal.SIGUSR1)

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            for _ in range(10):
                assert one_pass(running, truth).exact == set(truth)
        finally:
            is_over.set()
            thread.join()
        assert running.statistics().restarts == 0
