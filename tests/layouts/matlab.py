"""Writes MATLAB files of version 5, as the lists of older datasets are."""

import json
import struct
import zlib
from typing import Any


def element(kind: int, data: bytes) -> bytes:
    """One element, padded to eight bytes."""
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name: str, value: Any) -> bytes:
    """Numbers, a text, a cell array (a tuple) or a struct array (a list of dicts)."""

    def array(form: int, rows: int, columns: int, *parts: bytes) -> bytes:
        flags = element(6, struct.pack("<II", form, 0))
        shape = element(5, struct.pack("<ii", rows, columns))
        return element(14, flags + shape + element(1, name.encode()) + b"".join(parts))

    if isinstance(value, str):
        return array(4, 1, len(value), element(4, value.encode("utf-16-le")))
    if isinstance(value, tuple):
        return array(1, len(value), 1, *(matrix("", item) for item in value))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        names = b"".join(key.encode().ljust(32, b"\0") for key in value[0])
        length = struct.pack("<HHi", 5, 4, 32)  # a small element
        fields = (matrix("", item[key]) for item in value for key in value[0])
        return array(2, len(value), 1, length, element(1, names), *fields)
    numbers = value if isinstance(value, list) else [value]
    data = struct.pack(f"<{len(numbers)}d", *numbers)
    return array(6, 1, len(numbers), element(9, data))


def mat(*, packed: bool = True, **variables: Any) -> bytes:
    """A file with these variables."""
    body = (matrix(name, value) for name, value in variables.items())
    if packed:
        body = (struct.pack("<II", 15, len(z := zlib.compress(item))) + z for item in body)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + b"".join(body)


def said(text: str) -> bytes:
    """A file with the variables of JSON; {"cells": ...} is a cell array."""

    def meant(found: dict[str, Any]) -> Any:
        return tuple(found["cells"]) if "cells" in found else found

    return mat(**json.loads(text, object_hook=meant))
