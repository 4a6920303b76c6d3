"""Parquet: images in it, or a list of them."""

import contextlib
import datetime
import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from packer.errors import BadImage
from packer.sources.table.parquet_pages import (
    page_sizes,
    row_groups,
)
from reader.format import ShardfeedError
from targets.making import encoded, folder, images, opened, read_through

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
    """Read a file's structure, and what it holds."""
    path = _folder() / "fuzzed.parquet"
    path.write_bytes(data)
    with contextlib.suppress(BadImage, OverflowError, OSError):  # as `ParquetTable` expects them
        for group in row_groups(path):
            sum(page_sizes(path, group.chunks))
    with contextlib.suppress(ShardfeedError):
        read_through(opened(path))
