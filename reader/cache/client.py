"""Connect to a fetching process, from the user's process and its workers, on Linux.

The dataset's own fetching process serves a connection, or hands it over to that of another reader
which fetches for all of them, see `turns`.

Guarantees: a wait ends when the rows are present, or with an error, also when a fetching process is
stopped or dies; the process that started it then starts another. A fork, or a process that
unpickled the dataset, uses the same one while it exists, and then starts its own. Credentials are
sent to the fetching process by a socket pair, and nowhere else.
"""

import contextlib
import os
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache.child import AlreadyRunning, FetchingProcess
from reader.cache.messages import (
    Counts,
    GetCounts,
    Hint,
    Present,
    Request,
    Setup,
    Unavailable,
    receive,
    send,
)
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.store.credentials import sent
from reader.store.urls import checked, need

_DYING_SECONDS = 0.1
_PATIENT_SECONDS = 60.0  # after which a fetching process has to show that it is not stopped
_ANSWER_SECONDS = 30.0  # for requests that need no network


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


class Fetching:
    def __init__(self, setup: Setup) -> None:
        self.url = setup.url
        self._setup: Setup | None = setup
        self._address = b"\0shardfeed-fetch-" + secrets.token_hex(16).encode()
        self._init_own()
        self._start()

    def _init_own(self) -> None:
        self._lock = threading.Lock()
        self._threads = _Threads(weakref.proxy(self))
        self._process: FetchingProcess | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("url", "folder", "_setup", "_address")
        return {name: vars(self)[name] for name in kept}

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

    @property
    def is_alive(self) -> bool:
        """Whether the fetching process that this process started is there, if it started one."""
        return self._process is None or self._process.is_alive

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def connect(self) -> socket.socket:
        with self._lock:
            try:
                return _connected(self._address)
            except OSError:
                if self._setup is None:
                    raise
            self._start()
            return _connected(self._address)

    def _start(self) -> None:
        assert self._setup is not None
        try:
            self._process = FetchingProcess(self.url, self._address)
        except AlreadyRunning:
            return
        try:
            self.folder = self._process.open(self._setup)
        except BaseException:
            self._process.end()
            raise


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


def _connected(address: bytes) -> socket.socket:
    with contextlib.ExitStack() as opened:
        connection = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        connection.settimeout(_PATIENT_SECONDS)
        connection.connect(address)
        greeting, others, _, _ = socket.recv_fds(connection, 1, 1)
        if not greeting:
            raise ConnectionResetError
        if others:
            return socket.socket(fileno=others[0])
        opened.pop_all()
        return connection


class _Threads(threading.local):
    def __init__(self, fetching: Fetching) -> None:
        self.connection = FetchingConnection(fetching)
