"""The same picture with optimal Huffman tables and a restart marker every few MCUs.

Byte for byte what ``jpegtran -copy all -optimize -restart NB`` writes. The source is decoded to
records, which are counted for the tables and then written; what does not fit into the memory for
records is decoded a second time instead of being kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from packer.errors import Untileable
from packer.images.jpeg import JpegHeader
from packer.images.tiling import emission, huffman
from packer.images.tiling.compiling import Array
from packer.images.tiling.records import records_of
from packer.images.tiling.scan import numbers_at
from packer.images.tiling.stream import Component, read_stream, write_head


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


def transcode(data: bytes, header: JpegHeader, restart_interval: int) -> Tiled:
    """Transcode a JPEG, whose header has been read: of one sequential scan, or progressive.

    Raises:
        Untileable: it is another JPEG, or damaged.
    """
    stream = read_stream(data, header)
    source = records_of(stream, restart_interval)
    histogram = np.zeros(1024, np.int64)
    whole = None  # the only chunk, if there is only one
    for number, chunk in enumerate(source.chunks()):
        huffman.count(chunk.records, chunk.ends[chunk.stop - 1], histogram)
        whole = None if number else chunk
    specs, codes = _tables(stream.components, histogram)
    head, frame_offset = write_head(stream, specs, restart_interval)
    bits = int((histogram * (codes >> 32).astype(np.int64)).sum())
    # Every byte may be 0xFF, and each segment has a last byte that is not full, and a marker.
    out = np.empty(bits // 4 + 4 * source.segments + 16, np.uint8)
    lengths = np.empty(source.segments, np.int64)
    to = 0
    for chunk in [whole] if whole else source.chunks():
        span = chunk.records, chunk.ends, chunk.first, chunk.stop
        longest = int(np.diff(chunk.ends[chunk.first : chunk.stop], prepend=0).max())
        packed = np.empty(4 * longest + 16, np.uint8)
        rooms = packed, numbers_at(packed, np.uint64), out, numbers_at(out, np.uint64)
        to = emission.emit(*span, codes, *rooms, to, lengths)
    content = b"".join([head, out[:to].data, b"\xff\xd9"])
    return Tiled(content, lengths, len(head), frame_offset)


def _tables(components: Sequence[Component], histogram: Array) -> tuple[dict[int, bytes], Array]:
    """The optimal tables: as DHT has them, and as `emit` wants them."""
    specs = {}
    codes = np.zeros(1024, np.uint64)
    for number in {component.target for component in components}:
        for place, key in ((number, number), (2 + number, 16 | number)):
            part = slice(256 * place, 256 * (place + 1))
            spec = np.empty(16 + 257, np.uint8)
            end = huffman.optimal(histogram[part], spec)
            if not end:
                raise Untileable("its Huffman codes would be too long")
            huffman.assign_codes(spec[:end], codes[part])
            specs[key] = spec[:end].tobytes()
    return specs, codes
