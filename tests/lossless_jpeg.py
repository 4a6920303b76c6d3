"""Lossless JPEGs (T.81, annex H), which Pillow reads and does not write."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COUNTS = (0, 1, 5, 1, 1, 1, 1, 1, 1)  # codes by length: the categories 0 to 11 of table K.3
_RGB = b"Adobe\0d\0\0\0\0\0"  # else three components are taken for YCbCr


def lossless(pixels: NDArray[Any]) -> bytes:
    """`pixels`, (height, width) or (height, width, 3), each predicted by the one on its left."""
    values = np.atleast_3d(pixels).astype(int)
    height, width, count = values.shape
    above = np.concatenate([np.full((1, 1, count), 128), values[:-1, :1]])
    differences = values - np.concatenate([above, values[:, :-1]], axis=1)
    bits = "".join(map(_coded, differences.ravel().tolist()))
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    table = b"\0" + bytes([*_COUNTS, *[0] * (16 - len(_COUNTS)), *range(12)])
    components = b"".join(bytes([number, 0x11, 0]) for number in range(1, count + 1))
    selectors = b"".join(bytes([number, 0]) for number in range(1, count + 1))
    return b"".join(
        [
            b"\xff\xd8",
            _segment(0xEE, _RGB) if count == 3 else b"",
            _segment(0xC3, struct.pack(">BHHB", 8, height, width, count) + components),
            _segment(0xC4, table),
            _segment(0xDA, bytes([count]) + selectors + bytes([1, 0, 0])),
            scan,
            b"\xff\xd9",
        ]
    )


def _codes() -> list[str]:
    codes, code = [], 0
    for length, count in enumerate(_COUNTS, 1):
        for _ in range(count):
            codes.append(format(code, f"0{length}b"))
            code += 1
        code <<= 1
    return codes


_CODES = _codes()


def _coded(difference: int) -> str:
    category = abs(difference).bit_length()
    low = difference if difference > 0 else difference + (1 << category) - 1
    return _CODES[category] + (format(low, f"0{category}b") if category else "")


def _segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body
