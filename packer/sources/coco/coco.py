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

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.keys import hashes_of
from packer.options.declared import SourceOptions
from packer.sources.coco.described import class_of_image, described, picture_of
from packer.sources.coco.folders import find
from packer.sources.coco.head import Head, head_of
from packer.sources.coco.index import CAPTIONS, CLASSES, PANOPTIC, Annotations, Index
from packer.sources.coco.json_stream import parsed
from packer.sources.folder.layout import splits_of
from packer.sources.labels import class_order
from packer.sources.lists import Lists, read_by
from packer.sources.records import Facts, Place, Reader, Skipped, SourceSample
from packer.sources.table.as_json import to_json
from packer.sources.table.names import Keys, path_inside
from packer.sources.tree import FolderTree, Tree
from packer.sources.unnamed import aside, others

PICTURE = "panoptic.png"


@dataclass(frozen=True)
class CocoSource:
    """The images that annotation files list.

    Attributes:
        tree: what the images' folders are relative to.
        parts: the annotation files; those of one folder of images follow each other.
        classes: the names of the categories.
        class_of: class number of each category id.
        unused: files that lie beside, with the reason why nothing is taken from them.
        is_whole: whether everything in the root is accounted for.
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
        """One annotation file.

        Args:
            path: of the file.
            options: `root` is the folder of its images.
            classes: names of categories in label order; None: in the order of their ids.

        Raises:
            UnusableInput: it is none.
        """
        root = Path(os.path.realpath(path.parent / (options.root or "")))
        file = Watched.of(path)
        head = head_of(file)
        part = Annotations(file, kind=head.kind)
        return cls(FolderTree(root), (part,), *_numbered([part], [head], classes))

    @classmethod
    def open_folder(
        cls, tree: Tree, files: Sequence[str], classes: Sequence[str] | None
    ) -> "CocoSource":
        """A folder with annotation files and their images, such as COCO's own.

        Args:
            tree: the folder.
            files: the paths of its annotation files.
            classes: names of categories in label order; None: in the order of their ids.

        Raises:
            UnusableInput: an annotation file is none, none has its images, or two have the same.
        """
        found = find(tree, files)
        named = _numbered(found.parts, found.heads, classes)
        return cls(tree, found.parts, *named, found.unused, is_whole=True)

    @property
    def facts(self) -> Facts:
        """How a Loader reads the boxes."""
        has_boxes = self.classes and any(p.kind not in (CAPTIONS, CLASSES) for p in self.parts)
        advice = read_by('"json", format="xywh", labels="categories"')
        remarks = (advice,) if has_boxes else ()
        return Facts(
            heeds=frozenset({"columns"}),
            remarks=remarks,
            root=None if self.tree.unpack else self.tree.root,
        )

    @property
    def files(self) -> Reader:
        """What reads the samples."""
        return self.tree.files

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Every image in the order of the lists, then what they do not name."""
        yield from self.unused
        known: array[int] = array("Q")
        folders: set[str] = set()
        pictures: list[str] = []  # of the last sample
        for images, parts in groupby(enumerate(self.parts), key=lambda item: item[1].images):
            for record in self._folder(images, dict(parts), known, pictures):
                if isinstance(record, SourceSample):
                    known.extend(hashes_of(map(os.fsencode, pictures)).tolist())
                    folders.update(map(os.path.dirname, (record.name, *pictures)))
                pictures.clear()
                yield record
        if self.is_whole:
            tree, hashes = self.tree, np.sort(np.frombuffer(known, np.uint64))
            yield from others(tree, hashes, self._beside(tree, folders))

    def _folder(
        self,
        images: str,
        parts: Mapping[int, Annotations],
        known: "array[int]",
        pictures: list[str],
    ) -> Iterator[SourceSample | Skipped]:
        """The samples of one folder of images; the images' hashes are added to `known`."""
        indices: list[tuple[Annotations, Index]] = []
        for _, numbered in groupby(parts.items(), key=lambda item: item[1].split):
            index, of_split = Index(), dict(numbered)
            for number, part in of_split.items():
                yield from index.add(number, part)
            first = next(iter(of_split.values()))
            yield from index.strays(first.file.path.name)
            indices.append((first, index))
        paths = [
            [self._path(images, name) for name in index.file_names.values()] for _, index in indices
        ]
        named = [path for some in paths for path in some if isinstance(path, str)]
        keys = Keys.among(named)
        known.extend(hashes_of(map(os.fsencode, named)).tolist())
        for (first, index), names in zip(indices, paths, strict=True):
            listed = index.file_names.values()
            for name, written, locator in zip(names, listed, index.locators(), strict=True):
                try:
                    yield self._sample(name, locator, keys, first.split, pictures)
                except BadImage as error:
                    where = f"{first.file.path.name}: {written}"
                    yield Skipped(where, str(error), damaged=True)

    def _sample(
        self, name: str | BadImage, locator: str, keys: Keys, split: str, pictures: list[str]
    ) -> SourceSample:
        if isinstance(name, BadImage):
            raise name
        size, mtime_ns = self.tree.measure_image(name)
        part, entry, annotations = self._entries(locator)
        data = to_json(described(entry, annotations, self.class_of, part.kind != CLASSES))
        places: dict[str, Place] = {"json": [data]}
        size, newest = size + len(data), max(mtime_ns, self._written)
        if part.kind == PANOPTIC and annotations:
            pictures.append(picture := self._picture(part, annotations))
            places[PICTURE] = self.tree.place(picture)
            more, written = self.tree.measure(picture)
            size, newest = size + more, max(newest, written)
        label = class_of_image(annotations, self.class_of) if part.kind == CLASSES else -1
        return SourceSample(
            name=name,
            key=keys.of(name),
            label=label,
            size=size,
            mtime_ns=newest,
            members=tuple(places),
            split=split,
            places=self.tree.places(name, places.values()),
        )

    def _path(self, images: str, file_name: str) -> str | BadImage:
        """An image's path relative to the root, or why it has none."""
        try:
            return os.path.join(images, path_inside(self.tree.root / images, file_name))
        except BadImage as error:
            return error

    def _beside(self, tree: Tree, folders: set[str]) -> Lists:
        """What the annotation files are, and the folders none of whose images they list."""
        files = [os.path.relpath(part.file.path, self.tree.root) for part in self.parts]
        unused = [item.name for item in self.unused]
        places = {*folders, *map(os.path.dirname, files)}
        without = aside(tree, places, "no annotation file lists its images", _names_a_split)
        return Lists(sources=(*files, *unused), ignored=without)

    @property
    def _written(self) -> int:
        return max(part.file.mtime_ns for part in self.parts)

    def _entries(self, locator: str) -> tuple[Annotations, Any, list[Any]]:
        """The annotation file, the image's entry and its annotations, at the places told."""
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

    def _picture(self, part: Annotations, annotations: Sequence[Any]) -> str:
        """The path of the picture of an image's panoptic segments."""
        folder = os.path.relpath(part.file.path.with_suffix(""), self.tree.root)
        return os.path.join(folder, picture_of(annotations))


def _names_a_split(folder: str) -> bool:
    """Whether a folder is named as that of a split, such as test2017 and unlabeled2017."""
    name = os.path.basename(folder)
    return name in splits_of([name, "train"])


def _numbered(
    parts: Sequence[Annotations], heads: Sequence[Head], classes: Sequence[str] | None
) -> tuple[tuple[str, ...], dict[int, int]]:
    """The class names, and the class number of each category id.

    Raises:
        UnusableInput: the files disagree, two categories have one name, or `classes` lacks one.
    """
    categories: dict[int, str] = {}
    for part, head in zip(parts, heads, strict=True):
        for number, name in head.categories.items():
            if categories.setdefault(number, name) != name:
                raise UnusableInput(
                    f"{part.file.path}: category {number} is {name!r} here and "
                    f"{categories[number]!r} before."
                )
    names = [categories[number] for number in sorted(categories)]
    if len(set(names)) < len(names):
        raise UnusableInput(f"{parts[0].file.path}: two categories have the same name.")
    order = tuple(names)
    if classes is not None:
        order = class_order(parts[0].file.path, names, classes)
    label_of = {name: label for label, name in enumerate(order)}
    return order, {number: label_of[name] for number, name in sorted(categories.items())}
