"""WebDataset tars: one, a folder of them, or a folder for each split.

A sample is a run of members whose names share all up to the first dot, as in
https://github.com/webdataset/webdataset.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from packer.layouts.interpretation import Place, Reading
from packer.layouts.tars.parts import PartsSource, split_parts
from packer.layouts.tars.source import WebDatasetSource, packed
from packer.samples.labels import class_order
from packer.trees.tar_reader import is_tar
from packer.trees.walk import not_entered

_OTHERS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")  # whose names tell enough


def recognise(place: Place) -> Reading | None:
    """Tars whose first samples have several members, or that are numbered."""
    path = place.path
    if path.is_file():
        if place.suffix in _OTHERS or not is_tar(path):
            return None
    elif (tree := place.tree) and not tree.unpack:
        if tree.level().images or (tree.level().folders and tree.shape.below("")):
            return None  # tars beside folders of images are not the dataset
        parts = split_parts(path)
        if any(part.is_file() or WebDatasetSource.recognises(part) for part in parts.values()):
            what = "archives, one for each split"
            opening = partial(_open_parts, path, parts, place.elsewhere)
            passed_over = tree.level().skipped.items()
            beside = tuple(not_entered(f"{name}/", reason) for name, reason in passed_over)
            return Reading("webdataset", what, opening, beside)
    else:
        return None  # it lies in an archive
    if not WebDatasetSource.recognises(path):
        return None
    return Reading("webdataset", "WebDataset tars", partial(WebDatasetSource.open, path))


def _open_parts(
    src: Path,
    paths: dict[str, Path],
    read: Callable[[Path], Reading],
    classes: Sequence[str] | None,
) -> PartsSource:
    """A source for each split, with the classes of all."""
    known, boxes = packed(src)
    classes = classes or known or None
    parts = {split: read(path).open(classes) for split, path in paths.items()}
    names = class_order(src, (name for part in parts.values() for name in part.classes), classes)
    for split, part in parts.items():
        if part.classes and part.classes != names:
            parts[split] = read(paths[split]).open(names)
    return PartsSource(src, tuple(parts.items()), names, boxes)
