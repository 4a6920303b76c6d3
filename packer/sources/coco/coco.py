"""COCO's annotation files: images with boxes, categories, outlines, key points and captions.

The format is that of https://cocodataset.org/#format-data. An annotation file is streamed, and of
each entry only its place in the file is kept (32 bytes); a sample's locator lists its places. The
annotations of an image become its member ``json``, a list for each field with one element for each
object: ``boxes`` (COCO's ``bbox``: x, y, width, height in pixels), ``categories`` (class numbers:
the category ids in their order, from 0), and all others under COCO's names; ``captions``, and the
image's own entry as ``image``.
"""

import math
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from packer.errors import BadImage, Unreadable, UnusableInput
from packer.files.snapshot import CHANGED, Watched
from packer.sources.coco.index import Annotations, Index
from packer.sources.coco.json_stream import elements, parsed
from packer.sources.folder.files import ignored, measure, read_file
from packer.sources.folder.walk import folders_below, look, with_parents
from packer.sources.labels import class_order
from packer.sources.options import SourceOptions
from packer.sources.records import Content, Skipped, SourceSample
from packer.sources.table.columns import to_json
from packer.sources.table.names import Keys, path_inside

_FILE = re.compile(r"(instances|person_keypoints|captions)_([A-Za-z0-9][A-Za-z0-9_-]*)\.json")


@dataclass(frozen=True)
class CocoSource:
    """The images that annotation files list.

    Attributes:
        root: what the images' folders are relative to.
        parts: the annotation files; those of one folder of images follow each other.
        classes: the names of the categories.
        class_of: class number of each category id.
        unused: files that lie beside, with the reason why nothing is taken from them.
    """

    root: Path
    parts: tuple[Annotations, ...]
    classes: tuple[str, ...]
    class_of: Mapping[int, int]
    unused: tuple[Skipped, ...] = ()

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
        return cls._of(root, [Annotations(Watched.of(path))], classes, ())

    @classmethod
    def open_folder(cls, root: Path, classes: Sequence[str] | None) -> "CocoSource":
        """COCO's own layout: ``annotations/instances_train2017.json`` beside ``train2017``.

        Args:
            root: the folder.
            classes: names of categories in label order; None: in the order of their ids.

        Raises:
            UnusableInput: an annotation file is none, or none has its images.
        """
        parts, unused = [], []
        for path in sorted((root / "annotations").iterdir()):
            match = _FILE.fullmatch(path.name)
            if match is None:
                reason = "its name is not that of an annotation file such as instances_train.json"
            elif not (root / match[2]).is_dir():
                reason = f"there is no folder {match[2]} with its images"
            elif match[1] == "person_keypoints" and (
                path.with_name(f"instances_{match[2]}.json").exists()
            ):
                reason = "its objects are those of the instances; to take them, pack it by itself"
            else:
                split = re.sub(r"[_-]?\d+$", "", match[2]) or match[2]
                parts.append(Annotations(Watched.of(path), match[2], split))
                continue
            unused.append(Skipped(f"annotations/{path.name}", reason, ignored=True))
        if not parts:
            raise UnusableInput(
                f"{root}/annotations has no file whose images lie in {root}: "
                + "; ".join(f"{item.name}: {item.reason}" for item in unused)
            )
        parts.sort(key=lambda part: part.images)
        return cls._of(root, parts, classes, unused)

    @classmethod
    def _of(
        cls,
        root: Path,
        parts: Sequence[Annotations],
        classes: Sequence[str] | None,
        unused: Sequence[Skipped],
    ) -> "CocoSource":
        categories: dict[int, str] = {}
        for part in parts:
            for number, name in _categories(part.file.path):
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
        class_of = {number: label_of[name] for number, name in sorted(categories.items())}
        return cls(root, tuple(parts), order, class_of, tuple(unused))

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Every image in the order of the lists."""
        yield from self.unused
        if any(part.images for part in self.parts):
            yield from self._beside()
        numbered = enumerate(self.parts)
        for _, parts in groupby(numbered, key=lambda item: item[1].images):
            yield from self._folder(dict(parts))

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """None: the members come out of the annotation files."""
        return ()

    def read(self, sample: SourceSample) -> Content:
        """The image file and what the annotation files tell of it."""
        image, mtime_ns = read_file(self.root / sample.name, sample.size)
        data = self._json(sample.locator)
        newest = max(mtime_ns, *(part.file.mtime_ns for part in self.parts))
        if (len(image) + len(data), newest) != (sample.size, sample.mtime_ns):
            raise Unreadable(CHANGED)
        return Content(image, {"json": data})

    def _folder(self, parts: Mapping[int, Annotations]) -> Iterator[SourceSample | Skipped]:
        """The samples of one folder of images."""
        index = Index()
        for number, part in parts.items():
            yield from index.add(number, part)
        first = next(iter(parts.values()))
        yield from index.strays(first.file.path.name)
        names: list[str | BadImage] = []
        for file_name in index.file_names:
            try:
                path = path_inside(self.root / first.images, file_name)
                names.append(os.path.join(first.images, path))
            except BadImage as error:
                names.append(error)
        listed = {name for name in names if isinstance(name, str)}
        if first.images:
            yield from self._unlisted(first.images, listed)
        keys = Keys(name for name in names if isinstance(name, str))
        newest = max(part.file.mtime_ns for part in self.parts)
        for name, file_name, locator in zip(names, index.file_names, index.locators(), strict=True):
            try:
                if isinstance(name, BadImage):
                    raise name
                size, mtime_ns = measure(self.root, name)
                if size == 0:
                    raise BadImage("it is empty")
                size += len(self._json(locator))
                key = keys.of(name)
            except BadImage as error:
                yield Skipped(f"{first.file.path.name}: {file_name}", str(error))
                continue
            yield SourceSample(
                name=name,
                key=key,
                label=-1,
                size=size,
                mtime_ns=max(mtime_ns, newest),
                members=("json",),
                split=first.split,
                locator=locator,
            )

    def _unlisted(self, folder: str, listed: Container[str]) -> Iterator[Skipped]:
        """The files in a folder of images that no annotation file lists."""
        for item in folders_below(self.root, folder, with_parents(self.root)):
            if isinstance(item, Skipped):
                yield item
                continue
            for name in item[1]:
                path = f"{item[0]}/{name}"
                if path not in listed:
                    yield ignored(self.root, path) or Skipped(path, "no annotation file lists it")

    def _beside(self) -> Iterator[Skipped]:
        """What lies beside the folders of images and that of the annotation files."""
        known = {"annotations", *(part.images for part in self.parts)}
        level = look(str(self.root), with_parents(self.root))
        for name in sorted({*level.folders, *level.skipped} - known):
            reason = level.skipped.get(name, "no annotation file lists its images")
            yield Skipped(f"{name}/", reason, ignored=True)
        for name in level.files:
            reason = "it lies beside the folders of the images"
            yield ignored(self.root, name) or Skipped(name, reason)

    def _json(self, locator: str) -> bytes:
        """The member of the image whose entries lie at the places that `locator` tells."""
        places = [tuple(map(int, place.split(":"))) for place in locator.split(" ")]
        entries: list[Any] = []
        for part, spans in groupby(places, key=lambda place: place[0]):
            found = self.parts[part].file.read(*((offset, size) for _, offset, size in spans))
            try:
                entries += map(parsed, found)
            except ValueError as error:  # no UTF-8
                raise BadImage(f"its annotations cannot be read: {error}") from error
        image, *annotations = entries
        return to_json(_described(image, annotations, self.class_of))


def is_layout(folder: Path) -> bool:
    """Whether a folder has COCO's layout."""
    try:
        return any(_FILE.fullmatch(path.name) for path in (folder / "annotations").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _described(
    image: Any, annotations: Sequence[Mapping[str, Any]], class_of: Mapping[int, int]
) -> dict[str, Any]:
    """What is stored of an image.

    Raises:
        BadImage: a box is none, or a category is not listed.
    """
    objects = [item for item in annotations if "category_id" in item]
    captions = [item["caption"] for item in annotations if "caption" in item]
    described = {"image": image}
    if class_of:
        described["boxes"] = [_box(item) for item in objects]
        described["categories"] = [_class(item, class_of) for item in objects]
        fields = {name: None for item in objects for name in item}
        for name in fields:
            if name not in ("image_id", "bbox", "category_id"):
                described[name] = [item.get(name) for item in objects]
    if captions:
        described["captions"] = captions
    return described


def _box(item: Mapping[str, Any]) -> list[float]:
    box = item.get("bbox")
    if (
        not isinstance(box, list)
        or len(box) != 4
        or not all(map(_is_coordinate, box))
        or min(box[2:]) < 0
    ):
        raise BadImage(
            f"its annotation {item.get('id')} has no box of x, y, width and height: {box!r:.200}"
        )
    return box


def _is_coordinate(value: object) -> bool:
    """Whether it is a finite number, of a size that a float has."""
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _class(item: Mapping[str, Any], class_of: Mapping[int, int]) -> int:
    try:
        return class_of[item["category_id"]]
    except (KeyError, TypeError) as error:
        raise BadImage(
            f"its annotation {item.get('id')} has the category {item['category_id']!r:.80}, "
            "which is not in the list of categories"
        ) from error


def _categories(path: Path) -> Iterator[tuple[int, str]]:
    """The id and the name of each category in an annotation file.

    Raises:
        UnusableInput: it is not an annotation file.
    """
    lists = set()
    for element in elements(path):
        lists.add(element.of)
        if element.of != "categories":
            continue
        try:
            category = element.load()
            number, name = category["id"], category["name"]
        except (KeyError, TypeError, ValueError) as error:
            raise UnusableInput(f"{path}: a category has no id or no name.") from error
        if type(number) is not int or not isinstance(name, str):
            raise UnusableInput(f"{path}: a category's id is not a number, or its name no text.")
        yield number, name
    if "images" not in lists:
        raise UnusableInput(
            f"{path} is not a COCO annotation file: it has no list of images. Tables "
            "are CSV, TSV, JSONL or Parquet."
        )
