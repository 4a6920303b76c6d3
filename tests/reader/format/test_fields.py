"""Values of the samples' JSON in an index: what is packed comes back, for readers of any age."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from row_files import rows_of

from reader.format import FormatError, Index
from reader.format.columns import ROW, bounds
from reader.format.fields import field_columns, joined, values_at
from reader.format.index import metadata_of
from reader.format.safetensors import serialize

NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False))
SCALARS = st.one_of(NUMBERS, st.booleans(), st.text(st.characters(exclude_categories=["Cs"])))


def index_of(path: Path, rows: int, fields: Mapping[str, Any]) -> Index:
    """An index of so many rows with the columns of `fields`, as a file."""
    texts = {"key": np.empty(0, "u1"), "key_offset": bounds([0] * rows)}
    texts |= {"name": texts["key"], "name_offset": texts["key_offset"]}
    ones = {name: np.ones(rows, kind) for name, kind in ROW.items()}
    path.write_bytes(serialize({**ones, **texts, **fields}, metadata_of(10240, "", [])))
    return Index(path)


def written(path: Path, contents: Sequence[Any], field: str = "a") -> NDArray[Any] | None:
    values = {row: v for row, one in enumerate(contents) for _, v in values_at(one, [field])}
    columns = field_columns(field, values, len(contents)) if values else {}
    return index_of(path, len(contents), columns).values(field)


@pytest.mark.parametrize(("values", "expected"), rows_of(__file__, "json_values.rows"))
def test_values_come_back_with_nan_or_an_empty_text_for_none(
    tmp_path: Path, values: str, expected: str
) -> None:
    contents = [{} if one is None else {"a": one} for one in eval(values)]
    found, wanted = written(tmp_path / "index", contents), eval(expected)
    assert found is not None
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    assert written(tmp_path / "none", [{}, {"b": 1}]) is None


@given(st.lists(SCALARS, min_size=1), st.data())
def test_shards_do_not_matter(values: list[Any], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(values)))
    parts = []
    for part in (values[:cut], values[cut:], values):
        given = {row: one for row, value in enumerate(part) for _, one in values_at([value], ["0"])}
        columns = field_columns("0", given, len(part)) if given else {}
        number, text = columns.get("0.number"), columns.get("0.text")
        if number is not None:
            parts.append(number if number.dtype.kind == "i" else number.view("<f8"))
        elif text is not None:
            ends = columns["0.text_offset"].tolist()
            texts = [text[a:b].tobytes().decode() for a, b in pairwise(ends)]
            parts.append(np.array(texts, object))
        else:
            parts.append(None)
    first, second, whole = parts
    together = joined([first, second], [cut, len(values) - cut])
    alone = joined([whole], [len(values)])
    assert together.dtype == alone.dtype
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(("texts", "expected"), rows_of(__file__, "text_numbers.rows"))
def test_texts_that_are_all_numbers_are_numbers(texts: str, expected: str) -> None:
    given, wanted = np.array(eval(texts), object), eval(expected)
    found = joined([given, None], [len(given), 0])
    np.testing.assert_array_equal(found, np.array(wanted, object).astype(found.dtype))
    assert (found.dtype == object) == isinstance(wanted[0], str)


def test_names_with_dots_paths_and_places_lead_to_values() -> None:
    content = json.loads('{"a.b": 1, "size": {"width": 2}, "tags": ["x"], "none": null}')
    paths = ["a.b", "size.width", "tags.0", "tags.1", "none", "other"]
    assert [*values_at(content, paths)] == [("a.b", 1), ("size.width", 2), ("tags.0", "x")]
    for path in ("size", "tags"):
        with pytest.raises(ValueError, match=f"'{path}' in its .json is an? (object|list)"):
            [*values_at(content, [path])]


def test_columns_have_only_types_and_names_that_every_reader_accepts(tmp_path: Path) -> None:
    values = {"size.offset": {0: 1, 1: 2}, "x.size": {0: 0.5}, "band": {0: "a"}}
    columns: dict[str, Any] = {}
    for name, each in values.items():
        columns |= field_columns(name, each, 2)
    assert {column.dtype.str for column in columns.values()} <= {"|u1", "<u8", "<i8"}
    # By these ends a reader that knows no fields takes a column for a member's.
    assert not [name for name in columns if name.endswith((".offset", ".size", ".band"))]
    index = index_of(tmp_path / "index", 2, columns)
    assert (index.members, sorted(index.fields)) == ([], ["band", "size.offset", "x.size"])
    assert index.values("json.size.offset").tolist() == [1, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize(("columns", "reason"), rows_of(__file__, "damaged_fields.rows"))
def test_damaged_columns_are_refused_when_the_index_is_opened(
    tmp_path: Path, columns: str, reason: str
) -> None:
    with pytest.raises(FormatError, match=reason):
        index_of(tmp_path / "index", 3, eval(columns))


def test_a_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    columns = {"a.text": np.full(1, 255, "u1"), "a.text_offset": np.array([0, 1], "<u8")}
    with pytest.raises(FormatError, match="a value of 'a' is not UTF-8"):
        index_of(tmp_path / "index", 1, columns).values("a")


def test_a_field_has_its_own_name_behind_json_where_the_index_has_a_column_of_its_name(
    tmp_path: Path,
) -> None:
    columns = {"json.offset": np.full(2, 512, "<u8"), "json.size": np.full(2, 9, "<u8")}
    plain = index_of(tmp_path / "plain", 2, columns)
    index = index_of(tmp_path / "index", 2, columns | field_columns("size", {0: 3, 1: 4}, 2))
    assert plain.values("json.size").tolist() == [9, 9]  # type: ignore[union-attr]
    assert index.values("json.size").tolist() == [3, 4]  # type: ignore[union-attr]
    assert index.values("size").tolist() == [1, 1]  # type: ignore[union-attr]
