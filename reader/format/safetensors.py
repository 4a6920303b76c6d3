"""Read and write safetensors files: a header length, a JSON header and columns back to back.

Format: https://huggingface.co/docs/safetensors.
"""

import errno
import json
import mmap
import os
import struct
from array import array
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reader.format.columns import Column
from reader.format.errors import FormatError
from reader.format.files import open_regular

MAX_HEADER = 100_000_000  # bytes; what the safetensors library itself accepts
DTYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def serialize(columns: Mapping[str, Column], metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a file, which depend only on its columns and metadata."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    blobs = []
    end = 0
    # The widest types first keep every column aligned to its own size.
    for name, column in sorted(
        columns.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])
    ):
        blob = np.ascontiguousarray(column).tobytes()
        header[name] = {
            "dtype": NAMES[column.dtype],
            "shape": list(column.shape),
            "data_offsets": [end, end + len(blob)],
        }
        end += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *blobs])


def open_file(path: Path, mapped: bool) -> "memoryview | bytes":
    try:
        with open(open_regular(path), "rb") as file:
            if mapped and os.fstat(file.fileno()).st_size:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            return file.read()
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError(f"{path}: not enough memory to map the index") from error
        raise FormatError(f"{path}: the index cannot be read: {error.strerror}.") from error


def header_of(path: Path, content: "memoryview | bytes") -> tuple[int, dict[str, object]]:
    length = int.from_bytes(content[:8], "little")
    if length > MAX_HEADER:
        raise FormatError(
            f"{path} is not an index: its header would have {length} bytes, but the format allows "
            f"{MAX_HEADER}. Restore it from a copy."
        )
    if length > len(content) - 8:
        raise FormatError(
            f"{path} is not an index: it is truncated or damaged. Restore it from a copy."
        )
    try:
        header = json.loads(bytes(content[8 : 8 + length]))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not an index: its header is not JSON ({error}).") from error
    if not isinstance(header, dict):
        raise FormatError(f"{path} is not an index: its header is not a JSON object.")
    return 8 + length, header


class Layout(NamedTuple):
    """The places of a file's columns, in few bytes: a process keeps those of many files."""

    kinds: Mapping[str, tuple[int, np.dtype[Any]]]  # of each column; shared by files that are alike
    places: bytes  # start and count of each column, int64

    @classmethod
    def of(cls, header: Mapping[str, object], data_start: int, size: int) -> "Layout":
        """Return the layout of a file of `size` bytes; raise an error if a column is outside."""
        kinds, places = [], array("q")
        for name, entry in header.items():
            if not isinstance(entry, dict):
                raise ValueError("a column's entry is not an object")
            dtype = DTYPES[entry["dtype"]]
            start, end = map(int, entry["data_offsets"])
            (count,) = map(int, entry["shape"])
            is_inside = 0 <= start <= end <= size - data_start
            if not is_inside or end - start != count * dtype.itemsize:
                raise ValueError("a column is outside the file")
            kinds.append((name, dtype))
            places.extend((data_start + start, count))
        return cls(_shared(tuple(kinds)), places.tobytes())

    def column(self, content: "memoryview | bytes", name: str) -> Column:
        number, kind = self.kinds[name]
        start, count = _PLACE.unpack_from(self.places, number * _PLACE.size)
        return np.ndarray(count, kind, content, start)  # faster than np.frombuffer


_PLACE = struct.Struct("=qq")


@lru_cache(maxsize=64)
def _shared(kinds: tuple[tuple[str, Any], ...]) -> Mapping[str, tuple[int, np.dtype[Any]]]:
    return {name: (number, kind) for number, (name, kind) in enumerate(kinds)}
