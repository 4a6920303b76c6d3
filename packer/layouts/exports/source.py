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
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage, Damaged, UnusableInput
from packer.files.snapshot import Watched
from packer.layouts.exports.form import Described, Form, NoImage, dig
from packer.layouts.lists import ListedSource, Lists, Row
from packer.samples.labels import Encodings, Objects, class_order, to_json
from packer.samples.records import Skipped
from packer.tables.find import split_of_name
from packer.tables.images import ImageIndex, path_inside
from packer.trees.meaning import splits_of
from packer.trees.shape import inside
from packer.trees.tree import Tree
from packer.words import command
from reader.format import BoxEncoding

_CLASSES = ("_classes.txt", "classes.txt")  # names of numbers, beside a file without them
_OWN = ("image", "labels", "boxes", "categories", "shapes")  # fields of a sample's json
Numbers = NDArray[np.int64]
_SEVERAL = 'The class numbers of each image are the list "labels" in its json.'


@dataclass
class _Survey:
    """What is known of the records once all have been read."""

    files: list[Watched] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)  # what else each file holds
    keys: list[str] = field(default_factory=list)  # of the records, if they have any
    images: dict[str, int] = field(default_factory=dict)  # path -> number, in their order
    splits: list[str] = field(default_factory=list)  # of the images, as records name them
    of_files: list[str] = field(default_factory=list)  # what the files say of these
    spans: "array[int]" = field(default_factory=lambda: array("q"))  # image, file, offset, size
    wrong: list[Skipped] = field(default_factory=list)
    categories: set[str] = field(default_factory=set)  # of objects
    labels: set[str] = field(default_factory=set)  # of images
    named: list[str] = field(default_factory=list)  # classes that the files list
    most: int = 0  # labels of an image
    has_objects: bool = False
    has_boxes: bool = False


def open_export(
    tree: Tree, form: Form, paths: Sequence[str], classes: Sequence[str] | None
) -> ListedSource:
    """Open the images that files of one form describe."""
    survey, images = _Survey(), ImageIndex(tree)
    for path in paths:
        _read(tree, images, form, path, survey)
    if not survey.images:
        faults = "; ".join(f"{one.name}: {one.reason}" for one in survey.wrong[:3])
        raise UnusableInput(
            f"{tree.root}: {form.what} ({paths[0]}) name no image that lies here. {faults}. To "
            f"pack without it, type: {command(tree.root, '--ignore', glob.escape(paths[0]))}"
        )
    listing, splits = _splits(tree, images, paths[0], survey)
    found = survey.categories | survey.labels
    if classes is None and survey.named and found <= set(survey.named):
        order = tuple(dict.fromkeys(survey.named))
    else:
        order = class_order(tree.root, found, classes)
    number_of = {name: number for number, name in enumerate(order)}
    maker = _Maker(form, survey, images, splits, number_of)
    is_several = survey.most > 1 or (survey.labels and survey.has_objects)
    beside = {inside(os.path.dirname(path), name) for path in paths for name in _CLASSES}
    lists = Lists(
        maker.rows,
        order,
        (*paths, *(path for path in beside if form.names and tree.has(path)), *listing),
        boxes=maker.boxes,
        advice=_SEVERAL if is_several else "",
    )
    return ListedSource.open(tree, lists)


def _splits(
    tree: Tree, images: ImageIndex, path: str, survey: _Survey
) -> tuple[list[str], list[str]]:
    """Lists of splits that are read, and the split of each image.

    Records say it, or the names of files, or lists beside them, or the folders of all images.
    """
    if known := splits_of(sorted(set(survey.splits) - {""})):
        return [], [known.get(split, split) for split in survey.splits]
    if any(survey.of_files):
        return [], survey.of_files
    listing, split_of = _split_lists(tree, images, path)
    if listing:
        return listing, [split_of.get(image, "") for image in survey.images]
    folders = [images.split_of(image) for image in survey.images]
    return [], folders if all(folders) else survey.of_files


def _split_lists(tree: Tree, images: ImageIndex, beside: str) -> tuple[list[str], dict[str, str]]:
    """The lists of images beside a file that are named as splits are, and the split of each image.

    Flickr8k has ``Flickr_8k.trainImages.txt``. All lines of a list have to name images.
    """
    lists: list[str] = []
    found: dict[str, str] = {}
    folder = os.path.dirname(beside)
    for name in tree.level(folder).examples.get(".txt", ()):
        words = re.findall(r"train|val|dev|test", name.lower())
        if len(words) != 1 or (path := inside(folder, name)) == beside:
            continue
        try:
            found |= {_image(images, line, folder, ""): words[0] for line in tree.lines(path)}
        except BadImage:
            continue
        lists.append(path)
    return lists, found


def _read(tree: Tree, images: ImageIndex, form: Form, path: str, survey: _Survey) -> None:
    """Add a file's records to the survey."""
    file, folder = tree.watched(path), os.path.dirname(path)
    number, others = len(survey.files), dict[str, Any]()
    survey.files.append(file)
    survey.others.append(others)
    if form.names.startswith("classes"):
        named = (inside(folder, name) for name in _CLASSES)
        others["classes"] = next((list(tree.lines(one)) for one in named if tree.has(one)), [])
    name = "" if form.of == "file" else os.path.splitext(os.path.basename(path))[0]
    split = split_of_name(name) or images.split_of(path)
    for key, offset, data in form.reader.records(file, form.of, others):
        where = f"{path}: byte {offset}"
        try:
            found = form.describe(data, key, path, others)
            where = f"{path}: {found.image}"
            own = splits_of([found.split]).get(found.split, split)
            image = _image(images, found.image, folder, own)
        except NoImage as error:
            survey.wrong.append(Skipped(where, str(error), ignored=bool(form.several)))
            continue
        except BadImage as error:
            survey.wrong.append(Skipped(where, str(error), damaged=True))
            continue
        at = survey.images.setdefault(image, len(survey.images))
        if at == len(survey.splits):
            survey.splits.append(found.split)
            survey.of_files.append(split)
        elif not form.several:
            reason = "an earlier record names it too"
            survey.wrong.append(Skipped(where, reason, damaged=True))
            continue
        survey.spans.extend((at, number, offset, len(data)))
        survey.keys += [key] if form.image == "@key" else ()
        things = found.objects
        survey.categories.update(one.label for one in things if one.label is not None)
        survey.labels.update(found.labels)
        survey.most = max(survey.most, len(found.labels))
        survey.has_objects = survey.has_objects or bool(things)
        survey.has_boxes = survey.has_boxes or any(one.box is not None for one in things)
    if form.names:
        survey.named = list(dict.fromkeys([*survey.named, *map(str, dig(others, form.names))]))


@dataclass(frozen=True)
class _Maker:
    """Makes rows of the records."""

    form: Form
    survey: _Survey
    images: ImageIndex
    splits: Sequence[str]
    number_of: Mapping[str, int]  # of classes

    @property
    def boxes(self) -> Encodings:
        """How the members hold boxes."""
        survey, form = self.survey, self.form
        if not survey.has_boxes:
            return {}
        labels = "categories" if survey.categories else None
        return {"json": BoxEncoding(form.format, bool(form.scale), labels=labels)}

    def rows(self) -> Iterator[Row | Skipped]:
        """Yield the images in the order of the files, then those of splits without a file."""
        survey = self.survey
        yield from survey.wrong
        spans = np.asarray(survey.spans, np.int64).reshape(-1, 4)
        order = np.argsort(spans[:, 0], kind="stable")
        bounds = np.searchsorted(spans[order, 0], np.arange(len(survey.images) + 1))
        for at, (image, split) in enumerate(zip(survey.images, self.splits, strict=True)):
            records = order[bounds[at] : bounds[at + 1]]
            complete = partial(self._completed, records, spans[records])
            yield Row(image, split=split, complete=complete)
        known = {*self.splits, ""}
        for folder, split in self.images.splits.items() if all(self.splits) else ():
            for name in self.images.tree.images(folder) if split not in known else ():
                yield Row(inside(folder, name), None, split)

    def _completed(self, records: Numbers, spans: Numbers, row: Row) -> Row:
        """A row with the class of its image and its ``json``."""
        found = []
        for number, (_, file, offset, size) in zip(records.tolist(), spans.tolist(), strict=True):
            watched, others = self.survey.files[file], self.survey.others[file]
            key = self.survey.keys[number] if self.survey.keys else ""
            (data,) = watched.read((offset, size))
            found.append(self.form.describe(data, key, watched.path.name, others))
        label, data = self._json(found)
        return replace(row, label=label, members={"json": data} if data else {})

    def _json(self, found: Sequence[Described]) -> tuple[str | None, bytes | None]:
        """The class of an image and its ``json``."""
        form, survey, (one, *_) = self.form, self.survey, found
        if form.several:
            rests = [one.rest for one in found]
            parts = [part for rest in rests for part in dig(rest, form.gather)]
            parts = parts if form.gather else rests
            return None, to_json({form.several: parts})
        image: dict[str, Any] = {"image": one.rest} if one.rest else {}
        is_one = survey.most < 2 and not survey.has_objects
        label = one.labels[0] if is_one and one.labels else None
        if one.labels and not is_one:
            image["labels"] = [self.number_of[name] for name in one.labels]
        if not survey.has_objects and survey.labels:
            return label, to_json(image) if image else None
        things = one.objects
        if survey.categories and (lacking := sum(thing.label is None for thing in things)):
            raise BadImage(f"{lacking} of its {len(things)} objects have no class, and others do")
        boxed = [thing for thing in things if thing.box is not None or not survey.has_boxes]
        if further := [thing for thing in things if thing.box is None and survey.has_boxes]:
            image["shapes"] = [
                dict(thing.fields)
                | ({"category": self.number_of[thing.label]} if thing.label else {})
                for thing in further
            ]
        names = dict.fromkeys(name for thing in boxed for name in thing.fields)
        objects = Objects(
            [thing.box for thing in boxed] if survey.has_boxes else None,
            form.format,
            [self.number_of[thing.label or ""] for thing in boxed] if survey.categories else None,
            {
                f"object_{name}" if name in _OWN else name: [
                    thing.fields.get(name) for thing in boxed
                ]
                for name in names
            },
            image,
            [f"object {at}" for at in range(len(boxed))] if survey.has_boxes else (),
        )
        return label, objects.json()


def _image(images: ImageIndex, written: str, folder: str, split: str) -> str:
    """The path of the image that a file in `folder` names; raise BadImage where it is not clear."""
    tree, value = images.tree, written
    if "\\" in value and not tree.has(inside(folder, value)):
        value = value.replace("\\", "/")
    for base in (folder, ""):
        path = os.path.normpath(inside(base, value))
        if not path.startswith("../") and tree.has(path):
            return path_inside(tree.root, path)
    is_far = re.match(r"[\w+.-]+:|/", value) is not None
    if is_far:
        parts = urlsplit(value)
        value = unquote((parse_qs(parts.query).get("d") or [parts.path])[0])
    value = os.path.normpath(value).lstrip("/")
    name = value.rpartition("/")[2]
    found = images.ending_with(value) or images.below_another(value)
    if is_far and not found:
        found = images.ending_with(name) or images.ending_with(re.sub(r"^[0-9a-f]{8}-", "", name))
    for is_nearer in (
        lambda path: images.split_of(path) == split,
        lambda path: path.startswith(f"{folder}/"),
    ):
        found = [path for path in found if is_nearer(path)] or found
    if not found:
        raise Damaged("no image of that name was found")
    if len(found) > 1:
        raise BadImage(f"it may be {found[0]} or {found[1]}")
    return found[0]
