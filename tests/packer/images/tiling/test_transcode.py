"""Tiling in process: the very bytes that jpegtran writes, or a refusal."""

import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
import simplejpeg
from made_images import encode, make_image, turned
from PIL import Image

from packer.errors import Untileable
from packer.images.jpeg import read_header
from packer.images.tiling import records
from packer.images.tiling import transcode as transcoding
from reader.format.tiles import TileTable

SIZES = [(1, 1), (7, 9), (8, 8), (9, 17), (33, 17), (16, 200), (200, 16), (61, 83)]
needs_jpegtran = pytest.mark.skipif(
    shutil.which("jpegtran") is None, reason="jpegtran is not installed (libjpeg-turbo-progs)"
)


def tiled(data: bytes, interval: int) -> tuple[bytes, TileTable]:
    return transcoding.transcode(data, read_header(data), interval)


def by_jpegtran(data: bytes, interval: int) -> bytes:
    command = ["jpegtran", "-copy", "all", "-optimize", "-restart", f"{interval}B"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def check_same(data: bytes, interval: int) -> None:
    """The bytes are jpegtran's, and the segments lie where they are told to."""
    made, table = tiled(data, interval)
    assert made == by_jpegtran(data, interval)
    ends = table.scan_offset + np.cumsum(table.segments + 2)
    assert ends[-1] == len(made)
    content = np.frombuffer(made, np.uint8)
    expected = [*(0xD0 + np.arange(len(ends) - 1) % 8), 0xD9]
    assert content[ends - 1].tolist() == expected
    header = read_header(made)
    assert (header.scan_offset, header.frame_offset) == (table.scan_offset, table.frame_offset)


@needs_jpegtran
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0", "4:4:0", "grey", "CMYK", "RGB"])
def test_each_sampling_gives_the_bytes_of_jpegtran(sampling: str, size: tuple[int, int]) -> None:
    mode = {"grey": "L", "CMYK": "CMYK"}.get(sampling, "RGB")
    options = {"subsampling": sampling} if ":" in sampling and sampling != "4:4:0" else {}
    for quality, optimize in ((30, False), (75, True), (100, False)):
        image = make_image(quality, *size, mode)
        if sampling == "4:4:0":
            pixels = np.ascontiguousarray(image)
            data = simplejpeg.encode_jpeg(pixels, quality, colorsubsampling="440")
        else:
            options |= {"quality": quality, "optimize": optimize, "keep_rgb": sampling == "RGB"}
            data = encode(image, "JPEG", **options)
        for interval in (1, 3):
            check_same(data, interval)


@needs_jpegtran
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0", "grey", "CMYK"])
def test_progressive_jpegs_give_the_bytes_of_jpegtran(sampling: str, size: tuple[int, int]) -> None:
    mode = {"grey": "L", "CMYK": "CMYK"}.get(sampling, "RGB")
    options = {"subsampling": sampling} if ":" in sampling else {}
    for quality, restarts in ((30, 0), (80, 5), (100, 0)):
        options |= {"restart_marker_blocks": restarts} if restarts else {}
        image = make_image(quality, *size, mode)
        check_same(encode(image, "JPEG", quality=quality, progressive=True, **options), 3)


@needs_jpegtran
def test_any_order_of_progressive_scans_gives_the_bytes_of_jpegtran(tmp_path: Path) -> None:
    scripts = [
        "0,1,2: 0-0,0,0; 0: 1-63,0,0; 1: 1-63,0,0; 2: 1-63,0,0;",
        "0: 0-0,0,2; 1,2: 0-0,0,1; 2: 1-20,0,3; 0: 1-63,0,1; 0: 1-63,1,0; 0: 0-0,2,1; 1,2: 0-0,1,0;"
        "0: 0-0,1,0; 2: 21-63,0,0; 2: 1-20,3,2; 2: 1-20,2,1; 2: 1-20,1,0; 1: 1-63,0,0;",
    ]
    data = encode(make_image(9, 61, 83), "JPEG", quality=92)
    for script in scripts:
        (tmp_path / "scans").write_text(script)
        command = ["jpegtran", "-scans", str(tmp_path / "scans")]
        made = subprocess.run(command, input=data, capture_output=True, check=True).stdout
        assert read_header(made).process == 0xC2
        check_same(made, 3)


def test_a_progressive_jpeg_without_its_last_scans_is_refused() -> None:
    data = encode(make_image(9, 61, 83), "JPEG", progressive=True)
    scans = data.split(b"\xff\xda")
    for count in range(2, len(scans)):
        with pytest.raises(Untileable, match="lacks some of its scans"):
            tiled(b"\xff\xda".join(scans[:count]).rpartition(b"\xff\xc4")[0] + b"\xff\xd9", 2)
    with pytest.raises(Untileable, match="do not follow each other"):
        tiled(b"\xff\xda".join([*scans[:2], *scans[3:]]), 2)


@pytest.fixture(scope="module")
def with_metadata() -> dict[str, bytes]:
    """JPEGs with other segments than those that every one has."""
    image = make_image(4)
    exif = turned(6)
    plain = encode(image, "JPEG")
    cmyk = encode(image.convert("CMYK"), "JPEG")
    ids = encode(image, "JPEG", keep_rgb=True)
    first, rest = plain[:2], plain[20:]  # around its JFIF segment
    app1 = segment(0xE1, b"Exif\0\0" + exif.tobytes())
    return {
        "EXIF, ICC and a comment": encode(
            image, "JPEG", exif=exif, icc_profile=bytes(70_000), comment=b"heron"
        ),
        "EXIF first": first + app1 + rest,
        "EXIF before JFIF": first + app1 + plain[2:],
        "no metadata": first + rest,
        "JFIF with a density and a thumbnail": first
        + segment(0xE0, b"JFIF\0\1\2\1\0\x48\0\x48\1\1abc")
        + rest,
        "JFIF cut short": first + segment(0xE0, b"JFIF\0\1") + rest,
        "JFIF twice": plain[:20] + segment(0xE0, b"JFIF\0\1\2\2\0\1\0\1\0\0") + rest,
        "Adobe's marker, transform 1": first + adobe(1) + rest,
        "Adobe's marker, transform 0": first + adobe(0) + rest,
        "Adobe's marker behind JFIF": plain[:20] + adobe(0) + rest,
        "every kind of application data": first
        + b"".join(segment(0xE0 + n, bytes([n] * n)) for n in range(16))
        + rest,
        "a comment behind the frame": before(plain, 0xC4, segment(0xFE, b"")),
        "CMYK": cmyk,
        "CMYK without Adobe's marker": without(cmyk, 0xEE),
        "YCCK": without(cmyk, 0xEE)[:2] + adobe(2) + without(cmyk, 0xEE)[2:],
        "RGB without Adobe's marker": without(ids, 0xEE),
        "fill bytes before a marker": before(plain, 0xC0, b"\xff" * 5),
        "bytes behind EOI": plain + b"appended by a camera",
        "an unused quantisation table": before(plain, 0xC0, segment(0xDB, b"\3" + bytes(64))),
        "a quantisation table of 16 bits": wide_table(plain),
        "Huffman tables in one segment": one_segment(plain, 0xC4),
        "quantisation tables in one segment": one_segment(plain, 0xDB),
        "a restart interval of 0": before(plain, 0xDA, segment(0xDD, b"\0\0")),
        "SOF1": plain.replace(b"\xff\xc0", b"\xff\xc1", 1),
        "grey with sampling 2x2": encode(image.convert("L"), "JPEG").replace(
            b"\1\1\x11\0", b"\1\1\x22\0", 1
        ),
    }


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def adobe(transform: int) -> bytes:
    return segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def spans(data: bytes, marker: int) -> list[tuple[int, int]]:
    """Where the segments of this marker begin and end."""
    return [(at - 2, end) for found, at, end in read_header(data).segments if found == marker]


def before(data: bytes, marker: int, new: bytes) -> bytes:
    at = spans(data, marker)[0][0]
    return data[:at] + new + data[at:]


def without(data: bytes, marker: int) -> bytes:
    for begin, end in reversed(spans(data, marker)):
        data = data[:begin] + data[end:]
    return data


def one_segment(data: bytes, marker: int) -> bytes:
    found = spans(data, marker)
    whole = segment(marker, b"".join(data[begin + 4 : end] for begin, end in found))
    rest = without(data, marker)
    return rest[: found[0][0]] + whole + rest[found[0][0] :]


def wide_table(data: bytes) -> bytes:
    begin, end = spans(data, 0xDB)[0]
    values = [value + 250 for value in data[begin + 5 : end]]
    table = segment(0xDB, b"\x10" + struct.pack(">64H", *values))
    return (data[:begin] + table + data[end:]).replace(b"\xff\xc0", b"\xff\xc1", 1)


@needs_jpegtran
def test_other_segments_are_kept_as_jpegtran_keeps_them(with_metadata: dict[str, bytes]) -> None:
    for name, data in with_metadata.items():
        made, _ = tiled(data, 2)
        assert made == by_jpegtran(data, 2), name
        assert np.array_equal(decoded(made), decoded(data)), name


def decoded(data: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)


@needs_jpegtran
def test_codes_of_16_bits_are_read_and_written() -> None:
    rng = np.random.default_rng(0)
    pixels = np.full((512, 512), 128.0)
    for power in range(14):  # ever rarer, ever larger
        rows, columns = rng.integers(0, 512, (2, 1 << (17 - power)))
        pixels[rows, columns] += rng.normal(0, 1.5**power, len(rows))
    image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    for optimize in (False, True):
        data = encode(image, "JPEG", quality=100, optimize=optimize)
        check_same(data, 4)
    counts = [data[begin + 5 : begin + 21] for begin, _ in spans(data, 0xC4)]
    assert any(count[15] for count in counts)


@needs_jpegtran
def test_what_does_not_fit_into_memory_is_decoded_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    image = make_image(5, 200, 300)
    monkeypatch.setattr(records, "_MOST_RECORDS", 3000)
    for progressive in (False, True):
        check_same(encode(image, "JPEG", quality=95, progressive=progressive), 2)


def cases_of_damage(data: bytes) -> Iterator[tuple[str, bytes]]:
    scan = read_header(data).scan_offset
    yield "the end of the image", data[: len(data) // 2]
    yield "too early", data[: len(data) // 2] + b"\xff\xd9"
    yield "belong to nothing", data[:-2] + bytes(40) + b"\xff\xd9"
    yield "the end of the image", data[: scan + 50] + b"\xff\xc8" + data[scan + 50 :]
    yield "restart markers", data[: scan + 50] + b"\xff\xd0" + data[scan + 50 :]
    yield "quantisation table", without(data, 0xDB)
    yield "Huffman table", without(data, 0xC4)
    yield "neither sequential nor progressive", data.replace(b"\xff\xc0", b"\xff\xc9", 1)
    yield "in its order", data.replace(b"\3\1\0\2\x11\3\x11\0\x3f\0", b"\3\1\0\3\x11\2\x11\0\x3f\0")
    yield "not a marker", data[:-2] + b"\xff\xdd\0\4\0\0\xff"  # a table, and half a marker
    yield "no possible size", sized(data, 0, 80)
    yield "too early", sized(data, 65_500, 65_500)
    yield "no possible size", sized(data, 65_501, 1)


def sized(data: bytes, height: int, width: int) -> bytes:
    at = read_header(data).frame_offset
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]


def test_damage_is_named() -> None:
    data = encode(make_image(6), "JPEG")
    for reason, damaged in cases_of_damage(data):
        with pytest.raises(Untileable, match=reason):
            tiled(damaged, 2)


def test_a_header_that_lies_takes_no_memory() -> None:
    lie = sized(encode(make_image(7), "JPEG"), 65_500, 65_500)
    tracemalloc.start()
    try:
        with pytest.raises(Untileable, match="too early"):
            tiled(lie, 1)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
