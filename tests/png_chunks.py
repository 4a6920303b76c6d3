"""The chunks of a PNG, with the checksums that they need."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, body: bytes) -> bytes:
    """A chunk of this name."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def with_damaged_data(png: bytes) -> bytes:
    """A PNG of one IDAT, zeros within it, with the checksum that it then has."""
    start, stop = png.index(b"IDAT") + 4, len(png) - 16
    middle = (start + stop) // 2
    data = png[start:middle] + bytes(200) + png[middle + 200 : stop]
    return png[: start - 8] + chunk(b"IDAT", data) + png[-12:]
