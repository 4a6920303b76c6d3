"""How large the pages of a Parquet file say they are, before anything is decompressed.

Arrow allocates what a page's header claims, whatever the file's footer says, so a file of kilobytes
could ask for gigabytes. This reads the headers alone: Thrift structs in the compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), of which
`PageHeader` in parquet.thrift has the sizes as fields 2 and 3.
"""

from collections.abc import Iterator
from typing import BinaryIO

from packer.errors import BadImage

_DEEPEST, _LONGEST_LIST = 16, 1000  # far above what a page header holds
_STOP, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 8, 9, 10, 11, 12
_WIDTHS = {1: 0, 2: 0, 3: 1, 7: 8}  # true, false, byte, double
_INTEGERS = (4, 5, 6)


def uncompressed_sizes(file: BinaryIO, start: int, size: int) -> Iterator[int]:
    """The bytes that each page in a part of a file decompresses to.

    Args:
        file: a Parquet file.
        start: where the first page of a column chunk begins.
        size: bytes of the column chunk.

    Raises:
        BadImage: the headers make no sense.
    """
    position = start
    while position < start + size:
        file.seek(position)
        sizes = _struct(file, 0)
        uncompressed, compressed = sizes.get(2, -1), sizes.get(3, -1)
        if uncompressed < 0 or compressed < 0:
            raise BadImage("a page header is damaged")
        yield uncompressed
        position = file.tell() + compressed


def _struct(file: BinaryIO, depth: int) -> dict[int, int]:
    """Skip a struct; its integers by field number."""
    if depth > _DEEPEST:
        raise BadImage("a page header is nested too deeply")
    found: dict[int, int] = {}
    number = 0
    while (head := _byte(file)) & 0xF != _STOP:
        number = number + (head >> 4) if head >> 4 else _integer(file)
        if head & 0xF in _INTEGERS:
            found[number] = _integer(file)
        else:
            _skip(file, head & 0xF, depth)
    return found


def _skip(file: BinaryIO, kind: int, depth: int) -> None:
    if kind in _INTEGERS:
        _integer(file)
    elif kind in _WIDTHS:
        file.seek(_WIDTHS[kind], 1)
    elif kind == _BINARY:
        file.seek(_varint(file), 1)
    elif kind == _STRUCT:
        _struct(file, depth + 1)
    elif kind in (_LIST, _SET):
        head = _byte(file)
        length = head >> 4 if head >> 4 < 15 else _varint(file)
        if length > _LONGEST_LIST or depth > _DEEPEST:
            raise BadImage("a page header is damaged")
        for _ in range(length):
            _skip(file, head & 0xF, depth + 1)
    else:  # a map, which no page header has, or nothing that there is
        raise BadImage("a page header is damaged")


def _byte(file: BinaryIO) -> int:
    data = file.read(1)
    if not data:
        raise BadImage("it ends in the middle of a page header")
    return data[0]


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 64, 7):
        byte = _byte(file)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise BadImage("a page header is damaged")


def _integer(file: BinaryIO) -> int:
    value = _varint(file)
    return (value >> 1) ^ -(value & 1)  # zigzag
