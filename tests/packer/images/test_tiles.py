"""Tiling: lossless for every kind of JPEG, and refused by name where it is not possible."""

import io

import numpy as np
import pytest
import simplejpeg
from hypothesis import given
from hypothesis import strategies as st
from made_images import make_image
from PIL import Image

from packer.errors import Untileable
from packer.images import jpegtran, tiles, tiling
from packer.images.jpeg import read_header
from reader.format.jpeg import mcu_size
from reader.format.tiles import MAX_SEGMENTS

SIZES = [(1, 1), (7, 9), (8, 8), (17, 33), (4001, 3), (3, 4001), (64, 376), (65, 304)]
SAMPLINGS = ["4:4:4", "4:2:2", "4:2:0", "grey"]


def jpeg(image: Image.Image, sampling: str = "4:2:0", **options: object) -> bytes:
    file = io.BytesIO()
    if sampling == "grey":
        image.convert("L").save(file, "JPEG", **options)
    else:
        image.save(file, "JPEG", subsampling=sampling, **options)
    return file.getvalue()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_tiled_jpeg_decodes_to_the_same_pixels(size: tuple[int, int], sampling: str) -> None:
    original = jpeg(make_image(1, *size), sampling)
    tiled, table = tiles.tile(original, read_header(original))
    assert np.array_equal(simplejpeg.decode_jpeg(original), simplejpeg.decode_jpeg(tiled))
    assert table.scan_offset + int((table.segments + 2).sum()) == len(tiled)


def test_a_progressive_jpeg_becomes_sequential() -> None:
    original = jpeg(make_image(2, 200, 300), progressive=True)
    tiled, _ = tiles.tile(original, read_header(original))
    assert read_header(original).process == 0xC2
    assert read_header(tiled).process == 0xC0
    assert np.array_equal(simplejpeg.decode_jpeg(original), simplejpeg.decode_jpeg(tiled))


def test_metadata_survives_tiling() -> None:
    exif = Image.Exif()
    exif[0x010E] = "a heron"
    original = jpeg(make_image(3), exif=exif, icc_profile=b"not a real profile", comment=b"hello")
    tiled, _ = tiles.tile(original, read_header(original))
    with Image.open(io.BytesIO(tiled)) as image:
        assert image.getexif()[0x010E] == "a heron"
        assert image.info["icc_profile"] == b"not a real profile"
        assert image.info["comment"] == b"hello"


def test_restart_markers_that_do_not_follow_each_other_are_no_table() -> None:
    data = jpeg(make_image(7, 40, 70), restart_marker_blocks=2)
    assert len(tiles.find_tiles(data).segments) > 2
    with pytest.raises(Untileable, match="restart markers do not follow each other"):
        tiles.find_tiles(data.replace(b"\xff\xd1", b"\xff\xd3", 1))


@given(
    height=st.integers(1, 5000) | st.just(65_000),
    width=st.integers(1, 5000) | st.just(65_000),
    size=st.integers(200, 5_000_000) | st.just(10**10),
    factor=st.sampled_from([(1, 1), (2, 1), (2, 2), (1, 2)]),
)
def test_tiles_are_aligned_wherever_chroma_is_subsampled_and_no_more_than_are_cut_up(
    height: int, width: int, size: int, factor: tuple[int, int]
) -> None:
    frame = bytes([8, height >> 8, height & 255, width >> 8, width & 255, 3])
    factors = enumerate([factor, (1, 1), (1, 1)])
    frame += b"".join(bytes([i, f << 4 | v, 0]) for i, (f, v) in factors)
    scan = b"\xff\xda\x00\x02"
    data = b"\xff\xd8\xff\xc0" + (len(frame) + 2).to_bytes(2, "big") + frame + scan
    header = read_header(data)
    interval = tiles.restart_interval(header, size)
    down, across = mcu_size(header.sampling)
    in_row = -(-width // across)
    assert 1 <= interval <= in_row
    assert -(-height // down) * in_row / interval <= MAX_SEGMENTS
    assert in_row % interval == 0 or factor == (1, 1)


def test_without_numba_jpegtran_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    original = jpeg(make_image(4, 100, 100))
    data, table = tiles.tile(original, read_header(original))
    monkeypatch.setattr(tiling, "is_available", lambda: False)
    if jpegtran.program() is None:
        pytest.skip("jpegtran is not installed (libjpeg-turbo-progs)")
    by_program, other = tiles.tile(original, read_header(original))
    assert by_program == data
    assert [*map(str, vars(other).values())] == [*map(str, vars(table).values())]


def test_what_is_refused_here_goes_to_jpegtran(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bytes] = []

    def refuse(data: bytes, interval: int) -> bytes:
        given.append(data)
        raise Untileable("jpegtran: no")

    monkeypatch.setattr(jpegtran, "program", lambda: "jpegtran")
    monkeypatch.setattr(jpegtran, "transcode", refuse)
    data = jpeg(make_image(5))[:-2] + bytes(40) + b"\xff\xd9"
    with pytest.raises(Untileable, match="jpegtran: no"):
        tiles.tile(data, read_header(data))
    assert given == [data]
    monkeypatch.setattr(jpegtran, "program", lambda: None)
    with pytest.raises(Untileable, match=r"belong to nothing .*libjpeg-turbo-progs"):
        tiles.tile(data, read_header(data))


def test_what_tiles_here_is_named_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jpegtran, "program", lambda: None)
    monkeypatch.setattr(jpegtran, "version", jpegtran.version.__wrapped__)  # others kept it
    assert tiles.transcoders() == {"tiler": tiling.VERSION}
    monkeypatch.setattr(tiling, "is_available", lambda: False)
    assert tiles.transcoders() == {}
    assert not tiles.can_tile()
