"""RecordIO of MXNet: ``.rec`` with images that have a header, as im2rec and insightface write them.

A record is a magic number, its length with a flag in the upper 3 bits, and the data, which end at a
multiple of 4; see https://mxnet.apache.org/api/architecture/note_data_loading. The header has the
number of floats that are the label (0: one), one float, and two numbers.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packer.errors import BadImage, Damaged
from packer.samples.records import Skipped
from packer.sources.containers.entries import HEAD, Blob, Container, Entry, Window, stem_of
from packer.sources.trees.shape import inside

NAMES = re.compile(r"\.rec$")
_MAGIC = 0xCED7230A
_RECORD = struct.Struct("<II")
_HEADER = struct.Struct("<IfQQ")
_LENGTH = (1 << 29) - 1
_WHOLE, _FIRST, _LAST = 0, 1, 3  # parts of a record that holds the magic number
_BESIDE = (".idx", ".lst")
_OBJECT = 5  # floats of an object at least: class, xmin, ymin, xmax, ymax
_BOX = "object/bbox/"


@dataclass(frozen=True)
class RecordIO(Container):
    """Files of RecordIO."""

    keyed = True

    @cached_property
    def aside(self) -> Mapping[str, str]:
        """The indexes, and the lists that the records were made of."""
        found = [stem + ext for stem in map(_stem, self.files) for ext in _BESIDE]
        folders = {file.rpartition("/")[0] for file in self.files}
        found += [inside(folder, "property") for folder in folders]  # insightface's
        reason = "it describes the records"
        return {path: reason for path in found if (self.folder / path).is_file()}

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each record with an image."""
        names = self._listed(file)
        prefix = stem_of(file) if len(self.files) > 1 else ""
        with Window(self.folder, file) as window:
            at = number = 0
            while at < window.size:
                where = f"{file}: record {number}"
                try:
                    parts, at = _record(window, at)
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    return
                number += 1
                try:
                    fields, key = _fields(window, parts)
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    continue
                if not fields:
                    reason = "it has no image: it numbers those of an identity"
                    yield Skipped(where, reason, ignored=True)
                    continue
                name = names.get(key) or f"{key:08d}"
                if folder := name.rpartition("/")[0]:
                    fields["class_name"] = folder
                yield Entry(where, inside(prefix, name), fields, window.mtime_ns)

    def _listed(self, file: str) -> dict[int, str]:
        """Return the paths of the images, by the list that the records were made of."""
        path = self.folder / f"{_stem(file)}.lst"
        if not path.is_file():
            return {}
        lines = path.read_text("utf-8", "surrogateescape").splitlines()
        rows = (line.split("\t") for line in lines)
        found = {int(row[0]): row[-1] for row in rows if len(row) > 2 and row[0].isdecimal()}
        return found if len(set(found.values())) == len(found) else {}


def _stem(file: str) -> str:
    return file.removesuffix(".rec")


def _record(window: Window, at: int) -> tuple[list[tuple[int, int]], int]:
    """Return the offset and the size of each part of a record, and where the next one begins."""
    parts = []
    while True:
        magic, length = _RECORD.unpack(window.read(at, _RECORD.size))
        if magic != _MAGIC:
            raise Damaged("no record begins here, and all behind it is lost")
        flag, size = length >> 29, length & _LENGTH
        begin = at + _RECORD.size
        if begin + size > window.size:
            raise Damaged("the file ends before it does; copy the file again")
        parts.append((begin, size))
        at = begin + (size + 3) // 4 * 4
        if flag in (_WHOLE, _LAST):
            return parts, at
        if flag == _FIRST and len(parts) > 1:
            raise Damaged("a record begins in another one, and all behind it is lost")


def _fields(window: Window, parts: list[tuple[int, int]]) -> tuple[dict[str, Any], int]:
    """Return the image and what its header says, and the number of the record."""
    begin, size = parts[0]
    count, label, key, _ = _HEADER.unpack(window.read(begin, _HEADER.size))
    head = _HEADER.size + 4 * count
    if head > size:
        raise Damaged("its header is longer than it is")
    labels = struct.unpack(f"<{count}f", window.read(begin + _HEADER.size, 4 * count))
    if len(parts) == 1:
        image = window.blob(begin + head, size - head)
    else:  # the magic number between the parts is data, too
        pieces = [window.read(at, length) for at, length in parts]
        data = _MAGIC.to_bytes(4, "little").join(pieces)[head:]
        image = Blob([data], len(data), data[:HEAD])
    if not image.is_image and count == 2:
        return {}, key
    return {"image": image, **_labels([label] if count == 0 else list(labels))}, key


def _labels(values: list[float]) -> dict[str, Any]:
    """Return a label, or the objects of a label that begins with two widths."""
    plain = [int(value) if value.is_integer() else value for value in values]
    if len(plain) == 1:
        return {"label": plain[0]}
    head, width = int(values[0]), int(values[1])
    is_of_widths = (head, width) == tuple(plain[:2]) and 2 <= head <= len(plain)
    if not is_of_widths or width < _OBJECT or (len(plain) - head) % width:
        return {"labels": plain}
    objects = [plain[at : at + width] for at in range(head, len(plain), width)]
    found: dict[str, Any] = {"object/class/label": [one[0] for one in objects]}
    sides = zip(("xmin", "ymin", "xmax", "ymax"), range(1, 5), strict=True)
    found |= {f"{_BOX}{side}": [one[at] for one in objects] for side, at in sides}
    if width > _OBJECT:
        found["object/more"] = [one[_OBJECT:] for one in objects]
    if head > 2:
        found["header"] = plain[2:head]
    return found
