"""Files of Hugging Face's library, with its schema."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

_IMAGES = ("image", "img", "annotation", "Mask")
_IMAGE = pa.struct({"bytes": pa.binary(), "path": pa.string()})
_CLASSES = {"names": ["cat", "dog"], "_type": "ClassLabel"}


def image(seed: int) -> bytes:
    """A small PNG."""
    data = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 20 * seed, np.uint8)).save(data, "PNG")
    return data.getvalue()


def table(said: str) -> "pa.Table":
    """A table of JSON's columns; those of images have seeds, or structs without bytes.

    A list among the features has the names of classes. Whole numbers in a column of labels are
    cats and dogs if it has no other features.
    """
    columns: dict[str, Any] = json.loads(said)
    features = columns.pop("features", {})
    for name, values in columns.items():
        if name in _IMAGES:
            columns[name] = pa.array(map(_pictured, values), _IMAGE)
        elif "label" in name and isinstance(values[0], int):
            features.setdefault(name, _CLASSES)
    for name, found in features.items():
        if isinstance(found, list):
            features[name] = {"names": found, "_type": "ClassLabel"}
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    return pa.table(columns).replace_schema_metadata(told)


def _pictured(value: Any) -> Any:
    if not isinstance(value, dict):
        return None if value is None else {"bytes": image(value), "path": None}
    held = value.get("bytes")
    return value | {
        "bytes": image(held) if isinstance(held, int) else None if held is None else b""
    }


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
