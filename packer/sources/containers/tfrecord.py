"""TFRecord: records of `tf.Example`, as TensorFlow, TFDS, Roboflow and its own scripts write them.

A record is a length, a checksum of it, the data and its checksum; see
https://www.tensorflow.org/tutorials/load_data/tfrecord. A `tf.Example` is a map of names to lists
of bytes, floats or integers, in Protocol Buffers' wire format.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packer.errors import BadImage, Damaged
from packer.samples.records import Skipped
from packer.sources.containers.entries import Container, Entry, Window, numbered
from packer.sources.containers.protobuf import BYTES, VARINT, Field, message, signed, varint

NAMES = re.compile(r"\.tfrec(ord)?s?\b|^[^.]+-\d{5}-of-\d{5}$")
_LENGTH = struct.Struct("<QI")
_FOOTER = 4  # bytes of the data's checksum
_GZIP = b"\x1f\x8b"
_MASK = 0xA282EAD8
_LONGEST_LIST = 1 << 23  # bytes
_DESCRIPTIONS = ("features.json", "dataset_info.json")  # of TFDS
_NAMES_OF = re.compile(r"(.+)\.labels\.txt")
_LABEL_MAP = re.compile(r"_?label_?map\.(pbtxt|txt)$")

Value = Any  # a text, a number, a `Blob`, or a list of them


@dataclass(frozen=True)
class TFRecords(Container):
    """Files of TFRecord."""

    @cached_property
    def aside(self) -> Mapping[str, str]:
        """TFDS's descriptions, and maps of labels."""
        found = {name: "it describes the records" for name in self._described if name}
        return {name: reason for name, reason in found.items() if (self.folder / name).is_file()}

    @cached_property
    def _described(self) -> Sequence[str]:
        folders = sorted({file.rpartition("/")[0] for file in self.files})
        paths = (path for folder in folders for path in sorted((self.folder / folder).iterdir()))
        return [
            str(path.relative_to(self.folder))
            for path in paths
            if path.name in _DESCRIPTIONS
            or _NAMES_OF.fullmatch(path.name)
            or _LABEL_MAP.search(path.name)
        ]

    @cached_property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """TFDS's names, in ``FIELD.labels.txt``."""
        found = {}
        for name in self._described:
            if named := _NAMES_OF.fullmatch(name.rpartition("/")[2]):
                text = (self.folder / name).read_text("utf-8")
                field = named[1].replace("-", "/") if "-" in named[1] else named[1]
                found[field] = [line.strip() for line in text.splitlines() if line.strip()]
        return found

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each record that is a `tf.Example`."""
        with Window(self.folder, file) as window:
            at = number = 0
            while at < window.size:
                where = f"{file}: record {number}"
                try:
                    if not at and window.read(0, 2) == _GZIP:
                        raise Damaged("it is compressed by gzip: decompress it first (gunzip)")
                    size, checksum = _LENGTH.unpack(window.read(at, _LENGTH.size))
                    if checksum != masked_crc32c(window.read(at, 8)):
                        reason = "its length is damaged, and all behind it is lost"
                        raise Damaged(reason if number else "it is not a TFRecord")
                    begin = at + _LENGTH.size
                    if begin + size + _FOOTER > window.size:
                        raise Damaged("the file ends before it does; copy the file again")
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    return
                try:
                    fields = _example(window, begin, begin + size)
                    yield Entry(where, numbered(file, number), fields, window.mtime_ns)
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                at, number = begin + size + _FOOTER, number + 1


def _example(window: Window, at: int, end: int) -> dict[str, Value]:
    """Return the features of a `tf.Example`, sorted by their names: their order is random."""
    found: dict[str, Value] = {}
    for features in message(window, at, end):
        if (features.number, features.kind) == (1, BYTES):
            for feature in message(window, features.begin, features.end):
                if feature.number == 1:
                    name, value = _feature(window, feature)
                    found[name] = value
    if not found:
        raise Damaged("it is no tf.Example with features")
    return dict(sorted(found.items()))


def _feature(window: Window, feature: Field) -> tuple[str, Value]:
    name, values = "", list[Value]()
    for part in message(window, feature.begin, feature.end):
        if part.number == 1:
            name = window.read(part.begin, part.end - part.begin).decode("utf-8", "replace")
        elif part.number == 2:
            for each in message(window, part.begin, part.end):
                values = list(_values(window, each))
    return name, values[0] if len(values) == 1 else values or None


def _values(window: Window, each: Field) -> Iterator[Value]:
    """Yield a list of bytes (1), floats (2) or integers (3)."""
    for value in message(window, each.begin, each.end):
        size = value.end - value.begin
        if each.number == 1:
            yield window.value(value.begin, size)
        elif each.number == 3 and value.kind == VARINT:
            yield value.value
        elif size > _LONGEST_LIST:
            raise BadImage("it has a list of too many numbers")
        elif each.number == 3:
            data, place = window.read(value.begin, size), 0
            while place < size:
                number, place = varint(data, place)
                yield signed(number)
        elif size % 4:
            raise Damaged("it is no tf.Example")
        else:
            yield from struct.unpack(f"<{size // 4}f", window.read(value.begin, size))


def _table() -> list[int]:
    found = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 * (value & 1)
        found.append(value)
    return found


_CRC = _table()


def masked_crc32c(data: bytes) -> int:
    """Return the checksum that TFRecord has of a length."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _CRC[(value ^ byte) & 0xFF] ^ value >> 8
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + _MASK) & 0xFFFFFFFF
