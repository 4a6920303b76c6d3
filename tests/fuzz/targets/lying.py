"""A dataset whose dataset.json or indexes lie, with right checksums, in a folder and over HTTP.

The input is a list of lies, `_LIE` each: values of an index's columns, and of what dataset.json
says of shards and classes. The dataset is read or refused, and pixels are those of the bytes that
the index names; where no index lies, they are those of the key, which comes once.
"""

import atexit
import contextlib
import json
import shutil
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from store_server import StoreServer, running

from reader import AspectBuckets, ClassBalanced, Dataset, Loader, Resize, pad_collate
from reader.format import FORMATS, Index, ShardfeedError
from reader.format.checksum import checksum_of
from reader.format.manifest import own_checksum
from reader.format.safetensors import serialize
from targets.making import LIMITS, dataset, folder

_LIE = struct.Struct("<BBBBq")  # kind, shard, what, row, value
_LIES = 4  # of an input, at most
_COLUMN, _NUMBER, _FILE, _WHOLE = range(4)  # kinds
_NUMBERS = ("samples", "bytes", "index_bytes")
_FILES = (
    "shard-000000.tar",
    "./shard-000001.tar",
    "SHARD-000000.tar",
    "shard%2D000000.tar",
    "x.tar",
)
_OPTIONS = {"retry_timeout": 1, "client_options": {"read_timeout": "500ms"}}


@cache
def _packed() -> Path:
    return dataset("lying-packed", quality=90, shard_samples=3)


@cache
def _truth() -> tuple[Mapping[str, Any], Mapping[bytes, Any]]:
    """The pixels of each key, and of the bytes of each image."""
    found = Dataset(_packed())
    keys, pixels = list(found.keys), [image for image, _ in found]
    contents = [_image_bytes(found, number) for number in range(len(found))]
    return dict(zip(keys, pixels, strict=True)), dict(zip(contents, pixels, strict=True))


@cache
def _folder() -> Path:
    return folder("lying-fuzzed")


@cache
def _server() -> StoreServer:
    """Serves that folder, until the process ends."""
    server = StoreServer(_folder())
    stack = contextlib.ExitStack()
    stack.enter_context(running(server))
    atexit.register(stack.close)
    return server


def seeds() -> Iterator[bytes]:
    """No lie, one about each column, and those about dataset.json."""
    yield b""
    for value in (0, -2, 2**63 - 1, 2**31, 10**9):
        for column in range(len(Index(_packed() / "shard-000000.safetensors").columns)):
            yield _LIE.pack(_COLUMN, 0, column, 1, value)
    for value in (0, 1, 2, 4, -1, 2**40, 2**62):
        for what in range(len(_NUMBERS)):
            yield _LIE.pack(_NUMBER, 1, what, 0, value)
        yield _LIE.pack(_WHOLE, 0, 0, 0, value) + _LIE.pack(_WHOLE, 1, 1, 0, value)
    for what in range(len(_FILES)):
        yield _LIE.pack(_FILE, 1, what, 0, 0)
        yield _LIE.pack(_FILE, 1, what, 0, 1)


def one(data: bytes) -> None:
    """Open the dataset that tells these lies."""
    data = data[: _LIES * _LIE.size]
    lies = list(_LIE.iter_unpack(data[: len(data) - len(data) % _LIE.size]))
    _make(lies)
    is_sound = all(lie[0] % 4 != _COLUMN for lie in lies)
    with contextlib.suppress(ShardfeedError):
        _read(Dataset(_folder(), limits=LIMITS), is_sound)
    if checksum_of(data).endswith("0"):
        _read_remote(is_sound)


def _make(lies: list[tuple[int, ...]]) -> None:
    shutil.rmtree(_folder(), ignore_errors=True)
    shutil.copytree(_packed(), _folder())
    content = json.loads((_packed() / "dataset.json").read_text())
    for kind, shard, what, row, value in lies:
        entry = content["shards"][shard % len(content["shards"])]
        index = f"shard-{shard % len(content['shards']):06d}.safetensors"
        match kind % 4:
            case 0:
                entry |= _changed(_folder() / index, what, row, value)
            case 1:
                entry[_NUMBERS[what % len(_NUMBERS)]] = value
            case 2 if value % 2:  # with all that dataset.json says of another shard
                entry |= content["shards"][what % len(content["shards"])]
            case 2:
                entry["file"] = _FILES[what % len(_FILES)]
            case _ if what % 2:
                content["fields"] = ["raw", "jpg", "json"][: value % 4]
            case _:
                content["classes"] = ["a", "b", "c"][: value % 4]
    del content["checksum"]
    text = json.dumps({**content, "checksum": own_checksum(content)})
    (_folder() / "dataset.json").write_text(text)


def _changed(path: Path, what: int, row: int, value: int) -> dict[str, Any]:
    """Set a value of a column; what dataset.json then says of the index."""
    try:
        index = Index(path, mapped=False)
    except ShardfeedError:  # an earlier lie was about it too
        return {}
    columns = {name: np.array(column) for name, column in index.columns.items()}
    column = list(columns.values())[what % len(columns)]
    if len(column):
        bits = 8 * column.dtype.itemsize
        column[row % len(column)] = np.array(value % 2**bits, f"u{bits // 8}").view(column.dtype)
    content = serialize(columns, index.metadata)
    path.write_bytes(content)
    return {"index_bytes": len(content), "index_checksum": checksum_of(content)}


def _read(found: Dataset, is_sound: bool) -> None:
    for look in (lambda: found.labels, found.sizes, found._repr_html_, lambda: found.samples):
        with contextlib.suppress(ShardfeedError):
            look()
    of_key, of_bytes = _truth()
    seen = []
    for number in range(min(len(found), 2 * len(of_key))):
        with contextlib.suppress(ShardfeedError):
            pixels = found[number][0]
            shard, row = found.locate(number)
            expected = of_bytes.get(_image_bytes(found, number))
            if expected is not None and shard.index.columns["orientation"][row] == 1:
                assert (pixels == expected).all(), number
            if is_sound:
                seen.append(found.keys[number])
                assert (pixels == of_key[seen[-1]]).all(), seen[-1]
    assert len(set(seen)) == len(seen), seen
    for options in (
        {"sampler": ClassBalanced(), "transforms": [Resize((8, 8))]},
        {"shuffle": AspectBuckets(batch_size=2), "collate_fn": pad_collate},
    ):
        with (
            contextlib.suppress(ShardfeedError),
            Loader(found, batch_size=2, workers=0, on_error="skip", **options) as loader,
        ):
            assert len(list(loader)) <= len(found)


def _image_bytes(found: Dataset, number: int) -> bytes:
    shard, row = found.locate(number)
    return found.read(number, FORMATS[shard.index.columns["format"][row]])


def _read_remote(is_sound: bool) -> None:
    options = {"cache_dir": folder("lying-cache"), "storage_options": _OPTIONS, "limits": LIMITS}
    with contextlib.suppress(ShardfeedError):
        found = Dataset(_server().url, **options)
        try:
            _read(found, is_sound)
        finally:
            found.fetching.close()
