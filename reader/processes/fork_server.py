"""The process from which others are forked, on Linux: `main` of this module, executed once.

Processes start in a few milliseconds and share the memory of their common modules.

Guarantees: it imports the module whose ``main`` its processes run, the modules `load`, and nothing
of the user's. A process inherits the parent's current environment, working directory, cores, limits
and output; if these have changed, another server is executed. It ends with its parent, and after
`_KEPT_SECONDS` without a process. It has one thread, so it may fork.
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
from importlib import import_module
from typing import Any

import numpy as np

from reader.processes.child import Child, can_be_ended, end_with_parent, environment, start

_KEPT_SECONDS = 30
_ENDING_SECONDS = 2.0
_SLICE_SECONDS = 0.02
_REQUEST = struct.Struct("=qq")  # number and argument of a process
_NEWS = struct.Struct("=qqq")  # its number, its pid, and exit status or `_BEGUN`
_BEGUN = 1 << 32
_MOST_DESCRIPTORS = 16  # of a request: the working directory, then those of the process
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class ForkServer:
    """The parent's handle of the server, which ends with this object."""

    def __init__(self, module: str, load: Sequence[str] = ()) -> None:
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                fds = (theirs.fileno(),)
                self._child = start(__name__, fds, _KEPT_SECONDS, module, *load)
        except BaseException:
            self._socket.close()
            raise
        self.process = self._child.pid
        self.close = weakref.finalize(self, _close, self._child, self._socket)
        living.add(self)
        self._lock = threading.Lock()
        self.asked = 0
        self.pids: dict[int, int] = {}
        self._codes: dict[int, int] = {}

    def is_alive(self) -> bool:
        while self._hear(0):
            pass
        return self._socket.fileno() >= 0

    def fork(self, descriptors: Sequence[int], argument: int = 0) -> Child:
        """Start a process with the arguments of `start`; an ended one if the server has ended."""
        theirs, life = os.pipe()
        folder = os.open(".", os.O_PATH)
        try:
            with self._lock:
                number, self.asked = self.asked, self.asked + 1
                with contextlib.suppress(ConnectionError):
                    request = [_REQUEST.pack(number, argument)]
                    socket.send_fds(self._socket, request, [folder, *descriptors, theirs])
        except BaseException:
            os.close(life)
            raise
        finally:
            os.close(folder)
            os.close(theirs)
        return Child(_Forked(self, number), life)

    def pid(self, number: int) -> int:
        self.is_alive()
        return self.pids.get(number, self.process)

    def code(self, number: int, timeout: float) -> int | None:
        """Return the exit status of a process; None if it does not end within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while number not in self._codes and (left := deadline - time.monotonic()) > 0:
            # In short waits: another thread may receive the news of this process.
            if not self._hear(min(left, _SLICE_SECONDS)) and self._socket.fileno() < 0:
                break
        if number in self._codes or self._socket.fileno() >= 0:
            return self._codes.get(number)
        return self._child.wait(_ENDING_SECONDS)  # its processes end with the server's status

    def let_go(self) -> None:
        if self.close.detach():
            self._socket.close()
            self._child.let_go()

    def _hear(self, timeout: float) -> bool:
        """Receive one message within `timeout` seconds; return whether there was one."""
        if self._socket.fileno() < 0:
            return False
        news = select.poll()
        news.register(self._socket.fileno(), select.POLLIN)
        if not news.poll(max(timeout, 0) * 1000):
            return False
        with self._lock:
            try:
                content = self._socket.recv(_NEWS.size, socket.MSG_DONTWAIT)
            except BlockingIOError:  # another thread took it
                return True
            except OSError:  # another thread has closed it, or the server has ended
                content = b""
            if not content:
                self.close()
                return False
            number, pid, code = _NEWS.unpack(content)
            self.pids[number] = pid
            if code != _BEGUN:
                self._codes[number] = code
        return True


def _close(child: Child, connection: socket.socket) -> None:
    connection.close()
    child.kill()
    child.wait(_ENDING_SECONDS)


class _Forked:
    def __init__(self, server: ForkServer, number: int) -> None:
        self._server = server
        self._number = number

    @property
    def pid(self) -> int:
        return self._server.pid(self._number)

    def kill(self) -> None:
        """Do nothing: the system kills it when its pipe is closed."""

    def wait(self, timeout: float | None = None) -> int:
        code = self._server.code(self._number, timeout or 0.0)
        if code is None:
            raise subprocess.TimeoutExpired("a process", timeout or 0.0)
        return code


_lock = threading.Lock()
_servers: dict[tuple[str, ...], tuple[ForkServer, tuple[Any, ...]]] = {}  # the newest of each kind
living: "weakref.WeakSet[ForkServer]" = weakref.WeakSet()


def fork(
    module: str, descriptors: Sequence[int], argument: int = 0, *, load: Sequence[str] = ()
) -> Child:
    """Start ``main`` of `module`, forked from a server that has loaded it, or executed."""
    if not can_be_ended():
        return start(module, descriptors, argument)
    kind = (module, *load)
    with _lock:
        server, inherited = _servers.get(kind, (None, ()))
        if not (server and server.is_alive() and inherited == _inherited()):
            inherited, server = _inherited(), ForkServer(module, load)
            _servers[kind] = server, inherited
        return server.fork(descriptors, argument)


def end() -> None:
    with _lock:
        for server, _ in _servers.values():
            server.close()
        _servers.clear()


def _let_go_after_fork() -> None:
    # A forked child must not keep the server alive after its parent.
    global _lock
    _lock = threading.Lock()
    for other in living:
        other.let_go()
    _servers.clear()


os.register_at_fork(after_in_child=_let_go_after_fork)


def _inherited() -> tuple[Any, ...]:
    output = []
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # it is closed
            found = os.fstat(descriptor)
            output.append((descriptor, found.st_dev, found.st_ino))
    limits = [resource.getrlimit(limit) for limit in _LIMITS]
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    return sys.executable, environment(), os.sched_getaffinity(0), output, limits, priority


def main(arguments: Sequence[str]) -> None:
    requests_fd, life, patience = map(int, arguments[:3])
    end_with_parent(life)
    run = import_module(arguments[3]).main
    for name in arguments[4:]:
        with contextlib.suppress(Exception):  # a process that needs it raises the error
            import_module(name)
    requests = socket.socket(fileno=requests_fd)
    noticed, notice = os.pipe()
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.collect()
    gc.freeze()  # a collection in a worker would copy the memory
    news = select.poll()
    for descriptor in (requests.fileno(), noticed):
        news.register(descriptor, select.POLLIN)
    numbers: dict[int, int] = {}  # by process
    while ready := news.poll(None if numbers else patience * 1000):
        descriptors = [descriptor for descriptor, _ in ready]
        if noticed in descriptors:
            os.read(noticed, 1 << 10)
            for pid, code in _ended(numbers):
                _report(requests, numbers.pop(pid), pid, code)
        if requests.fileno() in descriptors:
            content, received, *_ = socket.recv_fds(
                requests, _REQUEST.size, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
            if not content:
                return  # the parent has ended
            number, argument = _REQUEST.unpack(content)
            try:
                pid = os.fork()
            except OSError:
                _report(requests, number, os.getpid(), 1)
            else:
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    folder, *own = received
                    os.fchdir(folder)
                    for descriptor in (noticed, notice, life, requests.detach(), folder):
                        os.close(descriptor)
                    np.random.seed()  # as in an executed process
                    run([*own, argument])
                    return
                numbers[pid] = number
                _report(requests, number, pid, _BEGUN)
            for descriptor in received:
                os.close(descriptor)


def _report(requests: socket.socket, number: int, pid: int, news: int) -> None:
    with contextlib.suppress(ConnectionError):  # the parent has ended; `main` notices it
        requests.sendall(_NEWS.pack(number, pid, news))


def _ended(pids: Iterable[int]) -> list[tuple[int, int]]:
    found = []
    for pid in pids:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            found.append((pid, os.waitstatus_to_exitcode(status)))
    return found
