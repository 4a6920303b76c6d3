"""Decodes the scan of a sequential JPEG to records (T.81, F.2.2)."""

import numpy as np

from packer.images.tiling.compiling import Array, helper, kernel
from packer.images.tiling.huffman import PEEK, TABLES, Tables, find_long, swapped
from packer.images.tiling.pairs import PAIRS, STEP_BITS, STEP_END, STEP_FURTHER

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
    return value << 16 | size


@helper
def _refilled(words: Array, byte: int, bits: int, left: int) -> tuple[int, int, int]:
    """Return where to go on, the next bits, the first one highest, and how many: 56 at least."""
    bits |= swapped(words[byte]) >> left
    return byte + ((np.uint64(63) - left) >> np.uint64(3)), bits, left | np.uint64(56)


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
    AC), target table, slot, and the first column and row of MCUs in which it is beyond the image.
    `ends`: by segment of the target, where in `records` it ends.
    """
    specs, shorts, longers, steps = tables
    in_row, mcus, source_interval, interval = frame[0], frame[1], frame[2], frame[3]
    worst = 64 * interval * blocks.shape[0]
    segment, mcu, position, part = state[0], state[1], state[2], state[3]
    peek, further_at = np.uint64(64 - PEEK), np.uint64(STEP_FURTHER)
    one, sixty_two, sixty_three = np.uint64(1), np.uint64(62), np.uint64(63)
    only_end, mask = np.uint64(STEP_END + 1), np.uint64(STEP_BITS)
    end = parts[part]
    before = np.zeros(4, np.int64)
    used = np.uint64(0)
    row, column = mcu // in_row, mcu % in_row
    byte = np.uint64(position >> 3)
    bits, left = swapped(words[byte]) << np.uint64(position & 7), np.uint64(56 - (position & 7))
    byte += np.uint64(7)
    while mcu < mcus and records.size - np.int64(used) >= worst:
        before[:] = 0
        stop = min(mcu + interval, mcus)
        while mcu < stop:
            if source_interval and mcu and mcu % source_interval == 0:
                if end - position >= 8:
                    return LEFT_OVER
                position = end
                byte, bits, left = np.uint64(position >> 3), np.uint64(0), np.uint64(0)
                part += 1
                end = parts[part]
                state[4:] = 0
            for block in range(blocks.shape[0]):
                component, dc, ac = blocks[block, 0], blocks[block, 1], blocks[block, 2]
                table = blocks[block, 3]
                is_beyond = column >= blocks[block, 5] or row >= blocks[block, 6]

                byte, bits, left = _refilled(words, byte, bits, left)
                entry = shorts[dc, bits >> peek]
                if entry == 0:
                    entry = find_long(bits, specs[dc], longers[dc])
                    if entry == 0:
                        return NO_CODE
                length, size = np.uint64(entry >> 8), np.uint64(entry & 15)
                bits <<= length
                extra = np.int64((bits >> one) >> (sixty_three - size))
                bits <<= size
                left -= length + size
                record = extra << 16 | np.int64(size)
                span = 1 << np.int64(size)
                extra -= (span - 1) * np.int64(extra < span >> 1)  # F.12, EXTEND
                predicted = state[4 + component]
                value = predicted + extra
                state[4 + component] = value
                if is_beyond:
                    value = before[component]
                if is_beyond or predicted != before[component]:
                    record = new_record(value - before[component])
                before[component] = value
                if record & 255 > 11 or abs(value) > 32767:
                    return LARGE
                records[used] = record | table << 8
                used += one

                tag = (2 + table) << 8
                zeros = np.uint32(tag | 0xF0)
                pairs = np.uint64(PAIRS + (blocks[block, 4] << PEEK))
                first, index = used, np.uint64(0)
                while True:
                    byte, bits, left = _refilled(words, byte, bits, left)
                    is_further = True
                    for _ in range(5):  # of 11 bits
                        at = pairs + (bits >> peek)
                        step = np.uint64(steps[at])
                        further = index + (step >> further_at)
                        if further >= sixty_three:
                            is_further = False
                            break
                        records[used] = at
                        used += one
                        index = further
                        bits <<= step & mask
                        left -= step & mask
                    if is_further:
                        continue
                    # To the end of the block exactly, be it a code or the last coefficient.
                    if further - only_end <= sixty_two or further == sixty_three:
                        if step >> further_at == only_end:
                            while records[used - one] == zeros:
                                used -= one
                        records[used] = at
                        used += one
                        bits <<= step & mask
                        left -= step & mask
                        lacks_end = False
                        break
                    # A symbol that a step does not have, or would have with one of the next block.
                    byte, bits, left = _refilled(words, byte, bits, left)
                    entry = shorts[ac, bits >> peek]
                    if entry == 0:
                        entry = find_long(bits, specs[ac], longers[ac])
                        if entry == 0:
                            return NO_CODE
                    length, size = np.uint64(entry >> 8), np.uint64(entry & 15)
                    bits <<= length
                    extra = np.int64((bits >> one) >> (sixty_three - size))
                    bits <<= size
                    left -= length + size
                    symbol = np.int64(entry & 255)
                    index += np.uint64((symbol >> 4) + 1)
                    records[used] = extra << 16 | tag | symbol
                    if size:
                        used += one
                        if index > sixty_three:
                            return LONG_RUN
                        lacks_end = False
                    elif symbol == 0xF0:
                        used += one
                        lacks_end = True
                    else:
                        lacks_end = True
                        break
                    if index >= sixty_three:
                        break
                position = np.int64(byte << np.uint64(3)) - np.int64(left)
                if position > end:
                    return CUT_SHORT
                if is_beyond:
                    used = first
                if is_beyond or lacks_end:
                    while records[used - one] == zeros:
                        used -= one
                    records[used] = tag
                    used += one
            mcu += 1
            column += 1
            if column == in_row:
                row, column = row + 1, 0
        ends[segment] = np.int64(used)
        segment += 1
    if mcu == mcus and (end - position >= 8 or part != parts.size - 1):
        return LEFT_OVER
    state[0], state[1], state[2], state[3] = segment, mcu, position, part
    return DONE
