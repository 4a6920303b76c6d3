"""The index's columns of banded PNGs."""

import numpy as np
import pytest

from reader.format.bands import BandTable, band_columns, bands_of, read_header
from reader.format.tiles import BadTable

TABLES = {1: BandTable(np.array([5, 6, 7]), 43, 64), 4: BandTable(np.array([70_000]), 300, 16)}


@pytest.mark.parametrize("member", ["", "mask.png"])
def test_tables_come_back_from_columns(member: str) -> None:
    columns = band_columns(TABLES, 6, member)
    for row in range(6):
        found, wanted = bands_of(columns, row, member), TABLES.get(row)
        assert (found is None) == (wanted is None)
        if found is not None and wanted is not None:
            assert (found.start, found.rows) == (wanted.start, wanted.rows)
            assert np.array_equal(found.bands, wanted.bands)


def test_columns_are_those_of_the_format() -> None:
    columns = band_columns(TABLES, 6)
    kinds = {name: column.dtype.str for name, column in columns.items()}
    assert kinds == {"band": "<u4", "band_offset": "<u8", "band_start": "<u4", "band_rows": "<u2"}


def test_an_index_without_bands_has_none() -> None:
    assert bands_of({}, 3) is None
    assert bands_of(band_columns(TABLES, 6), 1, "mask.png") is None


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(BadTable, match="0 rows"):
        BandTable(np.array([], np.int64), 43, 0).starts(0, 100)


def test_what_is_no_header_of_8_bits_is_none() -> None:
    assert read_header(b"") is None
    assert read_header(b"\x89PNG\r\n\x1a\n" + bytes(40)) is None
