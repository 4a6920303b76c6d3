"""Writes records as entropy-coded segments (T.81, F.1.2 and B.1.1.5)."""

import numpy as np

from packer.images.tiling.compiling import (
    Array,
    kernel,
)


@kernel("int64(uint64, int64, uint8[::1], int64)")
def _stuffed(bits: int, held: int, out: Array, to: int) -> int:
    """Write the low `held` bits, whole bytes; where they end."""
    while held:
        held -= 8
        byte = np.uint8(bits >> np.uint64(held) & np.uint64(255))
        out[to] = byte
        to += 1
        if byte == 255:
            out[to] = 0
            to += 1
    return to


@kernel(
    "int64(uint32[::1], int64[::1], int64, int64, uint32[::1], uint8[::1], uint8[::1], uint32[:], "
    "int64, int64[::1])"
)
def emit(
    records: Array,
    ends: Array,
    segment: int,
    stop: int,
    codes: Array,
    sizes: Array,
    out: Array,
    words: Array,
    to: int,
    lengths: Array,
) -> int:
    """Write the segments from `segment` to `stop`, each with the marker RSTn in front of it.

    The first of all has none. Between two markers bytes 0xFF are followed by 0, and ones fill the
    last byte.

    Args:
        records: of these segments.
        ends: by segment, where in `records` it ends.
        segment, stop: which segments.
        codes, sizes: by table and symbol, as `assign_codes` has them.
        out: where to write.
        words: the 4 bytes from each byte of `out` on.
        to: where in `out` to begin.
        lengths: by segment, to be filled: its bytes without the marker.

    Returns:
        Where in `out` the written ends.
    """
    ones, tops = np.uint32(0x01010101), np.uint32(0x80808080)
    at = 0
    for number in range(segment, stop):
        if number:
            out[to], out[to + 1] = 0xFF, 0xD0 + (number - 1) % 8
            to += 2
        begin = to
        held, bits = 0, np.uint64(0)
        while at < ends[number]:
            record = records[at]
            at += 1
            which = record & np.uint32(1023)
            size = np.int64(sizes[which])
            bits = bits << np.uint64(size) | np.uint64(codes[which] | record >> np.uint32(10))
            held += size
            if held >= 32:
                held -= 32
                word = np.uint32(bits >> np.uint64(held))
                if (~word - ones) & word & tops:  # maybe a byte 0xFF
                    to = _stuffed(word, 32, out, to)
                else:
                    words[to] = (
                        word >> np.uint32(24)
                        | (word >> np.uint32(8)) & np.uint32(0xFF00)
                        | (word & np.uint32(0xFF00)) << np.uint32(8)
                        | word << np.uint32(24)
                    )
                    to += 4
        fill = -held & 7
        bits = bits << np.uint64(fill) | np.uint64((1 << fill) - 1)
        to = _stuffed(bits, held + fill, out, to)
        lengths[number] = to - begin
    return to
