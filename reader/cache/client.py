"""The way to a fetching process, from the user's process and from its workers, on Linux.

Guarantees: a wait ends when the rows are there, or with an error, also when the fetching process
dies; another one then takes its place, started by the process that started the first. A fork, or a
process that received the dataset pickled, goes to the same one as long as it exists, and starts its
own then. Credentials go to the fetching process by a socket pair, and nowhere else.
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

from reader.cache.child import FetchingProcess, Taken
from reader.cache.messages import Counts, Here, Hint, Lost, Setup, Want, receive, send
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.store.credentials import sent
from reader.store.urls import checked, need

_DYING_SECONDS = 0.1


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
    """The store has other bytes of a sample than were packed."""


class Fetching:
    """A dataset's fetching process, as those who read the dataset see it."""

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

    def lent(self) -> "Fetching":
        """Return the same for workers: without credentials, so without a process of their own."""
        other = object.__new__(Fetching)
        other.__setstate__({**self.__getstate__(), "_setup": None})
        return other

    def want(self, shard: int, rows: NDArray[np.int64]) -> None:
        """Wait until rows are there; raise `Damaged` for them, or StoreError for the store."""
        answer = self._threads.line.ask(Want(shard, rows), None)
        if isinstance(answer, Lost):
            raise Damaged(answer.text) if answer.is_sample else StoreError(answer.text)

    def hint(self, shard: int, rows: NDArray[np.int64]) -> None:
        self._threads.line.tell(Hint(shard, rows))

    def close(self) -> None:
        """End the process, if it is this one's; who asks again has a new one."""
        if self._process is not None:
            self._process.end()

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
        except Taken:
            return
        try:
            self.folder = self._process.open(self._setup)
        except BaseException:
            self._process.end()
            raise


class Line:
    """A connection of this process, made when it is first used; for one thread at a time."""

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching
        self._connection: socket.socket | None = None
        self._pid = 0

    def tell(self, message: tuple[Any, ...]) -> None:
        """Say what needs no answer, and what nobody misses where it is not heard."""
        with contextlib.suppress(OSError, ShardfeedError):
            connection = self._connected()
            connection.setblocking(False)
            send(connection, message)

    def ask(self, message: tuple[Any, ...], timeout: float | None) -> Here | Lost | Counts:
        url = self._fetching.url
        for tries in range(3):  # a process that died may be replaced
            try:
                connection = self._connected()
                connection.settimeout(timeout)
                send(connection, message)
                return receive(connection)
            except TimeoutError:
                self._close()
                raise StoreError(
                    f"{url}: the fetching process has not answered for {timeout:.0f} seconds."
                ) from None
            except (EOFError, OSError):
                self._close()
                time.sleep(tries * _DYING_SECONDS)
            except BaseException:  # such as Ctrl-C: the answer would be taken for another one's
                self._close()
                raise
        raise StoreError(
            f"{url}: the process that fetches from it has died. Start again: what it has fetched "
            "is in the cache. If it was killed for lack of memory, use fewer workers."
        )

    def _connected(self) -> socket.socket:
        if self._connection is None or self._pid != os.getpid():
            self._close()
            self._connection, self._pid = self._fetching.connect(), os.getpid()
            self._finalizer = weakref.finalize(self, self._connection.close)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._finalizer()
            self._connection = None


def _connected(address: bytes) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


class _Threads(threading.local):
    def __init__(self, fetching: Fetching) -> None:
        self.line = Line(fetching)
