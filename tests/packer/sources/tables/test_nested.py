"""Rows of several objects: each object is one, whatever holds them, with all that is said of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packing import pack
from PIL import Image

import reader
from packer.options.declared import PackOptions

BOXES = [[30, 20, 10, 12], [20, 9, 8, 9]]
OBJECTS = {"bbox": BOXES, "categories": [1, 0], "id": [7, 8], "area": [120, 72]}
NONE: dict[str, list[Any]] = {name: [] for name in OBJECTS}


def packed(root: Path, table: str, content: str | list[Mapping[str, Any]]) -> list[Any]:
    """Pack two images that a table names; return the JSON of each, in the order of their names."""
    source = root / "src"
    source.mkdir()
    for name in ("a", "b"):
        Image.new("RGB", (64, 48), (9, 80, ord(name))).save(source / f"{name}.png")
    if isinstance(content, str):
        (source / table).write_text(content)
    elif table.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(content), source / table)
    else:
        (source / table).write_text("".join(json.dumps(row) + "\n" for row in content))
    pack(source, root / "dst", PackOptions())
    data = reader.Dataset(root / "dst")
    numbers = {key: number for number, key in enumerate(data.keys)}
    return [json.loads(data.read(numbers[key], "json")) for key in ("a", "b")]


@pytest.mark.parametrize("table", ["metadata.jsonl", "metadata.parquet"])
@pytest.mark.parametrize("is_list", [False, True])
def test_the_column_objects_is_read_with_all_that_it_holds(
    tmp_path: Path, table: str, is_list: bool
) -> None:
    objects: Any = OBJECTS
    if is_list:
        objects = [
            dict(zip(OBJECTS, one, strict=True)) for one in zip(*OBJECTS.values(), strict=True)
        ]
    rows = [
        {"file_name": "a.png", "text": "two", "objects": objects},
        {"file_name": "b.png", "text": "none", "objects": [] if is_list else NONE},
    ]
    first, second = packed(tmp_path, table, rows)
    assert first["boxes"] == BOXES
    assert first["categories"] == [1, 0]
    assert (first["id"], first["area"]) == ([7, 8], [120, 72])
    assert first["text"] == ["two", "two"]
    assert second["boxes"] == []
    assert second["image"]["text"] == "none"
    loader = reader.Loader(
        tmp_path / "dst", batch_size=2, drop_last=False, workers=0, fields=(reader.Boxes("json"),)
    )
    with loader:
        (boxes,) = next(iter(loader))
    assert sorted(len(one["boxes"]) for one in boxes) == [0, 2]
