"""Protocol Buffers' wire format: the fields of a message, by the place of their bytes.

See https://protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator
from typing import NamedTuple

from packer.errors import Damaged
from packer.sources.containers.entries import Window

VARINT, BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes of the other types
_LONGEST = 10  # bytes of a number


class Field(NamedTuple):
    """A field of a message; `value` is that of a VARINT."""

    number: int
    kind: int
    begin: int
    end: int
    value: int = 0


def message(window: Window, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message that lies between two offsets; raise Damaged for none."""
    while at < end:
        head = window.read(at, min(2 * _LONGEST, end - at))
        tag, size = varint(head, 0)
        number, kind = tag >> 3, tag & 7
        begin, value = at + size, 0
        if kind == BYTES:
            length, size = varint(head, size)
            begin = at + size
            at = begin + length
        elif kind == VARINT:
            value, size = varint(head, size)
            value = signed(value)
            at += size
        elif kind in _FIXED:
            at = begin + _FIXED[kind]
        else:
            raise Damaged("its bytes are no message")
        if at > end or not number:
            raise Damaged("its bytes are no message")
        yield Field(number, kind, begin, at, value)


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number, and where it ends."""
    if at < len(data) and data[at] < 0x80:  # as most are
        return data[at], at + 1
    value = shift = 0
    for place in range(at, min(at + _LONGEST, len(data))):
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return value, place + 1
        shift += 7
    raise Damaged("its bytes are no message")


def signed(value: int) -> int:
    """Return a number of 64 bits with its sign."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
