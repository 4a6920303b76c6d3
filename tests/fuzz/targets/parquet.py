"""Parquet: images in it, or a list of them."""

import datetime
import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from packer.files.snapshot import Watched
from packer.sources.tables.parquet import ParquetTable, RowGroup, footer, look_at
from targets.making import encoded, folder, images

_FEATURES = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}


@cache
def _folder() -> Path:
    return images(folder("parquet"))


def _written(columns: dict[str, pa.Array], **options: object) -> bytes:
    table = pa.table(columns)
    if "label" in columns and "image" in columns:
        table = table.replace_schema_metadata({"huggingface": json.dumps(_FEATURES)})
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def seeds() -> Iterator[bytes]:
    """Images as Hugging Face keeps them; a list with columns of many types."""
    values = [{"bytes": encoded("JPEG", seed), "path": f"{seed}.jpg"} for seed in range(2)]
    for compression in ("none", "snappy", "zstd"):
        yield _written(
            {"image": pa.array(values), "label": pa.array([0, 1])}, compression=compression
        )
    now = datetime.datetime(2020, 1, 2, 3, 4, 5)
    columns = {
        "path": pa.array(["cat/0.jpeg", "dog/1.png"]),
        "label": pa.array(["cat", None]),
        "when": pa.array([now, None], pa.timestamp("us", "UTC")),
        "day": pa.array([now.date(), None]),
        "boxes": pa.array([[[1.0, 2.0]], []]),
        "kind": pa.array(["a", "a"]).dictionary_encode(),
        "cost": pa.array([1, None], pa.decimal128(5, 2)),
    }
    yield _written(columns, row_group_size=1)
    yield _written(columns, use_dictionary=False, data_page_version="2.0")


def one(data: bytes) -> None:
    """Read a file's footer and its rows, in this process instead of one that may end."""
    path = _folder() / "fuzzed.parquet"
    path.write_bytes(data)
    found = footer(path, _unseen)
    if not isinstance(found, str):
        schema, rows = found
        table = ParquetTable((Watched.of(path),), folder=path.parent, schema=schema, rows=(rows,))
        for number in range(len(rows)):
            look_at(RowGroup(table, iter, None, 0, number, sum(rows[:number]), number), _unseen)


def _unseen(_: int) -> None:
    """Nobody asks how far it is."""
