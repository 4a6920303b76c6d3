"""COCO's annotation files: images with boxes, categories, outlines, key points and captions.

The format is that of https://cocodataset.org/#format-data. An annotation file is streamed, and of
each entry only its place in the file is kept (32 bytes); a sample's locator lists its places. The
annotations of an image become its member ``json``, a list for each field with one element for each
object: ``boxes`` (COCO's ``bbox``: x, y, width, height in pixels), ``categories`` (class numbers:
the category ids in their order, from 0), and all others under COCO's names; ``captions``, and the
image's own entry as ``image``. Panoptic segments are objects, too, and their picture is the member
``panoptic.png``. Annotations that have a category alone make it the image's class.
"""

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import BadImage, UnusableInput, first_of
from packer.files.snapshot import Watched
from packer.keys import hashes_of
from packer.layouts.coco.folders import find
from packer.layouts.coco.index import CAPTIONS, CLASSES, PANOPTIC, Annotations, Index
from packer.layouts.coco.json_stream import parsed
from packer.layouts.lists import others
from packer.options.declared import SourceOptions
from packer.samples.labels import Objects, class_order, in_json
from packer.samples.records import Facts, Reader, Sample, Skipped
from packer.tables.images import Keys, path_inside
from packer.trees.folder import FolderTree
from packer.trees.meaning import splits_of
from packer.trees.sample import SampleParts
from packer.trees.tree import Tree, aside

PICTURE = "panoptic.png"


@dataclass(frozen=True)
class CocoSource:
    """The images that annotation files list; files of one folder of images follow each other.

    `class_of` has the class number of each category id, `unused` the files from which nothing is
    taken. `is_whole`: everything in the root is accounted for.
    """

    tree: Tree
    parts: tuple[Annotations, ...]
    classes: tuple[str, ...]
    class_of: Mapping[int, int]
    unused: tuple[Skipped, ...] = ()
    is_whole: bool = False

    @classmethod
    def open(
        cls, path: Path, options: SourceOptions, classes: Sequence[str] | None
    ) -> "CocoSource":
        """Open one annotation file; `root` of the options is the folder of its images."""
        root = Path(os.path.realpath(path.parent / (options.root or "")))
        part = Annotations.read(Watched.of(path))
        return cls(FolderTree(root), (part,), *_numbered([part], classes))

    @classmethod
    def open_folder(
        cls, tree: Tree, files: Sequence[str], classes: Sequence[str] | None
    ) -> "CocoSource":
        """Open a folder with annotation files and their images, such as COCO's own."""
        parts, unused = find(tree, files)
        return cls(tree, parts, *_numbered(parts, classes), unused, is_whole=True)

    @property
    def facts(self) -> Facts:
        """How a Loader reads the boxes."""
        has_boxes = self.classes and any(p.kind not in (CAPTIONS, CLASSES) for p in self.parts)
        return Facts(
            heeds=frozenset({"columns"}),
            boxes=in_json("xywh") if has_boxes else {},
            root=None if self.tree.unpack else self.tree.root,
        )

    @property
    def files(self) -> Reader:
        """What reads the samples."""
        return self.tree.files

    def scan(self) -> Iterator[Sample | Skipped]:
        """Every image in the order of the lists, then what they do not name."""
        yield from self.unused
        known: array[int] = array("Q")
        folders: set[str] = set()
        pictures: list[str] = []  # of the last sample
        for images, parts in groupby(enumerate(self.parts), key=lambda item: item[1].images):
            for record in self._folder(images, dict(parts), known, pictures):
                if isinstance(record, Sample):
                    known.extend(hashes_of(map(os.fsencode, pictures)).tolist())
                    folders.update(map(os.path.dirname, (record.name, *pictures)))
                pictures.clear()
                yield record
        if self.is_whole:
            tree, hashes = self.tree, np.sort(np.frombuffer(known, np.uint64))
            files = [os.path.relpath(part.file.path, tree.root) for part in self.parts]
            used = {*folders, *map(os.path.dirname, files)}
            without = aside(tree, used, "no annotation file lists its images", _names_a_split)
            files += [item.name for item in self.unused]
            yield from others(tree, hashes, files, without)

    def _folder(
        self,
        images: str,
        parts: Mapping[int, Annotations],
        known: "array[int]",
        pictures: list[str],
    ) -> Iterator[Sample | Skipped]:
        """The samples of one folder of images; the images' hashes are added to `known`."""
        indices: list[tuple[Annotations, Index]] = []
        for _, numbered in groupby(parts.items(), key=lambda item: item[1].split):
            of_split = dict(numbered)
            for part in of_split.values():
                yield from part.entries.wrong
            first, index = next(iter(of_split.values())), Index(of_split)
            yield from index.strays(first.file.path.name)
            indices.append((first, index))
        paths = [[self._path(images, name) for name in index.file_names] for _, index in indices]
        named = [path for some in paths for path in some if isinstance(path, str)]
        keys = Keys.among(named)
        known.extend(hashes_of(map(os.fsencode, named)).tolist())
        for (first, index), names in zip(indices, paths, strict=True):
            each = zip(names, index.file_names, index.locators(), strict=True)
            for name, written, locator in each:
                try:
                    yield self._sample(name, locator, keys, first.split, pictures)
                except BadImage as error:
                    where = f"{first.file.path.name}: {written}"
                    yield Skipped(where, str(error), damaged=True)

    def _sample(
        self, name: str | BadImage, locator: str, keys: Keys, split: str, pictures: list[str]
    ) -> Sample:
        if isinstance(name, BadImage):
            raise name
        parts = SampleParts(self.tree, name)
        part, entry, annotations = self._entries(locator)
        data = _described(entry, annotations, self.class_of, part.kind != CLASSES).json()
        parts.add_made("json", data, max(part.file.mtime_ns for part in self.parts))
        if part.kind == PANOPTIC and annotations:
            folder = os.path.relpath(part.file.path.with_suffix(""), self.tree.root)
            pictures.append(picture := os.path.join(folder, _picture_of(annotations)))
            parts.add(PICTURE, picture)
        label = _class_of_image(annotations, self.class_of) if part.kind == CLASSES else -1
        return parts.sample(keys.of(name), label, split)

    def _path(self, images: str, file_name: str) -> str | BadImage:
        """An image's path relative to the root, or why it has none."""
        try:
            return os.path.join(images, path_inside(self.tree.root / images, file_name))
        except BadImage as error:
            return error

    def _entries(self, locator: str) -> tuple[Annotations, Any, list[Any]]:
        """The annotation file, the image's entry and its annotations, where a locator has them."""
        places = [tuple(map(int, place.split(":"))) for place in locator.split(" ")]
        entries: list[Any] = []
        for part, spans in groupby(places, key=lambda place: place[0]):
            found = self.parts[part].file.read(*((offset, size) for _, offset, size in spans))
            try:
                entries += map(parsed, found)
            except ValueError as error:  # no UTF-8
                raise BadImage(f"its annotations cannot be read: {error}") from error
        image, *annotations = entries
        return self.parts[places[-1][0]], image, annotations


def _names_a_split(folder: str) -> bool:
    """Whether a folder is named as that of a split, such as test2017 and unlabeled2017."""
    name = os.path.basename(folder)
    return name in splits_of([name, "train"])


def _numbered(
    parts: Sequence[Annotations], classes: Sequence[str] | None
) -> tuple[tuple[str, ...], dict[int, int]]:
    """The class names, and the class number of each category id."""
    categories: dict[int, str] = {}
    for part in parts:
        for number, name in part.categories.items():
            if categories.setdefault(number, name) != name:
                raise UnusableInput(
                    f"{part.file.path}: category {number} is {name!r} here and "
                    f"{categories[number]!r} before."
                )
    names = [categories[number] for number in sorted(categories)]
    if len(set(names)) < len(names):
        raise UnusableInput(f"{parts[0].file.path}: two categories have the same name.")
    order = class_order(parts[0].file.path, names, classes) if classes is not None else names
    label_of = {name: label for label, name in enumerate(order)}
    return tuple(order), {number: label_of[name] for number, name in sorted(categories.items())}


def _described(
    image: Any,
    annotations: Sequence[Mapping[str, Any]],
    class_of: Mapping[int, int],
    has_boxes: bool,
) -> Objects:
    """What is stored of an image; `has_boxes`: each of its objects has to have one."""
    objects = list(_objects(annotations))
    captions = [item["caption"] for item in annotations if "caption" in item]
    said = {"captions": captions} if captions else {}
    if not class_of:
        return Objects(None, fields=said, image={"image": image})
    fields = dict.fromkeys(name for item in objects for name in item)
    return Objects(
        [item.get("bbox") for item in objects] if has_boxes else None,
        categories=_classes(objects, class_of),
        fields={
            name: [item.get(name) for item in objects]
            for name in fields
            if name not in ("image_id", "bbox")
        }
        | said,
        image={"image": image},
        names=[f"annotation {item.get('id')}" for item in objects] if has_boxes else (),
    )


def _objects(annotations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The annotations of objects; of a panoptic one, its segments."""
    found: list[Mapping[str, Any]] = []
    for item in annotations:
        segments = item.get("segments_info", ())
        if not isinstance(segments, list | tuple) or not all(
            isinstance(segment, dict) and "category_id" in segment for segment in segments
        ):
            raise BadImage(f"its segments_info is not a list of segments: {segments!r:.80}")
        found += segments
        if "category_id" in item:
            found.append(item)
    return found


def _class_of_image(annotations: Sequence[Mapping[str, Any]], class_of: Mapping[int, int]) -> int:
    """The class of an image whose annotations have no boxes; -1 if it has none, or several."""
    objects = [item for item in annotations if "category_id" in item]
    found = set(_classes(objects, class_of))
    return found.pop() if len(found) == 1 else -1


def _picture_of(annotations: Sequence[Mapping[str, Any]]) -> str:
    """The name of the picture of an image's panoptic segments."""
    names = [item.get("file_name") for item in annotations if "segments_info" in item]
    if len(names) != 1 or not isinstance(names[0], str) or "/" in names[0] or not names[0]:
        raise BadImage(f"its panoptic annotation names no picture: {names!r:.80}")
    return names[0]


def _classes(objects: Sequence[Mapping[str, Any]], class_of: Mapping[int, int]) -> list[int]:
    """Return the class number of each object; raise BadImage for categories that do not exist."""
    faults = [
        f"annotation {item.get('id')} has the category {category!r:.80}, which is not in the list "
        "of categories"
        for item in objects
        if type(category := item["category_id"]) not in (int, bool, float)
        or category not in class_of
    ]
    if faults:
        raise BadImage(first_of(faults))
    return [class_of[item["category_id"]] for item in objects]
