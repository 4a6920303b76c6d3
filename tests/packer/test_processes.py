import errno
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from packer import processes
from packer.errors import ProcessDied
from packer.processes import map_unordered

Advance = Callable[[int], None]


def square(number: int, advance: Advance) -> int:
    """What the processes do; 13 has no memory, 17 has no disk."""
    if number == 13:
        raise MemoryError
    if number == 17:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    advance(1)
    return number * number


def stop_once(marker: Path, advance: Advance) -> str:
    """Be stopped, the first time."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return "untouched"
    os.kill(os.getpid(), signal.SIGSTOP)
    return "stopped, and let go"


def stop_or_fail(number: int, advance: Advance) -> None:
    """Stop one process for ever, and then fail in another."""
    if number == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    while not stopped_processes(os.getppid()):
        pass
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stopped_processes(parent: int) -> list[psutil.Process]:
    children = psutil.Process(parent).children()
    return [child for child in children if child.status() == psutil.STATUS_STOPPED]


def name(item: object) -> str:
    return f"item {item}"


@pytest.fixture(autouse=True)
def no_process_is_left() -> object:
    yield
    assert not [
        child
        for child in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(child.cmdline())
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_every_item_is_done_once(count: int) -> None:
    done = map_unordered(square, range(12), count, lambda more: None, name)
    assert sorted(done) == [number * number for number in range(12)]


@pytest.mark.parametrize("count", [1, 2])
def test_a_lack_of_memory_names_the_item(count: int) -> None:
    with pytest.raises(ProcessDied, match=r"item 13: there is not enough memory .* --jobs"):
        list(map_unordered(square, range(9, 15), count, lambda more: None, name))


def test_an_error_of_the_system_keeps_its_number() -> None:
    with pytest.raises(OSError, match="Input/output error") as caught:
        list(map_unordered(square, [17], 2, lambda more: None, name))
    assert caught.value.errno == errno.EIO


def test_a_process_that_comes_no_further_is_told_of_once_with_what_it_is_at(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "STALL_SECONDS", 1.0)

    def let_go(record: logging.LogRecord) -> bool:
        for child in psutil.Process().children():
            child.send_signal(signal.SIGCONT)
        return True

    caplog.handler.addFilter(let_go)
    items = [tmp_path / "stopped"] * 3
    done = map_unordered(stop_once, items, 2, lambda more: None, name)
    assert sorted(done) == ["stopped, and let go", "untouched", "untouched"]
    told = [record.getMessage() for record in caplog.records]  # maybe also of a slow beginning
    (stalled,) = [line for line in told if "no process has begun" not in line]
    assert f"at item {tmp_path / 'stopped'}, has come no further for 1 s. Was it stop" in stalled


def test_giving_up_does_not_wait_for_a_stopped_process() -> None:
    with pytest.raises(OSError, match="No space left"):
        list(map_unordered(stop_or_fail, [0, 1], 2, lambda more: None, name))


def test_giving_up_waits_for_a_while_for_a_process_that_a_disk_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "DYING_SECONDS", 0.1)
    monkeypatch.setattr(BaseProcess, "kill", lambda process: None)
    with pytest.raises(OSError, match="No space left"):
        list(map_unordered(stop_or_fail, [0, 1], 2, lambda more: None, name))
    (held,) = stopped_processes(os.getpid())
    assert processes.unended() == [held.pid]
    held.kill()
    for child in multiprocessing.active_children():
        child.join()
    assert processes.unended() == []


def test_a_process_that_cannot_be_started_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("multiprocessing.util.spawnv_passfds", refuse)
    with pytest.raises(ProcessDied, match=r"No process can be started: .* smaller --jobs"):
        list(map_unordered(square, range(3), 2, lambda more: None, name))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_pool_that_has_no_memory_for_its_threads_is_no_endless_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("multiprocessing.queues.Queue._start_thread", refuse)
    with pytest.raises(ProcessDied, match="not enough memory"):
        list(map_unordered(square, range(3), 2, lambda more: None, name))
