"""``workers=0``: what workers deliver, done where a debugger, a notebook and a profiler look."""

import multiprocessing
import os
import random
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from delivered import COUNT, CROP, EVERYTHING, augmented, damage, digest, indexes, load
from live_workers import workers

from reader import Loader, SampleError

pytestmark = pytest.mark.usefixtures("no_leftovers")


def noisy(sample: dict[str, Any]) -> dict[str, Any]:
    drawn = random.random() + np.random.rand()
    return {**sample, "image": sample["image"] + np.uint8(99 * drawn), "drawn": drawn}


@pytest.mark.parametrize(
    "options",
    [
        {"views": 2},
        {"map_sample": noisy, "fields": [*EVERYTHING, "drawn?"]},
        {"transforms": (), "collate_fn": list},
    ],
    ids="-".join,
)
def test_every_pixel_is_as_two_workers_deliver_it_over_three_epochs(
    packed: Path, options: dict[str, Any]
) -> None:
    found = []
    for count in (2, 0):
        with augmented(packed, workers=count, **options) as loader:
            found.append([digest(loader) for _ in range(3)])
    assert found[0] == found[1]


def test_a_breakpoint_in_map_sample_stops_in_the_callers_process_and_thread(packed: Path) -> None:
    """A debugger is a function that is called for each line, by `sys.settrace`."""
    stopped: list[tuple[int, int, str]] = []

    def trace(frame: Any, event: str, _: object) -> Any:
        if frame.f_code is noisy.__code__ and event == "line":
            key = frame.f_locals["sample"]["key"]
            stopped.append((os.getpid(), threading.get_ident(), key))
        return trace

    options: dict[str, Any] = {"map_sample": noisy, "fields": ["image", "key", "drawn?"]}
    with augmented(packed, workers=0, **options) as loader:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            for _, keys, _ in loader:
                assert set(stopped) == {(os.getpid(), threading.get_ident(), key) for key in keys}
                stopped.clear()
        finally:
            sys.settrace(before)


def test_no_process_thread_or_global_tells_that_it_decodes_here(packed: Path) -> None:
    def state() -> tuple[Any, ...]:
        numpys = np.random.get_state()[1].tobytes()
        generators = random.getstate(), numpys, torch.get_rng_state().numpy().tobytes()
        return workers(), threading.enumerate(), cv2.getNumThreads(), generators, dict(os.environ)

    before = state()
    lent: list[Any] = []

    def mapped(sample: dict[str, Any]) -> dict[str, Any]:
        lent.append(threading.enumerate())
        return {**sample, "image": sample["image"] * torch.rand(1).numpy()}

    with Loader(packed, workers=0, transforms=[CROP], map_sample=mapped, timeout=5) as loader:
        lent.clear()
        assert len(list(loader)) == len(lent) == COUNT  # also an object that no process could get
        assert state() == before
        assert all(threads == before[1] for threads in lent)


@pytest.mark.parametrize("on_error", ["raise", "substitute", "mask"])
def test_what_cannot_be_read_is_told_and_replaced_as_by_workers(
    packed_copy: Path, on_error: str
) -> None:
    for number in (4, 17, 18, 38):
        damage(packed_copy, number)
    told = []
    for count in (1, 0):
        seen: list[str] = []
        with augmented(packed_copy, workers=count, on_error=on_error, max_bad=0.2) as loader:
            batches = iter(loader)
            for _ in range(len(batches)):
                try:
                    seen.append(digest([next(batches)]))
                except SampleError as error:
                    seen.append(str(error))
            statistics = loader.statistics()
            seen += [str(loader.bad_samples), str(statistics.bad), str(statistics.samples)]
        told.append(seen)
    assert told[0] == told[1]


def test_an_interrupt_in_the_middle_of_a_batch_loses_nothing(packed: Path) -> None:
    due = [False]

    def interrupted(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["index"] == 6 and due.pop():
            raise KeyboardInterrupt
        return sample

    with load(packed, map_sample=interrupted) as loader:
        batches = iter(loader)
        due[:] = [False, True]
        assert indexes([next(batches)]) == [0, 1, 2, 3]
        with pytest.raises(KeyboardInterrupt):
            next(batches)
        assert indexes(batches) == list(range(4, COUNT))


def test_statistics_say_that_this_process_did_the_work(packed: Path) -> None:
    with augmented(packed, workers=0) as loader:
        for _ in loader:
            sum(range(1000))
        seen = loader.statistics()
        assert (seen.workers, seen.samples, seen.restarts) == (0, COUNT, 0)
        assert 0 < seen.busy <= seen.worker_seconds <= seen.waited
        assert "workers=0" in repr(loader)
    loop = seen.loop._replace(worker_seconds=1.0, waited=1.0, elapsed=2.0)
    told = replace(seen, loop=loop, spent=seen.spent._replace(busy=0.95, read=0.1))
    assert told.bound_by == "decode"
    assert "workers=0" in str(told)
    assert "storage-bound" in str(replace(told, spent=told.spent._replace(read=0.9)))


def _read_in_a_daemon(folder: Path, expected: str) -> None:
    assert multiprocessing.current_process().daemon
    with augmented(folder, workers=0) as loader:
        os._exit(17 if digest(loader) == expected else 1)


def test_a_daemon_process_reads(packed: Path) -> None:
    with augmented(packed, workers=0) as loader:
        expected = digest(loader)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_read_in_a_daemon, args=(packed, expected), daemon=True)
    process.start()
    process.join(60)
    assert process.exitcode == 17
