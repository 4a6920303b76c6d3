"""One pass over the tables of a source: what has to be known of all rows before the first sample.

A row costs 16 bytes, and 4 more where it has a label.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from glob import escape
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import Ambiguous, BadImage, UnusableInput
from packer.images.annotated import size_of
from packer.keys import Hashes, repeated
from packer.options.declared import FORMATS, SourceOptions
from packer.samples.outside import BEYOND
from packer.samples.records import Skipped
from packer.sources.tables.classes import (
    LIST,
    NONE,
    is_attribute,
    is_flag,
    is_number,
    label_text,
    labels_in,
    separator_of,
    set_flags,
)
from packer.sources.tables.columns import ACCEPTED, Box, is_label, possible
from packer.sources.tables.images import Keys, name_hash, stem_hash
from packer.sources.tables.splits import SplitSurvey
from packer.sources.tables.vectors import VECTOR, places_in
from packer.sources.tables.view import TableView
from packer.words import option

_ANSWER = "answer"  # Prodigy's column
_ANSWERED = frozenset({ACCEPTED, "reject", "ignore"})
_ANSWERS = 5  # different ones


@dataclass
class Survey:
    """The findings from all rows; it stays in the process that scans."""

    # Hashes: of each row's image, with and without extension, and of the further images.
    names: "array[int]" = field(default_factory=lambda: array("Q"))
    stems: "array[int]" = field(default_factory=lambda: array("Q"))
    further: "array[int]" = field(default_factory=lambda: array("Q"))
    texts: set[str] = field(default_factory=set)  # the labels that occur
    labels: list[set[str]] = field(default_factory=list)  # of each table
    cleaned: int = 0  # labels with spaces or marks around them, or in another form of Unicode
    bounds: list[int] = field(default_factory=lambda: [0])  # of each table, in `names`

    def keys(self, views: Sequence[TableView]) -> Keys:
        """The keys of all images; several rows of one are one image if a table is so understood."""
        stems = _array(self.stems)
        if any(view.grouped for view in views):
            _, first = np.unique(_array(self.names), return_index=True)
            stems = stems[first]  # of each image, however many rows it has
        return Keys(stems)

    def check_apart(self, views: Sequence[TableView]) -> None:
        """Raise UnusableInput where two tables name the same image."""
        each = [np.unique(_array(self.names)[first:last]) for first, last in pairwise(self.bounds)]
        if len(each) < 2 or not len(repeated(each)):
            return
        labelled = sorted(zip(views, each, strict=True), key=_by_labels)
        for (one, ours), (other, theirs) in combinations(labelled, 2):
            if count := len(np.intersect1d(ours, theirs, assume_unique=True)):
                text = f"{one.where} and {other.where} both name {count} of the images."
                names = dict.fromkeys([other.where.name, one.where.name])
                ways = {f"Without {name}": ("--ignore", f"**/{escape(name)}") for name in names}
                raise Ambiguous(text, readings=ways if len(names) == 2 else {})

    def pictures_of_classes(self, views: Sequence[TableView]) -> list[TableView]:
        """Return the tables that have one image of each class that others of a split have.

        Their images lie in another folder: a list of one image of each class may be a split, too.
        """
        found = []
        split = [n for n, view in enumerate(views) if view.split and view.columns.label]
        folders = {view.first_folder for view in views if view.split}
        texts = set().union(*(self.labels[number] for number in split))
        for number, view in enumerate(views):
            first, last = self.bounds[number : number + 2]
            is_one_each = last > first and len(self.labels[number]) == last - first
            if not view.split and is_one_each and self.labels[number] <= texts:
                found += [view] * (view.first_folder not in folders)
        return found

    def without_doubtful_flags(self, views: Sequence[TableView]) -> tuple[TableView, ...]:
        """Return the tables without flags that are columns beside a number in another one."""
        flags = set().union(*(view.flags for view in views))
        others = (view for view in views if not view.flags and not view.columns.label)
        if not flags or not any(flags <= set(view.scalars) for view in others):
            return tuple(views)
        self.texts.difference_update(flags)
        return tuple(replace(view, flags=(), one_each=False) for view in views)

    @property
    def known(self) -> Hashes:
        """The hashes of all files that rows name, sorted, each once."""
        return np.unique(np.concatenate([_array(self.names), _array(self.further)]))

    @property
    def counted(self) -> tuple[Hashes, NDArray[np.int64]]:
        """The hash of each image, sorted, and how many rows it has."""
        return np.unique(_array(self.names), return_counts=True)

    def look_at(self, view: TableView, options: SourceOptions, classes: Sequence[str]) -> TableView:
        """Return a table with the findings from its rows."""
        begin, looks = len(self.names), list(_looks(view, options))
        codes = array("i")
        numbers: dict[str, int] = {}
        for record in view.table.records(view.scalars):
            if isinstance(record, Skipped):
                continue
            fields, text = record.fields, ""
            try:
                name = view.name(fields)
                further = view.further(fields)
            except BadImage:
                continue  # the scan names it
            self.names.append(name_hash(name))
            self.stems.append(stem_hash(name))
            self.further.extend(map(name_hash, further.values()))
            with suppress(BadImage):  # the scan names it
                label = view.columns.label_of(fields)
                text = label_text(label)
                self.cleaned += isinstance(label, str) and text != label and bool(text)
            codes.append(numbers.setdefault(text, len(numbers)))
            for look in looks:
                look.look_at(fields)
        self.bounds.append(len(self.names))
        for look in looks:
            view = look.applied(view)
        self.texts.update(view.flags)
        texts = numbers.keys() - {""}
        self.labels.append(texts)
        if view.columns.label is not None and not view.table.class_names.get(view.columns.label):
            chosen = NONE if texts and texts.issubset(classes) else None
            chosen = options.label_separator or chosen
            separator = separator_of(texts, view.columns.label, chosen, view.where)
            if separator != VECTOR and not (is_label(view.columns.label) or options.label_column):
                view, texts = view.with_columns(label=None), set()  # it only begins as vectors do
            one_each = separator in (LIST, VECTOR) and all(
                len(labels_in(text, separator)) < 2 for text in texts
            )
            view = replace(view, separator=separator, one_each=one_each)
            if separator == VECTOR:  # a class that no image has keeps its number
                self.texts.update(map(str, range(places_in(min(texts)))))
        for text in texts:
            self.texts.update(labels_in(text, view.separator) if view.separator else [text])
        return _grouped(view, _array(self.names)[begin:].copy(), codes, list(numbers))


def _looks(view: TableView, options: SourceOptions) -> "Iterator[Look]":
    """Yield surveys, which read all rows of a table and return the table with their findings."""
    columns = view.columns
    if columns.box is not None:
        yield _Boxes(columns.box)
    splits = SplitSurvey([])
    if columns.split is None and options.split_column is None:
        splits = SplitSurvey(list(columns.others(dict.fromkeys(view.scalars))))
        yield splits
    if columns.label is not None and _ANSWER in view.table.columns:
        yield _Answers()
    if columns.label is None and not columns.is_object:
        yield _Flags(view, splits.flags)


def _by_labels(found: tuple[TableView, Hashes]) -> tuple[bool, int]:
    """Order tables by whether they have labels, and then by how many images they name."""
    view, names = found
    return view.columns.label is None, -len(names)


def _grouped(view: TableView, names: Hashes, codes: "array[int]", texts: list[str]) -> TableView:
    if len(np.unique(names)) == len(names):
        return view
    if view.columns.label is None or view.can_group:
        return replace(view, grouped=view.can_group)
    labels = np.frombuffer(codes, np.int32)
    labelled = np.flatnonzero(labels != (texts.index("") if "" in texts else -1))
    order = labelled[np.argsort(names[labelled], kind="stable")]
    same = names[order][1:] == names[order][:-1]
    differ = np.flatnonzero(same & (labels[order][1:] != labels[order][:-1]))
    if not len(differ):
        return view
    examples = [repr(texts[code]) for code in labels[order][differ[0] : differ[0] + 2]]
    count = len(np.unique(names[order][1:][differ]))
    having = "1 image has" if count == 1 else f"{count} images have"
    raise UnusableInput(
        f"{view.where}: {having} several rows with different labels, such as "
        f"{' and '.join(examples)}. If they are several labels of one image, write them into one "
        "row with | between, as pandas does by "
        f".groupby({view.columns.image!r})[{view.columns.label!r}].agg('|'.join); if only one is "
        "right, keep that; with ",
        option("label_column", NONE),
        " all rows go into the sample's json.",
    )


class _Flags:
    """Finds columns of only 0 and 1, and whether each row has one 1."""

    def __init__(self, view: TableView, splits: Collection[str]) -> None:
        """Take all columns but `splits`, the yes and no columns of a split."""
        others = view.columns.others(dict.fromkeys(view.scalars)).keys() - splits
        scalars = filter(others.__contains__, view.scalars)
        self._flags = [name for name in scalars if not is_attribute(name)]
        self._numbers = set(self._flags)  # that are no flags
        self._one = True

    def look_at(self, fields: Mapping[str, Any]) -> None:
        if not self._numbers:
            return
        if not all(is_flag(fields.get(name)) for name in self._flags):
            self._flags = [name for name in self._flags if is_flag(fields.get(name))]
        self._numbers = {name for name in self._numbers if is_number(fields.get(name))}
        self._one = self._one and len(set_flags(fields, self._flags)) == 1

    def applied(self, view: TableView) -> TableView:
        if len(self._flags) < 2 or self._numbers - set(self._flags):
            return view  # another number may be what is looked for
        return replace(view, flags=tuple(self._flags), one_each=self._one)


class _Answers:
    """Finds a column that records which labels were accepted, as Prodigy writes it."""

    def __init__(self) -> None:
        self._answers: set[str] = set()

    def look_at(self, fields: Mapping[str, Any]) -> None:
        if len(self._answers) < _ANSWERS:
            self._answers.add(str(fields.get(_ANSWER)))

    def applied(self, view: TableView) -> TableView:
        is_so = ACCEPTED in self._answers and self._answers <= _ANSWERED
        return view.with_columns(answer=_ANSWER) if is_so else view


class _Boxes:
    """Finds the possible formats of boxes, and whether they are fractions."""

    def __init__(self, box: Box) -> None:
        self._box, self._formats, self._most = box, set(FORMATS[:2]), 0.0
        self._is_whole = True  # whether all numbers are, as pixels may be

    def look_at(self, fields: Mapping[str, Any]) -> None:
        with suppress(BadImage):
            if four := self._box.numbers(fields):
                self._most = max(self._most, *map(abs, four))
                self._is_whole = self._is_whole and not any(number % 1 for number in four)
                if not self._box.format:
                    self._formats &= possible(four, size_of(fields))

    def applied(self, view: TableView) -> TableView:
        format = self._box.format
        if not format:
            if len(self._formats) != 1:
                raise UnusableInput(
                    f"{view.where}: the numbers in the column {self._box.names[0]!r} may be two "
                    "corners, or a corner, width and height. Pass ",
                    option("box_format", "xyxy"),
                    " or ",
                    option("box_format", "xywh"),
                    ".",
                )
            (format,) = self._formats
        is_normalized = 0 < self._most <= (1 if self._is_whole else 1 + BEYOND)
        return view.with_columns(box=replace(self._box, format=format, normalized=is_normalized))


Look = SplitSurvey | _Flags | _Answers | _Boxes


def _array(numbers: "array[int]") -> Hashes:
    return np.frombuffer(numbers, np.uint64) if numbers else np.empty(0, np.uint64)
