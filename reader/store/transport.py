"""What a store's backend does: few verbs, one request each.

To add a backend, write a module with `opened(access) -> Transport`, and add it to `BACKENDS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

BACKENDS = {  # modules by the scheme of URLs
    **dict.fromkeys(("s3", "gs", "az"), "reader.store.library"),
    **dict.fromkeys(("https", "http", "hf"), "reader.store.headed"),
    "file": "reader.store.library",
}

Content = bytes | memoryview


class Access(NamedTuple):
    url: str
    options: Mapping[str, Any]
    provider: bytes | None  # of credentials, see `reader.store.credentials`
    is_created: bool = False  # whether a missing folder is created


class Answer(NamedTuple):
    tag: str | None
    size: int  # of the object
    content: memoryview


@dataclass(frozen=True)
class Listed:
    size: int
    tag: str | None  # ETag, in quotes; None if the store sends none
    mtime_ns: int


class Transport(Protocol):
    """Requests to a store; one that fails raises a `reader.store.errors.Failure`."""

    async def get_range(self, name: str, start: int, stop: int, tag: str | None) -> Answer:
        """Read a part of an object, only of the version `tag` if it is given."""

    async def get(self, name: str, most: int) -> Answer:
        """Read an object of at most so many bytes."""

    async def head(self, name: str) -> Listed: ...

    async def list(self) -> dict[str, Listed]: ...

    async def put(self, name: str, content: Content, over: str | None, seconds: int) -> None:
        """Write an object in place of the version `over`: "" for any one, None for none."""

    async def delete(self, name: str) -> None: ...


def opened(access: Access) -> Transport:
    found: Transport = import_module(BACKENDS[access.url.partition("://")[0].lower()]).opened(
        access
    )
    return found
