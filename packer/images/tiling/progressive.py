"""Decodes the scans of a progressive JPEG to coefficients, and these to records (T.81, annex G)."""

import numpy as np

from packer.images.tiling import sequential
from packer.images.tiling.compiling import Array, helper, kernel
from packer.images.tiling.huffman import PEEK, TABLES, Tables, bits_at, find_long


@helper
def _bit(words: Array, position: int) -> int:
    return np.int64(words[position >> 3] >> np.uint64(7 - (position & 7))) & 1


@helper
def _number(words: Array, position: int, size: int) -> int:
    """Return the next `size` bits, 16 at most."""
    return np.int64((bits_at(words, position) >> np.uint64(1)) >> np.uint64(63 - size))


@helper
def _symbol(words: Array, position: int, table: int, tables: Tables) -> tuple[int, int]:
    """Return the next symbol, -1 where there is none; and where its additional bits begin."""
    specs, shorts, longers, _ = tables
    bits = bits_at(words, position)
    entry = shorts[table, bits >> np.uint64(64 - PEEK)]
    if entry == 0:
        entry = find_long(bits, specs[table], longers[table])
        if entry == 0:
            return -1, position
    return np.int64(entry & 255), position + np.int64(entry >> 8)


@helper
def _extended(bits: int, size: int) -> int:
    return bits - (1 << size) + 1 if size and bits >> (size - 1) == 0 else bits


@helper
def _first_pass(
    words: Array, position: int, run: int, band: Array, table: int, tables: Tables, block: Array
) -> tuple[int, int, int]:
    """AC coefficients for the first time (G.1.2.2): fault, position, and blocks that stay empty."""
    if run:
        return sequential.DONE, position, run - 1
    at, last, low = band[0], band[1], band[3]
    while at <= last:
        symbol, position = _symbol(words, position, table, tables)
        if symbol < 0:
            return sequential.NO_CODE, position, run
        zeros, size = symbol >> 4, symbol & 15
        if size:
            at += zeros
            if at > last:
                return sequential.LONG_RUN, position, run
            block[at] = _extended(_number(words, position, size), size) << low
            position += size
            at += 1
        elif zeros == 15:
            at += 16
        else:
            run = (1 << zeros) - 1 + _number(words, position, zeros)
            position += zeros
            break
    return sequential.DONE, position, run


@helper
def _later_pass(
    words: Array, position: int, run: int, band: Array, table: int, tables: Tables, block: Array
) -> tuple[int, int, int]:
    """One bit more of AC coefficients (G.1.2.3): as `_first_pass`."""
    at, last, bit = band[0], band[1], 1 << band[3]
    while at <= last:
        new, zeros = 0, 64  # of a block that gets no new coefficient, all that are left
        if not run:
            symbol, position = _symbol(words, position, table, tables)
            if symbol < 0 or symbol & 15 > 1:
                return sequential.NO_CODE, position, run
            zeros = symbol >> 4
            if symbol & 15:
                new = bit if _bit(words, position) else -bit
                position += 1
            elif zeros < 15:
                run = (1 << zeros) + _number(words, position, zeros)
                position += zeros
                zeros = 64
        while at <= last:
            value = np.int64(block[at])
            if value:
                if _bit(words, position) and not abs(value) & bit:
                    block[at] = value + (bit if value > 0 else -bit)
                position += 1
            elif zeros:
                zeros -= 1
            else:
                break
            at += 1
        if new:
            if at > last:
                return sequential.LONG_RUN, position, run
            block[at] = new
        at += 1
    return sequential.DONE, position, max(run - 1, 0)


@kernel(
    f"int64(uint64[:], int64[::1], int64[::1], int64[::1], int64[:, ::1], {TABLES}, int16[:, ::1])"
)
def decode_scan(
    words: Array, parts: Array, frame: Array, band: Array, places: Array, tables: Tables, out: Array
) -> int:
    """Decode one scan, into what the scans before it have left in `out`: a fault or `DONE`.

    `frame`: MCUs in a row, MCUs, the restart interval (or 0). `band`: first and last coefficient,
    approximation's high and low. `places`: of each block of an MCU the component, tables (DC, AC),
    the first MCU's block, and how far the next one's is in the row and in the column. `out`: 64
    coefficients of each block, in zigzag order. Others are those of `sequential.decode`.
    """
    in_row, mcus, interval = frame[0], frame[1], frame[2]
    high, low = band[2], band[3]
    before = np.zeros(4, np.int64)
    # No literal, for which the passes would be compiled twice.
    position, part, run, fault = np.int64(0), 0, np.int64(0), sequential.DONE
    for mcu in range(mcus):
        if interval and mcu and mcu % interval == 0:
            if parts[part] - position >= 8:
                return sequential.LEFT_OVER
            position = parts[part]
            part += 1
            run = np.int64(0)
            before[:] = 0
        row, column = mcu // in_row, mcu % in_row
        for place in range(places.shape[0]):
            component, dc, ac = places[place, 0], places[place, 1], places[place, 2]
            number = places[place, 3] + column * places[place, 4] + row * places[place, 5]
            block = out[number]
            if band[0] and high:
                fault, position, run = _later_pass(words, position, run, band, ac, tables, block)
            elif band[0]:
                fault, position, run = _first_pass(words, position, run, band, ac, tables, block)
            elif high:
                block[0] |= _bit(words, position) << low
                position += 1
            else:
                size, position = _symbol(words, position, dc, tables)
                if size < 0:
                    return sequential.NO_CODE
                before[component] += _extended(_number(words, position, size), size)
                position += size
                if abs(before[component]) << low > 32767:
                    return sequential.LARGE
                block[0] = before[component] << low
            if fault != sequential.DONE:
                return fault
            if position > parts[part]:
                return sequential.CUT_SHORT
    return sequential.LEFT_OVER if parts[part] - position >= 8 else sequential.DONE


@kernel("int64(int64[::1], int64[:, ::1], int16[:, ::1], int64[::1], uint32[::1], int64[::1])")
def to_records(
    frame: Array, blocks: Array, coefficients: Array, state: Array, records: Array, ends: Array
) -> int:
    """Make records of whole segments of the target, as `sequential.decode` does.

    `frame`: MCUs in a row, MCUs, and the target's restart interval. `state`: the segment and the
    MCU that are next. `blocks`: of an MCU the component, target table, first column and row beyond
    the image, and where it is, as the `places` of `decode_scan`.
    """
    in_row, mcus, interval = frame[0], frame[1], frame[2]
    segment, mcu = state[0], state[1]
    before = np.zeros(4, np.int64)
    used = 0
    while mcu < mcus and records.size - used >= 64 * interval * blocks.shape[0]:
        before[:] = 0
        stop = min(mcu + interval, mcus)
        while mcu < stop:
            row, column = mcu // in_row, mcu % in_row
            for at in range(blocks.shape[0]):
                component, table = blocks[at, 0], blocks[at, 1]
                tag = (2 + table) << 8
                if column >= blocks[at, 2] or row >= blocks[at, 3]:
                    records[used], records[used + 1] = table << 8, tag
                    used += 2
                    continue
                number = blocks[at, 4] + column * blocks[at, 5] + row * blocks[at, 6]
                value = np.int64(coefficients[number, 0])
                record = sequential.new_record(value - before[component])
                before[component] = value
                if record & 255 > 11:
                    return sequential.LARGE
                records[used] = record | table << 8
                used += 1
                zeros = 0
                for k in range(1, 64):
                    value = np.int64(coefficients[number, k])
                    if value == 0:
                        zeros += 1
                        continue
                    while zeros > 15:
                        records[used] = 0xF0 | tag
                        used += 1
                        zeros -= 16
                    record = sequential.new_record(value)
                    if record & 255 > 10:
                        return sequential.LARGE
                    records[used] = record | zeros << 4 | tag
                    used += 1
                    zeros = 0
                if zeros:
                    records[used] = tag
                    used += 1
            mcu += 1
        ends[segment] = used
        segment += 1
    state[0], state[1] = segment, mcu
    return sequential.DONE
