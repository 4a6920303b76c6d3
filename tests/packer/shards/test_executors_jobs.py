import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import PIL
import pytest
from packing import files_of, pack

from packer.errors import PackingFailed, ProcessDied, Rejected
from packer.options.declared import PackOptions
from packer.run.report import PackReport
from packer.shards import executors
from reader.format import Manifest

EIGHT = PackOptions(shard_samples=20)  # shards of `many`


class Within(Executor):
    """Does a job where it is asked for; `meanwhile` is told its number before."""

    def __init__(self, meanwhile: Callable[[int], None] = lambda number: None) -> None:
        self._meanwhile = meanwhile
        self._count = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self._count += 1
        self._meanwhile(self._count)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Killed(Executor):
    """A pool of processes, one of which is killed at the third job."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._count = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self._count += 1
        if self._count == 3:
            return self._pool.submit(signal.raise_signal, signal.SIGKILL)
        return self._pool.submit(fn, *args, **kwargs)


class Hoarding(Executor):
    """Does nothing until `most` jobs are under way, or all."""

    def __init__(self, most: int, jobs: int) -> None:
        self.sizes: list[int] = []
        self._most, self._left = most, jobs
        self._held: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self._held.append((future, fn, args))
        if len(self._held) == min(self._most, self._left):
            for one, function, its in self._held:
                one.set_result(function(*its))
            self.sizes.append(len(self._held))
            self._left -= len(self._held)
            self._held.clear()
        return future


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, many: Path) -> Path:
    """`many` as it is packed in this process."""
    dst = tmp_path_factory.mktemp("here") / "shards"
    pack(many, dst, EIGHT, 1)
    return dst


def packed_by(
    executor: Executor | None, src: Path, dst: Path, jobs: int = 1, **more: Any
) -> PackReport:
    return pack(src, dst, EIGHT, jobs, executor=executor, **more)


def test_threads_write_the_same_bytes(dst: Path, many: Path, here: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        packed_by(threads, many, dst)
    assert files_of(dst) == files_of(here)


def test_processes_write_the_same_bytes_and_after_a_killed_one_any_executor_goes_on(
    tmp_path: Path, dst: Path, many: Path, here: Path
) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert packed_by(pool, many, tmp_path / "whole").shards_written == 8
        assert files_of(tmp_path / "whole") == files_of(here)
        with pytest.raises(ProcessDied, match=r"shard-0.*executor has not finished it: BrokenPro"):
            packed_by(Killed(pool), many, dst)
        with pytest.raises(
            ProcessDied,
            match=r"accepts no more work: BrokenProcessPool.*run the same command again",
        ):
            packed_by(pool, many, dst)
    packed_by(Within(), many, dst)
    assert files_of(dst) == files_of(here)


@pytest.mark.parametrize(
    ("told", "jobs", "most"),
    [({"workers": 3}, 1, 6), ({"_max_workers": 3}, 1, 6), ({"workers": ["a"]}, 2, 4), ({}, 2, 4)],
)
def test_two_jobs_a_worker_are_under_way(
    dst: Path, many: Path, told: dict[str, object], jobs: int, most: int
) -> None:
    executor = Hoarding(most, 8)
    vars(executor).update(told)
    packed_by(executor, many, dst, jobs)
    assert executor.sizes == [most, 8 - most]


def test_what_a_job_rejects_and_has_written_comes_back_with_it(dst: Path, own_source: Path) -> None:
    (own_source / "class0" / "bad.jpg").write_bytes(bytes(100))
    with pytest.raises(Rejected) as caught:
        packed_by(Within(), own_source, dst)
    assert [name for name, _ in caught.value.files] == ["class0/bad.jpg"]
    report = packed_by(Within(), own_source, dst, skip_rejected=True)
    assert [name for name, _ in report.rejected] == ["class0/bad.jpg"]
    assert Manifest.load(dst).rejected == 1


def test_a_machine_with_another_version_is_refused_by_name_before_it_writes(
    dst: Path, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upgrade(number: int) -> None:
        if number == 3:
            monkeypatch.setattr(PIL, "__version__", "99.0")

    with pytest.raises(PackingFailed, match=r"On \S+: \S+ has Pillow 99\.0 instead of \d"):
        packed_by(Within(upgrade), many, dst)
    assert len(list((dst).glob("*.tar"))) == 2


def test_a_machine_with_another_packer_is_told_so_before_the_job_is_opened() -> None:
    _, error, _ = executors.work_elsewhere("0.0", b"not a pickle")
    assert isinstance(error, PackingFailed)
    assert "the run was begun with 0.0" in str(error)


@pytest.mark.parametrize("gone", ["source", "destination"])
def test_a_machine_without_a_folder_is_named(tmp_path: Path, own_source: Path, gone: str) -> None:
    dst = tmp_path / "dst"

    def unmount(number: int) -> None:
        if number == 2:
            os.rename(own_source if gone == "source" else dst, tmp_path / "elsewhere")

    with pytest.raises(PackingFailed, match=r"On \S+: .*the same paths on (all|both) machines"):
        pack(own_source, dst, PackOptions(shard_samples=10), 1, executor=Within(unmount))


def test_a_job_that_comes_after_its_run_is_over_writes_nothing(dst: Path, many: Path) -> None:
    late: list[Callable[[], Any]] = []

    class Late(Within):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
            late.append(lambda: fn(*args, **kwargs))
            if len(late) == 2:
                raise KeyboardInterrupt
            return Future()

    with pytest.raises(KeyboardInterrupt):
        packed_by(Late(), many, dst)
    pack(many, dst, PackOptions(shard_samples=40), 1, overwrite=True)
    before = files_of(dst)
    _, error, _ = late[0]()
    assert "The run is over" in str(error)
    assert files_of(dst) == before


def test_an_executor_that_does_nothing_is_told_of(
    dst: Path, many: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executors, "STALL_SECONDS", 0.01)
    executor = Hoarding(99, 99)

    def stop(*_: object) -> bool:
        raise KeyboardInterrupt

    with caplog.filtering(stop), pytest.raises(KeyboardInterrupt):
        packed_by(executor, many, dst, jobs=2)


class Counting(ThreadPoolExecutor):
    """One worker; notes how many jobs are under way at most."""

    def __init__(self) -> None:
        super().__init__(1)
        self.most = 0
        self._futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self._futures.append(super().submit(fn, *args, **kwargs))
        self.most = max(self.most, sum(not future.done() for future in self._futures))
        return self._futures[-1]


def test_a_job_that_ends_makes_room_for_one(dst: Path, many: Path) -> None:
    with Counting() as executor:
        packed_by(executor, many, dst)
    assert executor.most <= 2
