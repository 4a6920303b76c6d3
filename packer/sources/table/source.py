"""Manifests: a table (CSV, TSV, JSONL, Parquet) that names an image file in each record."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packer.errors import BadImage, Damaged, Unreadable
from packer.files.snapshot import CHANGED
from packer.sources.folder.files import measure, read_file
from packer.sources.labels import class_order
from packer.sources.options import SourceOptions
from packer.sources.records import Content, Skipped, SourceSample
from packer.sources.table.columns import Columns, Labels, label_text, split_text, to_json
from packer.sources.table.names import Keys, path_inside
from packer.sources.table.table import Record, Table


@dataclass(frozen=True)
class TableSource:
    """The images that a manifest names.

    Attributes:
        root: folder in which all of them lie.
    """

    table: Table
    columns: Columns
    root: Path
    labels: Labels

    @classmethod
    def open(
        cls, path: Path, table: Table, options: SourceOptions, classes: Sequence[str] | None
    ) -> "TableSource":
        """Find the columns, and the classes by a pass over the labels.

        Args:
            path: the manifest.
            table: what it holds.
            options: names of columns, and the images' folder.
            classes: class names in label order, None: the sorted names that occur.

        Raises:
            UnusableInput: a column or a class is missing.
        """
        columns = Columns.find(table, options, path)
        root = Path(os.path.realpath(path.parent / (options.root or "")))
        return cls(table, columns, root, find_labels(table, columns.label, classes, path))

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return self.labels.classes

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """The image of each record, in the manifest's order."""
        yield from self.table.skipped
        number_of = self.labels.numbering()
        keys = Keys(self._names())
        written = max(file.mtime_ns for file in self.table.files)
        for record in self.table.records():
            if isinstance(record, Skipped):
                yield record
                continue
            try:
                name = self._name(record.fields)
                size, mtime_ns = measure(self.root, name)
                if size == 0:
                    raise Damaged(f"{name} is empty")
                label = number_of(label_text(self.columns.label_of(record.fields)))
                split = split_text(self.columns.split_of(record.fields))
                others = self.columns.others(record.fields)
                json_size = len(to_json(others)) if others else 0
                key = keys.of(name)
            except BadImage as error:
                reason = _about(record.fields.get(self.columns.image), error)
                yield replace(Skipped.of(record.where, error), reason=reason)
                continue
            yield SourceSample(
                name=name,
                key=key,
                label=label,
                size=size + json_size,
                mtime_ns=max(mtime_ns, written),
                members=("json",) if others else (),
                split=split,
                locator=record.locator,
                block=record.block,
            )

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """None: the members come out of the manifest's row."""
        return ()

    def read(self, sample: SourceSample) -> Content:
        """The image file and the record's other columns."""
        image, mtime_ns = read_file(self.root / sample.name, sample.size)
        members = {}
        if sample.members:
            members["json"] = to_json(self.columns.others(self.table.fields(sample.locator)))
        written = max(mtime_ns, *(file.mtime_ns for file in self.table.files))
        if (len(image) + sum(map(len, members.values())), written) != (
            sample.size,
            sample.mtime_ns,
        ):
            raise Unreadable(CHANGED)
        return Content(image, members)

    def _name(self, fields: Mapping[str, Any]) -> str:
        """The image's path relative to the root."""
        path = fields.get(self.columns.image)
        if not isinstance(path, str) or not path:
            raise BadImage("it names no image")
        return path_inside(self.root, path)

    def _names(self) -> Iterator[str]:
        for record in self.table.records([self.columns.image]):
            if isinstance(record, Record):
                with contextlib.suppress(BadImage):  # the scan names it
                    yield self._name(record.fields)


def find_labels(
    table: Table, column: str | None, classes: Sequence[str] | None, where: Path
) -> Labels:
    """The classes that a table declares, else those that a pass over its labels finds.

    Raises:
        UnusableInput: `classes` lacks one of them.
    """
    if column is None:
        return Labels(tuple(classes or ()))
    if declared := table.class_names.get(column, ()):
        order = class_order(where, declared, classes) if classes else declared
        return Labels(order, named=True, declared=declared)
    texts = set()
    for record in table.records([column]):
        if isinstance(record, Record):
            try:
                texts.add(label_text(record.fields.get(column)))
            except BadImage:
                continue  # the scan names it
    return Labels.of(texts, classes, where)


def _about(path: Any, error: BadImage) -> str:
    """The reason, with the path as the manifest has it."""
    return f"{str(path)[:200]!r}: {error}" if path else str(error)
