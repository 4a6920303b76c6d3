"""The tile table: what has to hold between its numbers and a JPEG's bytes."""

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from row_files import rows_of

from packer.images.tiles import find_tiles
from reader.format.tiles import BadTable, TileTable, table_of, tile_columns

HEIGHT, WIDTH = 40, 96


@pytest.fixture(scope="module")
def tiled() -> tuple[bytes, TileTable]:
    pixels = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", subsampling=0, restart_marker_blocks=3)
    return file.getvalue(), find_tiles(file.getvalue())


def test_the_table_of_an_image_holds_for_its_bytes(tiled: tuple[bytes, TileTable]) -> None:
    data, table = tiled
    assert len(table.segments) == 20
    table.check(data, HEIGHT, WIDTH)


@pytest.mark.parametrize(("change", "reason"), rows_of(__file__, "tile_tables.rows"))
def test_a_table_with_another_number_is_refused(
    tiled: tuple[bytes, TileTable], change: str, reason: str
) -> None:
    data, table = tiled
    other = replace(table, **eval(f"dict({change})", {"table": table}))
    with pytest.raises(BadTable, match=reason):
        other.check(data, HEIGHT, WIDTH)


def test_another_image_than_that_of_the_table_is_refused(tiled: tuple[bytes, TileTable]) -> None:
    data, table = tiled
    for marker in (np.cumsum(table.segments + 2) + table.scan_offset - 2).tolist():
        for place in (marker, marker + 1):
            other = bytearray(data)
            other[place] ^= 1
            with pytest.raises(BadTable, match="markers contradict"):
                table.check(bytes(other), HEIGHT, WIDTH)
    with pytest.raises(BadTable, match="its own header has 96 x 40"):
        table.check(data, HEIGHT - 1, WIDTH)  # as many tiles
    progressive = bytearray(data)
    progressive[table.frame_offset - 4] = 0xC2
    with pytest.raises(BadTable, match="only a sequential"):
        table.check(bytes(progressive), HEIGHT, WIDTH)


_WORD, _HALF, _BYTE = (st.integers(0, 2**bits - 1) for bits in (32, 16, 8))
_LENGTHS = st.lists(_WORD, min_size=1, max_size=5).map(lambda found: np.array(found, np.int64))
_TABLES = st.builds(TileTable, _LENGTHS, _WORD, _WORD, _HALF, _BYTE, _BYTE)


@given(st.lists(st.none() | _TABLES, max_size=5))
def test_tables_come_back_from_their_columns(tables: list[TileTable | None]) -> None:
    columns = tile_columns(tables)
    assert bool(columns) == any(table is not None for table in tables)
    for row, table in enumerate(tables if columns else []):
        found = table_of(columns, row)
        assert (found is None) == (table is None)
        if found is not None and table is not None:
            assert found.segments.tolist() == table.segments.tolist()
            assert replace(found, segments=table.segments) == table
