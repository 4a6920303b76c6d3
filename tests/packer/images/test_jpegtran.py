"""Tiling: lossless for every kind of JPEG, and refused by name where it is not possible."""

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from packer.images import jpegtran as tiles
from packer.images.jpeg import read_header
from reader.format.jpeg import mcu_size

needs_jpegtran = pytest.mark.skipif(
    shutil.which("jpegtran") is None, reason="jpegtran is not installed (libjpeg-turbo-progs)"
)
SIZES = [(1, 1), (7, 9), (8, 8), (17, 33), (4001, 3), (3, 4001), (64, 376), (65, 304)]
SAMPLINGS = ["4:4:4", "4:2:2", "4:2:0", "grey"]


def jpeg(image: Image.Image, sampling: str = "4:2:0", **options: object) -> bytes:
    file = io.BytesIO()
    if sampling == "grey":
        image.convert("L").save(file, "JPEG", **options)
    else:
        image.save(file, "JPEG", subsampling=sampling, **options)
    return file.getvalue()


@needs_jpegtran
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_tiled_jpeg_decodes_to_the_same_pixels(
    make_image: Callable[..., Image.Image], size: tuple[int, int], sampling: str
) -> None:
    original = jpeg(make_image(1, *size), sampling)
    tiled, table = tiles.tile(original, read_header(original))
    assert np.array_equal(simplejpeg.decode_jpeg(original), simplejpeg.decode_jpeg(tiled))
    assert table.scan_offset + int((table.segments + 2).sum()) == len(tiled)


@needs_jpegtran
def test_a_progressive_jpeg_becomes_sequential(make_image: Callable[..., Image.Image]) -> None:
    original = jpeg(make_image(2, 200, 300), progressive=True)
    tiled, _ = tiles.tile(original, read_header(original))
    assert read_header(original).process == 0xC2
    assert read_header(tiled).process == 0xC0
    assert np.array_equal(simplejpeg.decode_jpeg(original), simplejpeg.decode_jpeg(tiled))


@needs_jpegtran
def test_metadata_survives_tiling(make_image: Callable[..., Image.Image]) -> None:
    exif = Image.Exif()
    exif[0x010E] = "a heron"
    original = jpeg(make_image(3), exif=exif, icc_profile=b"not a real profile", comment=b"hello")
    tiled, _ = tiles.tile(original, read_header(original))
    with Image.open(io.BytesIO(tiled)) as image:
        assert image.getexif()[0x010E] == "a heron"
        assert image.info["icc_profile"] == b"not a real profile"
        assert image.info["comment"] == b"hello"


@given(
    height=st.integers(1, 5000),
    width=st.integers(1, 5000),
    size=st.integers(200, 5_000_000),
    factor=st.sampled_from([(1, 1), (2, 1), (2, 2), (1, 2)]),
)
def test_tiles_are_aligned_wherever_chroma_is_subsampled(
    height: int, width: int, size: int, factor: tuple[int, int]
) -> None:
    frame = bytes([8, height >> 8, height & 255, width >> 8, width & 255, 3])
    frame += b"".join(
        bytes([i, f << 4 | v, 0]) for i, (f, v) in enumerate([factor, (1, 1), (1, 1)])
    )
    scan = b"\xff\xda\x00\x02"
    data = b"\xff\xd8\xff\xc0" + (len(frame) + 2).to_bytes(2, "big") + frame + scan
    header = read_header(data)
    interval = tiles.restart_interval(header, size)
    in_row = -(-width // mcu_size(header.sampling)[1])
    assert 1 <= interval <= in_row
    assert in_row % interval == 0 or factor == (1, 1)


@needs_jpegtran
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[: len(data) // 2], "jpegtran"),
        (lambda data: data[:-2] + b"\x00" * 40, "jpegtran"),
    ],
)
def test_what_jpegtran_complains_about_is_not_tiled(
    make_image: Callable[..., Image.Image], damage: Callable[[bytes], bytes], reason: str
) -> None:
    data = jpeg(make_image(4, 100, 100))
    with pytest.raises(tiles.Untileable, match=reason):
        tiles.tile(damage(data), read_header(data))


def test_without_jpegtran_the_package_is_named(
    make_image: Callable[..., Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "jpegtran", lambda: None)
    data = jpeg(make_image(5))
    with pytest.raises(tiles.Untileable, match="libjpeg-turbo-progs"):
        tiles.tile(data, read_header(data))


def test_a_jpegtran_that_hangs_is_stopped(
    make_image: Callable[..., Image.Image],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    program = tmp_path_factory.mktemp("bin") / "jpegtran"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setattr(tiles, "jpegtran", lambda: str(program))
    monkeypatch.setattr(tiles, "MAX_SECONDS", 0.2)
    data = jpeg(make_image(6))
    with pytest.raises(tiles.Untileable, match="longer than"):
        tiles.tile(data, read_header(data))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "killed"),
        ("kill -TERM $$", "killed"),
        ("echo 'Insufficient memory (case 4)' >&2; exit 1", "out of memory"),
    ],
)
def test_a_jpegtran_that_something_ends_says_nothing_of_the_image(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    make_image: Callable[..., Image.Image],
    script: str,
    reason: str,
) -> None:
    program = tmp_path / "jpegtran"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(tiles, "jpegtran", lambda: str(program))
    original = jpeg(make_image(1))
    with pytest.raises(tiles.JpegtranFailed, match=reason):
        tiles.tile(original, read_header(original))


def test_a_full_folder_for_temporary_files_is_named(
    monkeypatch: pytest.MonkeyPatch, make_image: Callable[..., Image.Image]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tiles, "jpegtran", lambda: "jpegtran")
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    original = jpeg(make_image(1))
    with pytest.raises(tiles.JpegtranFailed, match=rf"{tempfile.gettempdir()}: No space left"):
        tiles.tile(original, read_header(original))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_table_is_found_or_refused_for_any_bytes(
    make_image: Callable[..., Image.Image], data: st.DataObject
) -> None:
    whole = bytearray(jpeg(make_image(7, 40, 70), restart_marker_blocks=2))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        table = tiles.find_tiles(bytes(whole))
    except tiles.Untileable:
        return
    assert (table.segments >= 0).all()
    assert table.scan_offset + int((table.segments + 2).sum()) == len(whole)
