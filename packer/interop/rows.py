"""Builds the index of a tar that was made elsewhere, in one pass over its bytes.

Memory: some 250 bytes a sample beside its key and name, and the largest image.
"""

import json
import os
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from packer.errors import (
    BadImage,
    UnusableInput,
)
from packer.files.hashed_file import HashedFile
from packer.images.probe import (
    ImageInfo,
    probe,
)
from packer.keys import escape, hashes_of, repeated
from packer.processes import Advance
from packer.sources.archive.tar_reader import (
    MAX_MEMBERS,
    Member,
    members,
    samples,
)
from packer.sources.records import LeftOut
from reader.format import (
    FORMATS,
    Limits,
    index,
)
from reader.format.index import Column

MAX_CLASSES = 1_000_000

_IMAGE_EXTS = {"jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff", "ppm", "pgm", "pbm"}
_MAX_LABEL_TEXT = 1 << 20  # of a .json that may hold the label
_BASE = {
    "offset": "<u8",
    "size": "<u8",
    "label": "<i8",
    "height": "<u4",
    "width": "<u4",
    "format": "u1",
    "channels": "u1",
    "orientation": "u1",
    "crc32": "<u4",
}
_MEMBER = {"offset": "<u8", "size": "<u8", "crc32": "<u4"}


def index_tar(path: Path, limits: Limits, advance: Advance) -> tuple[bytes, list[tuple[str, str]]]:
    """The index's bytes, and the (member, reason) of what it leaves out.

    Raises:
        UnusableInput: the file is no tar, damaged, or cannot be read.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            content = HashedFile(file.fileno())
            rows = _Rows(path, content, limits)
            for item in samples(members(path)):
                if isinstance(item, LeftOut):
                    rows.left_out.append((item.name, item.reason))
                else:
                    rows.add(item)
                    advance(1)
            content.finish()
            if not _is_still(path, before):
                raise UnusableInput(f"{path} changed while it was read.")
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
    columns = rows.columns()
    metadata = {
        "format": index.KIND,
        "rejected": json.dumps(rows.left_out),
        "tar_bytes": str(content.size),
        "tar_checksum": content.checksum,
        "untiled": "[]",
        "version": str(index.VERSION),
    }
    return index.serialize(columns, metadata), rows.left_out


def _is_still(path: Path, before: os.stat_result) -> bool:
    """Whether what lies at `path` is the file that it was, and not written since."""
    now = os.stat(path)
    same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    return same and os.path.samestat(now, before)


class _Rows:
    """Columns that grow by a row for each run of members; offset 0: not there."""

    def __init__(self, path: Path, content: HashedFile, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._content = content
        self._columns = {name: array(np.dtype(kind).char) for name, kind in _BASE.items()}
        self._exts: list[str] = []
        self._keys: list[bytes] = []
        self._names: list[bytes] = []
        self.left_out: list[tuple[str, str]] = []

    def add(self, run: Sequence[Member]) -> None:
        """Append the members of a sample, or of a part of it."""
        run = [member for member in run if self._fits(member)]
        if not run:
            return
        image = _image_of(run)
        base = dict.fromkeys(_BASE, 0) | {"label": -1, "orientation": 1}
        further: dict[str, tuple[int, int, int]] = {}
        for member in sorted(run, key=lambda member: member.offset):
            if member is image:
                info = self._probe(member)
                if info is not None:
                    base |= _image_columns(member, info, self._crc32(member))
            elif member.ext in self._exts or len(self._exts) < MAX_MEMBERS:
                further[member.ext] = member.offset, member.size, self._crc32(member)
                base["label"] = self._label(member, base["label"])
            else:
                reason = f"the tar's samples have {MAX_MEMBERS} kinds of members already"
                self.left_out.append((member.name, reason))
        for ext in further:
            if ext not in self._exts:
                self._exts.append(ext)
                for name, kind in _MEMBER.items():
                    missing = bytes(np.dtype(kind).itemsize * len(self._keys))
                    self._columns[f"{ext}.{name}"] = array(np.dtype(kind).char, missing)
        for ext in self._exts:
            values = further.get(ext, (0, 0, 0))
            base |= {f"{ext}.{name}": value for name, value in zip(_MEMBER, values, strict=True)}
        for name, value in base.items():
            self._columns[name].append(value)
        self._keys.append(escape(run[0].stem).encode())
        self._names.append(os.fsencode(image.name) if image else b"")

    def columns(self) -> dict[str, Column]:
        """The index's columns, with the parts of each sample brought together."""
        columns: dict[str, Column] = {
            name: np.array(values, dtype=values.typecode) for name, values in self._columns.items()
        }
        self._join_parts(columns)
        kept = np.flatnonzero(columns["offset"])
        for row in np.flatnonzero(columns["offset"] == 0).tolist():
            for ext in self._exts:
                if columns[f"{ext}.offset"][row]:
                    name = f"{self._keys[row].decode()}.{ext}"
                    self.left_out.append((name, "its sample has no image"))
        columns = {name: column[kept] for name, column in columns.items()}
        for name, values in (("key", self._keys), ("name", self._names)):
            texts = [values[row] for row in kept.tolist()]
            columns[name] = np.frombuffer(b"".join(texts), "u1")
            columns[f"{name}_offset"] = np.cumsum([0, *map(len, texts)]).astype("<u8")
        return columns

    def _join_parts(self, columns: dict[str, Column]) -> None:
        """Move what lies apart from the rest of its sample into the row of its first part."""
        hashes = hashes_of(self._keys)
        firsts: dict[bytes, int] = {}
        for later in np.flatnonzero(np.isin(hashes, repeated([hashes]))).tolist():
            first = firsts.setdefault(self._keys[later], later)
            if first == later:
                continue
            if columns["offset"][later] and columns["offset"][first]:
                name = os.fsdecode(self._names[later])
                self.left_out.append((name, "a sample before it has the same key"))
                columns["offset"][later] = 0
                for ext in self._exts:
                    columns[f"{ext}.offset"][later] = 0
                continue
            parts = [f"{ext}." for ext in self._exts]
            if columns["offset"][later]:
                self._names[first] = self._names[later]
                for name in _BASE.keys() - {"label"}:
                    columns[name][first] = columns[name][later]
                columns["offset"][later] = 0
            columns["label"][first] = max(columns["label"][first], columns["label"][later])
            for part in parts:
                if columns[f"{part}offset"][later] and not columns[f"{part}offset"][first]:
                    for name in _MEMBER:
                        columns[part + name][first] = columns[part + name][later]
                    columns[f"{part}offset"][later] = 0

    def _fits(self, member: Member) -> bool:
        if member.size <= self._limits.bytes:
            return True
        most = f"{self._limits.bytes} are the most (--max-bytes)"
        self.left_out.append((member.name, f"it has {member.size} bytes; {most}"))
        return False

    def _probe(self, member: Member) -> ImageInfo | None:
        try:
            return probe(bytes(self._content.read(member.offset, member.size)), self._limits)
        except BadImage as error:
            self.left_out.append((member.name, str(error)))
            return None

    def _crc32(self, member: Member) -> int:
        crc = self._content.crc32(member.offset, member.size)
        if crc is None:
            raise UnusableInput(f"{self._path} became shorter while it was read.")
        return crc

    def _label(self, member: Member, known: int) -> int:
        """The class number that a ``.cls`` holds, or else the ``label`` of a ``.json``."""
        if member.ext not in ("cls", "json") or member.size > _MAX_LABEL_TEXT:
            return known
        text = bytes(self._content.read(member.offset, member.size))
        try:
            label = int(text) if member.ext == "cls" else json.loads(text)["label"]
        except (ValueError, KeyError, TypeError, RecursionError):
            label = None
        if type(label) is int and -1 <= label < MAX_CLASSES:
            return known if member.ext == "json" and known >= 0 else label
        if member.ext == "cls":
            reason = f"it holds no class number under {MAX_CLASSES}; its sample has no label"
            self.left_out.append((member.name, reason))
        return known


def _image_of(run: Sequence[Member]) -> Member | None:
    """``x.jpg`` before ``x.input.jpg``; the first of each."""
    plain = [member for member in run if member.ext in _IMAGE_EXTS]
    dotted = [member for member in run if member.ext.rpartition(".")[2] in _IMAGE_EXTS]
    return next(iter(plain + dotted), None)


def _image_columns(member: Member, info: ImageInfo, crc32: int) -> dict[str, int]:
    return {
        "offset": member.offset,
        "size": member.size,
        "height": info.height,
        "width": info.width,
        "format": FORMATS.index(info.format),
        "channels": info.channels,
        "orientation": info.orientation,
        "crc32": crc32,
    }
