"""Workers that are stopped, hang or wait for a disk are reported with the sample in their hands."""

import ctypes
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import delivered
import psutil
import pytest
from delivered import in_a_worker, indexes
from live_workers import workers
from other_process import forked, wait_until

import reader.monitoring.stalls
from reader import Dataset, Geometry, Loader, ReaderError, WorkerError

NUMBER = 17  # the sample at which it happens

pytestmark = pytest.mark.usefixtures("no_leftovers")


load = partial(delivered.load, workers=1, timeout=1)


def at_the_sample(act: Callable[[], None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A `map_sample` that acts at `NUMBER`."""

    def acting(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["index"] == NUMBER:
            act()
        return sample

    return acting


def stop_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def sleep() -> None:
    time.sleep(1000)


def compute() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("act", "doing"),
    [
        (stop_itself, "is stopped .*kill -CONT {pid}"),
        pytest.param(sleep, "sleeps", marks=pytest.mark.slow),
        pytest.param(compute, "is computing", marks=pytest.mark.slow),
    ],
)
def test_a_timeout_names_worker_and_sample_and_what_the_worker_does(
    packed: Path, act: Callable[[], None], doing: str
) -> None:
    dataset = Dataset(packed)
    shard = dataset.locate(NUMBER)[0].path
    with load(packed, map_sample=at_the_sample(act)) as loader:
        (pid,) = (worker.pid for worker in workers())
        with pytest.raises(WorkerError, match="timeout=1") as caught:
            list(loader)
        text = str(caught.value)
        assert re.search(f"worker {pid} {doing.format(pid=pid)}", text)
        assert f"sample {NUMBER} {dataset.keys[NUMBER]!r} of {shard}" in text
        with pytest.raises(ReaderError, match="closed"):
            next(iter(loader))


def test_a_wait_for_a_disk_is_told_from_a_sleep(packed: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def wait_for_a_disk() -> None:
        # Until its child has opened the file, the system has this process wait as for a disk.
        actions = [(os.POSIX_SPAWN_OPEN, 0, str(fifo), os.O_RDONLY, 0)]
        os.posix_spawn("/bin/true", ["true"], {}, file_actions=actions)

    with (
        load(packed, map_sample=at_the_sample(wait_for_a_disk)) as loader,
        pytest.raises(WorkerError, match="waits for a disk or a network file system"),
    ):
        list(loader)
    with fifo.open("w"):  # the child goes on, and ends
        pass


def test_a_stopped_worker_that_goes_on_in_time_changes_nothing(packed: Path) -> None:
    with load(packed, timeout=60, workers=2) as loader:
        expected = indexes(loader)
        for worker in workers():
            worker.suspend()
            thread = threading.Timer(1.5, worker.resume)
            thread.start()
        assert indexes(loader) == expected
        assert indexes(loader) == expected
        thread.join()


def test_without_a_timeout_a_stall_is_warned_of_once_and_waited_for(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader.monitoring.stalls, "PATIENCE", 0.4)
    monkeypatch.setattr(reader.monitoring.stalls, "TICK", 0.1)
    with load(packed, timeout=0, map_sample=at_the_sample(stop_itself)) as loader:
        (worker,) = workers()

        def let_it_go_on() -> None:
            while worker.status() != psutil.STATUS_STOPPED:
                time.sleep(0.01)
            time.sleep(1.5)
            worker.resume()

        thread = threading.Thread(target=let_it_go_on)
        thread.start()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seen = [index.tolist() for (index,) in islice(loader, 1 + NUMBER // 4)]
        thread.join()
    assert [number for batch in seen for number in batch] == list(range(4 * len(seen)))
    texts = [str(warning.message) for warning in caught]  # some, maybe, of the start
    (told,) = [text for text in texts if f"sample {NUMBER} " in text]
    assert f"worker {worker.pid} is stopped" in told


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells a pipe's end by no signal")
@pytest.mark.parametrize(
    "act",
    ["stopped", pytest.param("computing", marks=pytest.mark.slow), "in foreign code", "forked"],
)
def test_a_parent_that_is_killed_leaves_no_worker_whatever_it_is_doing(
    packed: Path, tmp_path: Path, act: str
) -> None:
    child = tmp_path / "child"

    def stop(_: Geometry) -> None:
        (tmp_path / str(os.getpid())).touch()
        if act == "stopped":
            stop_itself()
        elif act == "computing":
            compute()
        elif act == "in foreign code":  # that keeps Python from looking up
            ctypes.PyDLL(None).sleep(1000)

    def read() -> None:
        batches = iter(Loader(packed, batch_size=4, workers=2, transforms=[in_a_worker(stop)]))
        next(batches)
        if act == "forked" and os.fork() == 0:  # as torch's DataLoader does
            child.write_text(str(os.getpid()))
        sleep()

    def pids() -> list[int]:
        return [int(path.name) for path in tmp_path.iterdir() if path != child]

    begun = 1 if act == "forked" else 2  # there one worker may do all
    with forked(read):
        wait_until(lambda: len(pids()) >= begun)
        wait_until(lambda: act != "forked" or (child.exists() and child.read_text()))
    try:
        wait_until(lambda: all(map(is_gone, pids())), seconds=20)
    finally:
        for pid in [*pids(), *([int(child.read_text())] if child.exists() else [])]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_loader_made_in_a_thread_that_ended_keeps_its_workers(packed: Path) -> None:
    made: list[Loader] = []
    thread = threading.Thread(target=lambda: made.append(load(packed, timeout=60)))
    thread.start()
    thread.join()
    with made[0] as loader:
        assert sum(len(index) for (index,) in loader) == 39
        assert loader.statistics().restarts == 0
