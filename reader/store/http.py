"""Request ranges over kept HTTP/1.1 connections, with less CPU time than the network library.

Guarantee: an answer is exactly the requested range. Anything else is `Unsuited`: the library then
makes the request, follows redirects, and explains failures.
"""

import asyncio
import re
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import numpy as np

from reader.store.transport import Answer

_IDLE_SECONDS = 60.0  # after which a network may have dropped a connection
_WATCH_SECONDS = 1.0
_DELAY = 0.25  # seconds for a host's first address before the next one is tried
_HEAD = 4096  # bytes of the head of an answer, at most
_END = b"\r\n\r\n"
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_IGNORED = memoryview(bytearray(1 << 16))


class Unsuited(Exception):
    """The server did not send exactly the requested range."""

    def __init__(self, status: int = 0, content: bytes = b"") -> None:
        super().__init__(status)
        self.status = status  # 0: no answer
        self.content = content  # the bytes that came with its head


class Times(NamedTuple):
    """Seconds: for a connection, without a byte, and for an answer."""

    connect: float
    read: float
    whole: float


class HttpRanges:
    def __init__(self, times: Times) -> None:
        self._times = times
        self._idle: dict[tuple[str, str], list[_Connection]] = {}  # the last used one at the end
        self._busy: set[_Connection] = set()
        self._context: ssl.SSLContext | None = None
        self._is_watching = False

    async def get(self, url: str, headers: Mapping[str, str], start: int, stop: int) -> Answer:
        parts = urlsplit(url)
        idle = self._idle.setdefault(parts[:2], [])
        connection = self._kept(idle) or await self._connected(parts)
        self._busy.add(connection)
        self._watch_soon()
        try:
            answer = await connection.get(_request(parts, headers, start, stop), start, stop)
        except BaseException:
            connection.close()
            raise
        finally:
            self._busy.discard(connection)
        if connection.is_reusable:
            idle.append(connection)
        else:
            connection.close()
        return answer

    def _kept(self, idle: list["_Connection"]) -> "_Connection | None":
        now = asyncio.get_running_loop().time()
        while idle:
            connection = idle.pop()
            if connection.is_reusable and now - connection.moved < _IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def _connected(self, place: SplitResult) -> "_Connection":
        is_secure = place.scheme == "https"
        if is_secure and self._context is None:
            self._context = ssl.create_default_context()
        try:
            _, connection = await asyncio.wait_for(
                asyncio.get_running_loop().create_connection(
                    _Connection,
                    str(place.hostname),
                    place.port or (443 if is_secure else 80),
                    ssl=self._context if is_secure else None,
                    happy_eyeballs_delay=_DELAY,
                ),
                self._times.connect,
            )
        except (OSError, ValueError, asyncio.TimeoutError):
            raise Unsuited from None
        return connection

    def _watch_soon(self) -> None:
        if self._busy and not self._is_watching:
            self._is_watching = True
            seconds = min(_WATCH_SECONDS, self._times.read / 4, self._times.whole / 4)
            asyncio.get_running_loop().call_later(seconds, self._watch)

    def _watch(self) -> None:
        """End requests that take too long; one timer for all takes less than one for each."""
        self._is_watching = False
        now = asyncio.get_running_loop().time()
        for connection in self._busy:
            is_quiet = now - connection.moved > self._times.read
            if is_quiet or now - connection.began > self._times.whole:
                connection.fail()
        self._watch_soon()


def _request(parts: SplitResult, headers: Mapping[str, str], start: int, stop: int) -> bytes:
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", f"Range: bytes={start}-{stop - 1}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


class _Connection(asyncio.BufferedProtocol):
    """A connection, with at most one request; bytes are received where they stay."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Answer] | None = None
        self._start = self._stop = 0
        self._begin(0, 0)
        self.is_reusable = False

    def _begin(self, start: int, stop: int) -> None:
        self._start, self._stop = start, stop
        self._buffer: memoryview | None = None
        self._filled = 0
        self._body = 0  # where it begins in the buffer; 0 until the head came
        self.is_reusable = False  # until the answer came
        self.began = self.moved = self._loop.time()

    def get(self, request: bytes, start: int, stop: int) -> "asyncio.Future[Answer]":
        self._begin(start, stop)
        self._answer = future = self._loop.create_future()
        if self._transport.is_closing():
            self.fail()
        else:
            self._transport.write(request)
        return future

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._answer is None:
            return _IGNORED
        if self._buffer is None:
            size = self._stop - self._start + _HEAD
            self._buffer = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]
        return self._buffer[self._filled :]

    def buffer_updated(self, count: int) -> None:
        self.moved = self._loop.time()
        if self._answer is None or self._buffer is None:  # nothing was requested
            self.close()
            return
        self._filled += count
        if not self._body:
            self._read_head(bytes(self._buffer[: min(self._filled, _HEAD)]))
        end = self._body + self._stop - self._start
        if self._body and self._filled >= end:
            self.is_reusable &= self._filled == end
            answer = Answer(self._tag, self._size, self._buffer[self._body : end])
            future, self._answer, self._buffer = self._answer, None, None
            if not future.done():
                future.set_result(answer)

    def _read_head(self, content: bytes) -> None:
        head, end, rest = content.partition(_END)
        if not end:
            if len(content) == _HEAD:
                self.fail()
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        came = _RANGE.fullmatch(headers.get("content-range", ""))
        if (
            not first.startswith("HTTP/1.1 206")
            or came is None
            or (int(came[1]), int(came[2]) + 1) != (self._start, self._stop)
            or headers.get("content-length") != str(self._stop - self._start)
            or not headers.keys().isdisjoint(("transfer-encoding", "content-encoding"))
        ):
            self.fail(Unsuited(int(first[9:12]) if first[9:12].isdecimal() else 0, rest))
            return
        self._body, self._size, self._tag = len(head) + len(end), int(came[3]), headers.get("etag")
        self.is_reusable = headers.get("connection", "").lower() != "close"

    def eof_received(self) -> None:
        self.fail()

    def connection_lost(self, error: Exception | None) -> None:
        self.fail()

    def fail(self, error: Unsuited | None = None) -> None:
        self.is_reusable = False
        future, self._answer, self._buffer = self._answer, None, None
        if future is not None and not future.done():
            future.set_exception(error or Unsuited())
        self.close()

    def close(self) -> None:
        self.is_reusable = False
        self._transport.abort()
