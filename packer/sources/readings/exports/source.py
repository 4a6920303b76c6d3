"""Images that annotation files describe: they are looked up, and become `Lists`.

A file is read once to find the records, of which only the places and the images are kept (24 bytes
and a path each); the records are read again as rows are made of them.
"""

import glob
import os
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage, Damaged, Repeated, UnusableInput
from packer.files.snapshot import Watched
from packer.images.annotated import size_of
from packer.samples.labels import Encodings, Objects, class_order, to_json
from packer.samples.outside import FRACTIONS
from packer.samples.records import Facts, Skipped
from packer.sources.readings.exports.form import Described, Form, NoImage, dig
from packer.sources.readings.exports.open_images import descriptions
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.tables.find import split_of_name
from packer.sources.tables.images import ImageIndex
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.words import command, option
from reader.format import BoxEncoding

_CLASSES = ("_classes.txt", "classes.txt")  # names of numbers, beside a file without them
_OWN = ("image", "labels", "boxes", "categories", "shapes")  # fields of a sample's json
Numbers = NDArray[np.int64]
_SEVERAL = 'The class numbers of each image are the list "labels" in its json.'


def open_export(
    tree: Tree, form_of: Mapping[str, Form], classes: Sequence[str] | None
) -> RowSource:
    """Open the images that files describe, all of forms that go together."""
    paths, form = list(form_of), next(iter(form_of.values()))
    export = _Export(tree, form, ImageIndex(tree))
    if any(one.names == "described" for one in form_of.values()):
        export.described = descriptions(tree)
    for path, of_path in form_of.items():
        export.read(path, of_path)
    if not export.numbers:
        faults = "; ".join(f"{one.name}: {one.reason}" for one in export.wrong[:3])
        raise UnusableInput(
            f"{tree.root}: {form.what} ({paths[0]}) name no image in this source. {faults}. To "
            "pack without it, type: ",
            command(tree.root, "--ignore", glob.escape(paths[0])),
        )
    listing = export.find_splits(paths[0])
    found, order = export.categories | export.labels, tuple(export.named)
    if classes is not None or not order or not found <= export.named.keys():
        order = class_order(tree.root, found, classes)
    export.number_of = {name: number for number, name in enumerate(order)}
    is_several = export.most > 1 or (export.labels and export.has_objects)
    files_of_classes = {inside(os.path.dirname(path), name) for path in paths for name in _CLASSES}
    named = [path for path in files_of_classes if form.names and tree.has(path)]
    sources = (*paths, *export.described, *named, *listing)
    facts = Facts(remarks=(_SEVERAL,) if is_several else (), boxes=export.boxes)
    return RowSource.open(tree, Lists(export.rows, order, sources, facts=facts))


@dataclass
class _Export:
    """The records of all files, and what is known once they have been read."""

    tree: Tree
    form: Form
    images: ImageIndex
    described: Mapping[str, dict[str, str]] = field(default_factory=dict)  # by each such file
    files: list[Watched] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)  # of the files
    others: list[dict[str, Any]] = field(default_factory=list)  # what else each file holds
    keys: list[str] = field(default_factory=list)  # of the records, if they have any
    numbers: dict[str, int] = field(default_factory=dict)  # of the images' paths, in their order
    splits: list[str] = field(default_factory=list)  # of the images, as records name them
    of_files: list[str] = field(default_factory=list)  # what the files say of these
    spans: "array[int]" = field(default_factory=lambda: array("q"))  # image, file, offset, size
    wrong: list[Skipped] = field(default_factory=list)
    with_images: set[str] = field(default_factory=set)  # folders of files beside their images
    categories: set[str] = field(default_factory=set)  # of objects
    labels: set[str] = field(default_factory=set)  # of images
    named: dict[str, None] = field(default_factory=dict)  # classes that the files list
    most: int = 0  # labels of an image
    has_objects: bool = False
    has_boxes: bool = False
    number_of: Mapping[str, int] = field(default_factory=dict)  # of classes

    def read(self, path: str, form: Form) -> None:
        """Add a file's records."""
        file, folder = self.tree.watched(path), os.path.dirname(path)
        number, others = len(self.files), dict[str, Any]()
        self.files.append(file)
        self.forms.append(form)
        self.others.append(others)
        if form.names.startswith("classes"):
            lists = filter(self.tree.has, (inside(folder, name) for name in _CLASSES))
            others["classes"] = next((list(self.tree.lines(one)) for one in lists), [])
        for names in self.described.values():
            others["described"] = names | others.get("described", {})
        name = "" if form.of == "file" else os.path.splitext(os.path.basename(path))[0]
        split = split_of_name(name) or self.images.split_of(path)
        for key, offset, data in form.reader.records(file, form.of, others):
            where = f"{path}: byte {offset}"
            try:
                found = form.describe(data, key, path, others)
                where = f"{path}: {found.image}"
                own = splits_of([found.split]).get(found.split, split)
                image = self._image(found.image, path, form, own)
                at = self._number(image, found.split, split)
            except NoImage as error:
                self.wrong.append(Skipped(where, str(error), ignored=bool(form.several)))
                continue
            except BadImage as error:
                is_missing = form.joins and not form.objects and isinstance(error, Damaged)
                wrong = Skipped.of(where, error)
                self.wrong.append(replace(wrong, ignored=is_missing, damaged=True))
                continue
            self.spans.extend((at, number, offset, len(data)))
            self.keys += [key] if form.image == "@key" else ()
            self._learn(found)
        for names in dig(others, form.names):
            each = names.values() if isinstance(names, dict) else [names]
            self.named.update(dict.fromkeys(map(str, each)))

    def _image(self, written: str, path: str, form: Form, split: str) -> str:
        """Return the image of a record; a file for one image may lie beside it, by its name."""
        if form.of == "file":
            beside = self.images.beside(path)
            if len(beside) == 1:
                self.with_images.add(os.path.dirname(path))
                return beside[0]
        return self.images.named_by(written, os.path.dirname(path), split)

    def _number(self, image: str, split: str, of_file: str) -> int:
        """The number of an image; raise BadImage if it may have one record only, and has it."""
        at = self.numbers.setdefault(image, len(self.numbers))
        if at == len(self.splits):
            self.splits.append(split)
            self.of_files.append(of_file)
        elif self.form.joins:
            self.splits[at] = self.splits[at] or split
        elif not self.form.several:
            raise Repeated("an earlier record also names it")
        return at

    def _learn(self, found: Described) -> None:
        things = found.objects
        self.categories.update(one.label for one in things if one.label is not None)
        self.labels.update(found.labels)
        self.most = max(self.most, len(found.labels))
        self.has_objects = self.has_objects or bool(things)
        self.has_boxes = self.has_boxes or any(one.box is not None for one in things)

    def find_splits(self, path: str) -> list[str]:
        """Find the split of each image; return the lists of splits that are read for it.

        Its sources are records, names of files, lists beside `path`, or the folders of all images.
        """
        if known := splits_of(sorted(set(self.splits) - {""})):
            both = zip(self.splits, self.of_files, strict=True)
            self.splits = [known.get(split, split) or of_file for split, of_file in both]
            return []
        self.splits = self.of_files
        if any(self.of_files):
            return []
        lists, split_of = self._split_lists(path)
        folders = [self.images.split_of(image) for image in self.numbers]
        if lists:
            self.splits = [split_of.get(image, "") for image in self.numbers]
        elif all(folders):
            self.splits = folders
        return lists

    def _split_lists(self, annotations: str) -> tuple[list[str], dict[str, str]]:
        """Return the lists beside a file that are named as splits are, and the split of each image.

        Flickr8k has ``Flickr_8k.trainImages.txt``. All lines of a list have to name images.
        """
        lists: list[str] = []
        found: dict[str, str] = {}
        folder = os.path.dirname(annotations)
        for name in self.tree.level(folder).examples.get(".txt", ()):
            words = re.findall(r"train|val|dev|test", name.lower())
            if len(words) != 1 or (path := inside(folder, name)) == annotations:
                continue
            try:
                images = [self.images.named_by(one, folder) for one in self.tree.lines(path)]
            except BadImage:
                continue
            found |= dict.fromkeys(images, words[0])
            lists.append(path)
        return lists, found

    @property
    def boxes(self) -> Encodings:
        """How the members hold boxes."""
        labels = "categories" if self.categories else None
        encoding = BoxEncoding(self.form.format, bool(self.form.scale), labels=labels)
        return {"json": encoding} if self.has_boxes else {}

    def rows(self) -> Iterator[Row | Skipped]:
        """Yield the images in the order of the files, then those without one.

        They are of splits without a file, or beside images that have a file each.
        """
        yield from self.wrong
        spans = np.asarray(self.spans, np.int64).reshape(-1, 4)
        order = np.argsort(spans[:, 0], kind="stable")
        bounds = np.searchsorted(spans[order, 0], np.arange(len(self.numbers) + 1))
        for at, (image, split) in enumerate(zip(self.numbers, self.splits, strict=True)):
            records = order[bounds[at] : bounds[at + 1]]
            complete = partial(self._completed, records, spans[records])
            yield Row(image, split=split, complete=complete)
        for folder in sorted(self.with_images):
            label, data = self._json([Described("", (), (), "", {})])
            split = self.images.split_of(inside(folder, "x"))
            for image in (inside(folder, name) for name in self.tree.images(folder)):
                if image not in self.numbers:
                    yield Row(image, label, split, {"json": data} if data else {})
        known = {*self.splits, ""}
        for folder, split in self.images.splits.items() if all(self.splits) else ():
            for name in self.tree.images(folder) if split not in known else ():
                yield Row(inside(folder, name), None, split)

    def _completed(self, records: Numbers, spans: Numbers, row: Row) -> Row:
        """Return a row with the class of its image and its ``json``."""
        found = []
        for number, (_, file, offset, size) in zip(records.tolist(), spans.tolist(), strict=True):
            watched, others = self.files[file], self.others[file]
            key = self.keys[number] if self.keys else ""
            (data,) = watched.read((offset, size))
            found.append(self.forms[file].describe(data, key, watched.path.name, others))
        if self.form.joins:
            found = [_joined(found, [self.files[file].path.name for file in spans[:, 1]])]
        label, data = self._json(found)
        return row._replace(label=label, members={"json": data} if data else {})

    def _json(self, found: Sequence[Described]) -> tuple[str | None, bytes | None]:
        """Return the class of an image and its ``json``."""
        form, (one, *_) = self.form, found
        if form.several:
            rests = [one.rest for one in found]
            parts = [part for rest in rests for part in dig(rest, form.gather)]
            return None, to_json({form.several: parts if form.gather else rests})
        image: dict[str, Any] = {"image": one.rest} if one.rest else {}
        is_one = self.most < 2 and not self.has_objects
        label = one.labels[0] if is_one and one.labels else None
        if one.labels and not is_one:
            image["labels"] = [self.number_of[name] for name in one.labels]
        if not self.has_objects and self.labels:
            return label, to_json(image) if image else None
        things = one.objects
        if self.categories and (lacking := sum(thing.label is None for thing in things)):
            raise BadImage(
                f"{lacking} of its {len(things)} objects have no class, and the others have one"
            )
        boxed = [thing for thing in things if thing.box is not None or not self.has_boxes]
        if further := [thing for thing in things if thing.box is None and self.has_boxes]:
            image["shapes"] = [
                dict(thing.fields)
                | ({"category": self.number_of[thing.label]} if thing.label else {})
                for thing in further
            ]
        names = dict.fromkeys(name for thing in boxed for name in thing.fields)
        objects = Objects(
            [thing.box for thing in boxed] if self.has_boxes else None,
            form.format,
            [self.number_of[thing.label or ""] for thing in boxed] if self.categories else None,
            {
                f"object_{name}" if name in _OWN else name: [
                    thing.fields.get(name) for thing in boxed
                ]
                for name in names
            },
            image,
            [f"object {at}" for at in range(len(boxed))] if self.has_boxes else (),
            FRACTIONS if form.scale else size_of(one.rest),
            picture=one.size,
        )
        return label, objects.json()


def _joined(found: Sequence[Described], files: Sequence[str]) -> Described:
    """Return the content of an image's records; raise BadImage if two files have its objects."""
    having = {file: None for one, file in zip(found, files, strict=True) if one.objects}
    if len(having) > 1:
        raise BadImage(
            f"{' and '.join(having)} give its objects; leave one out with ", option("ignore")
        )
    things = [thing for one in found for thing in one.objects]
    labels = dict.fromkeys(label for one in found for label in one.labels)
    rests = [one.rest for one in found]
    size = next((one.size for one in found if one.size), None)
    return Described(found[0].image, things, list(labels), "", _merged(rests), size)


def _merged(rests: Sequence[Any]) -> dict[str, Any]:
    """The fields of all; lists of the same name follow each other."""
    merged: dict[str, Any] = {}
    for rest in rests:
        for name, value in rest.items():
            is_list = isinstance(value, list) and isinstance(merged.get(name), list)
            merged[name] = merged[name] + value if is_list else value
    return merged
