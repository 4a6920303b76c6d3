import errno
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from packer import processes
from packer.errors import ProcessDied
from packer.processes import map_unordered
from reader.processes import fork_server
from reader.processes.child import Child

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
    """Stop one process forever, and then fail in another."""
    if number == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    while not stopped_processes(os.getppid()):
        pass
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def do_odd_things(what: str, advance: Advance) -> int:
    """Print where answers are expected, or fail by a mistake."""
    if what == "print":
        os.write(1, b"a library says something\n")
    return {"print": 1, "other": 2}[what]


def die_of(number: int, advance: Advance) -> None:
    """Be killed by the signal with this number, but not by 0."""
    os.kill(os.getpid(), number)


def fail_at_3(number: int, advance: Advance) -> tuple[int, str]:
    """End the process at 3 by a fault."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    advance(1)
    return number, "done"


def send_back(content: bytes, advance: Advance) -> bytes:
    advance(len(content))
    return content


def stopped_processes(parent: int) -> list[psutil.Process]:
    children = psutil.Process(parent).children(recursive=True)
    return [child for child in children if child.status() == psutil.STATUS_STOPPED]


def mapped(
    function: Callable[..., Any],
    items: Iterable[Any],
    processes: int = 2,
    *,
    advance: Advance = lambda more: None,
    died: Callable[[Any, str], Any] | None = None,
) -> list[Any]:
    """All results, of processes that are forked from one that has imported this module."""

    def name(item: object) -> str:
        return f"item {item!s:.80}"

    done = map_unordered(function, items, processes, advance, name, died, load=[__name__])
    return list(done)


@pytest.fixture(autouse=True)
def no_process_is_left() -> object:
    before = psutil.Process().children(recursive=True)  # such as a server that is kept
    yield
    servers = {server.process for server in fork_server.living}  # kept for the next ones
    assert not [
        child
        for child in set(psutil.Process().children(recursive=True)).difference(before)
        if child.status() != psutil.STATUS_ZOMBIE
        and child.pid not in servers
        and "packer.processes" in " ".join(child.cmdline())
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_every_item_is_done_once(count: int) -> None:
    done = mapped(square, range(12), count)
    assert sorted(done) == [number * number for number in range(12)]


@pytest.mark.parametrize("count", [1, 2])
def test_a_lack_of_memory_names_the_item(count: int) -> None:
    with pytest.raises(ProcessDied, match=r"item 13: there is not enough memory .* --jobs"):
        mapped(square, range(9, 15), count)


@pytest.mark.parametrize("count", [1, 2])
def test_a_fault_that_ends_a_process_is_the_result_of_its_item_alone(count: int) -> None:
    def died(number: int, cause: str) -> tuple[int, str]:
        return number, cause

    told: list[int] = []
    done = mapped(fail_at_3, range(6), count, advance=told.append, died=died)
    assert dict(done) == {**dict.fromkeys(range(6), "done"), 3: "Segmentation fault (signal 11)"}
    assert sum(told) == 5


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_was_killed_from_outside_says_nothing_of_its_item(number: int) -> None:
    with pytest.raises(ProcessDied, match=f"A process died at item {int(number)}: "):
        mapped(die_of, [number], 1, died=lambda item, cause: None)


def test_an_error_of_the_system_keeps_its_number() -> None:
    with pytest.raises(OSError, match="Input/output error") as caught:
        mapped(square, iter([17]))
    assert caught.value.errno == errno.EIO


def test_a_process_that_comes_no_further_is_told_of_once_with_what_it_is_at(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "STALL_SECONDS", 1.0)

    def let_go(record: logging.LogRecord) -> bool:
        for child in psutil.Process().children(recursive=True):
            child.send_signal(signal.SIGCONT)
        return True

    caplog.handler.addFilter(let_go)
    items = [tmp_path / "stopped"] * 3
    done = mapped(stop_once, items)
    assert sorted(done) == ["stopped, and let go", "untouched", "untouched"]
    told = [record.getMessage() for record in caplog.records]
    assert told
    for line in told:
        assert f"at item {tmp_path / 'stopped'}, has made no progress for 1 s. Check" in line
    assert len(told) <= 2 * len(set(told)), "twice is once at a slow start, and once stopped"


def test_one_that_waits_for_what_it_may_wait_for_is_not_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "STALL_SECONDS", 0.4)

    def excused() -> bool:
        for child in psutil.Process().children(recursive=True):
            child.send_signal(signal.SIGCONT)
        return True

    items = [tmp_path / "stopped"] * 2
    done = map_unordered(stop_once, items, 2, lambda _: None, str, excused=excused)
    assert sorted(done) == ["stopped, and let go", "untouched"]
    assert not caplog.records


def test_giving_up_does_not_wait_for_a_stopped_process() -> None:
    with pytest.raises(OSError, match="No space left"):
        mapped(stop_or_fail, [0, 1])


def test_giving_up_waits_a_while_for_a_process_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "DYING_SECONDS", 0.1)
    kill, held = Child.kill, []

    def kill_unless_it_is_held(child: Child) -> None:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(child.pid)
            if process.status() == psutil.STATUS_STOPPED:
                held.append(process)
                return
        kill(child)

    monkeypatch.setattr(Child, "kill", kill_unless_it_is_held)
    with pytest.raises(OSError, match="No space left"):
        mapped(stop_or_fail, [0, 1])
    held[0].kill()
    with suppress(psutil.NoSuchProcess):
        while held[0].is_running() and held[0].status() != psutil.STATUS_ZOMBIE:
            pass  # nobody waits for it but the system


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    fork_server.end()
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(ProcessDied, match=r"start a process: .* smaller --jobs"):
        mapped(square, range(3))


def test_a_lack_of_memory_for_threads_is_no_endless_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(ProcessDied, match="can't start new thread"):
        mapped(square, range(3))


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_process_that_dies_is_told_with_what_it_was_at_and_why(number: signal.Signals) -> None:
    with pytest.raises(ProcessDied, match=rf"died at item {number:d}: .*\(signal {number:d}\)"):
        mapped(die_of, [int(number), 0, 0])


def test_a_mistake_in_a_process_is_shown_with_where_it_happened() -> None:
    with pytest.raises(KeyError, match="err") as caught:
        mapped(do_odd_things, iter(["err"]))
    assert "in do_odd_things" in str(caught.value.__cause__)


def test_what_a_library_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    done = mapped(do_odd_things, ["print", "other"])
    assert sorted(done) == [1, 2]
    assert capfd.readouterr() == ("", "a library says something\n")


def test_items_and_results_may_be_larger_than_a_pipe_holds() -> None:
    counts: list[int] = []
    items = [bytes([number]) * 3_000_000 for number in range(5)]
    done = mapped(send_back, items, advance=counts.append)
    assert sorted(done) == items
    assert sum(counts) == 15_000_000


def test_a_program_without_a_main_guard_is_not_run_again(tmp_path: Path, packed: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys; from pathlib import Path; from packer.inspect.verify import verify\n"
        "from packer.storage.dataset import Finished; folder = Path(sys.argv[1])\n"
        "print(verify(Finished(folder, folder), jobs=2).samples)\n"
    )
    root = str(Path(processes.__file__).parent.parent)
    command, env = [sys.executable, program, packed], os.environ | {"PYTHONPATH": root}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "39\n", "")
