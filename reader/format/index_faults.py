"""What is wrong with the columns of an index, before any row of them is used (pure)."""

from collections.abc import Iterator, Mapping

import numpy as np

from reader.format.columns import (
    FORMATS,
    SOURCE,
    Column,
    has_images,
    lists_in,
    required,
    rows_in,
)
from reader.format.frames import NEITHER
from reader.format.safetensors import DTYPES, NAMES

MAX_LABEL = 1_000_000  # in a dataset without class names
_MOST_NAMES = 1 << 28  # class names that fit into a dataset.json
# Limits whose sums and products fit into int64.
_RANGES = {"channels": (1, 4), "orientation": (1, 8)}
_RANGES |= dict.fromkeys(("height", "width"), (1, 2**31 - 1))
_FURTHER = dict(zip(SOURCE, ((0, 2**31 - 1), (0, 2**31 - 1), (0, 8)), strict=True))


def faults_of(columns: Mapping[str, Column], tar_bytes: int, classes: int | None) -> Iterator[str]:
    """Yield faults; stop at the first, on which the next checks rely.

    `classes` is the number of class names, None if it is unknown.
    """
    yield from _of_types(columns)
    yield from _of_spans(columns, tar_bytes)
    if has_images(columns):
        rows = rows_in(columns)
        if rows and int(columns["format"].max()) >= len(FORMATS):
            yield "it has an image format that this reader does not support"
        known = _MOST_NAMES if classes is None else classes
        label = {"label": (-1, known - 1 if known else MAX_LABEL)}
        yield from _out_of(columns, _RANGES | label)
    yield from _of_sources(columns)
    for name, bounds in lists_in(columns).items():
        if name in columns:
            edges, ends = columns[bounds], (0, len(columns[name]))
            if (int(edges[0]), int(edges[-1])) != ends or (edges[1:] < edges[:-1]).any():
                yield f"the bounds in {bounds} do not tile the column {name}"


def _out_of(columns: Mapping[str, Column], ranges: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    for name, (least, most) in ranges.items():
        values = columns[name]
        if len(values) and not least <= int(values.min()) <= int(values.max()) <= most:
            row = int(((values < least) | (values > most)).argmax())
            yield f"row {row} has the {name} {int(values[row])}, but {least} to {most} are allowed"


def _of_sources(columns: Mapping[str, Column]) -> Iterator[str]:
    frames = [name for name in columns if name.endswith(".frame")]
    ranges = dict.fromkeys(frames, (0, NEITHER))
    yield from _out_of(columns, ranges | (_FURTHER if "source_height" in columns else {}))
    if "source_height" in columns:
        known = np.stack([columns[name] > 0 for name in SOURCE])
        if (some := known.any(axis=0) != known.all(axis=0)).any():
            yield f"row {int(some.argmax())} has a part of the size and orientation of its source"


def _of_types(columns: Mapping[str, Column]) -> Iterator[str]:
    segment, lists = columns.get("segment"), lists_in(columns)
    if segment is not None and segment.dtype not in (DTYPES["U16"], DTYPES["U32"]):
        yield "the column segment is neither U16 nor U32"
    for name, dtype in required(columns).items():
        if name not in columns:
            yield f"it has no column {name}"
        if columns[name].dtype != dtype:
            yield f"the column {name} is not {NAMES[np.dtype(dtype)]}"
        own = rows_in(columns) + (name in lists.values())
        if name not in lists and (found := len(columns[name])) != own:
            yield f"the column {name} has {found} rows, not {own}"


def _of_spans(columns: Mapping[str, Column], tar_bytes: int) -> Iterator[str]:
    images = [("image", "")] * has_images(columns)
    members = [(name[:-7], name[:-6]) for name in columns if name.endswith(".offset")]
    for name, prefix in images + members:
        offset, size = columns[f"{prefix}offset"], columns[f"{prefix}size"]
        outside = (offset > tar_bytes) | (size > tar_bytes - np.minimum(offset, tar_bytes))
        if outside.any():
            yield f"row {int(outside.argmax())} ({name}) is outside its tar"
