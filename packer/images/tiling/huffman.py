"""A scan's bits (T.81, B.1.1.5), and Huffman tables (C.2, F.2.2.3), libjpeg's optimal ones (K.2).

A table's *spec* is what a DHT segment has of it: 16 counts of codes by length, then the symbols.
A lookup's *entry* is ``length << 8 | symbol`` of the code that the next bits begin with, 0 if there
is none.
"""

import numpy as np

from packer.images.tiling.compiling import Array, helper, kernel

PADDING = 256  # zeros behind a scan: more than a block takes
PEEK = 11  # bits that are looked up at once
# Specs and their lookups, by table; and the steps of `pairs`.
TABLES = "Tuple((uint8[:, ::1], uint16[:, ::1], int64[:, :, ::1], uint32[::1]))"
Tables = tuple[Array, Array, Array, Array]
DC_BITS, AC_BITS = 11, 10  # additional bits of a symbol, at most (T.81, tables F.1 and F.2)


@kernel("boolean(uint8[::1], int64, uint16[::1], int64[:, ::1])")
def build_lookup(spec: Array, most: int, short: Array, longer: Array) -> bool:
    """Fill the lookups of a table; return whether its counts make a code (T.81, C.2).

    Symbols have `most` additional bits. `short` has an entry for each value of `PEEK` bits, 0 where
    the code is longer; `longer` by length the first code, the first one beyond, and the distance
    from a code to its symbol in `spec`; the row 0 has `most`.
    """
    for at in range(16, spec.size if most == DC_BITS else 0):
        if spec[at] > 15:
            return False
    code, at, end = 0, 16, 0
    longer[0, 0] = most
    for length in range(1, 17):
        count = np.int64(spec[length - 1])
        if count and (code + count >= 1 << length or at + count > spec.size):
            return False  # all ones is not a code
        longer[length, 0], longer[length, 1], longer[length, 2] = code, code + count, at - code
        for number in range(count if length <= PEEK else 0):
            symbol = np.int64(spec[at + number])
            begin, end = end, end + (1 << (PEEK - length))
            short[begin:end] = length << 8 | symbol if symbol & 15 <= most else 0
        code, at = code + count << 1, at + count
    short[end:] = 0
    return at == spec.size


@helper
def find_long(bits: int, spec: Array, longer: Array) -> int:
    """Return the entry of a code that is longer than `PEEK`; 0 if it is none."""
    for length in range(PEEK + 1, 17):
        code = np.int64(bits >> np.uint64(64 - length))
        if longer[length, 0] <= code < longer[length, 1]:
            symbol = np.int64(spec[code + longer[length, 2]])
            if symbol & 15 > longer[0, 0]:
                return np.uint16(0)
            return np.uint16(length << 8 | symbol)
    return np.uint16(0)


@helper
def _code_lengths(counts: Array) -> Array:
    """By symbol; the symbol 256 is there to get the last code (figures K.1 and K.2)."""
    weights, symbols = np.empty(257, np.int64), np.empty(257, np.int64)
    left = 0
    for symbol in range(257):
        weight = counts[symbol] if symbol < 256 else np.int64(1)
        if weight:
            weights[left], symbols[left] = weight, symbol
            left += 1
    lengths, following = np.zeros(257, np.int64), np.zeros(257, np.int64)
    for symbol in range(257):
        following[symbol] = -1
    while left > 1:
        least, second = -1, -1
        for i in range(left):
            if least < 0 or weights[i] <= weights[least]:
                least, second = i, least
            elif second < 0 or weights[i] <= weights[second]:
                second = i
        one, other = symbols[least], symbols[second]
        weights[least] += weights[second]
        for i in range(second, left - 1):
            weights[i], symbols[i] = weights[i + 1], symbols[i + 1]
        left -= 1
        lengths[one] += 1
        while following[one] >= 0:
            one = following[one]
            lengths[one] += 1
        following[one] = other
        while other >= 0:
            lengths[other] += 1
            other = following[other]
    return lengths


@kernel("int64(int64[::1], uint8[::1])")
def optimal(counts: Array, spec: Array) -> int:
    """Make the table that libjpeg makes of 256 symbols' counts (T.81, K.2, figures K.1 to K.4).

    The larger symbol is first if counts are equal. Returns how many numbers of `spec` are used; 0
    where a code would take more than 32 bits.
    """
    lengths = _code_lengths(counts)
    by_length = np.zeros(33, np.int64)
    for symbol in range(257):
        if lengths[symbol] > 32:
            return 0
        if lengths[symbol]:
            by_length[lengths[symbol]] += 1
    for length in range(32, 16, -1):  # figure K.3
        while by_length[length] > 0:
            shorter = length - 2
            while by_length[shorter] == 0:
                shorter -= 1
            by_length[length] -= 2
            by_length[length - 1] += 1
            by_length[shorter + 1] += 2
            by_length[shorter] -= 1
    length = 16
    while by_length[length] == 0:
        length -= 1
    by_length[length] -= 1  # the symbol 256, which keeps all ones from being a code
    for length in range(16):
        spec[length] = by_length[length + 1]
    end = 16
    for length in range(1, 33):  # figure K.4
        for symbol in range(256):
            if lengths[symbol] == length:
                spec[end] = symbol
                end += 1
    return end


@kernel("void(uint8[::1], uint64[::1])")
def assign_codes(spec: Array, codes: Array) -> None:
    """A table's codes by symbol: moved up by the additional bits; from bit 58 on, bits of both."""
    code, at = 0, 16
    for length in range(1, 17):
        for _ in range(spec[length - 1]):
            symbol = np.int64(spec[at])
            codes[symbol] = np.uint64(length + (symbol & 15)) << np.uint64(58) | np.uint64(
                code << (symbol & 15)
            )
            code += 1
            at += 1
        code <<= 1


@kernel("int64(uint8[::1], uint64[:], int64, int64[::1])")
def unstuff(content: Array, words: Array, size: int, ends: Array) -> int:
    """Take stuffing and markers out of `content`, in place, and fill the rest with zeros.

    `content` is a scan, `size` bytes, and `PADDING`; `words` the 8 bytes from each of them on.
    Fills `ends`, the bit at which each part between two markers ends; returns how many parts there
    are, 0 in a scan that is not as it should be.
    """
    ones, tops = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    at, to, part = 0, 0, 0
    while at < size:
        word = words[at]
        if at + 8 <= size and not (~word - ones) & word & tops:  # no byte 0xFF
            words[to] = word
            at += 8
            to += 8
            continue
        byte = content[at]
        if byte != 0xFF:
            content[to] = byte
            at += 1
            to += 1
            continue
        following = content[at + 1]
        at += 2
        if following == 0 and at <= size:
            content[to] = byte
            to += 1
        elif following == 0xD0 + part % 8 and part + 1 < ends.size:
            ends[part] = 8 * to
            part += 1
        else:
            return 0
    content[to:] = 0
    ends[part] = 8 * to
    return part + 1


@helper
def swapped(word: int) -> int:
    """Its 8 bytes in reverse order."""
    one, two, four = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF), np.uint64(32)
    word = (word & one) << np.uint64(8) | (word >> np.uint64(8)) & one
    word = (word & two) << np.uint64(16) | (word >> np.uint64(16)) & two
    return word << four | word >> four


@helper
def bits_at(words: Array, position: int) -> int:
    """The bits from `position` on, the first one highest: 57 at least, with zeros behind them."""
    return swapped(words[position >> 3]) << np.uint64(position & 7)


def words_at(content: Array) -> Array:
    """Return the 8 bytes from each byte on that as many follow, as numbers; a view."""
    return np.ndarray((len(content) - 7,), np.uint64, content, strides=(1,))
