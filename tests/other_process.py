"""Another process of the same user, that runs code beside a test, and waiting for one."""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import reader


@contextmanager
def running(code: str, *arguments: object) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that has printed its first line, and the line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@contextmanager
def forked(act: Callable[[], object]) -> Iterator[int]:
    """A child that calls `act` in a session of its own; it is killed in the end."""
    if not (child := os.fork()):
        code = 1
        try:
            os.setsid()
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    try:
        yield child
    finally:
        with suppress(ProcessLookupError, ChildProcessError):  # the test waited for it
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def done_by_a_fork(act: Callable[[], object]) -> bool:
    """Whether a child could do `act`: it may change its limits, and has no servers yet."""
    with forked(act) as child:
        return os.waitpid(child, 0)[1] == 0


def wait_until(condition: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.002)
