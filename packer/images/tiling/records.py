"""A stream's records, some segments of the target at a time, in bounded memory that is used again.

They are made again for each pass. Impossible sizes are refused before anything is allocated.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from packer.errors import Untileable
from packer.images.tiling import huffman, pairs, sequential
from packer.images.tiling.compiling import Array
from packer.images.tiling.huffman import PADDING, unstuff, words_at
from packer.images.tiling.pairs import NO_PAIRS, Pairs
from packer.images.tiling.stream import Scan, Stream

_MOST_RECORDS = 1 << 23  # of 4 bytes, that are held at a time


@dataclass(frozen=True)
class Chunk:
    """Records of the segments from `first` to `stop`: those of segment i end at ``ends[i]``."""

    records: Array
    ends: Array
    first: int
    stop: int


# Goes on from a state, whose first number is the next segment's, with records and their ends to be
# filled; returns a fault or `DONE`.
_Fill = Callable[[Array, Array, Array], int]


class Records:
    """The records of a stream, as libjpeg would encode it with a restart interval."""

    def __init__(self, stream: Stream, restart_interval: int) -> None:
        """Raise Untileable if the stream is damaged, or lacks some of its scans."""
        grid = _Grid(stream)
        fill = _progressive if stream.is_progressive else _sequential
        self._fill, self.pairs, blocks, possible = fill(stream, grid, restart_interval)
        self.segments = -(-grid.mcus // restart_interval)
        a_segment = 64 * blocks * restart_interval
        self._size = max(a_segment, min(possible + a_segment, _MOST_RECORDS))

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records; a chunk is gone when the next one is asked for."""
        records = np.empty(self._size, np.uint32)
        ends = np.empty(self.segments, np.int64)
        state = np.zeros(8, np.int64)
        while state[0] < self.segments:
            first = int(state[0])
            _check(self._fill(state, records, ends))
            yield Chunk(records, ends, first, int(state[0]))


def _sequential(stream: Stream, grid: "_Grid", interval: int) -> tuple[_Fill, Pairs, int, int]:
    """Decode one scan each time; with its pairs, the blocks of an MCU, and the most records."""
    [scan] = stream.scans
    if len(scan.components) != len(stream.components):
        raise Untileable("its components are not in one scan")
    if scan.band != (0, 63, 0, 0):
        raise Untileable("its scan is not that of a sequential JPEG")
    tables = [(dc, 4 + ac) for _, dc, ac in scan.components]
    targets = [component.target for component in stream.components]
    uses = [(ac, target) for (_, ac), target in zip(tables, targets, strict=True)]
    slots = list(dict.fromkeys(uses))
    rows = [[*tables[at], targets[at], slots.index(uses[at])] for at in range(len(tables))]
    blocks = np.array([[at, *rows[at], *beyond] for at, beyond, _ in grid.blocks()])
    total = len(blocks) * grid.mcus
    if total > 4 * len(scan.data):  # a block takes two bits at least
        raise Untileable(sequential.FAULTS[sequential.CUT_SHORT])
    frame = np.array([grid.columns, grid.mcus, scan.restart_interval, interval])
    source, lookups = _bits_of(scan, grid.mcus), _lookups(scan, slots)
    fill = partial(sequential.decode, *source, frame, blocks, lookups)
    possible = 8 * len(scan.data) + 2 * total  # one a bit, and those that are added
    return fill, (lookups[1], lookups[3], np.array(slots)), len(blocks), possible


def _progressive(stream: Stream, grid: "_Grid", interval: int) -> tuple[_Fill, Pairs, int, int]:
    """Hold the coefficients of several scans, two bytes each, as libjpeg does; as `_sequential`."""
    if grid.stored > 8 * sum(len(scan.data) for scan in stream.scans):  # a block takes one bit
        raise Untileable(sequential.FAULTS[sequential.CUT_SHORT])
    _check_progression(stream)
    from packer.images.tiling import progressive  # a third of what is compiled, and rarely used

    coefficients = np.zeros((grid.stored, 64), np.int16)
    for scan in stream.scans:
        part = _Grid(stream, [place for place, _, _ in scan.components])
        tables = {place: (dc, 4 + ac) for place, dc, ac in scan.components}
        places = np.array([[at, *tables[at], *where] for at, _, where in part.blocks()])
        frame = np.array([part.columns, part.mcus, scan.restart_interval])
        source = *_bits_of(scan, part.mcus), frame, np.array(scan.band), places
        _check(progressive.decode_scan(*source, _lookups(scan, []), coefficients))
    targets = [component.target for component in stream.components]
    found = [[at, targets[at], *beyond, *where] for at, beyond, where in grid.blocks()]
    blocks = np.array(found)
    whole = np.array([grid.columns, grid.mcus, interval])
    fill = partial(progressive.to_records, whole, blocks, coefficients)
    return fill, NO_PAIRS, len(blocks), 64 * len(blocks) * grid.mcus


class _Grid:
    """The MCUs of a scan, and where the blocks of its components are stored (T.81, A.1 and A.2)."""

    def __init__(self, stream: Stream, places: Sequence[int] | None = None) -> None:
        """`places` are the scan's components, None for all."""
        everyone = stream.components
        self._scanned = range(len(everyone)) if places is None else places
        across = max(component.across for component in everyone)
        down = max(component.down for component in everyone)
        whole = -(-stream.width // (8 * across)), -(-stream.height // (8 * down))
        self._factors, self._sizes, self._stores = [], [], []
        self.stored = 0  # blocks of all components
        for component in everyone:
            factors = component.across, component.down
            width = -(-stream.width * factors[0] // (8 * across))
            height = -(-stream.height * factors[1] // (8 * down))
            self._sizes.append((width, height))
            self._factors.append(factors if len(self._scanned) > 1 else (1, 1))
            self._stores.append((self.stored, whole[0] * factors[0]))
            self.stored += whole[0] * factors[0] * whole[1] * factors[1]
        alone = self._sizes[self._scanned[0]]
        self.columns, rows = whole if len(self._scanned) > 1 else alone
        self.mcus = self.columns * rows

    def blocks(self) -> Iterator[tuple[int, tuple[int, int], tuple[int, int, int]]]:
        """Yield the blocks of an MCU: component, first column and row beyond the image, and place.

        The place is the number of the first MCU's block, and the steps to the next in row and
        column.
        """
        for place in self._scanned:
            (across, down), (width, height) = self._factors[place], self._sizes[place]
            first, stride = self._stores[place]
            for y in range(down):
                for x in range(across):
                    beyond = -(-(width - x) // across), -(-(height - y) // down)
                    yield place, beyond, (first + y * stride + x, across, down * stride)


def _check(fault: int) -> None:
    if fault != sequential.DONE:
        raise Untileable(sequential.FAULTS[fault])


def _check_progression(stream: Stream) -> None:
    """Raise unless scans continue each other and complete all coefficients (T.81, G.1.1.1)."""
    known = [[-1] * 64 for _ in stream.components]
    for scan in stream.scans:
        first, last, high, low = scan.band
        is_sound = last == 0 if first == 0 else first <= last < 64 and len(scan.components) == 1
        if not is_sound or low > 13 or (high and low != high - 1):
            raise Untileable("a scan's header is damaged")
        for place, _, _ in scan.components:
            bits = known[place]
            if any(max(bit, 0) != high for bit in bits[first : last + 1]) or (
                first and bits[0] < 0
            ):
                raise Untileable("its scans do not follow each other as they should")
            bits[first : last + 1] = [low] * (last + 1 - first)
    if any(any(bits) for bits in known):
        raise Untileable("it lacks some of its scans")


def _bits_of(scan: Scan, mcus: int) -> tuple[Array, Array]:
    """Return the scan's bits from each byte on, and where the parts between its markers end."""
    content = np.frombuffer(bytearray().join([scan.data, bytes(PADDING)]), np.uint8)
    words = words_at(content)
    parts = -(-mcus // (scan.restart_interval or mcus))
    if 2 * (parts - 1) > len(scan.data):
        raise Untileable(sequential.FAULTS[sequential.CUT_SHORT])
    ends = np.empty(parts, np.int64)
    if unstuff(content, words, len(scan.data), ends) != parts:
        raise Untileable("its restart markers do not follow each other as they should")
    return words, ends


def _lookups(scan: Scan, slots: Sequence[tuple[int, int]]) -> huffman.Tables:
    specs = np.zeros((8, 16 + 256), np.uint8)
    shorts = np.empty((8, 1 << huffman.PEEK), np.uint16)
    longers = np.empty((8, 17, 3), np.int64)
    first, last, high, _ = scan.band
    used = {(dc, dc) for _, dc, _ in scan.components if first == 0 and not high}
    used |= {(4 + ac, 16 | ac) for _, _, ac in scan.components if last > 0}
    for place, number in used:
        if number not in scan.specs:
            raise Untileable("a Huffman table is missing")
        spec = np.frombuffer(bytearray(scan.specs[number]), np.uint8)
        most = huffman.DC_BITS if place < 4 else huffman.AC_BITS
        if not huffman.build_lookup(spec, most, shorts[place], longers[place]):
            raise Untileable("a Huffman table is damaged")
        specs[place, : len(spec)] = spec
    steps = np.zeros(pairs.PAIRS + (len(slots) << huffman.PEEK), np.uint32)
    for number, (place, _) in enumerate(slots):
        begin = pairs.PAIRS + (number << huffman.PEEK)
        pairs.build_steps(shorts[place], steps[begin : begin + (1 << huffman.PEEK)])
    return specs, shorts, longers, steps
