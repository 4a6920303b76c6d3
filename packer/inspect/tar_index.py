"""The index of an unchanged tar, in one pass over it."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from packer.errors import BadImage, UnusableInput
from packer.files.hashed_file import HashedFile
from packer.images.annotated import own_size
from packer.images.probe import probe
from packer.keys import escape, hashes_of, repeated_rows
from packer.progress import Advance
from packer.samples.labels import MAX_CLASSES
from packer.samples.records import Skipped
from packer.sources.trees.tar_reader import MAX_MEMBERS, Member, image_of, members, samples
from packer.words import Message, option
from reader.format import Limits
from reader.format.columns import MEMBER, ROW, Column, ImageRow, MemberRow, Rows, list_column
from reader.format.frames import UNKNOWN, Picture, frame_columns
from reader.format.index import metadata_of
from reader.format.members import kind_of
from reader.format.safetensors import serialize

_MAX_LABEL_TEXT = 1 << 20  # of a .json that may hold the label
_NO_IMAGE = ImageRow(0, 0, -1, 0, 0, 0, 0, 1, 0)  # a part of a sample that has it elsewhere


def index_tar(path: Path, limits: Limits, advance: Advance) -> tuple[bytes, list[tuple[str, str]]]:
    """Return the index's bytes, and the (member, reason) of what it leaves out."""
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
            now = os.stat(path)
            same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
            if not (same and os.path.samestat(now, before)):
                raise UnusableInput(
                    f"{path} changed while it was read. Run the same command "
                    "again when nothing writes to it."
                )
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
    columns = rows.columns()  # which may skip more
    metadata = metadata_of(content.size, content.checksum, rows.skipped, dropped=rows.dropped)
    return serialize(columns, metadata), rows.skipped


class _Rows:
    def __init__(self, path: Path, content: HashedFile, limits: Limits) -> None:
        self._path, self._content, self._limits, self._rows = path, content, limits, Rows()
        self.skipped: list[tuple[str, str]] = []
        self.dropped: Counter[str] = Counter()  # images by what no reader shows of them
        # Of a member with coordinates, by row: the width and height that it gives of its image.
        self._pictures: dict[str, dict[int, tuple[int, int]]] = {}

    def add(self, run: Sequence[Member]) -> None:
        most = self._limits.bytes
        many = f" bytes; {most} are the most (", option("max_bytes"), ")"
        self.skipped += [(m.name, Message(f"it has {m.size}", *many)) for m in run if m.size > most]
        if not (run := [member for member in run if member.size <= most]):
            return
        image, row, known = image_of(run), _NO_IMAGE, self._rows.members
        further: dict[str, MemberRow] = {}
        for member in sorted(run, key=lambda member: member.offset):
            if member is image:
                try:
                    data = bytes(self._content.read(member.offset, member.size))
                    info = probe(data, self._limits)
                    row = info.row(self._place(member), row.label)
                    self.dropped.update(info.dropped)
                except BadImage as error:
                    self.skipped.append((member.name, str(error)))
            elif member.ext in known or len(known) < MAX_MEMBERS:
                further[member.ext] = self._place(member)
                row = row._replace(label=self._label(member, row.label))
                if kind_of(member.ext) == "json" and (size := self._picture(member)):
                    self._pictures.setdefault(member.ext, {})[len(self._rows)] = size
            else:
                reason = f"the tar's samples have {MAX_MEMBERS} kinds of members already"
                self.skipped.append((member.name, reason))
        name = os.fsencode(image.name) if image else b""
        self._rows.add(escape(run[0].stem).encode(), name, row, further)

    def columns(self) -> dict[str, Column]:
        keys, names, columns = self._rows.keys, self._rows.names, self._rows.numbers()
        self._join_parts(columns)
        columns |= self._frames(columns)
        self.skipped += [
            (f"{keys[row].decode()}.{ext}", "its sample has no image")
            for row in np.flatnonzero(columns["offset"] == 0).tolist()
            for ext in self._rows.members
            if columns[f"{ext}.offset"][row]
        ]
        kept = np.flatnonzero(columns["offset"])
        columns = {name: column[kept] for name, column in columns.items()}
        columns |= list_column("key", [keys[row] for row in kept.tolist()])
        return columns | list_column("name", [names[row] for row in kept.tolist()])

    def _join_parts(self, columns: dict[str, Column]) -> None:
        """Move members apart from the rest of their sample into the row of its first part."""
        keys, names = self._rows.keys, self._rows.names
        prefixes = ["", *(f"{ext}." for ext in self._rows.members)]
        firsts: dict[bytes, int] = {}
        for later in repeated_rows([hashes_of(keys)])[0]:
            first = firsts.setdefault(keys[later], later)
            if first == later:
                continue
            if columns["offset"][later] and columns["offset"][first]:
                name = os.fsdecode(names[later])
                self.skipped.append((name, "a sample before it has the same key"))
                for prefix in prefixes:
                    columns[f"{prefix}offset"][later] = 0
                continue
            if columns["offset"][later]:
                names[first] = names[later]
            columns["label"][first] = max(columns["label"][first], columns["label"][later])
            for prefix in prefixes:
                if columns[f"{prefix}offset"][later] and not columns[f"{prefix}offset"][first]:
                    for name in MEMBER if prefix else ROW.keys() - {"label"}:
                        columns[prefix + name][first] = columns[prefix + name][later]
                    columns[f"{prefix}offset"][later] = 0
                    sizes = self._pictures.get(prefix[:-1], {})
                    if later in sizes:
                        sizes[first] = sizes.pop(later)

    def _frames(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return which pictures the coordinates of members are of."""
        found: dict[str, dict[int, int]] = {}
        for ext, sizes in self._pictures.items():
            for row, (width, height) in sizes.items():
                own = (int(columns[name][row]) for name in ("height", "width", "orientation"))
                if columns["offset"][row] and columns[f"{ext}.offset"][row]:
                    frame = Picture(*own).frame_of(height, width)
                    if frame != UNKNOWN:
                        found.setdefault(ext, {})[row] = frame
        return frame_columns({}, found, len(self._rows))

    def _picture(self, member: Member) -> tuple[int, int] | None:
        try:
            return own_size(json.loads(bytes(self._content.read(member.offset, member.size))))
        except (ValueError, RecursionError):
            return None

    def _place(self, member: Member) -> MemberRow:
        crc = self._content.crc32(member.offset, member.size)
        if crc is None:
            raise UnusableInput(
                f"{self._path} became shorter while it was read. Run the same "
                "command again when nothing writes to it."
            )
        return MemberRow(member.offset, member.size, crc)

    def _label(self, member: Member, known: int) -> int:
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
