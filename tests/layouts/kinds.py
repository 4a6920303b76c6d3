"""Every kind of source, each of any size in each direction in which it may be large.

kinds.rows has most of them, where ``N`` is the size: the last number of alternatives, how often
``«N: ...»`` is said, and what ``{N}`` stands for.
"""

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from layouts import notation, scanned
from layouts.archives import image
from layouts.huggingface import arrow
from layouts.matlab import mat
from layouts.row import Row

JPEG = image()


class Kind(NamedTuple):
    """A kind of source that grows in a direction.

    Attributes:
        row: the layout of a size.
        plan: of `PackOptions`.
    """

    source: str
    direction: str
    row: Callable[[int], Row]
    plan: Mapping[str, Any] = {}


def _written(said: notation.Lines) -> Kind:
    def sized(line: str, n: int) -> str:
        line = line.replace("«N", f"«{n}").replace("{N}", str(n))
        return re.sub(r"<(0+)\.\.N>", lambda m: f"<{m[1]}..{n - 1:0{len(m[1])}}>", line)

    def row(n: int) -> Row:
        return scanned.row(said._replace(files=tuple(sized(line, n) for line in said.files)))

    source, _, direction = said.name.partition(": ")
    return Kind(source, direction, row, json.loads(said.fields.get("plan", "{}")))


def _made(source: str, direction: str, make: Callable[[int], Mapping[str, str | bytes]]) -> Kind:
    """Return a kind whose files are made; empty bytes stand for an image."""

    def row(n: int) -> Row:
        contents = {name: content or JPEG for name, content in make(n).items()}
        return Row(f"{source}: {direction}", "", "", {}, contents)

    return Kind(source, direction, row)


def _parquet(n: int, group: int = 1 << 20) -> bytes:
    file = io.BytesIO()
    labels = [number % 3 for number in range(n)]
    images = [{"bytes": image(number), "path": None} for number in range(n)]
    pq.write_table(pa.table({"image": images, "label": labels}), file, row_group_size=group)
    return file.getvalue()


def _arrow(n: int) -> dict[str, str | bytes]:
    table = pa.table({"image": [{"bytes": JPEG, "path": None}] * n, "label": [0] * n})
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    files = {"dataset_info.json": "{}", "state.json": json.dumps(state)}
    return files | {"data-00000-of-00001.arrow": arrow(table)}


def _flowers(n: int) -> dict[str, str | bytes]:
    splits = {"trnid": [1], "valid": [2], "tstid": list(range(3, n + 1))}
    labels = [1 + number % 3 for number in range(n)]
    lists = {"imagelabels.mat": mat(labels=labels), "setid.mat": mat(packed=False, **splits)}
    return lists | {f"jpg/image_{number + 1:05}.jpg": b"" for number in range(n)}


KINDS = [
    *map(_written, notation.read(Path(__file__).with_suffix(".rows"))),
    _made("MATLAB's lists", "images", _flowers),
    _made("Parquet", "rows", lambda n: {"a.parquet": _parquet(n)}),
    _made("Parquet", "groups of rows", lambda n: {"a.parquet": _parquet(n, 1)}),
    _made(
        "Parquet",
        "files",
        lambda n: {f"data/train-{i:05}-of-{n:05}.parquet": _parquet(1) for i in range(n)},
    ),
    _made("Arrow", "rows", _arrow),
]
