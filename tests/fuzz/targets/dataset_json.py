"""dataset.json, alone and as the reader opens a dataset by it.

The checksum in it is also made right, so that damaged contents get past it. Nothing outside of the
dataset's folder is opened, although files with the names of shards lie there.
"""

import contextlib
import json
import os
import shutil
import sys
import sysconfig
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reader import Dataset
from reader.format import Manifest, ShardfeedError
from reader.format.manifest import own_checksum
from targets.making import dataset, folder

_SAMPLES = 3  # looked at


@cache
def _folder() -> Path:
    """A dataset, in a folder with bait beside it."""
    packed = dataset("manifest-packed", quality=90, shard_samples=4)
    around = folder("manifest-fuzzed")
    for place in (around, around / "inside", around / "inside" / "train"):
        shutil.copytree(packed, place, dirs_exist_ok=True)
    return around / "inside"


def seeds() -> Iterator[bytes]:
    """As packer writes it, as an older one without options, and with splits."""
    text = (_folder().parent / "dataset.json").read_bytes()
    yield text
    content = json.loads(text)
    content["options"] = {}
    content["shards"][0] |= {"split": "train", "file": "train/shard-000000.tar"}
    content["shards"][1]["split"] = "val"
    yield json.dumps(content).encode()
    content["shards"][0]["file"] = "../shard-000000.tar"
    yield json.dumps(content).encode()


def one(data: bytes) -> None:
    """Open a dataset by its dataset.json."""
    for text in {data, _sealed(data)}:
        (_folder() / "dataset.json").write_bytes(text)
        with _nothing_outside(_folder()), contextlib.suppress(ShardfeedError):
            _read(Manifest.load(_folder()))


def _read(manifest: Manifest) -> None:
    again = Manifest.parse(manifest.dump().encode(), Path("again"))
    assert again.dump() == manifest.dump()
    assert sum(manifest.split_samples.values()) == sum(shard.samples for shard in manifest.shards)
    assert manifest.known_splits
    for split in (None, *manifest.splits):
        found = Dataset(_folder(), split)
        assert len(found) >= 0
        assert found.fingerprint
        assert len(found.class_to_idx) <= len(found.classes)
        for number in range(min(len(found), _SAMPLES)):
            assert found[number][0].ndim == 3
            assert found.keys[number]
        assert len(found.labels) == len(found)


def _sealed(data: bytes) -> bytes:
    """`data` with its own checksum, if it is a JSON object."""
    try:
        content = json.loads(data.decode("utf-8"))
        content.pop("checksum", None)
        return json.dumps({**content, "checksum": own_checksum(content)}).encode()
    except (ValueError, AttributeError, TypeError, RecursionError):
        return data


_opened: list[str] | None = None  # while somebody looks at what this thread opens


@cache
def _watch() -> int:
    """Have all that is opened noted, from now on; the thread that is looked at."""
    sys.addaudithook(_note)
    return threading.get_ident()


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _opened is not None and threading.get_ident() == _watch():
        path = arguments[0]
        if isinstance(path, (str, bytes, os.PathLike)):
            _opened.append(os.fsdecode(path))


@contextlib.contextmanager
def _nothing_outside(folder: Path) -> Iterator[None]:
    """Fails if a file outside of `folder`, and no module of Python's, is opened meanwhile."""
    global _opened
    _watch()
    _opened = []
    try:
        yield
        found = {os.path.realpath(path) for path in _opened if "\0" not in path}
    finally:
        _opened = None
    inside = (str(folder.resolve()) + os.sep, *map(os.path.realpath, _own_folders()))
    assert all(path.startswith(inside) for path in found), found


def _own_folders() -> list[str]:
    """Where modules are imported from, at need."""
    return [*filter(None, sys.path), *sysconfig.get_paths().values()]
