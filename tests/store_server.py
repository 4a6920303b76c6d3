"""A small HTTP server of a folder, as a store is one: ranges, ETags, If-Match; and faults."""

import contextlib
import os
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

LAST_MODIFIED = "Wed, 21 Oct 2026 07:28:00 GMT"


class StoreServer(ThreadingHTTPServer):
    """Serves `folder`, and notes what is asked of it.

    Attributes:
        url: of the folder.
        asked: (path, first byte, byte after the last) of each request that was served.
        fault: called with each request before it is served: a status to answer with, a function of
            the handler that answers in its stead, or None to serve it.
        version: goes into all ETags.
        tag: how they are told; None: not.
        latency: waits so many seconds first.
        closing: set when it ends.
    """

    daemon_threads = False  # which are waited for
    request_queue_size = 512

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._connections: set[socket.socket] = set()
        self.asked: list[tuple[str, int, int]] = []
        self.headers: list[dict[str, str]] = []
        self.fault: Callable[[Handler], Any] = lambda _: None
        self.version = 1
        self.tag: str | None = "{}"
        self.latency = 0.0
        self.closing = threading.Event()

    @property
    def tars(self) -> list[tuple[str, int, int]]:
        """What was asked of shards."""
        return [request for request in self.asked if request[0].endswith(".tar")]

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def stall(self, handler: "Handler") -> None:
        """Answer nothing."""
        self.closing.wait()

    def hang_up(self) -> None:
        """End all connections."""
        self.closing.set()
        for connection in [*self._connections]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is none of ours."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StoreServer
    wbufsize = 1 << 16

    def do_HEAD(self) -> None:
        path = self.place
        if not path.is_file():
            return self.answer(404, b"")
        self.send_response(200)
        headers = {"ETag": self.tag_of(path), "Content-Length": path.stat().st_size}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.send_header("Last-Modified", LAST_MODIFIED)
        return self.end_headers()

    @property
    def place(self) -> Path:
        """The file that a request is about."""
        return self.server.folder / unquote(self.path.partition("?")[0]).lstrip("/")

    def do_GET(self) -> None:
        if self.server.latency:
            self.server.closing.wait(self.server.latency)
        self.server.headers.append(dict(self.headers))
        fault = self.server.fault(self)
        if callable(fault):
            fault(self)
        elif fault is not None:
            self.answer(fault, b"")
        else:
            self.serve()

    def serve(self, change: Callable[[bytes], bytes] = lambda content: content) -> None:
        name = f"/{self.place.relative_to(self.server.folder).as_posix()}"
        path = self.place
        if not path.is_file():
            return self.answer(404, b"")
        tag = self.tag_of(path)
        if (known := self.headers.get("If-Match")) and (known != tag or known.startswith("W/")):
            return self.answer(412, b"")
        size = path.stat().st_size
        first, stop, status, headers = 0, size, 200, {"ETag": tag} if tag else {}
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            first, stop, status = int(wanted[1]), min(int(wanted[2]) + 1, size), 206
            headers["Content-Range"] = f"bytes {first}-{stop - 1}/{size}"
        with path.open("rb") as file:
            file.seek(first)
            content = change(file.read(stop - first))
        self.server.asked.append((name, first, stop))
        return self.answer(status, content, headers)

    def tag_of(self, path: Path) -> str:
        return (self.server.tag or "").format(f'"{self.server.version}-{path.stat().st_size}"')

    def answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if "Transfer-Encoding" not in (headers or {}):
            self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", LAST_MODIFIED)
        self.end_headers()
        self.wfile.write(content)

    def reset(self) -> None:
        """Hang up as a machine that went down does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        os.close(self.connection.detach())

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def running(server: StoreServer) -> Iterator[None]:
    """Have a server serve, in a thread, meanwhile."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            server.hang_up()


@contextlib.contextmanager
def serving(folder: Path, context: ssl.SSLContext | None = None) -> Iterator[StoreServer]:
    """Serve a folder meanwhile, by TLS if there is a `context`."""
    server = StoreServer(folder)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.url = server.url.replace("http", "https")
    with running(server):
        yield server
