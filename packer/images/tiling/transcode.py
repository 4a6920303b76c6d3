"""The same picture with optimal Huffman tables and a restart marker every few MCUs.

Byte for byte what ``jpegtran -copy all -optimize -restart NB`` writes. The source is decoded to
records, which are counted for the tables and then written; what does not fit into the memory for
records is decoded a second time instead of being kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from packer.errors import Untileable
from packer.images.jpeg import JpegHeader
from packer.images.tiling import (
    emission,
    huffman,
    sequential,
)
from packer.images.tiling.compiling import Array
from packer.images.tiling.scan import (
    PADDING,
    numbers_at,
    unstuff,
)
from packer.images.tiling.stream import (
    Component,
    Stream,
    read_stream,
    write_head,
)

_MOST_RECORDS = 1 << 23  # of 4 bytes, that are held at a time


@dataclass(frozen=True)
class Tiled:
    """A JPEG with restart markers.

    Attributes:
        segments: bytes of each entropy-coded segment, without its marker.
        scan_offset: where the first begins.
        frame_offset: where the frame header's height lies.
    """

    data: bytes
    segments: Array
    scan_offset: int
    frame_offset: int


@dataclass(frozen=True)
class _Chunk:
    """Records of some segments: those of segment i end at ``ends[i]``."""

    records: Array
    ends: Array
    first: int
    stop: int


def transcode(data: bytes, header: JpegHeader, restart_interval: int) -> Tiled:
    """Transcode a sequential JPEG of one scan, whose header has been read.

    Raises:
        Untileable: it is another JPEG, or damaged.
    """
    stream = read_stream(data, header)
    source = _Source(stream, restart_interval)
    histogram = np.zeros(1024, np.int64)
    whole = None  # the only chunk, if there is only one
    for number, chunk in enumerate(source.chunks()):
        huffman.count(chunk.records, chunk.ends[chunk.stop - 1], histogram)
        whole = None if number else chunk
    specs, codes, sizes = _tables(stream.components, histogram)
    head, frame_offset = write_head(stream, specs, restart_interval)
    bits = int((histogram * sizes).sum())
    # Every byte may be 0xFF, and each segment has a last byte that is not full, and a marker.
    out = np.empty(bits // 4 + 4 * source.segments + 16, np.uint8)
    words = numbers_at(out, np.uint32)
    lengths = np.empty(source.segments, np.int64)
    to = 0
    for chunk in [whole] if whole else source.chunks():
        span = chunk.records, chunk.ends, chunk.first, chunk.stop
        to = emission.emit(*span, codes, sizes, out, words, to, lengths)
    content = b"".join([head, out[:to].data, b"\xff\xd9"])
    return Tiled(content, lengths, len(head), frame_offset)


class _Source:
    """A stream as its decoder has it.

    Attributes:
        segments: of the target.
    """

    def __init__(self, stream: Stream, restart_interval: int) -> None:
        self._blocks, in_row, rows = _blocks_of(stream)
        mcus = in_row * rows
        count = len(self._blocks)
        if count * mcus > 4 * len(stream.scan):  # a block takes two bits at least
            raise Untileable(sequential.FAULTS[sequential.CUT_SHORT])
        self.segments = -(-mcus // restart_interval)
        self._frame = np.array([in_row, mcus, stream.restart_interval, restart_interval])
        content = np.frombuffer(bytearray().join([stream.scan, bytes(PADDING)]), np.uint8)
        self._words = numbers_at(content, np.uint64)
        self._parts = np.empty(-(-mcus // (stream.restart_interval or mcus)), np.int64)
        if unstuff(content, self._words, len(stream.scan), self._parts) != len(self._parts):
            raise Untileable("its restart markers do not follow each other as they should")
        self._lookups = _lookups(stream)
        a_segment = 64 * count * restart_interval
        possible = (
            8 * len(stream.scan) + 2 * count * mcus
        )  # a bit a record, and those that are added
        self._size = max(a_segment, min(possible + a_segment, _MOST_RECORDS))

    def chunks(self) -> Iterator[_Chunk]:
        """All records, some segments at a time, in memory that is used again.

        Raises:
            Untileable: the scan is damaged.
        """
        records = np.empty(self._size, np.uint32)
        ends = np.empty(self.segments, np.int64)
        state = np.zeros(8, np.int64)
        while state[3] < self.segments:
            first = int(state[3])
            source = self._words, self._parts, self._frame, state, self._blocks
            fault = sequential.decode(*source, *self._lookups, records, ends)
            if fault:
                raise Untileable(sequential.FAULTS[fault])
            yield _Chunk(records, ends, first, int(state[3]))


def _blocks_of(stream: Stream) -> tuple[Array, int, int]:
    """What `sequential.decode` wants to know of an MCU's blocks; MCUs in a row, and rows."""
    components = stream.components
    if len(components) == 1:  # T.81, A.2.2: not interleaved
        only = components[0]
        in_row, rows = -(-stream.width // 8), -(-stream.height // 8)
        return np.array([[0, only.dc, 4 + only.ac, only.target, in_row, rows]]), in_row, rows
    across = max(component.across for component in components)
    down = max(component.down for component in components)
    blocks = []
    for place, component in enumerate(components):
        columns = -(-stream.width * component.across // (8 * across))
        rows = -(-stream.height * component.down // (8 * down))
        tables = component.dc, 4 + component.ac, component.target
        for y in range(component.down):
            for x in range(component.across):
                beyond = -(-(columns - x) // component.across), -(-(rows - y) // component.down)
                blocks.append([place, *tables, *beyond])
    return np.array(blocks), -(-stream.width // (8 * across)), -(-stream.height // (8 * down))


def _lookups(stream: Stream) -> tuple[Array, Array, Array]:
    """By source table, 4 for DC and 4 for AC: its spec, and what `build_lookup` makes of it."""
    specs = np.zeros((8, 16 + 256), np.uint8)
    shorts = np.empty((8, 1 << huffman.PEEK), np.uint32)
    longers = np.empty((8, 17, 3), np.int64)
    used = {(component.dc, component.dc) for component in stream.components}
    used |= {(4 + component.ac, 16 | component.ac) for component in stream.components}
    for place, number in used:
        spec = np.frombuffer(bytearray(stream.specs[number]), np.uint8)
        most = huffman.DC_BITS if place < 4 else huffman.AC_BITS
        if not huffman.build_lookup(spec, most, shorts[place], longers[place]):
            raise Untileable("a Huffman table is damaged")
        specs[place, : len(spec)] = spec
    return specs, shorts, longers


def _tables(
    components: Sequence[Component], histogram: Array
) -> tuple[dict[int, bytes], Array, Array]:
    """The optimal tables: as DHT has them, and as `emit` wants them."""
    specs = {}
    codes, sizes = np.zeros(1024, np.uint32), np.zeros(1024, np.uint8)
    for number in {component.target for component in components}:
        for place, key in ((number, number), (2 + number, 16 | number)):
            part = slice(256 * place, 256 * (place + 1))
            spec = np.empty(16 + 257, np.uint8)
            end = huffman.optimal(histogram[part], spec)
            if not end:
                raise Untileable("its Huffman codes would be too long")
            huffman.assign_codes(spec[:end], codes[part], sizes[part])
            specs[key] = spec[:end].tobytes()
    return specs, codes, sizes
