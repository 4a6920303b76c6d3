"""How a dataset was packed, in words: what dataset.json says of it (pure)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from packer.inspect.report.table import Table
from packer.options.declared import PackOptions, by_name
from packer.words import in_bytes, shortened

_LONGEST = 200  # characters of an option

# What a person may choose, by its name in dataset.json.
_OPTIONS = {
    "shard_size": "Bytes of a shard, at most",
    "shard_samples": "Samples of a shard, at most",
    "jpeg": "JPEGs",
    "png": "PNGs",
    "max_side": "Pixels of the longer side, at most",
    "quality": "Quality of images that were encoded anew",
    "check": "Every image decoded when it was packed",
    "raw": "Stored raw, height and width",
    "split": "Split into shares",
    "dedupe": "Copies left out",
    "kind": "Source taken for",
    "pairs": "Folders that belong to the images",
    "root": "Folder of the images",
    "class_depth": "Levels of folders that name a class",
    "label_separator": "Labels divided by",
    "box_format": "Boxes taken for",
    "image_column": "Column of images",
    "label_column": "Column of labels",
    "split_column": "Column of splits",
    "pixels": "Pixels of an image, at most",
    "bytes": "Bytes of an image, at most",
}


def facts(table: Table) -> Iterator[tuple[str, str]]:
    """What is told, and the text: of options those that somebody chose."""
    manifest = table.manifest
    yield "Packed by", f"shardfeed {manifest.packer}"
    if manifest.reading:
        yield "Read as", manifest.reading
    if table.members:
        members = (f"{flags.sum():,} .{ext}" for ext, flags in sorted(table.members.items()))
        yield "Members", ", ".join(members)
    yield "Tiled JPEGs, banded PNGs", f"{table.tiled:,}, {table.banded:,}"
    if "seed" in manifest.options:
        seed = manifest.options["seed"]
        yield "Order", "that of the source" if seed is None else f"shuffled by the seed {seed}"
    yield from _chosen(manifest.options)
    if manifest.transcoders:
        versions = ", ".join(f"{name} {text}" for name, text in manifest.transcoders.items())
        yield "Made with", versions
    yield "Fingerprint of the source", manifest.source or "none"


def _chosen(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    given, usual = by_name(options), by_name(PackOptions().dump())
    for name, title in _OPTIONS.items():
        value = given.get(name)
        if value is not None and value != usual.get(name):
            yield title, shortened(_said(title, value), _LONGEST)


def _said(title: str, value: Any) -> str:
    """A value as people say it; whatever a stranger's dataset.json holds is shown as JSON."""
    if value is True:
        return "yes"
    if isinstance(value, int):
        return in_bytes(value) if title.startswith("Bytes") else f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value)
