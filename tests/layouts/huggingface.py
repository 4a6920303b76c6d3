"""Files of Hugging Face's library, with its schema."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

_IMAGES = ("image", "img", "annotation")
_CLASSES = {"names": ["cat", "dog"], "_type": "ClassLabel"}


def image(seed: int) -> bytes:
    """A small PNG."""
    data = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 20 * seed, np.uint8)).save(data, "PNG")
    return data.getvalue()


def table(said: str) -> "pa.Table":
    """A table of JSON's columns, those of images with seeds; its labels are cat and dog."""
    columns: dict[str, Any] = json.loads(said)
    features = columns.pop("features", {})
    for name, values in columns.items():
        if name in _IMAGES:
            columns[name] = [{"bytes": image(seed), "path": None} for seed in values]
        elif "label" in name:
            features[name] = _CLASSES
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    return pa.table(columns).replace_schema_metadata(told)


def parquet(said: str) -> bytes:
    """A Parquet file."""
    data = io.BytesIO()
    pq.write_table(table(said), data)
    return data.getvalue()


def arrow(content: "pa.Table") -> bytes:
    """A stream of record batches."""
    data = io.BytesIO()
    with pa.ipc.new_stream(data, content.schema) as stream:
        stream.write_table(content, max_chunksize=1)
    return data.getvalue()
