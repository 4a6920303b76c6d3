"""MDS, the shards of MosaicML Streaming: ``shard.00000.mds``, with an ``index.json`` beside them.

A shard begins with the number of its samples, the offsets of these, and a JSON of its columns; see
``streaming/base/format/mds`` of https://github.com/mosaicml/streaming.
"""

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from packer.errors import BadImage, Damaged
from packer.samples.records import Skipped
from packer.sources.containers.arrays import array
from packer.sources.containers.entries import Blob, Container, Entry, Window, numbered
from packer.sources.containers.pickled import unpickled
from packer.sources.trees.shape import inside

NAMES = re.compile(r"\.mds$")
_INDEX = "index.json"
_ENCODED = ("bytes", "jpeg", "png", "jpeg_array", "jpegarray")
_LISTS = re.compile(r"list\[(pil|jpeg|png)\]")
_SCALARS = re.compile(r"int|u?int(8|16|32|64)|float(16|32|64)")
_TEXTS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "str_int": int,
    "str_float": float,
    "str_decimal": str,
    "json": json.loads,
}
_DTYPES = {8: "u1", 9: "i1", 16: "u2", 17: "i2", 18: "f2", 32: "u4", 33: "i4", 34: "f4"}
_DTYPES |= {64: "u8", 65: "i8", 66: "f8"}
_MODES = {"L": 1, "RGB": 3}  # of PIL's images -> channels
_MOST_SAMPLES = 1 << 28

Column = tuple[str, str, int | None]  # name, encoding, and size if all have the same


@dataclass(frozen=True)
class MDS(Container):
    """Shards of MDS."""

    @cached_property
    def aside(self) -> Mapping[str, str]:
        """The indexes."""
        return dict.fromkeys(self._indexes, "it is the index of the shards")

    @cached_property
    def _indexes(self) -> Sequence[str]:
        folders = sorted({file.rpartition("/")[0] for file in self.files})
        paths = {inside(folder, _INDEX) for folder in (*folders, "")}
        return [path for path in sorted(paths) if (self.folder / path).is_file()]

    def absent(self) -> Iterator[Skipped]:
        """Yield the shards that an index has, and no file is."""
        for path in self._indexes:
            folder = path.rpartition("/")[0]
            with suppress(ValueError, KeyError, TypeError, OSError):
                for shard in json.loads((self.folder / path).read_bytes())["shards"]:
                    name = inside(folder, str(shard["raw_data"]["basename"]))
                    if not (self.folder / name).is_file():
                        packed = f" ({name}.* is compressed: decompress it with zstd -d)"
                        has_packed = any(
                            (self.folder / folder).glob(f"{name.rpartition('/')[2]}.*")
                        )
                        reason = f"{path} has it, and it is missing{packed * has_packed}"
                        yield Skipped(name, reason, missing=True, damaged=True)

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each sample."""
        with Window(self.folder, file) as window:
            try:
                count = int.from_bytes(window.read(0, 4), "little")
                if count > _MOST_SAMPLES:
                    raise Damaged("it is not a shard of MDS")
                offsets = np.frombuffer(window.read(4, 4 * (count + 1)), "<u4").tolist()
                config = window.read(4 * (count + 2), offsets[0] - 4 * (count + 2))
                columns = _columns(config)
            except BadImage as error:
                yield Skipped(file, str(error), damaged=True)
                return
            for number in range(count):
                where = f"{file}: sample {number}"
                try:
                    fields = _fields(window, columns, *offsets[number : number + 2])
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    continue
                yield Entry(where, numbered(file, number), fields, window.mtime_ns)


def _columns(config: bytes) -> list[Column]:
    try:
        found = json.loads(config)
        names, encodings = found["column_names"], found["column_encodings"]
        return list(zip(names, encodings, found["column_sizes"], strict=True))
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged("it is not a shard of MDS, or its header is damaged") from error


def _fields(window: Window, columns: Sequence[Column], begin: int, end: int) -> dict[str, Any]:
    count = sum(size is None for *_, size in columns)
    sizes = iter(struct.unpack(f"<{count}I", window.read(begin, 4 * count)))
    at, found = begin + 4 * count, {}
    for name, encoding, fixed in columns:
        size = next(sizes) if fixed is None else fixed
        if at + size > end:
            raise Damaged("its columns are longer than it is")
        try:
            found[name] = _value(window, encoding, at, size)
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise Damaged(f"its {name!r} is no {encoding}") from error
        at += size
    return found


def _value(window: Window, encoding: str, at: int, size: int) -> Any:
    name, _, form = encoding.partition(":")
    if name in _ENCODED:
        return window.value(at, size) if name == "bytes" else window.blob(at, size)
    if name in _TEXTS:
        return _TEXTS[name](window.read(at, size).decode())
    if _SCALARS.fullmatch(name):
        kind = "int64" if name == "int" else name
        return np.frombuffer(window.read(at, size), np.dtype(kind).newbyteorder("<"))[0].item()
    if name == "pil":
        return pil(window, at, size)
    if name == "ndarray":
        return _array(window, form, at)
    if name == "pkl":
        return unpickled(window, at, size)
    if listed := _LISTS.fullmatch(name):
        (count,) = struct.unpack("<I", window.read(at, 4))
        sizes = struct.unpack(f"<{count}I", window.read(at + 4, 4 * count))
        at, found = at + 4 * (count + 1), []
        for one in sizes:
            found.append(_value(window, listed[1], at, one))
            at += one
        return found[0] if count == 1 else found
    raise BadImage(f"its columns are encoded as {encoding}, which is not read")


def pil(window: Window, at: int, size: int) -> Blob:
    """Return an image as Pillow has it: width, height, length of the mode, mode, pixels."""
    width, height, length = struct.unpack("<III", window.read(at, 12))
    mode = window.read(at + 12, length).decode("latin-1") if length < 16 else ""
    if mode not in _MODES:
        raise BadImage(f"its image has Pillow's mode {mode!r}; L and RGB are read")
    begin, pixels = at + 12 + length, height * width * _MODES[mode]
    if 12 + length + pixels != size:
        raise Damaged("its image has another size than its pixels")
    return Blob([window.file, begin, pixels, [height, width, _MODES[mode]]], pixels)


def _array(window: Window, form: str, at: int) -> Any:
    kind, _, shape = form.partition(":")
    if not kind:
        kind = _DTYPES[window.read(at, 1)[0]]
        at += 1
    if shape:
        return array(window, at, [int(side) for side in shape.split(",")], kind)
    head = window.read(at, 1)[0]
    axes, width = head >> 2, 1 << (head & 3)
    sides = np.frombuffer(window.read(at + 1, axes * width), f"<u{width}").tolist()
    return array(window, at + 1 + axes * width, sides, kind)
