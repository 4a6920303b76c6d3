"""Records of symbols, and of pairs of them: what a scan is decoded to, counted and written from.

A *record* is ``bits << 16 | index``. Below `PAIRS` the index is ``table << 8 | symbol``, where
`table` is 0 or 1 for DC, and 2 or 3 for AC; `bits` are the symbol's additional bits (T.81, F.1.2).

From `PAIRS` on a record has the next `PEEK` bits of the source as they are. They begin with one or
two AC symbols and their additional bits, and the index is ``PAIRS + (slot << PEEK) + bits``, with
nothing above it. A *slot* is an AC table of the source with one of the target.

A *step* describes such an index: how many bits its symbols take, the first symbol and the second
one, and the coefficients that they lead further. No symbol of it is a run of 16 zeros, which is not
written before the end of a block, or one that libjpeg would not write.
"""

import numpy as np

from packer.images.tiling.compiling import Array, kernel
from packer.images.tiling.huffman import PEEK

PAIRS = 1024
STEP_BITS = 63  # mask of the bits that its symbols take; a shift by those needs none
STEP_FURTHER = 23  # from this bit on, how many coefficients further it leads, or more if it is:
STEP_END = 128  # one whose last symbol is the end of the block
STEP_NONE = 256  # of bits that do not begin with a symbol that it may have
_FIRST, _SECOND, _HAS_SECOND = 6, 14, 1 << 22

Pairs = tuple[Array, Array, Array]  # lookups by table, steps by index, AC tables by slot
NO_PAIRS = np.empty((0, 0), np.uint16), np.empty(PAIRS, np.uint32), np.empty((0, 2), np.int64)


@kernel("void(uint16[::1], uint32[::1])")
def build_steps(short: Array, steps: Array) -> None:
    """Fill the steps of an AC table from its lookup."""
    mask = (1 << PEEK) - 1
    for bits in range(1 << PEEK):
        entry = np.int64(short[bits])
        symbol = entry & 255
        size = symbol & 15
        length = (entry >> 8) + size
        # Runs of 16 zeros may have to be taken back, and odd ends of a block become usual ones.
        if entry == 0 or length > PEEK or (size == 0 and symbol):
            steps[bits] = STEP_NONE << STEP_FURTHER
            continue
        further = (symbol >> 4) + 1
        step = symbol << _FIRST
        if symbol == 0:
            further += STEP_END
        else:
            entry = np.int64(short[bits << length & mask])
            symbol = entry & 255
            size = symbol & 15
            both = length + (entry >> 8) + size
            if entry and both <= PEEK and (size or symbol == 0):
                length = both
                further += (symbol >> 4) + 1 if symbol else 1 + STEP_END
                step |= symbol << _SECOND | _HAS_SECOND
        steps[bits] = further << STEP_FURTHER | step | length


@kernel("void(uint32[::1], int64, uint32[::1], int64[:, ::1], int64[::1])")
def count(records: Array, used: int, steps: Array, slots: Array, histogram: Array) -> None:
    """Add to the histogram of tables and symbols, `PAIRS` numbers; `slots`: AC tables."""
    counts = np.zeros(steps.size, np.uint32)
    for record in records[:used]:
        counts[np.uint64(record & np.uint32(0xFFFF))] += np.uint32(1)
    for index in range(PAIRS):
        histogram[index] += np.int64(counts[index])
    for index in range(PAIRS, steps.size):
        times, step = np.int64(counts[index]), np.int64(steps[index])
        if times:
            table = (2 + slots[(index - PAIRS) >> PEEK, 1]) << 8
            histogram[table | step >> _FIRST & 255] += times
            if step & _HAS_SECOND:
                histogram[table | step >> _SECOND & 255] += times


@kernel("void(uint16[:, ::1], uint32[::1], int64[:, ::1], uint64[::1])")
def pair_codes(shorts: Array, steps: Array, slots: Array, codes: Array) -> None:
    """Fill the codes of records from `PAIRS` on: of their symbols, with their additional bits."""
    top, low = np.uint64(58), np.uint64((1 << 58) - 1)
    for index in range(PAIRS, steps.size):
        step = np.int64(steps[index])
        if step >> STEP_FURTHER == STEP_NONE:
            continue
        slot, bits = (index - PAIRS) >> PEEK, (index - PAIRS) & (1 << PEEK) - 1
        table = (2 + slots[slot, 1]) << 8
        size = step >> _FIRST & 15
        used = np.int64(shorts[slots[slot, 0], bits] >> 8) + size
        extra = bits >> (PEEK - used) & (1 << size) - 1
        code = codes[table | step >> _FIRST & 255] | np.uint64(extra)
        if step & _HAS_SECOND:
            size = step >> _SECOND & 15
            extra = bits >> (PEEK - (step & STEP_BITS)) & (1 << size) - 1
            other = codes[table | step >> _SECOND & 255] | np.uint64(extra)
            length = other >> top
            code = ((code >> top) + length) << top | (code & low) << length | other & low
        codes[index] = code
