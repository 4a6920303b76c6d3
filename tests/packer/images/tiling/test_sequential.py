"""Scans of any codes and coefficients: as jpegtran reads them, or a refusal."""

import random
import shutil
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import Untileable
from packer.images.jpeg import read_header
from packer.images.tiling.transcode import transcode

END, ZEROS = 0x00, 0xF0
DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [run << 4 | size for run in range(16) for size in range(1, 11)]
SAMPLINGS = [
    *([(1, 1)], [(2, 2)], [(1, 1)] * 3, [(2, 2), (1, 1), (1, 1)], [(4, 1), (1, 1), (2, 1)]),
    *([(1, 2), (1, 1), (1, 1)], [(1, 1), (2, 2), (2, 2)], [(3, 1), (1, 1), (1, 1)]),
    *([(4, 2), (1, 1), (1, 1)], [(1, 4), (1, 1), (1, 2)]),
]


@st.composite
def randoms(draw: st.DrawFn) -> random.Random:
    return random.Random(draw(st.integers(0, 1 << 32)))


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def code_of(symbols: list[int], rng: random.Random) -> tuple[bytes, dict[int, str]]:
    """A table's content, and its codes: some shapes have short ones, others many of 16 bits."""
    lengths = [1, 1]
    depth = rng.choice([0.0, 0.5, 0.9])  # how often the longest code is lengthened
    while len(lengths) <= len(symbols):  # the last code, all ones, is nobody's
        at = len(lengths) - 1 if rng.random() < depth else rng.randrange(len(lengths))
        if lengths[at] < 16:
            lengths[at] += 1
            lengths.append(lengths[at])
        lengths.sort()
    rng.shuffle(symbols)
    codes, code = {}, 0
    for number, symbol in enumerate(symbols):
        codes[symbol] = f"{code:0{lengths[number]}b}"
        code = (code + 1) << (lengths[number + 1] - lengths[number])
    counts = [lengths[: len(symbols)].count(length) for length in range(1, 17)]
    return bytes([*counts, *symbols]), codes


def magnitude(size: int, rng: random.Random) -> str:
    """Additional bits of this size: often all ones or all zeros, the largest coefficients."""
    ones = (1 << size) - 1
    return f"{rng.choice([0, ones, rng.randint(0, ones)]):0{size}b}" if size else ""


def block_of(codes: dict[int, str], rng: random.Random) -> str:
    """The bits of a block's AC coefficients."""
    bits, index, stop = "", 0, rng.choice([0, 2, 20, 64])
    while index < 63:
        symbol = rng.choice(list(codes)) if index < stop else END
        size = symbol & 15
        if size and index + (symbol >> 4) >= 63:
            continue
        bits += codes[symbol] + magnitude(size, rng)
        if size == 0 and symbol != ZEROS:
            break
        index += (symbol >> 4) + 1
    return bits


def random_jpeg(rng: random.Random) -> bytes:
    """A small JPEG of random codes and coefficients, with restart markers or without."""
    factors = rng.choice(SAMPLINGS)
    specs, dc_codes, ac_codes = [], [], []
    for number in range(2):
        few = rng.sample(AC_SYMBOLS, rng.choice([1, 5, 30, len(AC_SYMBOLS)]))
        odd = [0x30] * rng.randint(0, 1)  # which ends a block, too
        for kind, symbols, into in (
            (0x00, DC_SYMBOLS.copy(), dc_codes),
            (0x10, [END, ZEROS, *odd, *few], ac_codes),
        ):
            spec, codes = code_of(symbols, rng)
            specs.append(bytes([kind | number]) + spec)
            into.append(codes)
    tables = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in factors]
    across, down = (max(column) for column in zip(*factors, strict=True))
    width, height = rng.randint(1, 40), rng.randint(1, 40)
    if len(factors) == 1:
        columns, rows, in_mcu = -(-width // 8), -(-height // 8), [1]
    else:
        columns, rows = -(-width // (8 * across)), -(-height // (8 * down))
        in_mcu = [x * y for x, y in factors]
    interval = rng.choice([0, 0, 1, 3])
    scan, bits, before = b"", "", [0] * len(factors)
    for mcu in range(columns * rows):
        if interval and mcu and mcu % interval == 0:
            scan += stuffed(bits) + bytes([0xFF, 0xD0 + (mcu // interval - 1) % 8])
            bits, before = "", [0] * len(factors)
        for place, (dc, ac) in enumerate(tables):
            for _ in range(in_mcu[place]):
                value = rng.choice([before[place], -1023, 1023, rng.randint(-1023, 1023)])
                change, before[place] = value - before[place], value
                size = abs(change).bit_length()
                bits += dc_codes[dc][size]
                bits += f"{change + (change < 0) * ((1 << size) - 1):0{size}b}" if size else ""
                bits += block_of(ac_codes[ac], rng)
    return jpeg_of((width, height), factors, tables, specs, interval, scan + stuffed(bits))


def jpeg_of(
    size: tuple[int, int],
    factors: list[tuple[int, int]],
    tables: list[tuple[int, int]],
    specs: list[bytes],
    interval: int,
    scan: bytes,
) -> bytes:
    """A JPEG whose components have these sampling factors and tables (DC, AC)."""
    count = bytes([len(factors)])
    frame = [bytes([1 + n, x << 4 | y, 0]) for n, (x, y) in enumerate(factors)]
    chosen = [bytes([1 + n, dc << 4 | ac]) for n, (dc, ac) in enumerate(tables)]
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xDB, b"\0" + bytes([1] * 64)),
            segment(0xC0, struct.pack(">BHH", 8, *size[::-1]) + count + b"".join(frame)),
            *(segment(0xC4, spec) for spec in specs),
            segment(0xDD, interval.to_bytes(2, "big")),
            segment(0xDA, count + b"".join(chosen) + b"\0\x3f\0"),
            scan,
            b"\xff\xd9",
        ]
    )


def stuffed(bits: str) -> bytes:
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")


@pytest.mark.skipif(
    shutil.which("jpegtran") is None, reason="jpegtran is not installed (libjpeg-turbo-progs)"
)
@given(randoms())
def test_any_codes_and_coefficients_give_the_bytes_of_jpegtran(rng: random.Random) -> None:
    data, interval = random_jpeg(rng), rng.randint(1, 9)
    command = ["jpegtran", "-copy", "all", "-optimize", "-restart", f"{interval}B"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert not done.stderr
    assert transcode(data, read_header(data), interval)[0] == done.stdout


@given(randoms())
def test_a_scan_that_is_cut_anywhere_is_refused(rng: random.Random) -> None:
    data = random_jpeg(rng)
    end = rng.randrange(read_header(data).scan_offset, len(data) - 2)
    cut = data[:end].rstrip(b"\xff") + b"\xff\xd9"
    with pytest.raises(Untileable):
        transcode(cut, read_header(cut), 2)


def test_what_no_decoder_may_accept_is_named() -> None:
    dc = b"\x00" + bytes([1, 1, *[0] * 14, 0, 11])  # codes 0 and 10
    ac = b"\x10" + bytes([0, 3, *[0] * 14, END, 0xF1, 0x31])  # codes 00, 01 and 10
    run, short = "011", "101"  # 16 and 4 coefficients
    cases = [
        ("more than 64 coefficients", "0" + run * 4),
        ("more than 64 coefficients", "0" + run * 3 + short * 4),
        ("more than 64 coefficients", "0" + short * 16),
        ("a code that is in no table", "0" + short + "11"),
        ("a code that is in no table", "11"),
        ("a coefficient is too large", ("10" + "1" * 11 + "00") * 20),
        ("ends too early", ("0" + short * 15 + "00") * 5),
        ("bytes that belong to nothing", "000" * 20 + "1" * 16),
    ]
    for reason, bits in cases:
        data = jpeg_of((160, 8), [(1, 1)], [(0, 0)], [dc, ac], 0, stuffed(bits.ljust(80, "0")))
        with pytest.raises(Untileable, match=reason):
            transcode(data, read_header(data), 20)
