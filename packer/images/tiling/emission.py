"""Writes records as entropy-coded segments (T.81, F.1.2 and B.1.1.5)."""

import numpy as np

from packer.images.tiling.compiling import Array, helper, kernel
from packer.images.tiling.scan import swapped


@helper
def _packed(records: Array, at: int, stop: int, codes: Array, words: Array) -> int:
    """Write the records from `at` to `stop`, without stuffing; ones fill the last byte.

    Returns:
        How many bytes that takes.
    """
    low = np.uint64(0xFFFFFFFF)
    to, held, bits = 0, np.uint64(0), np.uint64(0)
    while at < stop:
        record = records[at]
        code = codes[record & np.uint32(1023)]
        size = code >> np.uint64(32)
        bits = bits << size | code & low | np.uint64(record >> np.uint32(10))
        held += size
        if at + 1 < stop:
            record = records[at + 1]
            code = codes[record & np.uint32(1023)]
            size = code >> np.uint64(32)
            bits = bits << size | code & low | np.uint64(record >> np.uint32(10))
            held += size
        at += 2
        words[to] = swapped(bits << (np.uint64(64) - held))
        to += np.int64(held >> np.uint64(3))
        held &= np.uint64(7)
    if held:
        spare = np.uint64(8) - held
        bits = bits << spare | (np.uint64(1) << spare) - np.uint64(1)
        words[to] = bits & np.uint64(255)
        to += 1
    return to


@helper
def _stuffed(
    source: Array, source_words: Array, size: int, out: Array, words: Array, to: int
) -> int:
    """Copy the first `size` bytes of `source`, and a 0 behind each 0xFF; where they end."""
    ones, tops = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    at = 0
    while at < size:
        word = source_words[at]
        if at + 8 <= size and not (~word - ones) & word & tops:  # no byte 0xFF
            words[to] = word
            at += 8
            to += 8
            continue
        for byte in source[at : min(at + 8, size)]:
            out[to] = byte
            to += 1
            if byte == 0xFF:
                out[to] = 0
                to += 1
        at += 8
    return to


@kernel(
    "int64(uint32[::1], int64[::1], int64, int64, uint64[::1], uint8[::1], uint64[:], uint8[::1], "
    "uint64[:], int64, int64[::1])"
)
def emit(
    records: Array,
    ends: Array,
    segment: int,
    stop: int,
    codes: Array,
    packed: Array,
    packed_words: Array,
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
        codes: by table and symbol, as `assign_codes` has them.
        packed: room for a segment without stuffing.
        packed_words: the 8 bytes from each byte of `packed` on.
        out: where to write.
        words: the 8 bytes from each byte of `out` on.
        to: where in `out` to begin.
        lengths: by segment, to be filled: its bytes without the marker.

    Returns:
        Where in `out` the written ends.
    """
    at = 0
    for number in range(segment, stop):
        if number:
            out[to], out[to + 1] = 0xFF, 0xD0 + (number - 1) % 8
            to += 2
        size = _packed(records, at, ends[number], codes, packed_words)
        at = ends[number]
        begin = to
        to = _stuffed(packed, packed_words, size, out, words, to)
        lengths[number] = to - begin
    return to
