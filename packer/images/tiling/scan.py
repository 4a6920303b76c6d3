"""A scan's bits: without stuffing and markers, and from any position on (T.81, B.1.1.5)."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from packer.images.tiling.compiling import Array, helper, kernel

PADDING = 256  # zeros behind a scan: more than a block takes


@kernel("int64(uint8[::1], uint64[:], int64, int64[::1])")
def unstuff(content: Array, words: Array, size: int, ends: Array) -> int:
    """Take stuffing and markers out of `content`, in place, and fill the rest with zeros.

    Returns how many parts there are in a scan that is as it should be, 0 for another.

    Args:
        content: a scan's bytes up to the marker behind it, `size` of them, and `PADDING`.
        words: the 8 bytes from each byte of `content` on.
        ends: by part between two markers RSTn, to be filled: the bit at which it ends.
    """
    ones, tops = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    at, to, part = 0, 0, 0
    while at < size:
        word = words[at]
        if at + 8 <= size and not (~word - ones) & word & tops:  # no byte 0xFF
            words[to] = word
            at += 8
            to += 8
            continue
        byte = content[at]
        if byte != 0xFF:
            content[to] = byte
            at += 1
            to += 1
            continue
        following = content[at + 1]
        at += 2
        if following == 0 and at <= size:
            content[to] = byte
            to += 1
        elif following == 0xD0 + part % 8 and part + 1 < ends.size:
            ends[part] = 8 * to
            part += 1
        else:
            return 0
    content[to:] = 0
    ends[part] = 8 * to
    return part + 1


@helper
def swapped(word: int) -> int:
    """Its 8 bytes in reverse order."""
    one, two, four = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF), np.uint64(32)
    word = (word & one) << np.uint64(8) | (word >> np.uint64(8)) & one
    word = (word & two) << np.uint64(16) | (word >> np.uint64(16)) & two
    return word << four | word >> four


@helper
def bits_at(words: Array, position: int) -> int:
    """The bits from `position` on, the first one highest: 57 at least, with zeros behind them."""
    return swapped(words[position >> 3]) << np.uint64(position & 7)


def numbers_at(content: Array, dtype: type) -> Array:
    """The little-endian numbers from each byte on that as many bytes follow; a view."""
    size = np.dtype(dtype).itemsize
    first: Array = content[: len(content) // size * size].view(dtype)
    return as_strided(first, (len(first) * size - size + 1,), (1,))
