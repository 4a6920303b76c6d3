"""KITTI: ``training/image_2`` with boxes of ``label_2``, or the masks of ``semantic``.

As https://www.cvlibs.net/datasets/kitti/eval_object.php and eval_semantics.php have it. The lines
of ``label_2`` become each sample's ``json``: ``boxes`` (left, top, right and bottom in pixels),
``categories`` (``DontCare`` is one), and the other columns by their names. The masks are
``mask.png`` and ``instances.png``. What the other tasks have is refused with the line to type.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packer.errors import BadImage, UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import ListedSource
from packer.layouts.lists import BadFile, Lists, Row
from packer.samples.labels import Objects, class_order, in_json
from packer.samples.records import Skipped
from packer.trees.tree import Tree, aside

_SPLITS = {"training": "train", "testing": "test"}
_MASKS = {"mask.png": "semantic", "instances.png": "instance"}
_COLUMNS = {"truncated": 1, "occluded": 2, "alpha": 3, "rotation_y": 14, "score": 15}
_VECTORS = {"dimensions": slice(8, 11), "location": slice(11, 14)}


def recognise(place: Place) -> Reading | None:
    """``training/image_2`` beside labels or masks."""
    tree = place.tree
    if not tree or place.options.kind not in (None, "pairs"):
        return None
    if not tree.level("training/image_2").images:
        return None
    beside = tree.level("training").folders
    if "label_2" in beside:
        what = "KITTI's objects"
    elif "semantic" in beside:
        what = "KITTI's semantic masks"
    else:
        images, others = place.path / "training/image_2", [n for n in beside if n != "image_2"]
        raise UnusableInput(
            f"{place.path} is laid out as KITTI's, and has neither label_2 nor semantic in "
            f"training. For the images alone, type: packer pack {images} DST"
            + "".join(
                f"; with the files of {name}: packer pack {images} DST --pair "
                f"'{name}?={place.path / 'training' / name}'"
                for name in others[:1]
            )
        )
    folders = [f"{name}/{folder}" for name in _SPLITS for folder in ("image_2", *_MASKS.values())]
    ignored = aside(tree, folders, f"it is not of {what}", lambda path: "/" in path)

    def open_lists(classes: Sequence[str] | None) -> ListedSource:
        lists = _Kitti(ignored=ignored)
        if "label_2" in beside:
            order = class_order(place.path, lists.types(tree), classes)
            lists = replace(lists, classes=order, boxes=in_json("xyxy"))
        return ListedSource.open(tree, lists)

    return Reading("pairs", what, open_lists)


@dataclass(frozen=True)
class _Kitti(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The left images of training and testing; then the labels whose images are not there."""
        for folder, split in _SPLITS.items():
            image_of = {name.rpartition(".")[0]: name for name in tree.images(f"{folder}/image_2")}
            for stem, name in image_of.items():
                files = {
                    ext: path
                    for ext, masks in _MASKS.items()
                    if tree.has(path := f"{folder}/{masks}/{stem}.png")
                }
                label = f"{folder}/label_2/{stem}.txt"
                if tree.has(label):
                    files["txt"] = label
                note = "" if "txt" in files else None
                yield Row(f"{folder}/image_2/{name}", None, split, files, note)
            for name in tree.names(f"{folder}/label_2"):
                if name.endswith(".txt") and name[:-4] not in image_of:
                    reason = "there is no image of its name"
                    yield Skipped(f"{folder}/label_2/{name}", reason, damaged=True)

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The masks, and the objects as JSON."""
        number_of = {name: number for number, name in enumerate(self.classes)}
        try:
            objects = _objects(files["txt"])
        except BadImage as error:
            raise BadFile("txt", str(error)) from None
        text = objects.numbered(number_of).json()
        return {"json": text} | {e: data for e, data in files.items() if e != "txt"}

    def types(self, tree: Tree) -> set[str]:
        """The kinds of objects that there are."""
        found: set[str] = set()
        for row in self.rows(tree):
            if isinstance(row, Row) and "txt" in row.files:
                path = row.files["txt"]
                try:
                    data, _ = tree.read(path, tree.measure(path)[0])
                    found.update(_objects(data).categories or ())
                except BadImage:
                    continue  # the scan names it
        return found


def _objects(data: bytes) -> Objects:
    """The objects of a label file, with the names of their kinds.

    Raises:
        BadImage: a line is not that of an object.
    """
    kinds, rows, names = [], [], []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            numbers = [float(word) for word in words[1:]]
        except ValueError:
            numbers = []
        if len(words) not in (15, 16) or not all(map(math.isfinite, numbers)) or not numbers:
            raise BadImage(f"line {number} is not a type and 14 numbers")
        kinds.append(words[0])
        rows.append([math.nan, *numbers])  # as the columns are counted
        names.append(f"line {number}")
    columns = {n: at for n, at in _COLUMNS.items() if all(len(row) > at for row in rows)}
    fields = {name: [row[at] for row in rows] for name, at in (columns | _VECTORS).items()}
    return Objects([row[4:8] for row in rows], "xyxy", kinds, fields, names=names)
