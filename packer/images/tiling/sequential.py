"""Decodes the scan of a sequential JPEG to records (T.81, F.2.2)."""

import numpy as np

from packer.images.tiling.compiling import Array, helper, kernel
from packer.images.tiling.huffman import PEEK, RECORD, TABLES, Tables, bits_at, find_long

DONE, CUT_SHORT, NO_CODE, LONG_RUN, LARGE, LEFT_OVER = range(6)
FAULTS = {
    CUT_SHORT: "its entropy-coded data ends too early",
    NO_CODE: "its entropy-coded data has a code that is in no table",
    LONG_RUN: "a block has more than 64 coefficients",
    LARGE: "a coefficient is too large",
    LEFT_OVER: "its entropy-coded data has bytes that belong to nothing",
}


@helper
def new_record(value: int) -> int:
    """A number's category and additional bits (T.81, F.1.2.1), as a record without its table."""
    size, magnitude = 0, abs(value)
    while magnitude:
        size += 1
        magnitude >>= 1
    if value < 0:
        value += (1 << size) - 1
    return value << 10 | size


@kernel(
    f"int64(uint64[:], int64[::1], int64[::1], int64[:, ::1], {TABLES}, "
    "int64[::1], uint32[::1], int64[::1])"
)
def decode(
    words: Array,
    parts: Array,
    frame: Array,
    blocks: Array,
    tables: Tables,
    state: Array,
    records: Array,
    ends: Array,
) -> int:
    """Decode whole segments of the target while they surely fit into `records`: a fault or `DONE`.

    Records are what libjpeg would encode of the same coefficients: blocks beyond the image have the
    DC of the block before and no AC, and no run of zeros comes before the end of a block.

    `words`, `parts`: of `unstuff`. `frame`: MCUs in a row, MCUs, the source's restart interval (or
    0), the target's. `state`: the target's segment, the MCU, the bit and the source's part that are
    next; then the last DC of each component. `blocks`: of an MCU the component, source tables (DC,
    AC), target table, and the first column and row of MCUs in which it is beyond the image.
    `ends`: by segment of the target, where in `records` it ends.
    """
    specs, shorts, longers = tables
    in_row, mcus, source_interval, interval = frame[0], frame[1], frame[2], frame[3]
    worst = 64 * interval * blocks.shape[0]
    segment, mcu, position, part = state[0], state[1], state[2], state[3]
    end = parts[part]
    before = np.zeros(4, np.int64)
    used = 0
    while mcu < mcus and records.size - used >= worst:
        before[:] = 0
        stop = min(mcu + interval, mcus)
        while mcu < stop:
            if source_interval and mcu and mcu % source_interval == 0:
                if end - position >= 8:
                    return LEFT_OVER
                position = end
                part += 1
                end = parts[part]
                state[4:] = 0
            row, column = mcu // in_row, mcu % in_row
            for block in range(blocks.shape[0]):
                component, dc, ac = blocks[block, 0], blocks[block, 1], blocks[block, 2]
                is_beyond = column >= blocks[block, 4] or row >= blocks[block, 5]

                bits = bits_at(words, position)
                entry = shorts[dc, bits >> np.uint64(64 - PEEK)]
                if entry == 0:
                    entry = find_long(bits, specs[dc], longers[dc])
                    if entry == 0:
                        return NO_CODE
                length, more = np.int64(entry >> 21) & 31, np.int64(entry >> 26)
                extra = np.int64(entry & RECORD) >> 10
                if more:
                    extra = np.int64((bits << np.uint64(length)) >> np.uint64(64 - more))
                position += length + more
                size = np.int64(entry & 255)
                if size and extra >> (size - 1) == 0:  # F.12, EXTEND
                    extra -= (1 << size) - 1
                value = state[4 + component] + extra
                state[4 + component] = value
                if is_beyond:
                    value = before[component]
                record = new_record(value - before[component])
                before[component] = value
                if record & 255 > 11 or abs(value) > 32767:
                    return LARGE
                table = blocks[block, 3]
                records[used] = record | table << 8
                used += 1

                tag = (2 + table) << 8
                first, kept, index, last = used, used, 0, 0
                bits, taken = bits_at(words, position), 0
                while index < 63:
                    if taken > 57 - 26:  # a code and its additional bits take 26 at most
                        position += taken
                        bits, taken = bits_at(words, position), 0
                    entry = shorts[ac, bits >> np.uint64(64 - PEEK)]
                    if entry == 0:
                        entry = find_long(bits, specs[ac], longers[ac])
                        if entry == 0:
                            return NO_CODE
                    length, more = np.int64(entry >> 21) & 31, np.int64(entry >> 26)
                    bits <<= np.uint64(length)
                    taken += length
                    record = np.int64(entry & np.uint32(RECORD)) | tag
                    if more:
                        record |= np.int64(bits >> np.uint64(64 - more)) << 10
                        bits <<= np.uint64(more)
                        taken += more
                    records[used] = record
                    used += 1
                    symbol = np.int64(entry & 255)
                    index += (symbol >> 4) + 1
                    if symbol & 15:
                        if index > 63:
                            return LONG_RUN
                        kept, last = used, index
                    elif symbol != 0xF0:
                        break
                position += taken
                if position > end:
                    return CUT_SHORT
                used = first if is_beyond else kept
                if is_beyond or last < 63:
                    records[used] = tag
                    used += 1
            mcu += 1
        ends[segment] = used
        segment += 1
    if mcu == mcus and (end - position >= 8 or part != parts.size - 1):
        return LEFT_OVER
    state[0], state[1], state[2], state[3] = segment, mcu, position, part
    return DONE
