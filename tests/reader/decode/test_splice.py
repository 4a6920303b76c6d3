"""Crops of tiled JPEGs: the same pixels as from the whole image, and never a byte outside of it."""

import contextlib
import io
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from guarded import guarded_simplejpeg
from hypothesis import given, settings
from hypothesis import strategies as st
from made_images import make_image
from PIL import Image

from packer.images.tiles import find_tiles
from reader.decode.decoder import Decoder
from reader.decode.plan import plan
from reader.decode.splice import cut
from reader.decode.stored import StoredImage
from reader.format.errors import DecodeError
from reader.format.tiles import BadTable, TileTable
from reader.geometry import Geometry

# As Pillow names them.
SAMPLINGS = ["4:4:4", "4:2:2", "4:2:0", "grey"]


def tiled(image: Image.Image, sampling: str, interval: int, **options: object) -> StoredImage:
    """A JPEG with a restart marker every `interval` MCUs, as a shard holds it."""
    file = io.BytesIO()
    if sampling == "grey":
        image = image.convert("L")
    else:
        options["subsampling"] = sampling
    image.save(file, "JPEG", restart_marker_blocks=interval, **options)
    return stored(file.getvalue(), image.height, image.width)


def stored(data: bytes, height: int, width: int) -> StoredImage:
    """A JPEG with restart markers, as a shard holds it; reads outside of it fail the test."""

    def read(start: int, stop: int) -> memoryview:
        assert 0 <= start <= stop <= len(data)
        return memoryview(data)[start:stop]

    found = find_tiles(data)
    table = replace(found, segments=found.segments.astype(np.uint16))
    return StoredImage(read, len(data), "jpg", height, width, 3, 1, table)


def show(image: StoredImage, box: tuple[int, int, int, int], out: tuple[int, int]) -> np.ndarray:
    geometry = Geometry.of(image.height, image.width)
    geometry.crop(*box)
    geometry.resize(*out)
    pixels = np.full((*out, 3), 7, np.uint8)
    Decoder().draw(plan(image, geometry), pixels)
    return pixels


def assert_same(image: StoredImage, box: tuple[int, int, int, int], out: tuple[int, int]) -> None:
    """Its tiles show what the whole image does."""
    assert np.array_equal(show(image, box, out), show(replace(image, tiles=None), box, out))


@settings(max_examples=4 * settings().max_examples, deadline=None)
@given(data=st.data())
def test_a_crop_of_a_tiled_jpeg_is_the_crop_of_the_whole(data: st.DataObject) -> None:
    height = data.draw(st.sampled_from([1, 7, 8, 17, 40, 63, 90]), "height")
    width = data.draw(st.sampled_from([1, 9, 8, 33, 72, 95, 130]), "width")
    sampling = data.draw(st.sampled_from(SAMPLINGS), "sampling")
    mcu = 8 if sampling in ("4:4:4", "grey") else 16
    in_row = -(-width // mcu)
    divisors = [d for d in range(1, in_row + 1) if in_row % d == 0]
    anything = st.integers(1, in_row) if mcu == 8 else st.sampled_from(divisors)
    image = tiled(make_image(3, height, width), sampling, data.draw(anything, "interval"))
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    sides = [data.draw(st.integers(1, side)) for side in (height - top, width - left)]
    box = (top, left, sides[0], sides[1])
    assert_same(image, box, data.draw(st.sampled_from([box[2:], (5, 6), (100, 80)]), "out"))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("side", [18, 20, 35])  # the last tile is 2, 4 and 3 pixels
def test_a_crop_of_a_few_pixels_at_the_edge_is_the_crop_of_the_whole(
    sampling: str, side: int
) -> None:
    image = tiled(make_image(9, side, side), sampling, 1)
    for box in ((side - 1, side - 1, 1, 1), (side - 2, side - 2, 2, 2), (0, side - 1, side, 1)):
        assert_same(image, box, box[2:])
        assert_same(image, box, (1, 1))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_crop_of_a_very_wide_or_high_jpeg_is_the_crop_of_the_whole(sampling: str) -> None:
    for height, width in ((4001, 3), (3, 4001)):
        image = tiled(make_image(4, height, width), sampling, 1)
        box = (height // 3, width // 3, height - height // 2, width - width // 2)
        assert_same(image, box, (3, 3))


@pytest.mark.skipif(
    shutil.which("jpegtran") is None, reason="jpegtran is not installed (libjpeg-turbo-progs)"
)
def test_a_crop_of_a_jpeg_with_chroma_subsampled_downwards_is_the_crop_of_the_whole() -> None:
    file = io.BytesIO()
    make_image(8, 90, 130).save(file, "JPEG", subsampling="4:2:2")
    command = ["jpegtran", "-transpose", "-restart", "2B"]  # 4:2:2 on its side is 4:4:0
    done = subprocess.run(command, input=file.getvalue(), capture_output=True, check=True)
    image = stored(done.stdout, 130, 90)
    assert image.tiles is not None
    assert (image.tiles.mcu_height, image.tiles.mcu_width) == (16, 8)
    for top in range(0, 100, 7):
        for left in range(0, 60, 5):
            for out in ((30, 30), (7, 7)):
                assert_same(image, (top, left, 30, 30), out)


def test_a_crop_reads_only_the_rows_that_it_needs() -> None:
    image = tiled(make_image(5, 400, 400), "4:2:0", 5)
    assert image.tiles is not None
    part = cut(image.tiles, image.size, 400, 400, (200, 200, 30, 30), is_scaled=False)
    assert part is not None
    assert part.stop - part.start < image.size // 4


@settings(max_examples=4 * settings().max_examples, deadline=None)
@given(data=st.data())
def test_a_lying_segment_table_never_reaches_outside_its_image(data: st.DataObject) -> None:
    picture = Image.new("RGB", (100, 60), (10, 200, 30))
    image = tiled(picture, "4:4:4", 3)
    assert image.tiles is not None
    segments = image.tiles.segments.copy()
    for _ in range(data.draw(st.integers(0, 3))):
        segments[data.draw(st.integers(0, len(segments) - 1))] = data.draw(st.integers(0, 65535))
    lie = TileTable(
        segments[: data.draw(st.integers(0, len(segments)))]
        if data.draw(st.booleans())
        else segments,
        data.draw(st.sampled_from([image.tiles.scan_offset, 0, 5, 2**32 - 1])),
        data.draw(st.sampled_from([image.tiles.frame_offset, 0, 2**32 - 1])),
        data.draw(st.sampled_from([3, 0, 1, 65535])),
        data.draw(st.sampled_from([8, 0, 1, 16, 255])),
        data.draw(st.sampled_from([8, 0, 1, 16, 255])),
    )
    with contextlib.suppress(DecodeError):  # nothing else, and `stored` watches what is read
        show(replace(image, tiles=lie), (10, 20, 30, 40), (30, 40))


def test_a_table_that_does_not_add_up_is_refused_with_a_reason() -> None:
    image = tiled(make_image(6), "4:4:4", 2)
    assert image.tiles is not None
    segments = image.tiles.segments.copy()
    segments[0] += 1
    lie = TileTable(segments, image.tiles.scan_offset, image.tiles.frame_offset, 2, 8, 8)
    with pytest.raises(BadTable, match="add up"):
        cut(lie, image.size, image.height, image.width, (0, 0, 8, 8), is_scaled=False)


def test_a_segment_may_have_as_many_bytes_as_its_type_can_count() -> None:
    lengths = np.array([65534, 65535, 10, 20], np.uint16)
    table = TileTable(lengths, 100, 20, 1, 8, 8)
    size = 100 + int(lengths.astype(int).sum()) + 2 * len(lengths)
    found = cut(table, size, 16, 16, (0, 8, 8, 8), is_scaled=False)
    assert found is not None
    assert (found.start, found.stop) == (100 + 65536, 100 + 65536 + 65537)


@pytest.mark.parametrize(("height", "width"), [(1 << 16, 8), (8, 1 << 16), (2**32 - 1, 2**32 - 1)])
def test_a_size_that_no_jpeg_has_is_refused(height: int, width: int) -> None:
    table = TileTable(np.full(2, 10, np.uint32), 100, 20, 1 << 12, 8, 8)
    with pytest.raises(BadTable, match=f"{height} x {width} pixels"):
        cut(table, 124, height, width, (0, 0, 8, 8), is_scaled=False)


def lying(image: StoredImage, at: int, new: bytes) -> StoredImage:
    """The same index for an image in which some bytes are others."""
    data = bytearray(image.read(0, image.size))
    data[at : at + len(new)] = new
    return replace(image, read=lambda start, stop: memoryview(data)[start:stop])


@pytest.mark.parametrize("out", [(40, 40), (9, 9)], ids=["at its scale", "at a reduced scale"])
@pytest.mark.parametrize(
    ("where", "new"),
    [
        pytest.param(0, b"\xff\xff", id="higher"),
        pytest.param(2, b"\xff\xff", id="wider"),
        pytest.param(2, b"\0\x47", id="narrower"),
        pytest.param(-4, b"\xc3", id="lossless"),
        pytest.param(-4, b"\xc9", id="arithmetic"),
        pytest.param(6, b"\x11", id="other sampling"),
        pytest.param(4, b"\x01", id="other components"),
    ],
)
def test_a_header_that_is_not_that_of_the_segment_table_is_refused(
    where: int, new: bytes, out: tuple[int, int]
) -> None:
    image = tiled(make_image(1, 80, 160), "4:2:0", 2)
    assert image.tiles is not None
    box = (20, 40, 40, 40)
    show(image, box, out)
    with guarded_simplejpeg(), pytest.raises(DecodeError):
        show(lying(image, image.tiles.frame_offset + where, new), box, out)


def test_a_frame_offset_that_points_elsewhere_is_refused() -> None:
    image = tiled(make_image(1, 80, 160), "4:2:0", 2)
    assert image.tiles is not None
    table = replace(image.tiles, frame_offset=image.tiles.frame_offset - 60)
    with guarded_simplejpeg(), pytest.raises(DecodeError, match="its own header has 160 x 80"):
        show(replace(image, tiles=table), (20, 40, 40, 40), (9, 9))
