"""Writes one shard, a tar and its index: the same samples always give the same bytes."""

import contextlib
import ctypes
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import xxhash

from packer.files.atomic import sync_folder, temporary
from packer.images.encode import Encoded
from packer.images.members import EncodedMember
from packer.samples.records import SourceSample
from reader.format import Index, ShardEntry, index, tar
from reader.format.bands import BandTable, band_columns
from reader.format.checksum import checksum, checksum_of
from reader.format.columns import MemberRow, Rows
from reader.format.tiles import TileTable, tile_columns

_BUFFER = 1 << 14  # gathers headers and labels; an image is larger, and is not copied into it
_WRITE_BACK = 1 << 23  # bytes after which the disk is put to work

_SYNC_FILE_RANGE_WRITE = 2  # linux/fs.h
_libc = ctypes.CDLL(None)


class ShardWriter:
    """Builds a shard under temporary names; `finish` makes it appear whole, or it never does.

    A context manager: leaving it without `finish` removes what was written.
    """

    def __init__(self, path: Path) -> None:
        """Begin the tar whose final name is `path`, in a folder that exists."""
        self.path = path
        self._index_path = index_of(path)
        self._tar_temp, self._index_temp = map(temporary, (self.path, self._index_path))
        self._checksum = xxhash.xxh3_128()
        self._rows = Rows()
        self._tiles: list[TileTable | None] = []
        self._bands: dict[str, dict[int, BandTable]] = {}  # of members and, as "", of images
        self._untiled: list[tuple[str, str]] = []
        self._unbanded: list[tuple[str, str]] = []
        self._end = 0
        self._written_back = 0
        self._file = self._tar_temp.open("wb", buffering=_BUFFER)

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was written, if it is not finished."""
        with contextlib.suppress(OSError):  # a full disk is told once, by who wrote
            self._file.close()
        for path in (self._tar_temp, self._index_temp):
            path.unlink(missing_ok=True)

    def add(
        self,
        sample: SourceSample,
        encoded: Encoded,
        members: Mapping[str, EncodedMember] | None = None,
    ) -> None:
        """Append one sample: its image, its class if it has one, then its further `members`."""
        info, key = encoded.info, sample.key
        image = info.row(self._member(f"{key}.{info.format}", encoded.data), sample.label)
        further = {} if sample.label < 0 else {"cls": EncodedMember(b"%d" % sample.label)}
        further.update(members or {})
        rows = {ext: self._member(f"{key}.{ext}", member.data) for ext, member in further.items()}
        banded = {"": encoded.bands, **{ext: member.bands for ext, member in further.items()}}
        for ext, table in banded.items():
            if table is not None:
                self._bands.setdefault(ext, {})[len(self._rows)] = table
        self._rows.add(key.encode("utf-8"), os.fsencode(sample.name), image, rows)
        self._tiles.append(encoded.tiles)
        if encoded.untiled is not None:
            self._untiled.append((sample.name, encoded.untiled))
        if encoded.unbanded is not None:
            self._unbanded.append((sample.name, encoded.unbanded))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """Return what the tar measures if it is finished now."""
        return self._end + len(tar.END)

    def finish(self, rejected: Sequence[tuple[str, str]]) -> None:
        """Close the archive and commit tar and index; `rejected` is kept in the index."""
        self._write(tar.END)
        self._file.flush()
        os.fsync(self._file.fileno())
        found = checksum(self._checksum)
        metadata = index.metadata_of(self._end, found, rejected, self._untiled, self._unbanded)
        columns = self._rows.columns() | tile_columns(self._tiles)
        for ext, tables in self._bands.items():
            columns |= band_columns(tables, len(self._rows), ext)
        content = index.serialize(columns, metadata)
        with open(self._index_temp, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._tar_temp, self.path)
        os.replace(self._index_temp, self._index_path)
        sync_folder(self.path.parent)

    def _member(self, name: str, data: bytes) -> MemberRow:
        """Write one member."""
        self._write(tar.header(name, len(data)))
        offset = self._end
        self._write(data)
        self._write(tar.padding(len(data)))
        return MemberRow(offset, len(data), zlib.crc32(data))

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._checksum.update(data)
        self._end += len(data)
        if self._end - self._written_back >= _WRITE_BACK:
            _start_write_back(self._file.fileno(), self._written_back)
            self._written_back = self._end


def shard_entry(path: Path, split: str = "") -> ShardEntry:
    """Return what dataset.json says of the finished shard of `split` whose tar is at `path`."""
    return entry_of(Index(index_of(path), mapped=False), split)


def entry_of(shard: Index, split: str) -> ShardEntry:
    """Return the same for a shard whose index is open."""
    file = shard.path.with_suffix(".tar").name
    return ShardEntry(
        file=f"{split}/{file}" if split else file,
        split=split,
        samples=len(shard),
        bytes=shard.tar_bytes,
        checksum=shard.tar_checksum,
        index_bytes=len(shard.content),
        index_checksum=checksum_of(shard.content),
    )


def index_of(path: Path) -> Path:
    """Return the index of the shard whose tar is at `path`."""
    return path.with_suffix(".safetensors")


def index_name(file: str) -> str:
    """Return the same for names below a URL."""
    return index_of(Path(file)).as_posix()


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
