"""Builds the index of a tar that was made elsewhere, in one pass over its bytes.

Memory: some 250 bytes a sample beside its key and name, and the largest image.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from packer.errors import BadImage, UnusableInput
from packer.files.hashed_file import HashedFile
from packer.images.probe import ImageInfo, probe
from packer.keys import escape, hashes_of, repeated
from packer.progress import Advance
from packer.sources.archive.tar_reader import MAX_MEMBERS, Member, image_of, members, samples
from packer.sources.labels import MAX_CLASSES
from packer.sources.records import Skipped
from reader.format import Limits, index
from reader.format.columns import MEMBER, ROW, Column, ImageRow, MemberRow, Rows, list_column

_MAX_LABEL_TEXT = 1 << 20  # of a .json that may hold the label
_NO_IMAGE = ImageRow(0, 0, -1, 0, 0, 0, 0, 1, 0)  # a part of a sample that has it elsewhere


def index_tar(path: Path, limits: Limits, advance: Advance) -> tuple[bytes, list[tuple[str, str]]]:
    """The index's bytes, and the (member, reason) of what it leaves out.

    Raises:
        UnusableInput: the file is not a tar, damaged, or cannot be read.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            content = HashedFile(file.fileno())
            rows = _Rows(path, content, limits)
            for item in samples(members(path)):
                if isinstance(item, Skipped):
                    rows.skipped.append((item.name, item.reason))
                else:
                    rows.add(item)
                    advance(1)
            content.finish()
            if not _is_still(path, before):
                raise UnusableInput(f"{path} changed while it was read.")
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
    columns = rows.columns()
    metadata = index.metadata_of(content.size, content.checksum, rows.skipped)
    return index.serialize(columns, metadata), rows.skipped


def _is_still(path: Path, before: os.stat_result) -> bool:
    """Whether what lies at `path` is the file that it was, and not written since."""
    now = os.stat(path)
    same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    return same and os.path.samestat(now, before)


class _Rows:
    """Rows for each run of members, which may be a part of a sample."""

    def __init__(self, path: Path, content: HashedFile, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._content = content
        self._rows = Rows()
        self.skipped: list[tuple[str, str]] = []

    def add(self, run: Sequence[Member]) -> None:
        """Append the members of a sample, or of a part of it."""
        run = [member for member in run if self._fits(member)]
        if not run:
            return
        image = image_of(run)
        row, known = _NO_IMAGE, self._rows.members
        further: dict[str, MemberRow] = {}
        for member in sorted(run, key=lambda member: member.offset):
            if member is image:
                info = self._probe(member)
                if info is not None:
                    row = info.row(self._place(member), row.label)
            elif member.ext in known or len(known) < MAX_MEMBERS:
                further[member.ext] = self._place(member)
                row = row._replace(label=self._label(member, row.label))
            else:
                reason = f"the tar's samples have {MAX_MEMBERS} kinds of members already"
                self.skipped.append((member.name, reason))
        name = os.fsencode(image.name) if image else b""
        self._rows.add(escape(run[0].stem).encode(), name, row, further)

    def columns(self) -> dict[str, Column]:
        """The index's columns, with the parts of each sample brought together."""
        keys, names, columns = self._rows.keys, self._rows.names, self._rows.numbers()
        self._join_parts(columns)
        for row in np.flatnonzero(columns["offset"] == 0).tolist():
            for ext in self._rows.members:
                if columns[f"{ext}.offset"][row]:
                    self.skipped.append((f"{keys[row].decode()}.{ext}", "its sample has no image"))
        kept = np.flatnonzero(columns["offset"])
        columns = {name: column[kept] for name, column in columns.items()}
        columns |= list_column("key", [keys[row] for row in kept.tolist()])
        return columns | list_column("name", [names[row] for row in kept.tolist()])

    def _join_parts(self, columns: dict[str, Column]) -> None:
        """Move what lies apart from the rest of its sample into the row of its first part."""
        keys, names = self._rows.keys, self._rows.names
        hashes = hashes_of(keys)
        firsts: dict[bytes, int] = {}
        for later in np.flatnonzero(np.isin(hashes, repeated([hashes]))).tolist():
            first = firsts.setdefault(keys[later], later)
            if first == later:
                continue
            if columns["offset"][later] and columns["offset"][first]:
                name = os.fsdecode(names[later])
                self.skipped.append((name, "a sample before it has the same key"))
                columns["offset"][later] = 0
                for ext in self._rows.members:
                    columns[f"{ext}.offset"][later] = 0
                continue
            parts = [f"{ext}." for ext in self._rows.members]
            if columns["offset"][later]:
                names[first] = names[later]
                for name in ROW.keys() - {"label"}:
                    columns[name][first] = columns[name][later]
                columns["offset"][later] = 0
            columns["label"][first] = max(columns["label"][first], columns["label"][later])
            for part in parts:
                if columns[f"{part}offset"][later] and not columns[f"{part}offset"][first]:
                    for name in MEMBER:
                        columns[part + name][first] = columns[part + name][later]
                    columns[f"{part}offset"][later] = 0

    def _fits(self, member: Member) -> bool:
        if member.size <= self._limits.bytes:
            return True
        most = f"{self._limits.bytes} are the most (--max-bytes)"
        self.skipped.append((member.name, f"it has {member.size} bytes; {most}"))
        return False

    def _probe(self, member: Member) -> ImageInfo | None:
        try:
            return probe(bytes(self._content.read(member.offset, member.size)), self._limits)
        except BadImage as error:
            self.skipped.append((member.name, str(error)))
            return None

    def _place(self, member: Member) -> MemberRow:
        crc = self._content.crc32(member.offset, member.size)
        if crc is None:
            raise UnusableInput(f"{self._path} became shorter while it was read.")
        return MemberRow(member.offset, member.size, crc)

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
            self.skipped.append((member.name, reason))
        return known
