"""The way to a fetching process, from the user's process and from its workers.

Purpose: no network library in these; one fetching process for a dataset, whoever reads it.

Guarantees: a wait ends when the rows are there, or with an error, also when the fetching process
dies; another one takes its place, for all who went to it, when the process that started it begins
an epoch or waits itself. It ends with the process that started it, however that ends. A process
that was forked, or received the dataset pickled, goes to the same one as long as that is there, and
starts its own then. Credentials go to the fetching process by a socket pair, and nowhere else.

Assumptions: Linux.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache.messages import (
    Begin,
    Coming,
    Counts,
    Drop,
    Here,
    Hint,
    Lost,
    Opened,
    Setup,
    Tell,
    Took,
    Want,
    receive,
    send,
)
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.processes.child import Child, start
from reader.store.credentials import sent
from reader.store.urls import LIBRARY, checked, need

_ENDING_SECONDS = 60.0
_CONNECTIONS = 4096
_DYING_SECONDS = 0.1
_ANSWER_SECONDS = 30.0  # to what needs no network


def fetching(
    url: str,
    split: str | None,
    cache_dir: str | os.PathLike[str] | None,
    cache_limit: int | None,
    storage_options: Mapping[str, Any] | None,
    credential_provider: Callable[..., Any] | None,
) -> "Fetching":
    """The fetching process for a Dataset's arguments."""
    url = checked(url)
    provider = sent(credential_provider, url)
    if cache_dir is None:
        cache_dir = _user_cache_dir(url)
    options = dict(storage_options or {})
    place = os.path.abspath(os.path.expanduser(cache_dir))
    return Fetching(Setup(url, split, options, provider, place, cache_limit))


class _Taken(Exception):
    """Another process that has the dataset has started one meanwhile."""


class Damaged(Exception):
    """The store has other bytes of a sample than were packed."""


class Fetching:
    """A dataset's fetching process, as those who read the dataset see it."""

    def __init__(self, setup: Setup) -> None:
        """Start it, and have it open the dataset."""
        self.url = setup.url
        self._setup: Setup | None = setup
        self._address = b"\0shardfeed-fetch-" + secrets.token_hex(16).encode()
        self._init_own()
        self._start()

    def _init_own(self) -> None:
        self._lock = threading.Lock()
        self._threads = _Threads(weakref.proxy(self))
        self._process: _Process | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("url", "folder", "_setup", "_address")
        return {name: vars(self)[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._init_own()

    def lent(self) -> "Fetching":
        """The same for workers: without credentials, and so without a process of their own."""
        other = object.__new__(Fetching)
        other.__setstate__({**self.__getstate__(), "_setup": None})
        return other

    def want(self, shard: int, rows: NDArray[np.int64]) -> None:
        """Wait until rows are there.

        Raises:
            Damaged: they cannot be read; says why.
            StoreError: nothing can, now.
        """
        answer = self._threads.line.ask(Want(shard, rows), None)
        if isinstance(answer, Lost):
            raise Damaged(answer.text) if answer.is_sample else StoreError(answer.text)

    def hint(self, shard: int, rows: NDArray[np.int64]) -> None:
        """Say that rows will be wanted soon."""
        self._threads.line.tell(Hint(shard, rows))

    def plans(self) -> "Plans":
        """What tells it the order in which the dataset is read."""
        return Plans(_Line(self))

    def close(self) -> None:
        """End the process, if it is this one's; who asks again has a new one."""
        if self._process is not None:
            self._process.end()

    @property
    def pid(self) -> int | None:
        """Of the process, where this one has started it."""
        return None if self._process is None else self._process.pid

    def connect(self) -> socket.socket:
        """A new connection; to a new process where there is none any more."""
        with self._lock:
            try:
                return _connected(self._address)
            except OSError:
                if self._setup is None:
                    raise
            self._start()
            return _connected(self._address)

    def _start(self) -> None:
        """Start a process of this one's, and wait until it has opened the dataset."""
        assert self._setup is not None
        try:
            self._process = _Process.started(self.url, self._address)
        except _Taken:
            return
        try:
            self.folder = self._process.opened(self._setup)
        except BaseException:
            self._process.end()
            raise


class Plans:
    """The plans of one reader; they end with this."""

    def __init__(self, line: "_Line") -> None:
        self._line = line

    def begin(self, number: int, ahead: Any, depth: int) -> None:
        """Announce an `AccessPattern` that is read with `depth` steps under way."""
        try:
            answer = self._line.ask(Begin(number, ahead, depth), _ANSWER_SECONDS)
        except StoreError:
            return  # it has died: who needs a sample says which
        if isinstance(answer, Lost):
            raise StoreError(answer.text)

    def hint(self, shard: int, rows: NDArray[np.int64]) -> None:
        """Say that rows will be wanted soon."""
        self._line.tell(Hint(shard, rows))

    def took(self, number: int, steps: int) -> None:
        """Say that the first `steps` steps of a plan have been read."""
        self._line.tell(Took(number, steps))

    def drop(self, number: int) -> None:
        """Say that a plan is given up."""
        self._line.tell(Drop(number))

    def counts(self) -> Counts:
        """What the fetching process did so far."""
        with contextlib.suppress(StoreError):
            answer = self._line.ask(Tell(), _ANSWER_SECONDS)
            if isinstance(answer, Counts):
                return answer
        return Counts()


class _Line:
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
        """The answer."""
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
    """What each thread has for itself."""

    def __init__(self, fetching: Fetching) -> None:
        self.line = _Line(fetching)


class _Process:
    """A fetching process that this process has started."""

    def __init__(self, child: Child, control: Connection) -> None:
        self.pid = child.pid
        self._child, self._control = child, control
        self.end = weakref.finalize(self, _end, child, os.getpid())
        _processes.add(self)

    @classmethod
    def started(cls, url: str, address: bytes) -> "_Process":
        """A new one that listens at an address."""
        if not hasattr(fcntl, "F_OFD_SETLK"):
            raise StoreError(f"{url}: reading from a store needs Linux.")
        need(LIBRARY, url)
        ours, theirs = socket.socketpair()
        with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            try:
                listener.bind(address)
            except OSError as error:
                ours.close()
                if error.errno != errno.EADDRINUSE:
                    raise
                raise _Taken from None
            listener.listen(_CONNECTIONS)
            try:
                fds = (theirs.fileno(), listener.fileno())
                child = start("reader.cache.process", fds)
            except OSError as error:
                ours.close()
                raise StoreError(f"{sys.executable} cannot be started: {error}.") from error
        return cls(child, Connection(ours.detach()))

    def opened(self, setup: Setup) -> str:
        """The folder in which it has opened the dataset."""
        bar = None
        try:
            self._control.send(setup)
            while isinstance(message := self._control.recv(), Coming):
                if bar is None:
                    bar = _bar(message.total)
                bar.update(message.done - bar.n)
        except (EOFError, OSError):
            raise StoreError(f"{setup.url}: the process that fetches from it has died.") from None
        finally:
            if bar is not None:
                bar.close()
        if isinstance(message, ShardfeedError):
            raise message
        assert isinstance(message, Opened)
        return message.folder

    def let_go(self) -> None:
        """Leave it to the process that this one is a fork of."""
        if self.end.detach():
            self._child.let_go()
        self._control.close()


_processes: "weakref.WeakSet[_Process]" = weakref.WeakSet()


def _let_go_after_fork() -> None:
    # A forked child that kept the pipe would keep the process alive after its owner.
    for process in _processes:
        process.let_go()


os.register_at_fork(after_in_child=_let_go_after_fork)


def _end(child: Child, owner: int) -> None:
    if os.getpid() == owner:
        child.kill()
        child.wait(_ENDING_SECONDS)


def _user_cache_dir(url: str) -> str:
    need("platformdirs", url)
    from platformdirs import user_cache_dir

    return user_cache_dir("shardfeed", appauthor=False)


def _bar(total: int) -> Any:
    """What shows that indexes come, on a terminal."""
    from tqdm import tqdm  # few need it

    return tqdm(total=total, desc="indexes", unit=" files", leave=False, disable=None)
