"""Writes one shard, a tar and its index, and returns its entry.

Guarantee: the same samples always give the same bytes.
"""

import ctypes
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xxhash
from isal import isal_zlib

from packer.errors import EXAMPLES, UnusableInput
from packer.files.atomic import sync_folder, temporary
from packer.images.encode import Encoded
from packer.images.members import EncodedMember
from packer.keys import hashes_of, repeated_rows
from packer.samples.records import Sample
from packer.shards.frames import Frames, add_frames, doubtful_frames
from reader.format import FORMATS, Index, ShardEntry, index, safetensors, tar
from reader.format.bands import BandTable, band_columns
from reader.format.checksum import checksum, checksum_of
from reader.format.columns import ImageRow, MemberRow, Rows
from reader.format.fields import Value, field_columns
from reader.format.frames import UNKNOWN, Picture, frame_columns
from reader.format.sizes import SizeBounds, united, upright_sizes
from reader.format.tiles import TileTable, tile_columns

_BUFFER = 1 << 14  # gathers headers and labels; an image is larger, and is not copied into it
_WRITE_BACK = 1 << 23  # bytes after which the disk is put to work

_SYNC_FILE_RANGE_WRITE = 2  # linux/fs.h
_libc = ctypes.CDLL(None)


class ShardWriter(AbstractContextManager["ShardWriter"]):
    """Builds a shard under temporary names; `finish` makes it appear whole, or it never does.

    A context manager: leaving it without `finish` removes what was written.
    """

    def __init__(self, path: Path, has_images: bool = True) -> None:
        self.path = path
        self._index_path = index_of(path)
        self._tar_temp, self._index_temp = map(temporary, (self.path, self._index_path))
        self._checksum = xxhash.xxh3_128()
        self._rows = Rows(has_images)
        self._tiles: list[TileTable | None] = []
        self._bands: dict[str, dict[int, BandTable]] = {}  # of members and, as "", of images
        self._fields: dict[str, dict[int, Value]] = {}  # of the JSON
        self._sources: dict[int, Picture] = {}  # of images whose pixels were resized or turned
        self._frames: dict[str, dict[int, int]] = {}  # of members with coordinates
        self._untiled: list[tuple[str, str]] = []
        self._unbanded: list[tuple[str, str]] = []
        self._dropped: Counter[str] = Counter()
        self._end = self._written_back = 0
        self._file = self._tar_temp.open("xb", buffering=_BUFFER)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with suppress(OSError):  # `add` has raised the error of a full disk
            self._file.close()
        for path in (self._tar_temp, self._index_temp):
            path.unlink(missing_ok=True)

    def add(
        self,
        sample: Sample,
        encoded: Encoded,
        members: Mapping[str, EncodedMember] | None = None,
    ) -> None:
        """Append one sample: its image, its class if it has one, then its further `members`."""
        info, key = encoded.info, sample.key
        image: ImageRow | tuple[()] = ()
        if info.format:
            image = info.row(self._member(f"{key}.{info.format}", encoded.data), sample.label)
        further = {} if sample.label < 0 else {"cls": EncodedMember(b"%d" % sample.label)}
        further.update(members or {})
        rows = {ext: self._member(f"{key}.{ext}", member.data) for ext, member in further.items()}
        banded = {"": encoded.bands, **{ext: member.bands for ext, member in further.items()}}
        for ext, table in banded.items():
            if table is not None:
                self._bands.setdefault(ext, {})[len(self._rows)] = table
        if info.format and encoded.packed.is_changed:
            self._sources[len(self._rows)] = encoded.packed.source
        for ext, member in further.items():
            if member.frame != UNKNOWN:
                self._frames.setdefault(ext, {})[len(self._rows)] = member.frame
        if "json" in further:
            for field, value in further["json"].values:
                self._fields.setdefault(field, {})[len(self._rows)] = value
        self._rows.add(key.encode("utf-8"), os.fsencode(sample.name), image, rows)
        self._tiles.append(encoded.tiles)
        if encoded.untiled is not None:
            self._untiled.append((sample.name, encoded.untiled))
        if encoded.unbanded is not None:
            self._unbanded.append((sample.name, encoded.unbanded))
        self._dropped.update(encoded.dropped)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        return self._end + len(tar.END)

    def finish(self, rejected: Sequence[tuple[str, str]]) -> None:
        """Close the archive and commit tar and index; `rejected` is kept in the index."""
        self._write(tar.END)
        self._file.flush()
        os.fsync(self._file.fileno())
        found = checksum(self._checksum)
        lists = rejected, self._untiled, self._unbanded
        metadata = index.metadata_of(self._end, found, *lists, self._dropped)
        columns = self._rows.columns() | tile_columns(self._tiles)
        for ext, tables in self._bands.items():
            columns |= band_columns(tables, len(self._rows), ext)
        columns |= frame_columns(self._sources, self._frames, len(self._rows))
        for name, values in self._fields.items():
            columns |= field_columns(name, values, len(self._rows))
        with open(self._index_temp, "xb") as file:
            file.write(safetensors.serialize(columns, metadata))
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._tar_temp, self.path)
        os.replace(self._index_temp, self._index_path)
        sync_folder(self.path.parent)

    def _member(self, name: str, data: bytes) -> MemberRow:
        self._write(tar.header(name, len(data)))
        row = MemberRow(self._end, len(data), isal_zlib.crc32(data))
        self._write(data)
        self._write(tar.padding(len(data)))
        return row

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._checksum.update(data)
        self._end += len(data)
        if self._end - self._written_back >= _WRITE_BACK:
            _start_write_back(self._file.fileno(), self._written_back)
            self._written_back = self._end


def _start_write_back(descriptor: int, offset: int) -> None:
    """Let the disk begin with what was written from `offset` on: fsync finds little left."""
    if sys.platform == "linux":
        start, to_the_end = ctypes.c_int64(offset), ctypes.c_int64(0)
        _libc.sync_file_range(descriptor, start, to_the_end, _SYNC_FILE_RANGE_WRITE)


def entry_of(shard: Index, split: str = "") -> ShardEntry:
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
    return path.with_suffix(".safetensors")


def index_name(file: str) -> str:
    return index_of(Path(file)).as_posix()


def is_finished(path: Path) -> bool:
    """Whether the shard at `path` was committed: the index comes last, so it speaks for both."""
    return index_of(path).exists() and path.exists()


def remove_shard(path: Path) -> None:
    for file in (index_of(path), path):
        file.unlink(missing_ok=True)


@dataclass
class Written:
    """The content of finished shards, by their indexes."""

    entries: dict[str, ShardEntry] = field(default_factory=dict)  # by the names of their tars
    fields: set[str] = field(default_factory=set)  # extensions of members
    labels: set[int] = field(default_factory=set)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    untiled: list[tuple[str, str]] = field(default_factory=list)
    unbanded: list[tuple[str, str]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)  # images by what no reader shows of them
    sizes: dict[str, SizeBounds] = field(default_factory=dict)  # of the images, by split
    frames: Frames = field(default_factory=dict)  # that are doubtful

    @classmethod
    def of(cls, path: Path, split: str) -> "Written":
        shard = Index(index_of(path), mapped=False)
        entry, columns = entry_of(shard, split), shard.columns
        formats, labels = (columns.get(name, np.empty(0)) for name in ("format", "label"))
        sizes = SizeBounds.of(*upright_sizes(columns)) if shard.has_images else None
        return cls(
            {entry.file: entry},
            {*(FORMATS[code] for code in set(formats.tolist())), *shard.members},
            set(labels.tolist()),
            shard.rejected,
            shard.untiled,
            shard.unbanded,
            Counter(shard.dropped),
            {} if sizes is None else {split: sizes},
            doubtful_frames(shard),
        )

    def add(self, more: "Written") -> None:
        for name in ("entries", "fields", "labels", "dropped"):
            getattr(self, name).update(getattr(more, name))
        for name in ("rejected", "untiled", "unbanded"):
            getattr(self, name).extend(getattr(more, name))
        self.sizes = united(self.sizes, more.sizes)
        add_frames(self.frames, more.frames)


def refuse_repeated_keys(folder: Path, tars: Iterable[str]) -> None:
    """Compare the keys of all samples; remove the shards in which one is repeated, and raise."""
    paths = [folder / name for name in tars]
    again = repeated_rows([hashes_of(_keys(path)) for path in paths])
    places: dict[bytes, list[Path]] = {}
    for path, rows in zip(paths, again, strict=True):
        keys = _keys(path) if rows else []
        for row in rows:
            places.setdefault(keys[row], []).append(path)
    found = {key: where for key, where in places.items() if len(where) > 1}
    for path in {path for where in found.values() for path in where}:
        remove_shard(path)
    if found:
        named = ", ".join(repr(key.decode()) for key in sorted(found)[:EXAMPLES])
        others = " and others" * (len(found) > EXAMPLES)
        raise UnusableInput(
            f"{'1 key belongs' if len(found) == 1 else f'{len(found)} keys belong'} to several "
            f"samples: {named}{others}. Give each sample its own key, or no key to number "
            "them. Nothing was committed."
        )


def _keys(path: Path) -> list[bytes]:
    return Index(index_of(path), mapped=False).values_of("key")
