"""Reads numbers, texts, cells and structs of small MATLAB files (version 5).

The format: https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf. Sizes are checked
before anything is allocated, so that a hostile file costs no more than its own bytes.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from packer.errors import UnusableInput
from packer.sources.trees.tree import Tree

MAX_BYTES = 1 << 26  # of a file, and of what it unpacks to
_DEPTH = 8

Order = Literal["<", ">"]
_TYPES = ((1, "i1"), (2, "u1"), (3, "i2"), (4, "u2"), (5, "i4"), (6, "u4"), (7, "f4"), (9, "f8"))
_NUMBERS = dict((*_TYPES, (12, "i8"), (13, "u8"), (16, "u1"), (17, "u2")))  # the last two are texts
_MATRIX, _PACKED = 14, 15
_CELL, _STRUCT, _TEXT = 1, 2, 4
_NUMERIC = range(6, 16)


def read_matlab(tree: Tree, path: str) -> dict[str, Any]:
    """Return the variables of the file at `path`, as `load_matlab` has them."""
    return load_matlab(tree.whole(path, MAX_BYTES), tree.root / path)


def load_matlab(data: bytes, where: object, most: int = MAX_BYTES) -> dict[str, Any]:
    """The variables of a file: arrays, texts (lists of several rows), cells as lists, in order.

    A struct array becomes a list of dicts. `most` bytes may be unpacked.
    """
    if data[:4] == b"\x89HDF" or data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
        raise UnusableInput(f"{where} is not a MATLAB file of version 5.")
    try:
        order: Order = "<" if data[126:128] == b"IM" else ">"
        found = (
            _variable(kind, body, order, 0, most) for kind, body in _elements(data[128:], order)
        )
        return {name: value for name, value in found if name}
    except (ValueError, IndexError, struct.error, zlib.error, UnicodeDecodeError) as error:
        raise UnusableInput(f"{where} is damaged: {error}.") from error


def _elements(data: bytes, order: Order) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # a small one: its size and up to four bytes are in the tag
            kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
        else:
            start, step = at + 8, 8 + (size if kind == _PACKED else -(-size // 8) * 8)
        if size > len(data) - start or (step == 8 and size > 4 and start == at + 4):
            raise ValueError("an element has more bytes than follow")
        yield kind, data[start : start + size]
        at += step


def _variable(
    kind: int, body: bytes, order: Order, depth: int, most: int = MAX_BYTES
) -> tuple[str, Any]:
    """Return the name and the value of a matrix; the name of what is passed over is empty."""
    if kind == _PACKED and not depth:
        unpacker = zlib.decompressobj()
        whole = unpacker.decompress(body, most)
        if unpacker.unconsumed_tail:
            raise ValueError(f"it unpacks to more than {most} bytes")
        kind, body = next(_elements(whole, order), (0, b""))
    if kind != _MATRIX or depth > _DEPTH:
        return "", None
    parts = list(_elements(body, order))
    if len(parts) < 3:
        return "", None
    form = _array(*parts[0], order).tolist()[0] & 0xFF
    shape = _array(*parts[1], order).tolist()
    name = parts[2][1].decode("ascii", "replace") or "-"
    rest = parts[3:]
    if form == _CELL:
        return name, [_variable(*part, order, depth + 1)[1] for part in rest]
    if form == _STRUCT:
        return name, _struct(rest, order, depth)
    if form == _TEXT:
        return name, _text(_array(*rest[0], order), shape) if rest else ""
    if form in _NUMERIC and rest:
        return name, _array(*rest[0], order).reshape(shape, order="F")
    return "", None


def _struct(parts: list[tuple[int, bytes]], order: Order, depth: int) -> list[dict[str, Any]]:
    length = int(_array(*parts[0], order)[0])
    if length < 1:
        raise ValueError("a struct's names have no length")
    names = [
        parts[1][1][at : at + length].partition(b"\0")[0].decode("ascii", "replace")
        for at in range(0, len(parts[1][1]), length)
    ]
    values = [_variable(*part, order, depth + 1)[1] for part in parts[2:]]
    rows = range(0, len(values), max(len(names), 1))
    return [dict(zip(names, values[row : row + len(names)], strict=True)) for row in rows]


def _array(kind: int, body: bytes, order: Order) -> "np.ndarray[Any, Any]":
    if kind not in _NUMBERS:
        raise ValueError(f"there is no type {kind}")
    return np.frombuffer(body, np.dtype(_NUMBERS[kind]).newbyteorder(order))


def _text(codes: "np.ndarray[Any, Any]", shape: list[int]) -> "str | list[str]":
    if codes.dtype.itemsize == 1 and codes.size != np.prod(shape, dtype=np.int64):
        return codes.tobytes().decode("utf-8")
    rows = codes.reshape(shape, order="F") if codes.size else codes.reshape(0, 0)
    if rows.ndim > 2:
        rows = rows.reshape(-1, shape[-1])
    texts = ["".join(map(chr, row.tolist())).rstrip() for row in rows]
    return texts[0] if len(texts) == 1 else texts if texts else ""
