"""The process that workers are forked from, on Linux: `main` of this module, executed once.

Purpose: a worker starts in a few milliseconds, and the memory of what all of them import is there
once. A second loader, and a worker in place of one that died, wait for no imports.

Guarantees: nothing of the user's is ever imported or called in it, so that each worker begins as
clean as if it were executed; what a process inherits (environment, working directory, cores,
limits, output) is what this one has when a worker is started, or another is executed. It ends with
this process, and by itself once it has had no worker for `_KEPT_SECONDS`.

Assumptions: it runs one thread, so it may fork.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from reader.child_process import end_with_parent, environment, start
from reader.workers import worker

_KEPT_SECONDS = 30
_ENDING_SECONDS = 2.0
_REQUEST = struct.Struct("=qq")  # number and place of a worker
_NEWS = struct.Struct("=qqq")  # its number, its process, and exit status or `_BEGUN`
_BEGUN = 1 << 32
_DESCRIPTORS = 7  # of a request: the working directory, then see `reader.workers.worker.main`
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class ForkServer:
    """That process, as its parent sees it; it ends when this and its workers are gone."""

    def __init__(self) -> None:
        self.inherited = _inherited()
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                self._process, self._life = start(
                    "reader.workers.fork_server", (theirs.fileno(),), _KEPT_SECONDS
                )
        except BaseException:
            self._socket.close()
            raise
        self.process = self._process.pid
        self.close = weakref.finalize(self, _close, self._process, self._socket, self._life)
        living.add(self)
        self._lock = threading.Lock()
        self.asked = 0
        self.pids: dict[int, int] = {}
        self._codes: dict[int, int] = {}

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        while self._hear(0):
            pass
        return self._socket.fileno() >= 0

    def fork(self, descriptors: Sequence[int], place: int) -> "Forked":
        """Have it start a worker; where it has just ended, one that has ended too."""
        number, self.asked = self.asked, self.asked + 1
        folder = os.open(".", os.O_PATH)
        try:
            with contextlib.suppress(ConnectionError):
                request = [_REQUEST.pack(number, place)]
                socket.send_fds(self._socket, request, [folder, *descriptors])
        finally:
            os.close(folder)
        return Forked(self, number)

    def pid(self, number: int) -> int:
        """The process of a worker; before that is forked, the one that it will be forked from."""
        self.is_alive()
        return self.pids.get(number, self.process)

    def code(self, number: int, timeout: float) -> int | None:
        """The exit status of a worker that ends within `timeout` seconds; else None."""
        deadline = time.monotonic() + timeout
        while number not in self._codes and self._hear(deadline - time.monotonic()):
            pass
        # Of a worker that its end leaves alone, there is its own status to tell.
        return self._codes.get(number, self._process.poll())

    def let_go(self) -> None:
        """Close this process's ends and leave it alone: this is a fork of its parent."""
        if self.close.detach():
            self._socket.close()
            os.close(self._life)

    def _hear(self, timeout: float) -> bool:
        """Take the next of its news, after a wait of up to `timeout` seconds; whether there was."""
        if self._socket.fileno() < 0:
            return False
        news = select.poll()
        news.register(self._socket.fileno(), select.POLLIN)
        if not news.poll(max(timeout, 0) * 1000):
            return False
        with self._lock, contextlib.suppress(BlockingIOError):  # another thread took it
            content = b""
            with contextlib.suppress(ConnectionError):
                content = self._socket.recv(_NEWS.size, socket.MSG_DONTWAIT)
            if not content:  # it has ended
                self.close()
                return False
            number, pid, code = _NEWS.unpack(content)
            self.pids[number] = pid
            if code != _BEGUN:
                self._codes[number] = code
        return True


def _close(process: "subprocess.Popen[bytes]", connection: socket.socket, life: int) -> None:
    connection.close()
    os.close(life)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # in a disk's hands
        process.wait(_ENDING_SECONDS)


class Forked:
    """The process of a worker, as far as a `subprocess.Popen` is needed."""

    def __init__(self, server: ForkServer, number: int) -> None:
        self._server = server
        self._number = number

    @property
    def pid(self) -> int:
        """Its number, or that of the process that it is about to be forked from."""
        return self._server.pid(self._number)

    def kill(self) -> None:
        """Nothing: the system kills it when the pipe that holds it alive is closed."""

    def wait(self, timeout: float) -> int:
        """Its exit status."""
        code = self._server.code(self._number, timeout)
        if code is None:
            raise subprocess.TimeoutExpired("a worker", timeout)
        return code


_lock = threading.Lock()
_server: ForkServer | None = None  # the newest
living: "weakref.WeakSet[ForkServer]" = weakref.WeakSet()


def fork(descriptors: Sequence[int], place: int) -> Forked:
    """Start a worker as `ForkServer.fork` does, from a process that is as this one is now."""
    global _server
    with _lock:
        if not (_server and _server.is_alive() and _server.inherited == _inherited()):
            _server = ForkServer()
        return _server.fork(descriptors, place)


def end() -> None:
    """End that process now."""
    global _server
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


def _let_go_after_fork() -> None:
    # A forked child that kept its ends would keep it alive after its parent.
    global _lock, _server
    _lock = threading.Lock()
    for other in living:
        other.let_go()
    _server = None


os.register_at_fork(after_in_child=_let_go_after_fork)


def _inherited() -> tuple[Any, ...]:
    """What a process that this one executes has of it."""
    output = []
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # it is closed
            found = os.fstat(descriptor)
            output.append((descriptor, found.st_dev, found.st_ino))
    limits = [resource.getrlimit(limit) for limit in _LIMITS]
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    return sys.executable, environment(), os.sched_getaffinity(0), output, limits, priority


def main(arguments: list[str]) -> None:
    """Fork workers, and tell how they end."""
    requests_fd, life, patience = map(int, arguments)
    end_with_parent(life)
    import cv2

    cv2.setNumThreads(1)  # the processes are the parallelism
    requests = socket.socket(fileno=requests_fd)
    noticed, notice = os.pipe()
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.collect()
    gc.freeze()  # a collection in a worker would copy it all
    news = select.poll()
    for descriptor in (requests.fileno(), noticed):
        news.register(descriptor, select.POLLIN)
    numbers: dict[int, int] = {}  # by process
    while ready := news.poll(None if numbers else patience * 1000):
        descriptors = [descriptor for descriptor, _ in ready]
        if noticed in descriptors:
            os.read(noticed, 1 << 10)
            for pid, code in _ended(numbers):
                _tell(requests, numbers.pop(pid), pid, code)
        if requests.fileno() in descriptors:
            content, received, *_ = socket.recv_fds(
                requests, _REQUEST.size, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
            if not content:
                return  # the parent is gone
            number, place = _REQUEST.unpack(content)
            try:
                pid = os.fork()
            except OSError:
                _tell(requests, number, os.getpid(), 1)
            else:
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    folder, *own = received
                    os.fchdir(folder)
                    for descriptor in (noticed, notice, life, requests.detach(), folder):
                        os.close(descriptor)
                    np.random.seed()  # as in a process of its own
                    worker.main([*own, place])
                    return
                numbers[pid] = number
                _tell(requests, number, pid, _BEGUN)
            for descriptor in received:
                os.close(descriptor)


def _tell(requests: socket.socket, number: int, pid: int, news: int) -> None:
    with contextlib.suppress(ConnectionError):  # the parent is gone, which is noticed elsewhere
        requests.sendall(_NEWS.pack(number, pid, news))


def _ended(pids: Iterable[int]) -> list[tuple[int, int]]:
    """The processes that have ended, and their exit statuses."""
    found = []
    for pid in pids:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            found.append((pid, os.waitstatus_to_exitcode(status)))
    return found
