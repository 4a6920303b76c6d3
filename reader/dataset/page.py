"""The page of a dataset in a notebook: its numbers and some samples."""

import contextlib
from typing import Any

import numpy as np

from reader.format import ShardfeedError
from reader.look.page import table
from reader.look.sheet import Sheet, Tile

_PICTURES = 8
_CLASSES = 10


def page_of(dataset: Any) -> str:
    labels = dataset.labels
    counts = np.bincount(labels[labels >= 0], minlength=len(dataset.classes)).tolist()
    named = list(zip(dataset.classes, counts, strict=False))
    classes = ", ".join(f"{name} {count:,}" for name, count in named[:_CLASSES])
    if len(named) > _CLASSES:
        classes += f" and {len(named) - _CLASSES:,} more"
    rows = [
        ("where", dataset.source),
        ("split", dataset.split or "all"),
        ("samples", f"{len(dataset):,} in {len(dataset.shards):,} shards"),
        ("members", ", ".join(dataset.extensions)),
        ("classes", classes or "none"),
    ]
    tiles = []
    for number in sorted({*np.linspace(0, len(dataset) - 1, _PICTURES).astype(int).tolist()}):
        with contextlib.suppress(ShardfeedError):
            pixels, label = dataset.whole(number), int(labels[number])
            name = dataset.classes[label] if 0 <= label < len(dataset.classes) else ""
            rgb = np.repeat(pixels, 3 // pixels.shape[-1], axis=-1)
            tiles.append(Tile(rgb, [name, dataset.keys[number]]))
    sheet = Sheet(tiles, "some of its samples") if tiles else None
    return table(type(dataset).__name__, rows, sheet)
