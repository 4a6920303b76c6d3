"""Manifests: tables (CSV, TSV, JSONL, Parquet) that name image files in their records.

They are read twice: once for what must be known of all rows (`survey`), once for the samples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.labels import class_order, in_json
from packer.samples.records import Facts, Place, Reader, Skipped, SourceSample
from packer.tables.classes import Labels
from packer.tables.columns import NONE
from packer.tables.names import Keys, name_hash
from packer.tables.part import Part
from packer.tables.survey import Survey
from packer.tables.table import Record
from packer.tables.unlabelled import could_have_labels
from packer.tables.unlisted import Unlisted
from packer.trees.tree import Tree

_SEVERAL = 'The class numbers of each image are the list "labels" in its json.'
_MOST_OPEN = 1_000_000  # rows of images whose other rows are still to come


@dataclass(frozen=True)
class TableSource:
    """The images that tables name.

    Attributes:
        tree: in which all of them lie.
        parts: the tables.
        unlisted: accounts for the other files of the folder; None: nobody asks for them.
        told_to_have_none: a person has said that there are no labels.
    """

    tree: Tree
    parts: tuple[Part, ...]
    labels: Labels
    unlisted: Unlisted | None = None
    told_to_have_none: bool = False
    survey: Survey = field(default_factory=Survey, repr=False, compare=False)

    @classmethod
    def open(
        cls,
        where: Path,
        parts: Sequence[Part],
        options: SourceOptions,
        classes: Sequence[str] | None,
        unlisted: Unlisted | None = None,
    ) -> "TableSource":
        """Understand the tables, by a pass over each.

        Args:
            where: what to name in an error.
            parts: the tables.
            options: how they are to be understood.
            classes: class names in label order, None: the sorted names that occur.
            unlisted: see the class.

        Raises:
            UnusableInput: the rows may mean several things, or a class is missing.
        """
        survey = Survey()
        told = tuple(survey.look_at(part, options.label_separator) for part in parts)
        survey.check_apart(told)
        if any(part.grouped for part in told):
            told = tuple(replace(part, grouped=part.can_group) for part in told)
        tree = parts[0].places.images.tree
        labels = _labels(told, survey.texts, classes, where)
        return cls(tree, told, labels, unlisted, options.label_column == NONE, survey)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return self.labels.classes

    @property
    def facts(self) -> Facts:
        """How a Loader reads what it has; without labels, which columns could be these."""
        columns = [part.columns for part in self.parts if part.columns.box]
        labels = all(column.label for column in columns)
        several = any(part.separator or (part.flags and not part.one_flag) for part in self.parts)
        return Facts(
            heeds=frozenset({"columns"}),
            remarks=(_SEVERAL,) if several and not columns else (),
            boxes=in_json("xywh", labels=labels) if columns else {},
            unlabelled=self._without_labels,
            root=None if self.tree.unpack else self.tree.root,
        )

    @property
    def files(self) -> Reader:
        """What reads the samples."""
        return self.tree.files

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """The image of each record, in the tables' order."""
        keys = self.survey.keys(self.parts)
        splits: set[str] = set()
        for part in self.parts:
            yield from part.table.skipped
            groups = self._grouped(part) if part.grouped else self._single(part)
            for found in groups:
                if isinstance(found, Skipped):
                    yield found
                    continue
                sample = self._sample(part, found, keys)
                if isinstance(sample, SourceSample):
                    splits.add(sample.split)
                yield sample
        if self.unlisted is not None:
            yield from self.unlisted.scan(self.survey.known, splits)

    def _without_labels(self) -> Iterator[str]:
        """Yield a sentence for each table whose rows could have a label and have none."""
        if self.told_to_have_none or any(part.has_targets for part in self.parts):
            return
        labelled = [part for part in self.parts if part.columns.label]
        for part in labelled or self.parts:
            yield could_have_labels(part.table, part.columns)

    def _single(self, part: Part) -> Iterator[list[Record] | Skipped]:
        return ([r] if isinstance(r, Record) else r for r in part.table.records())

    def _grouped(self, part: Part) -> Iterator[list[Record] | Skipped]:
        """The rows of each image together, wherever they are; in the order of their last ones."""
        values, counts = self.survey.counted
        waiting: dict[int, list[Record]] = {}
        rows = 0
        for record in part.table.records():
            if isinstance(record, Skipped):
                yield record
                continue
            try:
                name = name_hash(part.name(record.fields))
            except BadImage:
                yield [record]
                continue
            group = waiting.setdefault(name, [])
            group.append(record)
            rows += 1
            if len(group) == counts[np.searchsorted(values, np.uint64(name))]:
                yield waiting.pop(name)
                rows -= len(group)
            if rows > _MOST_OPEN:
                raise UnusableInput(
                    f"{part.table.files[0].path}: the rows of an image lie so far from each other "
                    f"that more than {_MOST_OPEN} would have to be held in memory. Sort it by the "
                    f"column {part.columns.image!r}."
                )

    def _sample(self, part: Part, records: Sequence[Record], keys: Keys) -> SourceSample | Skipped:
        first = records[0]
        rows = [record.fields for record in records]
        try:
            name = part.name(first.fields)
            size, newest = self.tree.measure(name)
            if size == 0:
                raise Damaged(f"{name} is empty")
            label = part.label_of(rows, self.labels.number_of)
            split = part.split_of(rows, name)
            places: dict[str, Place] = {}
            for ext, path in part.further(first.fields).items():
                places[ext] = self.tree.place(path)
                more, written = self.tree.measure(path)
                size, newest = size + more, max(newest, written)
            if data := part.json_of(rows, self.labels.number_of):
                places["json"], size = [data], size + len(data)
                newest = max(newest, *(file.mtime_ns for file in part.table.files))
            key = keys.of(name)
        except BadImage as error:
            reason = _about(first.fields.get(part.columns.image), error)
            return replace(Skipped.of(first.where, error), reason=reason)
        return SourceSample(
            name=name,
            key=key,
            label=label,
            size=size,
            mtime_ns=newest,
            members=tuple(places),
            split=split,
            places=self.tree.places(name, places.values()),
            block=first.block,
        )


def _labels(
    parts: Sequence[Part], texts: set[str], classes: Sequence[str] | None, where: Path
) -> Labels:
    """The classes that the tables declare, else those that their rows have."""
    declared = {names for part in parts if (names := _declared(part))}
    if len(declared) > 1:
        raise UnusableInput(f"{where}: its tables declare different classes.")
    if declared:
        (names,) = declared
        order = class_order(where, names, classes) if classes else names
        return Labels(order, named=True, declared=names)
    if flags := [part for part in parts if part.flags]:
        names = tuple(dict.fromkeys(name for part in flags for name in part.flags))
        return Labels(class_order(where, names, classes) if classes else names, named=True)
    if all(part.columns.label is None for part in parts):
        return Labels(tuple(classes or ()))
    labels = Labels.of(texts, classes, where)
    if not labels.named and any(part.has_targets for part in parts):
        return labels.numbered(texts)
    return labels


def _declared(part: Part) -> tuple[str, ...]:
    return part.table.class_names.get(part.columns.label or "", ())


def _about(path: Any, error: BadImage) -> str:
    """The reason, with the path as the manifest has it."""
    return f"{str(path)[:200]!r}: {error}" if path else str(error)
