"""One pass over the tables of a source: what has to be known of all rows before the first sample.

A row costs 16 bytes, and 4 more where it has a label.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage, UnusableInput
from packer.keys import Hashes, repeated
from packer.options.declared import FORMATS
from packer.samples.records import Skipped
from packer.tables.boxes import possible, size_of
from packer.tables.classes import label_text
from packer.tables.names import Keys, name_hash, stem_hash
from packer.tables.part import Part
from packer.tables.several import is_flag, is_number, parts, separator_of, set_flags
from packer.tables.table import Record
from packer.words import option


@dataclass
class Survey:
    """What all rows tell together; it stays in the process that scans.

    Attributes:
        names, stems: hashes of each row's image, with and without its extension.
        further: hashes of the further images that rows name.
        texts: the labels that occur.
        bounds: where in `names` the images of each table begin and end.
    """

    names: "array[int]" = field(default_factory=lambda: array("Q"))
    stems: "array[int]" = field(default_factory=lambda: array("Q"))
    further: "array[int]" = field(default_factory=lambda: array("Q"))
    texts: set[str] = field(default_factory=set)
    bounds: list[int] = field(default_factory=lambda: [0])

    def __reduce__(self) -> tuple[type["Survey"], tuple[()]]:
        """Nothing of it goes to a packing process."""
        return Survey, ()

    def keys(self, parts: Sequence[Part]) -> Keys:
        """The keys of all images; several rows of one are one image if a table is so understood."""
        stems = _array(self.stems)
        if any(part.grouped for part in parts):
            _, first = np.unique(_array(self.names), return_index=True)
            stems = stems[first]  # of each image, however many rows it has
        return Keys(stems)

    def check_apart(self, parts: Sequence[Part]) -> None:
        """Raise UnusableInput where two tables name the same image."""
        each = [np.unique(_array(self.names)[first:last]) for first, last in pairwise(self.bounds)]
        if len(each) < 2 or not len(repeated(each)):
            return
        for (one, ours), (other, theirs) in combinations(zip(parts, each, strict=True), 2):
            if count := len(np.intersect1d(ours, theirs, assume_unique=True)):
                first, second = one.table.files[0].path, other.table.files[0].path
                raise UnusableInput(
                    f"{first} and {second} both name {count} of the images. Pack the one that has "
                    f"the labels: packer pack {first} DST --root {one.places.images.tree.root}"
                )

    @property
    def known(self) -> Hashes:
        """The hashes of all files that rows name, sorted, each once."""
        return np.unique(np.concatenate([_array(self.names), _array(self.further)]))

    @property
    def counted(self) -> tuple[Hashes, NDArray[np.int64]]:
        """The hash of each image, sorted, and how many rows it has."""
        return np.unique(_array(self.names), return_counts=True)

    def look_at(self, part: Part, options_separator: str | None) -> Part:
        """Read a table; gives it with all that its rows tell.

        Raises:
            UnusableInput: its rows may mean several things.
        """
        where = part.table.files[0].path
        begin = len(self.names)
        codes = array("i")
        of_text: dict[str, int] = {}
        flags = _Flags(part) if part.columns.label is None and not part.columns.is_object else None
        formats = set(FORMATS[:2])
        for record in part.table.records(part.told):
            if isinstance(record, Skipped):
                continue
            try:
                name = part.name(record.fields)
                further = part.further(record.fields)
            except BadImage:
                continue  # the scan names it
            self.names.append(name_hash(name))
            self.stems.append(stem_hash(name))
            self.further.extend(map(name_hash, further.values()))
            codes.append(of_text.setdefault(_text(part, record), len(of_text)))
            if flags is not None:
                flags.look_at(record.fields)
            if part.columns.box is not None and not part.columns.box.format:
                formats &= _formats(part, record.fields)
        self.bounds.append(len(self.names))
        part = _with_format(part, formats, where)
        if flags is not None:
            part = flags.told()
            self.texts.update(part.flags)
        texts = of_text.keys() - {""}
        if part.columns.label is not None and not part.table.class_names.get(part.columns.label):
            separator = separator_of(texts, part.columns.label, options_separator, where)
            part = replace(part, separator=separator)
        for text in texts:
            self.texts.update(parts(text, part.separator) if part.separator else [text])
        return self._grouped(part, begin, codes, of_text, where)

    def _grouped(
        self, part: Part, begin: int, codes: "array[int]", of_text: dict[str, int], where: object
    ) -> Part:
        """Whether images have several rows in a table."""
        names = _array(self.names)[begin:].copy()
        if len(np.unique(names)) == len(names):
            return part
        if part.columns.label is None or part.can_group:
            return replace(part, grouped=part.can_group)
        labels = np.frombuffer(codes, np.int32)
        labelled = np.flatnonzero(labels != of_text.get("", -1))
        order = labelled[np.argsort(names[labelled], kind="stable")]
        same = names[order][1:] == names[order][:-1]
        differ = np.flatnonzero(same & (labels[order][1:] != labels[order][:-1]))
        if not len(differ):
            return part
        texts = list(of_text)
        examples = [repr(texts[code]) for code in labels[order][differ[0] : differ[0] + 2]]
        count = len(np.unique(names[order][1:][differ]))
        having = "1 image has" if count == 1 else f"{count} images have"
        raise UnusableInput(
            f"{where}: {having} several rows with different labels, such as "
            f"{' and '.join(examples)}. If they are several "
            "labels of one image, write them into one row with | between, as pandas does by "
            f".groupby({part.columns.image!r})[{part.columns.label!r}].agg('|'.join); if only one "
            f"is right, keep that; with {option('label_column', 'none')} all rows go into the "
            "sample's json."
        )


class _Flags:
    """Which columns hold 0 and 1 alone, and whether each row has one 1."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._others = list(part.columns.others(dict.fromkeys(part.table.columns)))
        compound = part.table.compound
        self._flags = [name for name in self._others if name not in compound]
        self._numbers = set(self._flags)  # that are no flags
        self._one = True

    def look_at(self, fields: Mapping[str, Any]) -> None:
        if not self._numbers:
            return
        for name in self._flags:
            if not is_flag(fields.get(name)):
                self._flags = [name for name in self._flags if is_flag(fields.get(name))]
                break
        self._numbers = {name for name in self._numbers if is_number(fields.get(name))}
        self._one = self._one and len(set_flags(fields, self._flags)) == 1

    def told(self) -> Part:
        """The part, whose labels are these columns if no other number may be what is looked for."""
        if len(self._flags) < 2 or self._numbers - set(self._flags):
            return self._part
        return replace(self._part, flags=tuple(self._flags), one_flag=self._one)


def _text(part: Part, record: Record) -> str:
    try:
        return label_text(part.columns.label_of(record.fields))
    except BadImage:
        return ""  # the scan names it


def _formats(part: Part, fields: Mapping[str, Any]) -> set[str]:
    assert part.columns.box is not None
    try:
        numbers = part.columns.box.numbers(fields)
    except BadImage:
        numbers = None  # the scan names it
    return possible(numbers, size_of(fields)) if numbers else set(FORMATS)


def _with_format(part: Part, formats: set[str], where: object) -> Part:
    """The part with the only format that its boxes may have."""
    box = part.columns.box
    if box is None or box.format:
        return part
    if len(formats) != 1:
        raise UnusableInput(
            f"{where}: the numbers in the column {box.names[0]!r} may be two corners, or a corner, "
            f"width and height. Give {option('box_format', 'xyxy')} or "
            f"{option('box_format', 'xywh')}."
        )
    return replace(part, columns=replace(part.columns, box=replace(box, format=min(formats))))


def _array(numbers: "array[int]") -> Hashes:
    return np.frombuffer(numbers, np.uint64) if numbers else np.empty(0, np.uint64)
