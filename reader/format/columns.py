"""The columns of an index: their names and types, and their rows for samples."""

from array import array
from collections.abc import Iterable, KeysView, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMATS = ("jpg", "png", "webp", "bmp", "gif", "tiff", "ppm", "raw")
"""The meaning of the numbers in the column ``format``."""

ROW = {
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
"""The type of each column with a number for each image."""

SOURCE = {"source_height": "<u4", "source_width": "<u4", "source_orientation": "u1"}
"""The same of images whose pixels packing resized or turned; zeros for the others."""

FRAME = "u1"
"""The type of a column ``EXT.frame``: the picture that the coordinates in a member are of."""

MEMBER = {"offset": "<u8", "size": "<u8", "crc32": "<u4"}
"""The same of the columns ``EXT.NAME`` for each further member."""

TILES = {
    "scan_offset": "<u4",
    "frame_offset": "<u4",
    "restart_interval": "<u2",
    "mcu_height": "u1",
    "mcu_width": "u1",
}
"""The same for each tiled image; its segments are the column ``segment``."""

LISTS = {"key": "key_offset", "name": "name_offset", "segment": "segment_offset"}
"""Columns with several values in each row, and the columns of their bounds."""

BOUNDS = "<u8"

BANDS = {"band": "<u4", "band_offset": BOUNDS, "band_start": "<u4", "band_rows": "<u2"}
"""The type of each column of banded PNGs; of a member M they are named ``M.band`` and so on."""

NUMBER, TEXT = ".number", ".text"
"""What the names of the columns of a field of the JSON end in."""

Column = NDArray[Any]


class ImageRow(NamedTuple):
    offset: int
    size: int
    label: int
    height: int
    width: int
    format: int
    channels: int
    orientation: int
    crc32: int


class MemberRow(NamedTuple):
    """The values of the columns `MEMBER` for a member; offset 0: absent."""

    offset: int
    size: int
    crc32: int


class Rows:
    """Columns that grow by a row for each sample, in no more bytes than finally."""

    def __init__(self, has_images: bool = True) -> None:
        self._images = {name: _growing(kind) for name, kind in ROW.items()} if has_images else {}
        self._members: dict[str, dict[str, array[int]]] = {}
        self.keys: list[bytes] = []
        self.names: list[bytes] = []

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def members(self) -> KeysView[str]:
        """Extensions of the members beside the image so far, in the order of their first ones."""
        return self._members.keys()

    def add(
        self,
        key: bytes,
        name: bytes,
        image: ImageRow | tuple[()],
        members: Mapping[str, MemberRow],
    ) -> None:
        """Append a sample: its image, if there are images, and further members by extension."""
        for column, value in zip(self._images.values(), image, strict=True):
            column.append(value)
        for ext, member in members.items():
            if ext not in self._members:
                self._members[ext] = {name: _growing(kind) for name, kind in MEMBER.items()}
            for column, value in zip(self._members[ext].values(), member, strict=True):
                _fill_up(column, len(self))
                column.append(value)
        self.keys.append(key)
        self.names.append(name)

    def columns(self) -> dict[str, Column]:
        """Return all columns except those of tiles."""
        return self.numbers() | list_column("key", self.keys) | list_column("name", self.names)

    def numbers(self) -> dict[str, Column]:
        found = {name: np.array(column, ROW[name]) for name, column in self._images.items()}
        for ext, columns in self._members.items():
            for name, kind in MEMBER.items():
                _fill_up(columns[name], len(self))
                found[f"{ext}.{name}"] = np.array(columns[name], kind)
        return found


def fields_in(names: Iterable[str]) -> list[str]:
    """The fields of the JSON that columns of these names hold."""
    kinds = NUMBER, TEXT
    return [name.removesuffix(kind) for name in names for kind in kinds if name.endswith(kind)]


def has_images(columns: Mapping[str, Column]) -> bool:
    return not columns.keys().isdisjoint(ROW)


def rows_in(columns: Mapping[str, Column]) -> int:
    return len(columns["offset"] if has_images(columns) else columns["key_offset"][1:])


def lists_in(names: Iterable[str]) -> dict[str, str]:
    """As `LISTS`, with those of bands and texts that are among the names."""
    ends = ".band", TEXT
    return LISTS | {name: f"{name}_offset" for name in names if f".{name}".endswith(ends)}


def required(columns: Mapping[str, Column]) -> dict[str, str]:
    """The types of the columns that an index with these columns must have."""
    found = {"key_offset": BOUNDS, "key": "u1", "name": "u1", "name_offset": BOUNDS}
    if has_images(columns):
        found = ROW | found
    if not SOURCE.keys().isdisjoint(columns):
        found |= SOURCE
    if "segment" in columns:
        found |= {**TILES, "segment_offset": BOUNDS}
    for column, values in columns.items():
        ext, dot, name = column.rpartition(".")
        if ext and name in ("offset", "size"):
            found |= {f"{ext}.offset": MEMBER["offset"], f"{ext}.size": MEMBER["size"]}
        elif ext and name == "frame":
            found[column] = FRAME
        elif name == "band":
            found |= {ext + dot + each: kind for each, kind in BANDS.items()}
        elif ext and name == "number":
            found[column] = "<i8" if values.dtype.kind == "i" else "<u8"
        elif ext and name == "text":
            found |= {column: "u1", f"{column}_offset": BOUNDS}
    return found


def list_column(name: str, values: Iterable[bytes]) -> dict[str, Column]:
    """Return the column ``key`` or ``name`` of these texts, and its bounds."""
    texts = list(values)
    return {name: np.frombuffer(b"".join(texts), "u1"), LISTS[name]: bounds(map(len, texts))}


def bounds(lengths: Iterable[int]) -> Column:
    """Return the starts of a list column's rows, and the end of the last."""
    return np.cumsum([0, *lengths]).astype(BOUNDS)


def _growing(kind: str) -> "array[int]":
    return array(np.dtype(kind).char)


def _fill_up(column: "array[int]", rows: int) -> None:
    if len(column) < rows:
        column.frombytes(bytes(column.itemsize * (rows - len(column))))
