"""COCO's annotation files: images with boxes, categories, outlines, key points and captions.

The format is that of https://cocodataset.org/#format-data. An annotation file is streamed, and of
each entry only its place in the file is kept (32 bytes). The
annotations of an image become its member ``json``, a list for each field with one element for each
object: ``boxes`` (COCO's ``bbox``: x, y, width, height in pixels), ``categories`` (class numbers:
the category ids in their order, from 0), and all others under COCO's names; ``captions``, and the
image's own entry as ``image``. Panoptic segments are objects, too, and their picture is the member
``panoptic.png``. Annotations with only a category make it the image's class.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from packer.errors import BadImage, UnusableInput, first_of
from packer.files.snapshot import Watched
from packer.images.annotated import size_of
from packer.options.declared import SourceOptions
from packer.samples.labels import Objects, class_order, in_json
from packer.samples.records import Facts, Skipped
from packer.sources.readings.coco.folders import find
from packer.sources.readings.coco.index import CAPTIONS, CLASSES, PANOPTIC, Annotations, Index
from packer.sources.readings.coco.json_stream import parsed
from packer.sources.scanners.rows.lists import Held, Lists, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.tables.images import ImageIndex, Keys, path_inside
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.names import splits_of
from packer.sources.trees.tree import Tree, aside

PICTURE = "panoptic.png"


def open_file(path: Path, options: SourceOptions, classes: Sequence[str] | None) -> RowSource:
    """Open one annotation file; `root` of the options is the folder of its images."""
    root = Path(os.path.realpath(path.parent / (options.root or "")))
    part = Annotations.read(Watched.of(path))
    return _open(FolderTree(root), (part,), (), classes, is_whole=False)


def open_folder(tree: Tree, files: Sequence[str], classes: Sequence[str] | None) -> RowSource:
    """Open a folder with annotation files and their images, such as COCO's own."""
    return _open(tree, *find(tree, files), classes, is_whole=True)


def _open(
    tree: Tree,
    parts: Sequence[Annotations],
    unused: Sequence[Skipped],
    classes: Sequence[str] | None,
    *,
    is_whole: bool,
) -> RowSource:
    order, class_of = _numbered(parts, classes)
    images = _Images(tree, parts, unused, order, class_of)
    files = [os.path.relpath(part.file.path, tree.root) for part in parts]
    has_boxes = order and any(part.kind not in (CAPTIONS, CLASSES) for part in parts)
    named = {part.keypoints for part in parts if part.keypoints}
    keypoints = named.pop() if len(named) == 1 else ()
    used = {*images.folders(), *map(os.path.dirname, files)} if is_whole else set[str]()
    lists = Lists(
        images.rows,
        order,
        (*files, *(item.name for item in unused)),
        aside(tree, used, "no annotation file lists the images in it", _names_a_split),
        facts=Facts(
            remarks=tuple(images.remarks()),
            boxes=in_json("xywh", keypoints=keypoints) if has_boxes else {},
        ),
        is_whole=is_whole,
        keys=images.keys,
    )
    return RowSource.open(tree, lists)


@dataclass(frozen=True)
class _Images:
    """The images that annotation files list; files of one folder of images follow each other.

    `class_of` has the class number of each category id, `unused` the files from which nothing is
    taken.
    """

    tree: Tree
    parts: Sequence[Annotations]
    unused: Sequence[Skipped]
    classes: Sequence[str]
    class_of: Mapping[int, int]

    def rows(self) -> Iterator[Row | Skipped]:
        """Yield every image in the order of the lists."""
        yield from self.unused
        for (images, split), numbered in self._groups():
            parts = dict(numbered)
            for part in parts.values():
                yield from part.entries.wrong
            name, index = next(iter(parts.values())).file.path.name, Index(parts)
            yield from index.strays(name)
            for written, places in zip(index.file_names, index.places(), strict=True):
                where = f"{name}: {written}"
                try:
                    path = self._path(images, written)
                except BadImage as error:
                    yield Skipped(where, str(error), damaged=True)
                    continue
                complete = partial(self._completed, places)
                yield Row(path, split=split, where=where, complete=complete)

    def keys(self) -> Keys:
        """Return the keys of all images."""
        return Keys.among(row.image for row in self.rows() if isinstance(row, Row))

    def folders(self) -> Iterator[str]:
        """Yield the folders of images and of panoptic segments."""
        for part in self.parts:
            for name in part.entries.names:
                with suppress(BadImage):
                    yield os.path.dirname(self._path(part.images, name))
            if part.kind == PANOPTIC:
                yield self._pictures(part)

    def _groups(self) -> "groupby[tuple[str, str], tuple[int, Annotations]]":
        """Return the files, with their numbers, of each folder of images and split."""
        return groupby(enumerate(self.parts), key=lambda item: (item[1].images, item[1].split))

    def _path(self, images: str, file_name: str) -> str:
        """Return an image's path relative to the root; raise BadImage if it has none."""
        if any(part.moved for part in self.parts):
            splits = {part.split for part in self.parts if part.images == images}
            split = splits.pop() if len(splits) == 1 else ""
            return self._index.of_any_form(file_name, images, split)
        return os.path.join(images, path_inside(self.tree.root / images, file_name))

    @cached_property
    def _index(self) -> ImageIndex:
        return ImageIndex(self.tree)

    def remarks(self) -> Iterator[str]:
        """Yield remarks on files that name images otherwise than they are called."""
        for part in self.parts:
            if part.moved:
                yield f"{part.file.path.name} names {part.moved[1]} as {part.moved[0]!r}."

    def _pictures(self, part: Annotations) -> str:
        return os.path.relpath(part.file.path.with_suffix(""), self.tree.root)

    def _completed(self, places: Sequence[Sequence[int]], row: Row) -> Row:
        """Return a row with the entry and annotations of its image, which are at `places`."""
        entry, *annotations = self._entries(places)
        part = self.parts[places[-1][0]]
        is_class = part.kind == CLASSES
        described = _described(entry, annotations, self.class_of, not is_class)
        data = replace(described, size=size_of(entry)).json()
        label = _class_of_image(annotations, self.class_of) if is_class else -1
        newest = max(part.file.mtime_ns for part in self.parts)
        members: dict[str, str | bytes | Held] = {"json": Held.made(data, newest)}
        if part.kind == PANOPTIC and annotations:
            members[PICTURE] = os.path.join(self._pictures(part), _picture_of(annotations))
        return row._replace(label=self.classes[label] if label >= 0 else None, members=members)

    def _entries(self, places: Sequence[Sequence[int]]) -> list[Any]:
        entries: list[Any] = []
        for part, spans in groupby(places, key=itemgetter(0)):
            found = self.parts[part].file.read(*((offset, size) for _, offset, size in spans))
            try:
                entries += map(parsed, found)
            except ValueError as error:  # no UTF-8
                raise BadImage(f"its annotations cannot be read: {error}") from error
        return entries


def _names_a_split(folder: str) -> bool:
    """Return whether a folder has the name of a split, such as test2017 and unlabeled2017."""
    name = os.path.basename(folder)
    return name in splits_of([name, "train"])


def _numbered(
    parts: Sequence[Annotations], classes: Sequence[str] | None
) -> tuple[tuple[str, ...], dict[int, int]]:
    """Return the class names, and the class number of each category id."""
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
    """Return the JSON of an image; `has_boxes`: each of its objects requires a box."""
    objects = _objects(annotations)
    names = dict.fromkeys(name for item in objects for name in item) if class_of else {}
    fields = {
        name: [item.get(name) for item in objects]
        for name in names
        if name not in ("image_id", "bbox")
    }
    captions = [item["caption"] for item in annotations if "caption" in item]
    boxed = objects if has_boxes and class_of else []
    return Objects(
        [item.get("bbox") for item in boxed] if has_boxes and class_of else None,
        categories=_classes(objects, class_of) if class_of else None,
        fields=fields,
        image={"image": image},
        names=[f"annotation {item.get('id')}" for item in boxed],
        number="id",
        behind={"captions": captions} if captions else {},
    )


def _objects(annotations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the annotations of objects; of a panoptic one, its segments."""
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
    """Return the name of the picture of an image's panoptic segments."""
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
