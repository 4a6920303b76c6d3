"""YOLO: images and label files with the fractions of boxes, outlines or poses.

https://docs.ultralytics.com/datasets/detect/ describes ``data.yaml``, and ``labels`` beside
``images``; darknet's ``obj.data`` is that of https://github.com/AlexeyAB/darknet, and Roboflow
exports both. Label files are the member ``txt``, as they are; the names of the classes go into the
dataset.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from packer.errors import UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import ListedSource
from packer.layouts.lists import Row
from packer.layouts.yolo.find import DATA_FILES, Found, by_data_file, by_folders
from packer.layouts.yolo.yolo import label_of
from packer.trees.folder import FolderTree
from packer.trees.shape import inside
from packer.words import option

_KIND = "yolo"


def recognise(place: Place) -> Reading | None:
    """A data file with names, or one in the folder; else folders of label files."""
    tree = place.tree
    if place.options.kind not in (None, _KIND):
        return None
    if tree is None:
        if place.suffix not in DATA_FILES:
            return None
        found = by_data_file(FolderTree(place.path.parent), place.path.name)
        return _reading(found) if found else None
    files = [
        inside(folder, name)
        for folder in ("", "data")
        for ext in DATA_FILES
        for name in tree.level(folder).examples.get(ext, ())
    ]
    described = [found for path in files if (found := by_data_file(tree, path))]
    if len(described) > 1:
        names = ", ".join(map(str, files))
        raise UnusableInput(
            f"{place.path}: several files say where YOLO's images are: {names}. Pack one of them: "
            f"packer pack {place.path / files[0]} DST"
        )
    found = next(iter(described), None)
    if found is None and not place.options.pairs:
        found = by_folders(tree)
    return _reading(found) if found else None


def _rows(found: Found) -> Iterator[Row]:
    return (row for row in found.lists.rows(found.tree) if isinstance(row, Row))


def _reading(found: Found) -> Reading:
    def open_lists(classes: Sequence[str] | None) -> ListedSource:
        names = found.lists.classes
        if classes and names and tuple(classes[: len(names)]) != names:
            raise UnusableInput(
                f"{found.tree.root}: its labels are numbers of the classes {', '.join(names[:20])}"
                ", which keep their order."
            )
        rows = [row for row in islice(_rows(found), 1) if not row.files]
        if rows and not any(row.files for row in _rows(found)):
            label = label_of(found.tree, rows[0].image)
            raise UnusableInput(
                f"{found.tree.root}: no image has a label file: that of {rows[0].image} would be "
                f"{label}. For the images alone, give {option('kind', 'flat')}."
            )
        return ListedSource.open(found.tree, found.lists, classes)

    return Reading(_KIND, found.what, open_lists)
