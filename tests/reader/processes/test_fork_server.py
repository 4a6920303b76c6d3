"""The process that workers are forked from: how long it is there, and what they have of it."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from operator import ne
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest
from delivered import COUNT, CROP, indexes
from live_workers import started, workers

from reader import Geometry, Loader
from reader.processes import fork_server
from reader.rng import SampleRandom

pytestmark = [
    pytest.mark.usefixtures("no_leftovers"),
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="workers are executed here"),
]


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # its imports are not for workers
_BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def _what_was_there_before(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_server.end()
    monkeypatch.delenv("PRELOADED_FOR")
    _BEFORE.clear()
    _BEFORE.update(child.pid for child in psutil.Process().children())


def starters() -> list[int]:
    """The processes that were executed since the test began."""
    return [child.pid for child in psutil.Process().children() if child.pid not in _BEFORE]


def load(packed: Path, *transforms: object, count: int = 1) -> Loader:
    return Loader(packed, workers=count, transforms=[*transforms, CROP], fields=["index"])


def test_all_loaders_have_their_workers_from_one_process_that_stays_in_any_folder(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with load(packed) as first, load(packed, count=2) as second:
        assert indexes(first) == indexes(second) == list(range(COUNT))
        (only,) = starters()
        assert len(workers()) == 3
    assert (starters(), workers()) == ([only], [])
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    with load(packed) as third:
        assert indexes(third) == list(range(COUNT))
        assert starters() == [only]


class Tell:
    """Writes what the worker's process is like."""

    def __init__(self, folder: Path, what: Callable[[], object]) -> None:
        self.folder, self.what = folder, what

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        with suppress(FileExistsError), (self.folder / str(os.getpid())).open("x") as file:
            file.write(str(self.what()))


def test_a_worker_is_as_if_its_process_were_executed_now(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_this() -> list[object]:
        import resource

        cores, limit = sorted(os.sched_getaffinity(0)), resource.getrlimit(resource.RLIMIT_CORE)
        output = os.readlink("/proc/self/fd/1")
        return [os.environ.get("OF_THE_TEST"), os.getcwd(), cores, limit, output]

    import resource

    limit, cores, output = (
        resource.getrlimit(resource.RLIMIT_CORE),
        os.sched_getaffinity(0),
        os.dup(1),
    )
    told = tmp_path / "told"
    told.mkdir()
    with load(packed) as first:
        assert len(list(first)) == COUNT
        before = of_this()
        try:
            monkeypatch.setenv("OF_THE_TEST", "another")
            monkeypatch.chdir(tmp_path)
            os.sched_setaffinity(0, {max(cores)})
            resource.setrlimit(resource.RLIMIT_CORE, (0, limit[1]))
            with (tmp_path / "output").open("w") as file:
                os.dup2(file.fileno(), 1)
            expected = of_this()
            with load(packed, Tell(told, of_this)) as second:
                assert indexes(second) == list(range(COUNT))
            assert len(list(first)) == COUNT  # whose workers had another parent
        finally:
            os.sched_setaffinity(0, cores)
            resource.setrlimit(resource.RLIMIT_CORE, limit)
            os.dup2(output, 1)
            os.close(output)
    found = [path.read_text() for path in told.iterdir() if path.name != str(os.getpid())]
    assert found == [str(expected)]
    assert sum(map(ne, before, expected)) >= 3


def test_workers_do_not_draw_the_same_random_numbers(packed: Path, tmp_path: Path) -> None:
    def drawn_there() -> float:
        return np.random.random()

    with load(packed, Tell(tmp_path, drawn_there), count=2) as loader:
        started(2)
        assert indexes(loader) == list(range(COUNT))
    drawn = [path.read_text() for path in tmp_path.iterdir()]
    assert len(drawn) == len(set(drawn)) >= 2


def test_a_loader_outlives_the_process_that_its_workers_are_from(packed: Path) -> None:
    with load(packed, count=2) as loader:
        expected = list(range(COUNT))
        assert indexes(loader) == expected
        (only,) = starters()
        left = workers()
        os.kill(only, signal.SIGKILL)
        assert indexes(loader) == expected
        for worker in left:
            worker.kill()
        assert [indexes(loader) for _ in range(3)] == [expected] * 3
        assert starters() != [only]


def test_it_ends_by_itself_when_nobody_has_needed_it(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_KEPT_SECONDS", 0)
    with load(packed) as loader:
        list(loader)
        (only,) = starters()
        time.sleep(0.1)  # it has a worker
        list(loader)
        assert starters() == [only]
    while psutil.Process(only).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    with load(packed) as loader:
        assert indexes(loader) == list(range(COUNT))
        assert starters() != [only]


def test_a_worker_told_to_wait_for_is_missed_in_time() -> None:
    made = fork_server.ForkServer("reader.workers.worker")
    try:
        assert made.code(7, timeout=0.01) is None
    finally:
        made.close()
