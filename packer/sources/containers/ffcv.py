"""FFCV's ``.beton``: fields of fixed size for each sample, and pages of images.

See ``ffcv/types.py`` and ``ffcv/fields`` of https://github.com/libffcv/ffcv, version 2 of the file.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from packer.errors import BadImage, Damaged
from packer.samples.records import Skipped
from packer.sources.containers.entries import Blob, Container, Entry, Window, numbered

NAMES = re.compile(r"\.beton$")
_VERSION = 2
_HEADER = np.dtype(
    [("version", "<u2"), ("fields", "<u2"), ("page", "<u4"), ("samples", "<u8"), ("sizes", "<u8")]
)
_FIELD = np.dtype([("type", "u1"), ("name", "u1", 16), ("arguments", "u1", 1024)])
_SIZES = np.dtype([("sample", "<u8"), ("at", "<u8"), ("size", "<u8")])
_IMAGE = np.dtype([("mode", "u1"), ("width", "<u2"), ("height", "<u2"), ("at", "<u8")])
_BYTES = np.dtype([("at", "<u8"), ("size", "<u8")])
_FLOAT, _INT, _RGB, _DATA, _ARRAY, _JSON, _TENSOR = range(7)
_TYPES: Mapping[int, Any] = {
    _FLOAT: np.dtype("<f8"), _INT: np.dtype("<i8"), _RGB: _IMAGE, _DATA: _BYTES, _JSON: _BYTES,
    _ARRAY: np.dtype("<u8"), _TENSOR: np.dtype("<u8"),
}  # fmt: skip
_JPEG, _RAW = 0, 1
_AT_A_TIME = 4096  # samples


@dataclass(frozen=True)
class Beton(Container):
    """Files of FFCV."""

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each sample."""
        with Window(self.folder, file) as window:
            try:
                samples = _Samples.of(window)
            except BadImage as error:
                yield Skipped(file, str(error), damaged=True)
                return
            for number, values in enumerate(samples.rows(window)):
                where = f"{file}: sample {number}"
                try:
                    fields = samples.fields(window, values)
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    continue
                yield Entry(where, numbered(file, number), fields, window.mtime_ns)


@dataclass(frozen=True)
class _Samples:
    """The table of a file's samples."""

    begin: int
    count: int
    kinds: Mapping[str, int]  # name of a field -> type
    sizes: Mapping[int, int]  # offset of an image -> bytes

    @classmethod
    def of(cls, window: Window) -> "_Samples":
        header = _read(window, 0, _HEADER, 1)[0]
        if header["version"] != _VERSION:
            raise Damaged(f"it is not version {_VERSION} of FFCV's format")
        kinds = {}
        for field in _read(window, _HEADER.itemsize, _FIELD, int(header["fields"])):
            name = bytes(field["name"]).rstrip(b"\0").decode("utf-8", "replace")
            if (kind := int(field["type"])) not in _TYPES:
                raise BadImage(f"its field {name!r} is of a type that is not read")
            kinds[name] = kind
        if len(kinds) < header["fields"]:
            raise BadImage("two of its fields have names that begin with the same 16 letters")
        begin = _HEADER.itemsize + len(kinds) * _FIELD.itemsize
        found = cls(begin, int(header["samples"]), kinds, _sizes(window, int(header["sizes"])))
        if begin + found.count * found._row.itemsize > window.size:
            raise Damaged("the file ends before its samples do; copy the file again")
        return found

    @cached_property
    def _row(self) -> Any:
        types = [(f"f{at}", _TYPES[kind]) for at, kind in enumerate(self.kinds.values())]
        return np.dtype(types, align=True)

    def rows(self, window: Window) -> Iterator[Any]:
        """Yield the values of each sample, of fixed size."""
        for first in range(0, self.count, _AT_A_TIME):
            at = self.begin + first * self._row.itemsize
            yield from _read(window, at, self._row, min(_AT_A_TIME, self.count - first))

    def fields(self, window: Window, values: Any) -> dict[str, Any]:
        """Return the fields of a sample."""
        each = zip(self.kinds.items(), values, strict=True)
        return {name: _value(window, kind, value, self.sizes) for (name, kind), value in each}


def _read(window: Window, at: int, kind: Any, count: int) -> Any:
    return np.frombuffer(window.read(at, kind.itemsize * count), kind)


def _sizes(window: Window, at: int) -> Mapping[int, int]:
    """Return the size of what lies at each offset, by the table at the end."""
    if not 0 < at <= window.size:
        raise Damaged("the table of its images is missing: it was not written to its end")
    found = _read(window, at, _SIZES, (window.size - at) // _SIZES.itemsize)
    return dict(zip(found["at"].tolist(), found["size"].tolist(), strict=True))


def _value(window: Window, kind: int, value: Any, sizes: Mapping[int, int]) -> Any:
    if kind in (_FLOAT, _INT):
        return value.item()
    if kind == _RGB:
        height, width, at = int(value["height"]), int(value["width"]), int(value["at"])
        if value["mode"] == _RAW:
            window.read(at + height * width * 3, 0)
            return Blob(
                [window.file, at, height * width * 3, [height, width, 3]], height * width * 3
            )
        if at not in sizes:
            raise Damaged("the table at the end of the file does not have its image")
        return window.blob(at, sizes[at])
    if kind == _DATA:
        return window.value(int(value["at"]), int(value["size"]))
    if kind == _JSON:
        data = window.read(int(value["at"]), int(value["size"])).rstrip(b"\0")
        try:
            return json.loads(data)
        except ValueError as error:
            raise Damaged("its JSON is damaged") from error
    at = int(value)
    return window.blob(at, sizes[at]) if at in sizes else None
