"""What all entries of a container tell: what names their samples, and what their labels mean."""

import os
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from packer.errors import BadImage
from packer.samples.labels import class_order
from packer.sources.containers.entries import Container, Entry
from packer.sources.scanners.rows.entry_objects import ObjectFields
from packer.sources.scanners.rows.roles import Roles
from packer.sources.tables.classes import Labels, label_text
from packer.sources.tables.images import name_hash, stem_hash
from packer.sources.trees.shape import inside

_OWN = ""  # the container's names, in place of a field
_MOST_NAMES = 3  # fields that may name the samples
_MOST_CLASSES = 100_000  # whose names are looked at


@dataclass(frozen=True)
class Meaning:
    """What the labels of entries and the classes of their objects mean.

    Attributes:
        names: the text of a label -> the name of its class, where another field has that.
        naming: that field.
        class_of: the class of an object -> its number; None: they stay as they are.
    """

    labels: Labels
    names: Mapping[str, str] = field(default_factory=dict)
    naming: str = ""
    class_of: Mapping[Any, int] | None = None

    def text_of(self, label: str) -> str:
        """Return a label as `labels` has it."""
        return self.names.get(label, label)


@dataclass
class Survey:
    """What all entries tell."""

    declared: Mapping[str, Sequence[str]]  # fields of labels -> their classes
    objects: ObjectFields | None = None
    naming: str = _OWN  # the field that names the samples
    texts: set[str] = field(default_factory=set)  # of labels
    named: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # field, label -> names
    _stems: dict[str, "array[int]"] = field(default_factory=dict)  # hashes, by the field

    @property
    def stems(self) -> "array[int]":
        """The hashes of the samples' names without extensions."""
        return self._stems[self.naming]

    @classmethod
    def of(cls, container: Container, roles: Roles, splits: Mapping[str, str]) -> "Survey":
        """Look at all entries."""
        found = cls(container.classes, named={name: {} for name in roles.class_names})
        namings = () if container.keyed else roles.names[:_MOST_NAMES]
        hashes = {name: array("Q") for name in namings}
        found._stems = {name: array("Q") for name in (*namings, _OWN)}
        count = 0
        for file in container.files:
            for entry in container.entries(file):
                if not isinstance(entry, Entry):
                    continue
                count += 1
                found._note(entry, roles)
                for name, stems in found._stems.items():
                    if name == _OWN or _is_name(entry.fields.get(name)):
                        whole = found._named(entry, splits[file], name)
                        stems.append(stem_hash(whole))
                        if name != _OWN:
                            hashes[name].append(name_hash(whole))
        unique = (n for n, each in hashes.items() if len(np.unique(each)) == len(each) == count)
        found.naming = next(unique, _OWN)
        return found

    def name_of(self, entry: Entry, split: str) -> str:
        """Return the name of an entry's sample."""
        return self._named(entry, split, self.naming)

    @staticmethod
    def _named(entry: Entry, split: str, naming: str) -> str:
        if not naming:
            return entry.name
        # A path from elsewhere stays below the split.
        return inside(split, os.path.normpath(f"/{entry.fields[naming]}").lstrip("/"))

    def _note(self, entry: Entry, roles: Roles) -> None:
        fields = entry.fields
        if self.objects is None:
            self.objects = ObjectFields.of(fields)
        if self.objects is not None:
            with suppress(BadImage):  # the scan names it
                self.objects.look_at(fields)
        if roles.columns.label is None:
            return
        with suppress(BadImage):
            text = label_text(fields.get(roles.columns.label))
            self.texts.add(text)
            for name, known in self.named.items():
                if len(known) <= _MOST_CLASSES:
                    known.setdefault(text, set()).add(str(fields.get(name, "")))

    def meaning(self, roles: Roles, classes: Sequence[str] | None, where: object) -> Meaning:
        """Return what the labels mean; `classes` are the caller's, in label order."""
        label = roles.columns.label
        if label is None:
            return self._of_objects(classes, where)
        if names := tuple(self.declared.get(label, ())):
            return Meaning(Labels.declare(names, classes, where))
        for name, known in self.named.items():
            each = {number: next(iter(names)) for number, names in known.items() if len(names) == 1}
            each.pop("", None)
            is_whole = each.keys() == self.texts - {""} and all(map(str.isdecimal, each))
            if each and is_whole and len({*each.values()} - {""}) == len(each):
                ordered = [each[number] for number in sorted(each, key=int)]
                return Meaning(Labels(_ordered(ordered, classes, where), named=True), each, name)
        return Meaning(Labels.of(self.texts, classes, where))

    def _of_objects(self, classes: Sequence[str] | None, where: object) -> Meaning:
        if self.objects is None:
            return Meaning(Labels(tuple(classes or ())))
        declared = self.declared.get(f"{self.objects.prefix}label", ())
        names = declared or self.objects.class_names()
        if not names:  # only numbers
            return Meaning(Labels(tuple(classes or ())))
        ordered = _ordered(names, classes, where)
        number_of = {name: number for number, name in enumerate(ordered)}
        texts: dict[Any, int] = dict(number_of)
        if declared:
            texts |= {number: number_of[name] for number, name in enumerate(declared)}
        return Meaning(Labels(ordered), class_of=texts)


def _ordered(names: Sequence[str], classes: Sequence[str] | None, where: object) -> tuple[str, ...]:
    return class_order(where, names, classes) if classes else tuple(names)


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and value != ""
