"""Loaders that are made, used, left and forgotten in every way leave nothing behind."""

import gc
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from leftovers import collect
from live_workers import workers
from made_images import encode, make_image
from other_process import wait_until

from reader import Geometry, Loader
from reader.processes import fork_server
from reader.rng import SampleRandom

Script = Callable[..., "subprocess.CompletedProcess[str]"]

COUNT = 24

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture(scope="module")
def folder(make_dataset: Callable[..., Path]) -> Path:
    """24 tiny images in 3 shards."""
    files = {f"{n:02d}.png": encode(make_image(n, 8, 8), "PNG") for n in range(COUNT)}
    return make_dataset(files, shard_samples=10)


def load(folder: Path, **options: Any) -> Loader:
    return Loader(folder, **{"batch_size": 8, "workers": 1, "fields": ["index"], **options})


def read(batches: Any) -> int:
    return sum(len(index) for (index,) in batches)


def held() -> dict[int, int]:
    """The processes of this one and its workers, and how many descriptors each has."""
    found = {}
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # it is ending
            found[process.pid] = process.num_fds()
    return found


def workers_left() -> list[psutil.Process]:
    """The workers that are still there, once the system has had time to take ended ones away."""
    until = time.monotonic() + 60
    while (found := workers()) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def memory() -> int:
    """Bytes that this process and its workers hold alone."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(process.memory_full_info().uss for process in processes)


def test_hundreds_of_epochs_leave_processes_descriptors_and_memory_as_they_were(
    folder: Path,
) -> None:
    with load(folder, shuffle=True) as loader:
        for _ in range(50):
            assert read(loader) == COUNT
        before, bytes_before = held(), memory()
        for _ in range(450):
            assert read(loader) == COUNT
        assert held() == before
        assert memory() - bytes_before < 1 << 20  # a leak of 2 KB an epoch
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
    others = held().keys()
    leave(folder, 5)
    collect()
    assert workers_left() == []
    servers = {server.process for server in fork_server.living}
    wait_until(lambda: held().keys() <= {*others, *servers})
    before = held()
    for number in range(6):
        with suppress(ZeroDivisionError):
            leave(folder, number)
        gc.collect()
        assert workers_left() == []
        wait_until(lambda: held().items() <= before.items())  # what has ended may not be gone


def test_a_constructor_that_fails_leaves_no_workers(packed: Path) -> None:
    class Broken:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Loader(packed, workers=2, transforms=[Broken()])
    assert workers_left() == []


def test_neither_ctrl_c_nor_a_forked_child_that_ends_harms_a_loader(
    packed: Path, run_script: Script
) -> None:
    done = run_script(
        """
        import os
        import signal
        import sys
        import threading
        import time

        import reader

        class Slow:
            def apply(self, geometry, rng):
                time.sleep(0.02)

        loader = reader.Loader(
            sys.argv[1], batch_size=3, workers=2, transforms=[Slow()], fields=["index"]
        )
        for _ in range(2):
            try:
                for number, _ in enumerate(loader):
                    if number == 2:  # Ctrl-C reaches the whole process group
                        threading.Timer(0.05, os.killpg, (0, signal.SIGINT)).start()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        print(sum(len(index) for (index,) in loader), flush=True)

        batches = iter(loader)
        next(batches)
        child = os.fork()
        if child == 0:
            for use in (lambda: next(batches), lambda: iter(loader), lambda: loader.set_epoch(3)):
                try:
                    use()
                except reader.ReaderError as error:
                    assert "forked" in str(error)
                else:
                    sys.exit(8)
            loader.close()
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print(1 + len(list(batches)), len(list(loader)), loader.statistics().restarts)
        """,
        packed,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["interrupted", "interrupted", "39", "13", "13", "0"]
