"""Boxes of banded PNGs: the pixels that the whole image has there, or an error."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from made_images import encode, make_image
from PIL import Image

from packer.images import banding
from reader.decode.bands import cut_bands
from reader.format.bands import BandTable
from reader.format.tiles import BadTable

Make = Callable[..., Image.Image]

KINDS = ("L", "LA", "RGB", "RGBA", "P", "mask", "rows", "columns")


def picture(kind: str, make_image: Make, height: int, width: int) -> Image.Image:
    if kind in ("L", "LA", "RGB", "RGBA", "P"):
        return make_image(height, height, width, kind)
    values = np.zeros((height, width), np.uint8)
    rng = np.random.default_rng(width)
    if kind == "mask":
        values[height // 3 :, : width // 2 + 1] = 5
    elif kind == "rows":
        values[:] = rng.integers(0, 256, (height, 1))
    else:
        values[:] = rng.integers(0, 256, (1, width))
    return Image.fromarray(values)


def shown(data: bytes, table: BandTable, size: tuple[int, int], box: tuple[int, ...]):
    content = memoryview(data)

    def read(start: int, stop: int) -> memoryview:
        assert 0 <= start <= stop <= len(content)
        return content[start:stop]

    cut = cut_bands(table, len(data), *size, box)
    return cut.values(read)[0], cut.colours(read)


@pytest.fixture(autouse=True)
def any_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banding, "MAX_GROWTH", 99)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (64, 3), (130, 41), (300, 97)])
def test_any_box_has_the_pixels_of_the_whole(kind: str, size: tuple[int, int]) -> None:
    image = picture(kind, make_image, *size)
    banded, table = banding.band(encode(image, "PNG"))
    raw, rgb = np.asarray(image), np.asarray(image.convert("RGB"))
    rng = np.random.default_rng(7)
    for _ in range(15):
        top, left = (int(rng.integers(side)) for side in size)
        height, width = (int(rng.integers(1, side + 1)) for side in (size[0] - top, size[1] - left))
        values, colours = shown(banded, table, size, (top, left, height, width))
        part = slice(top, top + height), slice(left, left + width)
        assert np.array_equal(values.reshape(raw[part].shape), raw[part])
        colours = colours[..., :1] if colours.shape[2] < 3 else colours[..., :3]
        assert np.array_equal(np.broadcast_to(colours, rgb[part].shape), rgb[part])


def test_only_the_bands_of_a_box_are_read() -> None:
    banded, table = banding.band(encode(make_image(1, 640, 80), "PNG"))
    starts = table.starts(640, len(banded)).tolist()
    cut = cut_bands(table, len(banded), 640, 80, (130, 3, 60, 40))
    assert (cut.start, cut.stop) == (starts[2], starts[3])


def test_a_table_that_lies_is_refused() -> None:
    banded, table = banding.band(encode(make_image(1, 200, 80), "PNG"))
    box = 70, 3, 90, 40
    more = np.append(table.bands, 9)
    other = table.bands.copy()
    other[0] += 5
    lies = {
        "bands of 0 rows": [replace(table, rows=0), replace(table, rows=0, bands=more[:0])],
        "bands, not": [replace(table, bands=more), replace(table, rows=9)],
        "are outside its bytes": [replace(table, start=3), replace(table, start=10**9)],
        "not a banded PNG": [replace(table, start=table.start - 1)],
        "inflate|bytes for|filters": [replace(table, bands=other)],
    }
    for reason, tables in lies.items():
        for table in tables:
            with pytest.raises(BadTable, match=reason):
                shown(banded, table, (200, 80), box)


def test_an_index_of_another_size_is_refused() -> None:
    banded, table = banding.band(encode(make_image(1, 200, 80), "PNG"))
    for size in ((200, 81), (199, 80)):
        with pytest.raises(BadTable, match="80 x 200 pixels"):
            shown(banded, table, size, (0, 0, 8, 8))


def test_a_band_that_inflates_to_more_takes_no_more_memory() -> None:
    zeros = Image.fromarray(np.zeros((64, 1 << 16), np.uint8))
    banded, table = banding.band(encode(zeros, "PNG"))
    small = banding.band(encode(Image.fromarray(np.zeros((64, 60), np.uint8)), "PNG"))
    start, length = small[1].start, int(table.bands[0])
    forged = small[0][:start] + banded[table.start : table.start + length] + bytes(20)
    values, _ = shown(forged, replace(small[1], bands=table.bands), (64, 60), (0, 0, 64, 60))
    assert values.shape == (64, 60, 1)
