"""Writes one shard, a tar and its index: the same samples always give the same bytes."""

import contextlib
import ctypes
import json
import os
import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import xxhash

from packer.files.atomic import sync_folder
from packer.images.encode import Encoded
from packer.images.tiles import Tiles
from packer.sources.records import SourceSample
from reader.format import (
    FORMATS,
    Index,
    ShardEntry,
    index,
    tar,
)

_BUFFER = 1 << 14  # gathers headers and labels; an image is larger, and is not copied into it
_WRITE_BACK = 1 << 23  # bytes after which the disk is put to work

_SYNC_FILE_RANGE_WRITE = 2  # linux/fs.h
_libc = ctypes.CDLL(None)


class ShardWriter:
    """Builds a shard under temporary names; `finish` makes it appear whole, or it never does.

    A context manager: leaving it without `finish` removes what was written.
    """

    def __init__(self, path: Path) -> None:
        """`path` is the tar's final name; its folder exists."""
        self._tar_path = path
        self._index_path = index_of(path)
        self._tar_temp, self._index_temp = map(_temporary, (self._tar_path, self._index_path))
        self._checksum = xxhash.xxh3_128()
        self._rows = array("q")  # nine numbers a sample
        self._further: dict[str, tuple[array[int], ...]] = defaultdict(
            lambda: (array("Q"), array("Q"), array("I"))  # the columns of one extension's members
        )
        self._keys: list[bytes] = []
        self._names: list[bytes] = []
        self._tiles: list[Tiles | None] = []
        self._untiled: list[tuple[str, str]] = []
        self._end = 0
        self._written_back = 0
        self._file = self._tar_temp.open("wb", buffering=_BUFFER)

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):  # a full disk is told once, by who wrote
            self._file.close()
        for path in (self._tar_temp, self._index_temp):
            path.unlink(missing_ok=True)

    def add(
        self, sample: SourceSample, encoded: Encoded, members: Mapping[str, bytes] | None = None
    ) -> None:
        """Append one sample: its image, its class if it has one, then its further `members`."""
        info, image = encoded.info, encoded.data
        offset = self._member(f"{sample.key}.{info.format}", image)
        if sample.label >= 0:
            self._further_member(sample.key, "cls", b"%d" % sample.label)
        for ext, data in (members or {}).items():
            self._further_member(sample.key, ext, data)
        row = (
            offset,
            len(image),
            sample.label,
            info.height,
            info.width,
            FORMATS.index(info.format),
            info.channels,
            info.orientation,
            zlib.crc32(image),
        )
        self._rows.extend(row)
        self._tiles.append(encoded.tiles)
        if encoded.untiled is not None:
            self._untiled.append((sample.name, encoded.untiled))
        self._keys.append(sample.key.encode("utf-8"))
        self._names.append(os.fsencode(sample.name))

    def finish(self, rejected: Sequence[tuple[str, str]]) -> None:
        """Close the archive and commit tar and index; `rejected` is kept in the index."""
        self._write(tar.END)
        self._file.flush()
        os.fsync(self._file.fileno())
        metadata = {
            "format": index.KIND,
            "rejected": json.dumps(rejected),
            "tar_bytes": str(self._end),
            "tar_checksum": f"xxh3-128:{self._checksum.hexdigest()}",
            "untiled": json.dumps(self._untiled),
            "version": str(index.VERSION),
        }
        content = index.serialize(self._columns(), metadata)
        with open(self._index_temp, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._tar_temp, self._tar_path)
        os.replace(self._index_temp, self._index_path)
        sync_folder(self._tar_path.parent)

    def _member(self, name: str, data: bytes) -> int:
        """Write one member; its data's offset."""
        self._write(tar.header(name, len(data)))
        offset = self._end
        self._write(data)
        self._write(tar.padding(len(data)))
        return offset

    def _further_member(self, key: str, ext: str, data: bytes) -> None:
        offset = self._member(f"{key}.{ext}", data)
        row = (offset, len(data), zlib.crc32(data))
        for column, value in zip(self._further[ext], row, strict=True):
            column.extend([0] * (len(self._keys) - len(column)))  # rows that have no such member
            column.append(value)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._checksum.update(data)
        self._end += len(data)
        if self._end - self._written_back >= _WRITE_BACK:
            _start_write_back(self._file.fileno(), self._written_back)
            self._written_back = self._end

    def _columns(self) -> dict[str, index.Column]:
        rows = np.array(self._rows, dtype=np.int64).reshape(len(self._keys), 9).T
        columns: dict[str, index.Column] = {
            "offset": rows[0].astype("<u8"),
            "size": rows[1].astype("<u8"),
            "label": rows[2].astype("<i8"),
            "height": rows[3].astype("<u4"),
            "width": rows[4].astype("<u4"),
            "format": rows[5].astype("u1"),
            "channels": rows[6].astype("u1"),
            "orientation": rows[7].astype("u1"),
            "crc32": rows[8].astype("<u4"),
        }
        kinds = {"offset": "<u8", "size": "<u8", "crc32": "<u4"}
        for ext, given in self._further.items():
            for (what, kind), numbers in zip(kinds.items(), given, strict=True):
                column = np.zeros(len(self._keys), kind)
                column[: len(numbers)] = numbers
                columns[f"{ext}.{what}"] = column
        for name, values in (("key", self._keys), ("name", self._names)):
            columns[name] = np.frombuffer(b"".join(values), dtype="u1")
            columns[f"{name}_offset"] = np.cumsum([0, *map(len, values)]).astype("<u8")
        if any(self._tiles):
            columns |= _tile_columns(self._tiles)
        return columns


def _tile_columns(tiles: Sequence[Tiles | None]) -> dict[str, index.Column]:
    lengths = [row.segments for row in tiles if row is not None]
    segments = np.concatenate(lengths)
    counts = [0 if row is None else len(row.segments) for row in tiles]

    def column(name: str, dtype: str) -> index.Column:
        return np.array([0 if row is None else getattr(row, name) for row in tiles], dtype)

    return {
        "segment": segments.astype("<u2" if segments.max() < 2**16 else "<u4"),
        "segment_offset": np.cumsum([0, *counts]).astype("<u8"),
        "scan_offset": column("scan_offset", "<u4"),
        "frame_offset": column("frame_offset", "<u4"),
        "restart_interval": column("restart_interval", "<u2"),
        "mcu_height": column("mcu_height", "u1"),
        "mcu_width": column("mcu_width", "u1"),
    }


def shard_entry(path: Path, split: str = "") -> ShardEntry:
    """What dataset.json says of the finished shard of `split` whose tar is at `path`.

    Raises:
        FormatError: the index is not usable.
    """
    return entry_of(Index(index_of(path), mapped=False), split)


def entry_of(shard: Index, split: str) -> ShardEntry:
    """The same for a shard whose index is open."""
    file = shard.path.with_suffix(".tar").name
    return ShardEntry(
        file=f"{split}/{file}" if split else file,
        split=split,
        samples=len(shard),
        bytes=shard.tar_bytes,
        checksum=shard.tar_checksum,
        index_bytes=len(shard.content),
        index_checksum=f"xxh3-128:{xxhash.xxh3_128_hexdigest(shard.content)}",
    )


def index_of(path: Path) -> Path:
    """The index of the shard whose tar is at `path`."""
    return path.with_suffix(".safetensors")


def is_finished(path: Path) -> bool:
    """Whether the shard at `path` was committed: the index comes last, so it speaks for both."""
    return index_of(path).exists() and path.exists()


def remove_shard(path: Path) -> None:
    """Remove the shard whose tar is at `path`."""
    for file in (index_of(path), path):
        file.unlink(missing_ok=True)


def remove_temporaries(folder: Path) -> None:
    """Remove what killed writers left in `folder`."""
    for path in folder.glob(".shard-*.tmp-*"):
        path.unlink(missing_ok=True)


def _start_write_back(descriptor: int, offset: int) -> None:
    """Let the disk begin with what was written from `offset` on, so that fsync finds little left.

    A hint: it promises nothing, and where the system has no such call the fsync waits for all.
    """
    if sys.platform == "linux":
        start, to_the_end = ctypes.c_int64(offset), ctypes.c_int64(0)
        _libc.sync_file_range(descriptor, start, to_the_end, _SYNC_FILE_RANGE_WRITE)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp-{os.getpid()}")
