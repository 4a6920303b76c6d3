"""What a test leaves behind: processes, threads, descriptors, shared memory, temporary files.

A full collection of garbage takes long, so it runs only where something seems to be left.
"""

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from reader.processes import fork_server

_temporary: set[str] = set()
_known: set[str] = set()  # held at the last look


def _note_temporary(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("tempfile.mkstemp", "tempfile.mkdtemp"):
        _temporary.add(os.path.abspath(str(arguments[0])))


sys.addaudithook(_note_temporary)


@contextmanager
def none_left(patience: float = 30) -> Iterator[None]:
    before = _held()
    if before - _known:  # perhaps garbage of an earlier test
        gc.collect()
        before = _held()
    yield
    left = _held() - before
    if left:
        gc.collect()
        left = _held() - before
    until = time.monotonic() + patience
    while left and time.monotonic() < until:  # a killed worker ends soon, with what it held
        time.sleep(0.01)
        left = _held() - before
    _known.clear()
    _known.update(before | left)
    assert not left, f"the test leaves behind: {', '.join(sorted(left))}"


def _held() -> set[str]:
    """What this process holds, except servers that are kept for the next loader."""
    kept = [server for server in fork_server.living if server.is_alive()]
    pids = {server.process for server in kept}
    ends = {end.fileno() for server in kept for end in (server._socket, server._child._life)}
    children = psutil.Process().children(recursive=True)
    held = {f"process {child.pid}" for child in children if child.pid not in pids}
    held |= {f"thread {thread.name} ({thread.ident})" for thread in threading.enumerate()}
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(FileNotFoundError):  # the listing's own
            if number not in ends:
                held.add(f"descriptor {number} of {os.readlink(f'/proc/self/fd/{number}')}")
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "/memfd:" in line or "/dev/shm/" in line:
            held.add(f"memory {line.split(maxsplit=4)[4]}")
    _temporary.intersection_update([path for path in _temporary if os.path.lexists(path)])
    return held | {f"temporary file {path}" for path in _temporary}
