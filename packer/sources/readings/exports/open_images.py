"""Open Images' CSVs: labels and boxes of images, a line for each, and the names of the classes."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from packer.files.snapshot import Watched
from packer.sources.readings.exports.records import Reader, Records, of_lines
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

_DESCRIPTIONS = re.compile(r"class-descriptions.*\.csv")
_CORNERS = ("XMin", "YMin", "XMax", "YMax")
_FLAGS = {"0": 0, "1": 1, "-1": -1}


def _of_images(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the lines that follow each other and begin with the same image."""
    lines = of_lines(file, of, others)
    _, _, header = next(lines, ("", 0, b""))
    others["columns"] = header.decode("utf-8-sig", "replace").strip().split(",")
    begin, data = 0, b""
    for _, offset, line in lines:
        if data and line.partition(b",")[0] != data.partition(b",")[0]:
            yield "", begin, data
            data = b""
        begin = begin if data else offset
        data += line
    if data:
        yield "", begin, data


def _rows(data: bytes) -> dict[str, Any]:
    return {"rows": list(csv.reader(data.decode().splitlines()))}


def _named(record: Any, others: Mapping[str, Any]) -> Any:
    columns = others["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in record["rows"]]
    return [{name: _FLAGS.get(text, text) for name, text in row.items()} for row in rows]


def _objects_and_labels(record: Any, others: Mapping[str, Any]) -> Any:
    """Sort lines by what they are: a box, a person's yes or no, or what a machine found."""
    rows = _named(record, others)
    found: dict[str, Any] = {"ImageID": rows[0]["ImageID"], "_objects": [], "_labels": []}
    for row in rows:
        del row["ImageID"]
        label = row["LabelName"]
        if row.get("XMin") is not None:
            found["_objects"].append(row | {name: float(row[name]) for name in _CORNERS})
        elif row["Source"] == "machine":
            found.setdefault("machine_labels", []).append(row)
        elif row["Confidence"] == 1:
            found["_labels"].append(label)
        else:
            found.setdefault("other_labels", []).append(row)
    return found


def _facts(record: Any, others: Mapping[str, Any]) -> Any:
    return _named(record, others)[0]


def descriptions(tree: Tree) -> dict[str, dict[str, str]]:
    """Return the names of classes by their ids in each file that has them.

    A name that several ids have is given with its id.
    """
    paths = [
        inside(folder, name)
        for folder, level in tree.walk()
        for name in level.examples.get(".csv", ())
        if _DESCRIPTIONS.search(name)
    ]
    return {path: dict(_unique(tree.lines(path))) for path in paths}


def _unique(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    parts = (line.partition(",") for line in lines)
    named = [(number, name.strip('" ')) for number, _, name in parts if number != "LabelName"]
    count = Counter(name for _, name in named)
    for number, name in named:
        yield number, name if count[name] == 1 else f"{name} ({number})"


_read = partial(Reader, _of_images, _rows)
LABELS, FACTS = _read(_objects_and_labels), _read(_facts)
