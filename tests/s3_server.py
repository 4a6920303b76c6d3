"""A bucket of S3 in a thread of the tests: a folder with conditional writes, lists and faults."""

import contextlib
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

import xxhash
from store_server import Handler, StoreServer, running


class S3Server(StoreServer):
    """Serves `folder` as a bucket, and takes objects.

    Attributes:
        options, environment: that open it as a store.
        heeds_conditions: whether it looks at If-None-Match and If-Match of what is written.
        written: how often each object was written.
        lists_bare_tags: whether a list has ETags without quotes.
        listed_besides: bytes of objects that a list shows, and which are not there.
        lost: called with each object's name once it is written: whether the answer is lost.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.RequestHandlerClass = S3Handler
        self.options = {
            "endpoint": self.url,
            "region": "us-east-1",
            "skip_signature": True,
            "retry_timeout": 5,
        }
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_SKIP_SIGNATURE": "true",
        }
        self.heeds_conditions = True
        self.written: Counter[str] = Counter()
        self.removed: list[str] = []
        self.lists_bare_tags = False
        self.listed_besides: dict[str, int] = {}
        self.lost: Callable[[str], bool] = lambda name: False
        self.lock = threading.Lock()

    def objects(self, below: str = "") -> dict[str, bytes]:
        """What lies below a prefix, by name."""
        return {
            path.relative_to(self.folder / below).as_posix(): path.read_bytes()
            for path in sorted((self.folder / below).rglob("*"))
            if path.is_file()
        }


class S3Handler(Handler):
    server: S3Server

    @property
    def place(self) -> Path:
        name = unquote(urlsplit(self.path).path).lstrip("/").partition("/")[2]
        return self.server.folder / name

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            fault = self.server.fault(self)
            return self.answer(fault, b"") if fault else self.list(query.get("prefix", [""])[0])
        return super().do_GET()

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if fault := self.server.fault(self):
            return fault(self) if callable(fault) else self.answer(fault, b"")
        path = self.place
        name = path.relative_to(self.server.folder).as_posix()
        with self.server.lock:
            if self.server.heeds_conditions:
                there = self.tag_of(path) if path.is_file() else None
                if there is not None and self.headers.get("If-None-Match") == "*":
                    return self.answer(412, b"")
                if self.headers.get("If-Match") not in (None, there):
                    return self.answer(412, b"")
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f".{path.name}.unfinished")
            unfinished.write_bytes(content)
            os.replace(unfinished, path)
            self.server.written[name] += 1
        if self.server.lost(name):
            return self.reset()
        return self.answer(200, b"", {"ETag": self.tag_of(path)})

    def do_POST(self) -> None:
        """Remove several objects."""
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if fault := self.server.fault(self):
            return self.answer(fault, b"")
        keys = re.findall(r"<Key>(.*?)</Key>", text)
        for name in map(unescape, keys):
            with contextlib.suppress(FileNotFoundError):
                (self.server.folder / name).unlink()
                self.server.removed.append(name)
        done = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        return self.answer(200, f"<DeleteResult>{done}</DeleteResult>".encode())

    def written(self, name: str) -> str:
        status = (self.server.folder / name).stat()
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(status.st_mtime))

    def tag_of(self, path: Path) -> str:
        return f'"{xxhash.xxh3_64_hexdigest(path.read_bytes())}"'

    def listed_tag(self, name: str) -> str:
        tag = self.tag_of(self.server.folder / name)
        return tag.strip('"') if self.server.lists_bare_tags else tag

    def list(self, prefix: str) -> None:
        found = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{len(content)}</Size><ETag>"
            f"{escape(self.listed_tag(name))}</ETag>"
            f"<LastModified>{self.written(name)}</LastModified></Contents>"
            for name, content in self.server.objects().items()
            if name.startswith(prefix) and not re.search(r"\.unfinished$", name)
        )
        found += "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{size}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for name, size in self.server.listed_besides.items()
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        self.answer(200, text.encode(), {"Content-Type": "application/xml"})


@contextlib.contextmanager
def bucket(folder: Path) -> Iterator[S3Server]:
    """A bucket over a folder, meanwhile."""
    folder.mkdir(exist_ok=True)
    server = S3Server(folder)
    with running(server):
        yield server
