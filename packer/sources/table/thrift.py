"""Thrift's compact protocol, as far as Parquet's own structs need it.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md. Whatever
the bytes are, reading ends at the end of the file at the latest, and a struct takes no more memory
than a multiple of its bytes.
"""

from typing import Any, BinaryIO

from packer.errors import BadImage

_DEEPEST = 32  # far above what Parquet nests
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)


def read_struct(file: BinaryIO, depth: int = 0) -> dict[int, Any]:
    """The struct at the file's position: field number -> value.

    Values are integers, structs and lists of them; of other kinds (text, floats) they are None.

    Raises:
        BadImage: there is none.
    """
    if depth > _DEEPEST:
        raise BadImage("its structure is nested too deeply")
    found: dict[int, Any] = {}
    number = 0
    while head := _byte(file):
        number = number + (head >> 4) if head >> 4 else _integer(file)
        kind = head & 0xF
        found[number] = None if kind in (_TRUE, _FALSE) else _value(file, kind, depth)
    return found


def _value(file: BinaryIO, kind: int, depth: int) -> Any:
    if kind in _INTEGERS:
        return _integer(file)
    if kind == _STRUCT:
        return read_struct(file, depth + 1)
    if kind in (_LIST, _SET):
        head = _byte(file)
        length = head >> 4 if head >> 4 < 15 else _varint(file)
        return [_element(file, head & 0xF, depth + 1) for _ in range(length)]
    if kind == _BINARY:
        size = _varint(file)
        if size > 0:
            file.seek(size - 1, 1)
            _byte(file)  # it is there
    elif kind == _DOUBLE:
        file.seek(7, 1)
        _byte(file)
    elif kind == _BYTE:
        _byte(file)
    else:  # a map, which Parquet has nowhere, or nothing that there is
        raise BadImage("its structure is damaged")
    return None


def _element(file: BinaryIO, kind: int, depth: int) -> Any:
    if depth > _DEEPEST:
        raise BadImage("its structure is nested too deeply")
    return _byte(file) if kind in (_TRUE, _FALSE) else _value(file, kind, depth)


def _byte(file: BinaryIO) -> int:
    data = file.read(1)
    if not data:
        raise BadImage("its structure is cut short")
    return data[0]


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = _byte(file)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise BadImage("its structure is damaged")


def _integer(file: BinaryIO) -> int:
    value = _varint(file)
    return (value >> 1) ^ -(value & 1)  # zigzag
