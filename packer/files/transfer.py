"""Reads and writes all of what is asked for, also where the system does less at a time.

Network file systems give less than was asked for; a disk that is nearly full takes what still fits,
and only the next call fails.
"""

import os

from reader.format.files import read_into


def read_span(descriptor: int, offset: int, size: int) -> bytes:
    """`size` bytes from `offset` on, or fewer where the file ends."""
    data = os.pread(descriptor, size, offset)
    if not 0 < len(data) < size:
        return data
    rest = bytearray(size - len(data))
    return data + rest[: read_into(descriptor, rest, offset + len(data))]


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data` at the file's position."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
