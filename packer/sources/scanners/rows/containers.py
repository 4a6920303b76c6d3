"""The entries of containers as rows: what other libraries wrote.

A pass over all entries finds the classes and the keys (`entry_survey`), another one makes the rows.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.options.declared import SourceOptions
from packer.samples.labels import in_json, to_json
from packer.samples.places import Files
from packer.samples.records import Facts, Skipped
from packer.sources.containers.entries import Blob, Container, Entry, Text
from packer.sources.scanners.rows.entry_survey import Meaning, Survey
from packer.sources.scanners.rows.lists import Held, Lists, Row
from packer.sources.scanners.rows.roles import Roles, extension, is_image, shape_of
from packer.sources.scanners.rows.source import RowSource
from packer.sources.tables.classes import label_text
from packer.sources.tables.columns import split_text
from packer.sources.tables.images import Keys
from packer.sources.tables.view import could_have_labels
from packer.sources.trees.tree import Tree

_FILES, _ENTRIES = 8, 32  # that tell what the fields are
_SIGNS = re.compile(r"[^a-z0-9_-]")

Members = dict[str, str | bytes | Held]


def open_container(
    src: Path,
    tree: Tree,
    container: Container,
    options: SourceOptions,
    classes: Sequence[str] | None,
    splits: Mapping[str, str],
) -> RowSource:
    """Find the roles of the fields and the classes; `splits` are those of the files."""
    head = [
        entry
        for file in islice(container.files, _FILES)
        for entry in islice(container.entries(file), _ENTRIES)
        if isinstance(entry, Entry)
    ]
    if not head:
        found = next(chain.from_iterable(map(container.entries, container.files)), None)
        why = f"{found.name}: {found.reason}" if isinstance(found, Skipped) else "it has no entries"
        raise UnusableInput(f"{src} holds nothing that can be read: {why}.")
    first = Watched.of(container.folder / container.files[0])
    roles = Roles.find(first, head, container.classes, options)
    survey = Survey.of(container, roles, splits)
    rows = _Rows(container, roles, splits, survey, survey.meaning(roles, classes, src))
    none = np.empty(0, np.uint64)  # rows name no files
    lists = Lists(
        rows.rows,
        sources=frozenset(container.files),
        ignored=container.aside,
        facts=rows.facts(src),
        is_whole=src == tree.root,
        labels=rows.meaning.labels,
        keys=lambda: Keys(np.array(survey.stems, np.uint64)),
        known=lambda: none,
        not_listed="it is beside the files with records, and belongs to no sample",
    )
    return RowSource.open(tree, lists)


@dataclass(frozen=True)
class _Rows:
    """What becomes of the entries."""

    container: Container
    roles: Roles
    splits: Mapping[str, str]
    survey: Survey
    meaning: Meaning

    def facts(self, src: Path) -> Facts:
        """How a Loader reads the boxes."""
        objects = self.survey.objects
        if objects is None:
            lacks = could_have_labels(self.roles.fields, self.roles.columns)
            return Facts(unlabelled=lambda: [lacks], root=src)
        has_classes = self.roles.columns.label is None and objects.has_classes
        boxes = in_json("xyxy", labels=has_classes, normalized=objects.normalized)
        return Facts(root=src, boxes=boxes)

    def rows(self) -> Iterator[Row | Skipped]:
        """Yield the image of each entry."""
        yield from self.container.absent()
        for file in self.container.files:
            for entry in self.container.entries(file):
                if isinstance(entry, Skipped):
                    yield entry
                    continue
                try:
                    yield self._row(entry, self.splits[file])
                except BadImage as error:
                    yield Skipped.of(entry.where, error)

    def _row(self, entry: Entry, of_file: str) -> Row:
        columns, fields = self.roles.columns, entry.fields
        image = fields.get(columns.image)
        if isinstance(image, Text):
            image = image.blob
        if not is_image(image, fields):
            raise BadImage(f"its {columns.image!r} is no image of a known format")
        shape, place = shape_of(image, fields), image.place
        if shape is not None and place[-1] != shape:
            place = [*place, shape]
        held = Held(place, image.size, entry.mtime_ns)
        split = split_text(columns.split_of(fields)) or of_file
        label = self.meaning.text_of(label_text(columns.label_of(fields)))
        name = self.survey.name_of(entry, split)
        members = self._members(entry)
        return Row(name, label, split, members, entry.where, "", held, entry.block)

    def _members(self, entry: Entry) -> Members:
        others, members = self.roles.columns.others(entry.fields), Members()
        others.pop(self.meaning.naming, None)
        if objects := self.survey.objects:
            found, others = objects.objects(others, self.meaning.class_of)
            data = replace(found, image=self._plain(others, members, entry.mtime_ns)).json()
            members["json"] = data
        elif others := self._plain(others, members, entry.mtime_ns):
            members["json"] = to_json(others)
        return members

    def _plain(self, fields: Mapping[str, Any], members: Members, mtime_ns: int) -> dict[str, Any]:
        """Return what goes into the JSON; bytes become members."""
        found = {}
        for name, value in fields.items():
            if isinstance(value, list) and any(isinstance(one, Blob) for one in value):
                raise BadImage(f"its field {name!r} holds several images or arrays")
            if isinstance(value, Blob):
                ext = f"{_SIGNS.sub('_', name.lower())}.{extension(value)}"
                if ext in members:
                    raise BadImage(f"two of its fields would be its member .{ext}")
                members[ext] = self._held(value, mtime_ns)
            elif isinstance(value, str) and name == "txt":
                members[name] = value.encode()
            elif value is not None:
                found[name] = value
        return found

    def _held(self, blob: Blob, mtime_ns: int) -> Held:
        """Return bytes as they are, and pixels as an array with a header."""
        if not isinstance(shape := blob.place[-1], list):
            return Held(blob.place, blob.size, mtime_ns)
        is_made = isinstance(blob.place[0], bytes)
        files = Files(self.container.folder)
        data = blob.place[0] if is_made else files.packed(blob.place, mtime_ns)
        file = io.BytesIO()
        npy.write_array(file, np.frombuffer(data, np.uint8).reshape(shape))
        return Held.made(file.getvalue(), mtime_ns)
