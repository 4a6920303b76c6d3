"""The same picture with optimal Huffman tables and a restart marker every few MCUs.

Byte for byte what ``jpegtran -copy all -optimize -restart NB`` writes. Records are counted for the
tables, then written; those that do not fit into memory are decoded a second time.
"""

from collections.abc import Sequence

import numpy as np

from packer.errors import Untileable
from packer.images.jpeg import JpegHeader
from packer.images.tiling import huffman, pairs
from packer.images.tiling.compiling import Array, helper, kernel
from packer.images.tiling.huffman import swapped, words_at
from packer.images.tiling.records import Records
from packer.images.tiling.stream import Component, read_stream, write_head
from reader.format.jpeg import mcu_size
from reader.format.tiles import TileTable


def transcode(data: bytes, header: JpegHeader, restart_interval: int) -> tuple[bytes, TileTable]:
    """Transcode a JPEG of one sequential scan, or progressive; Untileable: it is not sound."""
    stream = read_stream(data, header)
    source = Records(stream, restart_interval)
    histogram = np.zeros(pairs.PAIRS, np.int64)
    whole = None  # the only chunk, if there is only one
    for number, chunk in enumerate(source.chunks()):
        pairs.count(chunk.records, chunk.ends[chunk.stop - 1], *source.pairs[1:], histogram)
        whole = None if number else chunk
    codes = np.zeros(source.pairs[1].size, np.uint64)
    specs = _tables(stream.components, histogram, codes)
    pairs.pair_codes(*source.pairs, codes)
    head, frame_offset = write_head(stream, specs, restart_interval)
    bits = int((histogram * (codes[: pairs.PAIRS] >> 58).astype(np.int64)).sum())
    # Every byte may be 0xFF, and each segment has a last byte that is not full, and a marker.
    out = np.empty(bits // 4 + 4 * source.segments + 16, np.uint8)
    lengths = np.empty(source.segments, np.int64)
    to = 0
    for chunk in [whole] if whole else source.chunks():
        span = chunk.records, chunk.ends, chunk.first, chunk.stop
        ends = chunk.ends[chunk.first : chunk.stop]
        longest = max(int(ends[0]), int(np.diff(ends).max(initial=0)))
        packed = np.empty(6 * longest + 16, np.uint8)
        rooms = packed, words_at(packed), out, words_at(out)
        to = emit(*span, codes, *rooms, to, lengths)
    content = b"".join([head, out[:to].data, b"\xff\xd9"])
    where = len(head), frame_offset, restart_interval, *mcu_size(header.sampling)
    return content, TileTable(lengths, *where)


def _tables(components: Sequence[Component], histogram: Array, codes: Array) -> dict[int, bytes]:
    specs = {}
    for number in {component.target for component in components}:
        for place, key in ((number, number), (2 + number, 16 | number)):
            part = slice(256 * place, 256 * (place + 1))
            spec = np.empty(16 + 257, np.uint8)
            end = huffman.optimal(histogram[part], spec)
            if not end:
                raise Untileable("its Huffman codes would be too long")
            huffman.assign_codes(spec[:end], codes[part])
            specs[key] = spec[:end].tobytes()
    return specs


@helper
def _packed(records: Array, at: int, stop: int, codes: Array, words: Array) -> int:
    """Write the records from `at` to `stop` without stuffing, ones last; returns their bytes."""
    low, one = np.uint64((1 << 58) - 1), np.uint64(1)
    to, held, bits = np.uint64(0), np.uint64(0), np.uint64(0)
    for record32 in records[at:stop]:
        record = np.uint64(record32)
        code = codes[record & np.uint64(0xFFFF)]
        size = code >> np.uint64(58)
        bits = bits << size | code & low | record >> np.uint64(16)
        held += size
        words[to] = swapped(bits << (np.uint64(64) - held))
        to += held >> np.uint64(3)
        held &= np.uint64(7)
    if held:
        spare = np.uint64(8) - held
        bits = bits << spare | (np.uint64(1) << spare) - np.uint64(1)
        words[to] = bits & np.uint64(255)
        to += one
    return np.int64(to)


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
    """Write the segments from `segment` to `stop` as entropy-coded ones (T.81, F.1.2 and B.1.1.5).

    `ends`: by segment, where in `records` it ends; `codes`: of `assign_codes`; `packed`: room for a
    segment without stuffing; `packed_words`, `words`: the 8 bytes from each byte of `packed` and
    `out` on; `to`: where in `out` to begin. Fills `lengths`, of segments without their markers;
    returns where in `out` they end.
    """
    at = np.int64(0)  # no literal, for which `_packed` would be compiled twice
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
