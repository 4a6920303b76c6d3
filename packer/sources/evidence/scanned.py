"""What a reading of texts packs: options of a command line, tried by a scan."""

import io
import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from packer.errors import BadImage, UnusableInput
from packer.images.probe import PILLOW_ERRORS
from packer.options.declared import SourceOptions
from packer.samples.records import Sample, Source
from packer.samples.table import SampleTable
from packer.sources.readings.detect import read
from packer.sources.tables.images import NO_IMAGE
from packer.sources.tables.texts import as_number
from packer.sources.trees.find import tree_at
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import NOT_AN_IMAGE
from reader.format.members import PICTURES

_LABEL = re.compile(r"\{label(?::\w+)?\}")
_LOOKED_AT = 100  # samples
_OPENED = 5  # samples whose pictures are compared
_NAMED = 10_000  # samples whose folders are compared with their classes


@dataclass(frozen=True)
class Scanned:
    """What a source packs.

    Attributes:
        tree: to which the names of its images are relative.
        is_flat: whether JSON that it makes has no objects in it, which may hold labels.
        lost: lines of lists whose image is not there; ``--on-error skip`` leaves them out.
    """

    listing: SampleTable
    source: Source
    tree: Tree
    src: Path
    is_flat: bool = True
    lost: int = 0

    @property
    def left(self) -> list[str]:
        """The files that are no images and are ignored."""
        return [item.name for item in self.listing.skipped if item.reason == NOT_AN_IMAGE]

    def base(self, options: SourceOptions) -> tuple[str, ...]:
        """Return the options that say outright how folders and images are read."""
        base = self.source.facts.outright or by_templates(options.images, options.members)
        if len(classes := self.source.classes) == 1:  # which says nothing beside a text
            base = tuple(_LABEL.sub(lambda _: literal(classes[0]), word) for word in base)
        return base

    @property
    def has_objects(self) -> bool:
        """Whether it reads objects of images, which a list would replace."""
        return bool(self.source.facts.boxes)

    @cached_property
    def digest(self) -> int:
        """A number that is the same where labels, splits and members are."""
        table, names = self.listing, dict(enumerate(self.source.classes))  # none for numbers
        labels, splits = table.labels.tolist(), table.splits.tolist()
        rows = zip(range(len(table)), labels, splits, strict=True)
        each = frozenset(
            (table.name_of(n), names.get(label, label), split) for n, label, split in rows
        )
        return hash((each, tuple(sorted(table.members.items()))))

    @cached_property
    def numbers_folders(self) -> bool:
        """Whether its classes are numbers of folders, which have names that say more."""
        classes, labels = self.source.classes, self.listing.labels
        if len(classes) < 2 or not all(map(str.isdecimal, classes)):
            return False
        levels: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for number in np.flatnonzero(labels >= 0)[:_NAMED].tolist():
            for level, name in enumerate(self.listing.name_of(number).split("/")[:-1]):
                levels[level].add((name, classes[labels[number]]))
        return any(
            1 < len(pairs) == len({name for name, _ in pairs}) == len({of for _, of in pairs})
            and any(as_number(name) != as_number(of) for name, of in pairs)
            for pairs in levels.values()
        )


@dataclass(frozen=True)
class Reading:
    """A way to read the texts, as options of a command line."""

    words: tuple[str, ...]
    is_clear: bool = False  # it contradicts nothing, and leaves no choice
    left: tuple[str, ...] = ()  # files that it does not read

    def options(self, given: SourceOptions) -> SourceOptions:
        """Return the options of the source with those of this reading."""
        found: dict[str, list[str]] = {
            name: [] for name in ("--images", "--member", "--labels", "--ignore")
        }
        for flag, text in zip(self.words[::2], self.words[1::2], strict=True):
            found.setdefault(flag, []).append(text)  # others do not concern the source
        return replace(
            given,
            kind=next(iter(found.get("--as", ())), None),
            class_depth=None,
            pairs={},
            images=tuple(found["--images"]),
            members=dict(one.split("=", 1) for one in found["--member"]),
            labels=tuple(found["--labels"]),
            ignore=(*given.ignore, *found["--ignore"]),
        )


def scanned(reading: Reading, src: Path, options: SourceOptions) -> Scanned | None:
    """Return what a reading packs; None if it rejects a file, or most lines of lists.

    Packing rejects members that are pictures of another size, so some are looked at.
    """
    table, is_flat, some = SampleTable(), True, list[Sample]()
    try:
        source = read(src, chosen := reading.options(options)).open(None)
        for record in source.scan():
            if isinstance(record, Sample) and len(table) < _LOOKED_AT:
                is_flat &= not any(map(_is_nested, record.places))
                some += [record] * bool(record.members and len(some) < _OPENED)
            table.add(record, ())
        tree = getattr(source, "tree", None) or tree_at(src, chosen.ignore)
    except (UnusableInput, BadImage, OSError):
        return None
    lost = [reason for _, reason in table.rejected]
    if tree is None or len(lost) > len(table) or not all(one.endswith(NO_IMAGE) for one in lost):
        return None
    if not all(_fits(source, one) for one in some):
        return None
    return Scanned(table, source, tree, src, is_flat, len(lost))


def _fits(source: Source, sample: Sample) -> bool:
    """Return whether an image has the size of its members that are pictures."""
    try:
        content = source.files.read(sample)
    except BadImage:
        return True
    members = content.members.items()
    pictures = [data for ext, data in members if ext.rpartition(".")[2].lower() in PICTURES]
    return len({*map(_size, (content.image, *pictures))} - {None}) <= 1


def _size(data: object) -> tuple[int, int] | None:
    """Return the width and height in the header of an image file; None where there is none."""
    if not isinstance(data, bytes):
        return None
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.size
    except PILLOW_ERRORS:
        return None


def _is_nested(place: object) -> bool:
    """Return whether JSON that the source makes has objects in it, which may hold labels."""
    held = place[0] if isinstance(place, list | tuple) and place else place
    try:
        fields = json.loads(held) if isinstance(held, bytes) else {}
    except ValueError:
        return False
    return any("{" in json.dumps(value) for value in fields.values())
