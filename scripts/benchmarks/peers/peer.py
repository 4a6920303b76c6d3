"""What `read` and `store` require of a peer."""

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CROPS = ("random", "center")


@dataclass(frozen=True)
class Stored:
    """Where a store has what `prepare` wrote.

    Attributes:
        endpoint, bucket: an HTTP server that takes S3's requests of paths, whoever signed them.
        cache: a folder for what comes.
        limit: bytes that may stay there; None for all.
    """

    endpoint: str
    bucket: str
    cache: Path
    limit: int | None


@dataclass(frozen=True)
class Task:
    """What every candidate does: the same images, crop, batch and number of workers.

    Attributes:
        images: class folders, or the folders `train` and `val` of them.
        shards: the same, packed.
        cache: a folder for what `prepare` writes; each peer has one of its own in it.
        stored: where to read from, in place of the folders.
    """

    shards: Path
    images: Path
    cache: Path
    crop: str
    batch_size: int
    workers: int
    stored: Stored | None = None


@dataclass(frozen=True)
class Peer:
    """A way to read images.

    Attributes:
        package: what must be installed.
        build: from a task to an iterable of (images, labels); iterating again is the next epoch.
        prepare: writes the peer's own format; not timed.
    """

    package: str
    build: Callable[[Task], Iterable[Any]]
    prepare: Callable[[Task], None] | None = None


def is_installed(package: str) -> bool:
    """Whether `package`, which may be dotted, can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # what it lies in is missing
        return False
