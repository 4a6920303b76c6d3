"""Connect to a fetching process, from the user's process and its workers, on Linux.

The process that has the turn serves it, that of this dataset or of another reader, see `turns`.

Guarantees: a wait ends when the rows are present, or with an error, also when a fetching process is
stopped or dies; the process that started it then starts another. A fork, or a process that
unpickled the dataset, uses the same one while it exists, and then starts its own. Credentials are
sent to the fetching process by a socket pair, and nowhere else.
"""

import contextlib
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache.messages import (
    Counts,
    GetCounts,
    Hint,
    Join,
    Opened,
    Present,
    Progress,
    Request,
    Setup,
    Unavailable,
    receive,
    send,
)
from reader.cache.own_files import shared
from reader.cache.quota import LEASE
from reader.cache.turns import is_fetched, joined
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.processes.child import Child, let_go_in_forks, start
from reader.store.credentials import sent
from reader.store.urls import LIBRARY, checked, need

_DYING_SECONDS = 0.1
_PATIENT_SECONDS = 60.0  # after which a fetching process has to show that it is not stopped
_ANSWER_SECONDS = 30.0  # for requests that need no network
_ENDING_SECONDS = 60.0


def fetching(
    url: str,
    split: str | None,
    cache_dir: str | os.PathLike[str] | None,
    cache_limit: int | None,
    storage_options: Mapping[str, Any] | None,
    credential_provider: Callable[..., Any] | None,
) -> "Fetching":
    url = checked(url)
    provider = sent(credential_provider, url)
    if cache_dir is None:
        need("platformdirs", url)
        from platformdirs import user_cache_dir

        cache_dir = user_cache_dir("shardfeed", appauthor=False)
    place = os.path.abspath(os.path.expanduser(cache_dir))
    return Fetching(Setup(url, split, dict(storage_options or {}), provider, place, cache_limit))


class Damaged(Exception):
    """The store's bytes of a sample are not the packed ones."""


class FetchingProcess:
    def __init__(self, url: str) -> None:
        if sys.platform != "linux":
            raise StoreError(f"{url}: reading from a store needs Linux.")
        need(LIBRARY, url)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._child = start("reader.cache.process", (theirs.fileno(),))
            except OSError as error:
                ours.close()
                raise StoreError(
                    f"{url}: {sys.executable} cannot be started to fetch from it: {error}."
                ) from error
        self.pid = self._child.pid
        self._control = Connection(ours.detach())
        self.end = weakref.finalize(self, _end, self._child, os.getpid())
        let_go_in_forks(self)

    def open(self, setup: Setup) -> Opened:
        """Open the dataset; a terminal shows the progress."""
        bar = None
        try:
            self._control.send(setup)
            while isinstance(message := self._control.recv(), Progress):
                if bar is None:
                    from tqdm import tqdm  # rarely used

                    bar = tqdm(None, "indexes", message.total, leave=False, disable=None)
                bar.update(message.done - bar.n)
        except (EOFError, OSError):
            raise StoreError(
                f"{setup.url}: the fetching process has died. Open the dataset again."
            ) from None
        finally:
            if bar is not None:
                bar.close()
        if isinstance(message, ShardfeedError):
            raise message
        assert isinstance(message, Opened)
        return message

    @property
    def is_alive(self) -> bool:
        return (
            not self._control.closed and not self._control.poll()
        )  # it says nothing until it ends

    def let_go(self) -> None:
        if self.end.detach():
            self._child.let_go()
        self._control.close()


def _end(child: Child, owner: int) -> None:
    if os.getpid() == owner:
        child.kill()
        child.wait(_ENDING_SECONDS)


class Fetching:
    def __init__(self, setup: Setup) -> None:
        self.url = setup.url
        self._setup: Setup | None = setup
        self._init_own()
        self._start()

    def _init_own(self) -> None:
        self._lock = threading.Lock()
        self._threads = _Threads(weakref.proxy(self))
        self._process: FetchingProcess | None = None
        self._release: Callable[[], object] = lambda: None

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("url", "folder", "_setup", "_join")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._init_own()

    def for_workers(self) -> "Fetching":
        """Return a client for workers, which has no credentials and cannot start a process."""
        other = object.__new__(Fetching)
        other.__setstate__({**self.__getstate__(), "_setup": None})
        return other

    def want(self, shard: int, rows: NDArray[np.int64]) -> None:
        """Wait until rows are present; raise `Damaged` for damaged rows, otherwise StoreError."""
        answer = self._threads.connection.ask(Request(shard, rows), None)
        if isinstance(answer, Unavailable):
            raise Damaged(answer.text) if answer.is_sample else StoreError(answer.text)

    def hint(self, shard: int, rows: NDArray[np.int64]) -> None:
        self._threads.connection.send(Hint(shard, rows))

    def close(self) -> None:
        """End the process, if this one started it; the next request starts another."""
        if self._process is not None:
            self._process.end()
            self._release()

    @property
    def is_alive(self) -> bool:
        """Whether a fetching process is there, if this process started one."""
        is_there = self._process is None or self._process.is_alive
        return is_there or is_fetched(Path(self.folder))

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def connect(self) -> socket.socket:
        with self._lock:
            try:
                return joined(Path(self.folder), self._join)
            except OSError:
                if self._setup is None:
                    raise
            self._start()
            return joined(Path(self.folder), self._join)

    def _start(self) -> None:
        assert self._setup is not None
        self._process = FetchingProcess(self.url)
        try:
            opened = self._process.open(self._setup)
        except BaseException:
            self._process.end()
            raise
        self.folder, self._join = opened.folder, Join(self._setup.split, opened.limit)
        self._release()
        # So that nobody removes the folder when the process dies.
        lease = shared(Path(self.folder) / LEASE)
        self._release = weakref.finalize(self, os.close, lease)


class FetchingConnection:
    """A connection of this process, opened on first use; for one thread at a time."""

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching
        self._connection: socket.socket | None = None
        self._pid = 0

    def send(self, message: tuple[Any, ...]) -> bool:
        """Send a message that has no answer; return whether it was sent by the same connection."""
        is_same = self._connection is not None
        try:
            connection = self._connected()
            connection.setblocking(False)
            send(connection, message)
        except BlockingIOError:
            pass  # it is a hint, or will be sent again
        except (OSError, ShardfeedError):
            self.close()
            return False
        return is_same

    def ask(
        self, message: tuple[Any, ...], timeout: float | None
    ) -> Present | Unavailable | Counts:
        url, seconds = self._fetching.url, timeout or _PATIENT_SECONDS
        for tries in range(3):  # a process that died may be replaced
            try:
                connection = self._connected()
                connection.settimeout(seconds)
                send(connection, message)
                return self._answer(connection, timeout)
            except TimeoutError:
                self.close()
                raise StoreError(
                    f"{url}: the fetching process has not answered for {seconds:.0f} seconds. "
                    "Check that it is not stopped, and open the dataset again."
                ) from None
            except (EOFError, OSError):
                self.close()
                time.sleep(tries * _DYING_SECONDS)
            except BaseException:  # after Ctrl-C, the answer would be mistaken for the next one
                self.close()
                raise
        raise StoreError(
            f"{url}: the fetching process has died. Start again: the cache keeps the samples that "
            "were fetched. If memory ran out, give reader.Loader fewer workers=."
        )

    def _answer(
        self, connection: socket.socket, timeout: float | None
    ) -> Present | Unavailable | Counts:
        while True:
            try:
                return receive(connection)
            except TimeoutError:
                if timeout is not None:
                    raise
            with contextlib.closing(FetchingConnection(self._fetching)) as another:
                another.ask(GetCounts(), _ANSWER_SECONDS)  # it raises an error if it is stopped

    def _connected(self) -> socket.socket:
        if self._connection is None or self._pid != os.getpid():
            self.close()
            self._connection, self._pid = self._fetching.connect(), os.getpid()
            self._finalizer = weakref.finalize(self, self._connection.close)
        return self._connection

    def close(self) -> None:
        """Close it, which also drops the schedules that were begun by it; it may be used again."""
        if self._connection is not None:
            self._finalizer()
            self._connection = None


class _Threads(threading.local):
    def __init__(self, fetching: Fetching) -> None:
        self.connection = FetchingConnection(fetching)
