"""Tables (CSV, TSV, JSONL, Parquet) that name image files in their records.

They are read twice: once for what must be known of all rows (`survey`), once for the samples.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from packer.errors import Ambiguous, BadImage, UnusableInput
from packer.files.text import LATIN
from packer.options.declared import SourceOptions
from packer.samples.labels import class_order, in_json
from packer.samples.records import Facts, Sample, Skipped
from packer.sources.scanners.rows.lists import Held, Lists, Members, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.tables.classes import NONE, Labels
from packer.sources.tables.images import ImageIndex, name_hash
from packer.sources.tables.survey import Survey
from packer.sources.tables.table import LineTable, Record
from packer.sources.tables.view import TableView, could_have_labels
from packer.sources.trees.meaning import Layout
from packer.sources.trees.names import are_named_after, are_named_as_splits
from packer.sources.trees.sample import sample_of_files
from packer.sources.trees.shape import IMAGES, inside, plain
from packer.words import Message, listed, many, option

_SEVERAL = 'The class numbers of each image are the list "labels" in its json.'
_OBJECTS_ALONE = "_annotations.csv"  # Roboflow's, which does not name images without objects
_SIGNS = re.compile(r"[^A-Za-z0-9_-]+")  # which no name of a split has
_PART = re.compile(r"\d$")  # at the end of a file's name: one of several of a split
_WORD = re.compile(r"[^\W\d_]{3,}([ _-][^\W\d_]+)*")
_MOST_OPEN = 1_000_000  # rows of images whose other rows are still to come


@dataclass(frozen=True)
class Leftovers:
    """The files of a folder that no table names."""

    images: ImageIndex  # of the folder
    tables: frozenset[str]  # that are read, relative to it
    aside: Mapping[str, str]  # further files -> why nothing is taken from them

    def unnamed(
        self, folder: str, images: Sequence[str], splits: Set[str]
    ) -> Iterator[Sample | Skipped]:
        """Yield the images of a split without a table, without labels; name all others."""
        tree, split = self.images.tree, self.images.splits.get(folder, "")
        is_new = split and split not in splits and not self._may_be_class(folder)
        if is_new or inside(folder, _OBJECTS_ALONE) in self.tables:
            for path in images:
                yield from sample_of_files(tree, path, {}, label=-1, split=split)
        elif images and len(images) == tree.level(folder).images:
            count = "image" if len(images) == 1 else f"{len(images)} images"
            yield Skipped(f"{folder}/", f"no table names its {count}")
        else:
            yield from (Skipped(path, "no table names it") for path in images)

    def _may_be_class(self, folder: str) -> bool:
        """Whether a folder in one of a split is named in words, as those beside it are."""
        above, _, name = folder.rpartition("/")
        siblings = self.images.tree.shape.with_images(above)
        is_inside = above in self.images.splits and plain(name) not in IMAGES
        return is_inside and len(siblings) > 1 and all(map(_WORD.fullmatch, siblings))


def open_tables(
    where: Path,
    views: Sequence[TableView],
    options: SourceOptions,
    classes: Sequence[str] | None,
    leftovers: Leftovers | None = None,
    folders: Layout | None = None,
) -> RowSource:
    """Understand the tables, by a pass over each; of the layout `folders`, folders are classes."""
    survey = Survey()
    known = tuple(survey.look_at(view, options, classes or ()) for view in views)
    known = survey.without_doubtful_flags(known)
    survey.check_apart(known)
    pictures = survey.pictures_of_classes(known)
    known = _all_in_splits(where, [view for view in known if view not in pictures])
    if len({box.normalized for view in known if (box := view.columns.box)}) > 1:
        raise UnusableInput(
            f"{where}: the boxes of one table are fractions of the image, those of another "
            "are pixels. Pack each table separately."
        )
    if any(view.grouped for view in known):
        known = tuple(replace(view, grouped=view.can_group) for view in known)
    tree = views[0].resolver.images.tree
    if folders is None:
        labels = _labels(known, survey.texts, classes, where)
    else:  # columns of 0 and 1 are columns, then
        known = tuple(replace(view, flags=(), one_each=False) for view in known)
        labels = Labels(class_order(where, folders.classes(tree.shape), classes), named=True)
    tables = _Tables(known, labels, tuple(pictures), folders, survey)
    files = tuple(sorted(leftovers.tables)) if leftovers else ()
    facts = tables.facts(is_unlabelled=options.label_column == NONE)
    if numbered := [view.where.name for view in known if folders and view.columns.label]:
        said = f"{listed(numbered)} has the numbers of the class folders, whose names are kept."
        facts = replace(facts, remarks=(*facts.remarks, said))
    lists = Lists(
        tables.rows,
        sources=files,
        ignored=leftovers.aside if leftovers else {},
        facts=replace(facts, lists=files),
        is_whole=leftovers is not None,
        labels=labels,
        keys=lambda: survey.keys(known),
        known=lambda: survey.known,
        unnamed=leftovers.unnamed if leftovers else None,
        not_listed="no table names it",
    )
    return RowSource.open(tree, lists)


@dataclass(frozen=True)
class _Tables:
    """The tables of a source, and what its labels are."""

    views: tuple[TableView, ...]
    labels: Labels
    pictures: tuple[TableView, ...]  # tables of the pictures of classes
    folders: Layout | None  # whose folders are the classes; None: the tables have these
    survey: Survey

    def facts(self, *, is_unlabelled: bool) -> Facts:
        """How a Loader reads what they have; without labels, which columns could be these."""
        columns = [view.columns for view in self.views if view.columns.box]
        labels = all(column.label for column in columns)
        normalized = any(column.box and column.box.normalized for column in columns)
        several = any(not view.one_each and (view.separator or view.flags) for view in self.views)
        return Facts(
            remarks=((_SEVERAL,) if several and not columns else ()) + tuple(self._remarks()),
            boxes=in_json("xywh", labels=labels, normalized=normalized) if columns else {},
            unlabelled=tuple if is_unlabelled else self._without_labels,
        )

    def _remarks(self) -> Iterator[str]:
        if self.folders is not None:
            names = " and ".join(view.where.name for view in self.views)
            yield f"The labels are those of the folders. The columns of {names} are in the json."
        for view in self.views:
            if isinstance(view.table, LineTable) and view.table.encoding.name == LATIN:
                yield f"{view.where.name} is not UTF-8: it was read as Latin-1 ({LATIN})."
        if count := self.survey.cleaned:
            yield (
                f"{many(count, 'label')} had spaces or invisible marks at an end, or another form "
                "of Unicode, and had to be cleaned."
            )
        if not self.labels.named and not self.survey.texts.isdisjoint({"-1", "-1.0"}):
            text = "The label -1 is read as no label. If it is a class, list all classes with "
            yield Message(text, option("classes"), ".")
        for view in self.views:
            if view.columns.answer:
                yield (
                    f"Labels of {view.where.name} that were not accepted "
                    f"({view.columns.answer!r}) are only in the json."
                )

    def _without_labels(self) -> Iterator[str]:
        if not any(view.has_targets for view in self.views):
            labelled = [view for view in self.views if view.columns.label]
            for view in labelled or self.views:
                yield could_have_labels(view.table, view.columns)

    def rows(self) -> Iterator[Row | Skipped]:
        """Yield the image of each record, in the tables' order, then the pictures of classes."""
        for view in self.views:
            yield from view.table.skipped
            mtime_ns = max(file.mtime_ns for file in view.table.files)
            for records in self._images(view):
                yield (
                    records if isinstance(records, Skipped) else self._row(view, records, mtime_ns)
                )
        for view in self.pictures:
            reason = f"it is the picture of a class in {view.where.name}"
            for record in view.table.records():
                if isinstance(record, Record):
                    with suppress(BadImage):
                        yield Skipped(view.name(record.fields), reason, ignored=True)

    def _images(self, view: TableView) -> Iterator[list[Record] | Skipped]:
        """Yield the rows of each image together, in the order of their last ones."""
        values, counts = self.survey.counted if view.grouped else ((), ())
        waiting: dict[int, list[Record]] = {}
        rows = 0
        for record in view.table.records():
            if isinstance(record, Skipped) or not view.grouped:
                yield record if isinstance(record, Skipped) else [record]
                continue
            try:
                name = name_hash(view.name(record.fields))
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
                    f"{view.where}: rows of the same image are so far apart that more than "
                    f"{_MOST_OPEN} rows would be kept in memory. Sort the table by the column "
                    f"{view.columns.image!r}."
                )

    def _row(self, view: TableView, records: Sequence[Record], mtime_ns: int) -> Row | Skipped:
        first = records[0]
        value = first.fields.get(view.columns.image)
        written = str(value)[:200] if value else ""
        try:
            name = view.name(first.fields)
            fields = [record.fields for record in records]
            if self.folders is None:
                label = view.label_of(fields)
            else:
                label = self.folders.class_in(os.path.dirname(name))
            members: Members = view.further(first.fields)
            if data := view.json_of(records, self.labels.number_of):
                members = {**members, "json": Held.made(data, mtime_ns)}
            split = view.split_of(fields, name)
        except BadImage as error:
            return Row("", where=first.where, written=written).rejected(error)
        return Row(name, label, split, members, first.where, written, block=first.block)


def _all_in_splits(where: Path, views: Sequence[TableView]) -> tuple[TableView, ...]:
    """Return the tables, each beside others of splits with one: a usual name, or its file's.

    So are tables of the same columns whose names do not count: ``seen.csv`` and ``unseen.csv``. It
    raises Ambiguous where these names may be those of classes.
    """
    stems = [_SIGNS.sub("_", view.where.stem).strip("_") for view in views]
    are_alike = len({tuple(view.table.columns) for view in views}) == 1 < len({*stems})
    has_split = any(view.split for view in views)
    are_splits = has_split or (
        are_alike and len({*stems}) == len(stems) and not any(map(_PART.search, stems))
    )
    if not are_splits or any(view.resolver.images.splits or view.columns.split for view in views):
        return tuple(views)
    if not has_split and not are_named_as_splits(stems):
        if _are_of_classes(views, stems):
            return tuple(views)
        raise _may_be_classes(where, views, stems)
    splits = [
        stem if not view.split or (view.split in stems and not _PART.search(stem)) else view.split
        for view, stem in zip(views, stems, strict=True)
    ]
    return tuple(replace(view, split=name) for view, name in zip(views, splits, strict=True))


def _are_of_classes(views: Sequence[TableView], stems: Sequence[str]) -> bool:
    """Return whether each table is named after a folder of images."""
    shape = views[0].resolver.images.tree.shape
    folders = {os.path.basename(path) for path, count in shape.images.items() if count}
    return are_named_after(stems, folders)


def _may_be_classes(where: Path, views: Sequence[TableView], stems: Sequence[str]) -> Ambiguous:
    """Return the error for tables of the same columns that are named as classes may be."""

    def lists(field: str) -> tuple[str, ...]:
        words: list[str] = []
        for view, stem in zip(views, stems, strict=True):
            path = os.path.relpath(view.where, where)
            words += ("--labels", f"{path}: {_fields_of(view)}{field.format(stem)}")
        return tuple(words)

    names = listed([view.where.name for view in views])
    readings = {"Each table is a split": lists(" {{split={}}}")}
    readings["Their names mean nothing"] = lists("")
    if all(view.columns.label is None for view in views):
        readings = {"Each table is a class": lists(" {{label={}}}"), **readings}
    is_plain = all(view.columns.box is None and not view.flags for view in views)
    return Ambiguous(
        f"{where}: {names} have the same columns, and name other images each. Their names may be "
        "those of splits or of classes.",
        readings=readings if is_plain else {},
    )


def _fields_of(view: TableView) -> str:
    """Return the fields of ``--labels`` that read the columns of a table."""
    roles = {view.columns.image: "key", view.columns.label: "label"}
    names = ((name, roles.get(name) or re.sub(r"\W", "_", name)) for name in view.scalars)
    return " ".join(f"{{{role}:{name}}}" for name, role in names)


def _labels(
    views: Sequence[TableView], texts: set[str], classes: Sequence[str] | None, where: Path
) -> Labels:
    each = (view.table.class_names.get(view.columns.label or "", ()) for view in views)
    declared = set(filter(None, each))
    if len(declared) > 1:
        raise UnusableInput(
            f"{where}: its tables declare different classes. Pack each table separately."
        )
    if declared:
        return Labels.declare(declared.pop(), classes, where)
    if flags := [view for view in views if view.flags]:
        names = tuple(dict.fromkeys(name for view in flags for name in view.flags))
        return Labels(class_order(where, names, classes) if classes else names, named=True)
    if all(view.columns.label is None for view in views):
        return Labels(tuple(classes or ()))
    labels = Labels.of(texts, classes, where)
    if not labels.named and any(view.has_targets for view in views):
        return labels.numbered(texts)
    return labels
