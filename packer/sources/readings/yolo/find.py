"""Finds the images of YOLO's folders and data files, by names and by a few label files."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from packer.errors import UnusableInput, WrongOption
from packer.samples.labels import YOLO
from packer.samples.records import Facts, Skipped
from packer.sources.interpretation import Interpretation
from packer.sources.readings.yolo.data_file import DataFile, of_lines, of_yaml
from packer.sources.readings.yolo.lines import BOX, OUTLINE, check
from packer.sources.readings.yolo.yolo import (
    Part,
    folder_at,
    kind_at,
    label_of,
    labels_of,
    rows,
    to_tree,
)
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree, aside
from packer.words import choices, many, option

DATA_FILES = (".yaml", ".yml", ".data")
_READ_OTHERS = (
    "Its lines are not all boxes: a Loader reads them by "
    'reader.Boxes("txt?", decode=f), as docs/tasks/detection.md has it.'
)
_DATA = ("data.yaml", "data.yml", "dataset.yaml")  # which may say only how classes are named
_NAMES = ("classes.txt", "obj.names", "_darknet.labels", "data.names", "labels/classes.txt")


def by_data_file(tree: Tree, path: str) -> Interpretation | None:
    """Return the images that a data file in a tree names; None if it is another kind of file."""
    where, text = tree.root / path, tree.text(path)
    content = of_lines(text) if path.endswith(".data") else of_yaml(text, where)
    if content is None:
        return None
    tried = []
    written = [path for paths in content.parts.values() for path in paths]
    for base in _bases(tree, content):
        rule = to_tree(written, _folders(base, content), partial(_exists, base))
        if rule is not None:
            file = path if base is tree else ""
            return _of_data_file(base, content, rule, file, os.path.basename(path))
        tried.append(str(base.root))
    raise UnusableInput(
        f"{where} places its images in {', '.join(written)}, which does not exist in "
        f"{', '.join(dict.fromkeys(tried))}. Correct its paths, or move it to the folder of "
        "the dataset."
    )


def by_folders(tree: Tree) -> Interpretation | None:
    """Return those of ``images`` and ``labels``, here or in splits, or of labels beside images."""
    level = tree.level()
    splits = splits_of(level.folders)
    if any(tree.level(name).examples.keys() & set(DATA_FILES) for name in splits):
        return None  # which tells more of that folder
    candidates: list[list[Part]] = []
    if {"images", "labels"} <= set(level.folders):
        below = splits_of(tree.level("images").folders)
        parts = [Part(split, f"images/{name}") for name, split in below.items()]
        others = set(tree.level("images").folders) - set(below)
        further = (tree.shape.below(f"images/{name}") for name in others)
        is_whole = tree.level("images").images or any(further)
        candidates.append(parts if parts and not is_whole else [Part("", "images")])
    candidates.append([Part(split, f"{name}/images") for name, split in splits.items()])
    if _names_file(tree, [""]) and level.images:
        candidates.append([Part("", "")])
    if _names_file(tree, list(splits)):
        candidates.append([Part(split, name) for name, split in splits.items()])
    for parts in candidates:
        if any(tree.shape.below(part.path) for part in parts) and _kinds(tree, parts):
            return _of_folders(tree, parts)
    return None


def _of_data_file(
    tree: Tree, content: DataFile, rule: Callable[[str], str], file: str, name: str
) -> Interpretation:
    """The images that a data file names; `file`: its path if it is in the tree, otherwise ""."""
    part_at: dict[str, Part] = {}
    missing = []
    for split, paths in content.parts.items():
        for path in map(rule, paths):
            if same := part_at.get(path):
                reason = f"{name} also lists it for {same.split}, and a sample has one split"
                missing.append(Skipped(f"{split}: {path}", reason, ignored=True))
            elif _exists(tree, path):
                part_at[path] = Part(split, path)
            else:
                reason = f"{name} lists it for {split}, and it does not exist"
                is_list = Part(split, path).is_list  # else a folder that was not exported
                missing.append(Skipped(path, reason, ignored=not is_list))
    parts = list(part_at.values())
    names, texts = content.names, [part.path for part in parts if part.is_list]
    sources = [*filter(None, [file]), *texts]
    if content.names_file:
        to_names = to_tree([content.names_file], _folders(tree, content), tree.has)
        if to_names is None:
            where = tree.root / content.names_file
            raise UnusableInput(
                f"{name} places the names of the classes in {where}, which does not exist. "
                "Correct the path, or add the file."
            )
        sources.append(to_names(content.names_file))
        names = tuple(tree.lines(sources[-1]))
    ignored = {}
    if not texts:
        folders = [part.path for part in parts]
        reason = f"{name} lists it for no split"
        above = {os.path.dirname(folder) for folder in folders}
        images = {path for path in above if os.path.basename(path) == "images"}
        ignored = aside(tree, folders, reason, lambda path: os.path.dirname(path) in images)
    found = Lists(
        partial(rows, tree, parts, missing),
        names,
        sources,
        ignored,
        leftover_reason="it is in no list" if texts else "",
    )
    return _found(tree, found, parts, name, content.keypoints)


def _of_folders(tree: Tree, parts: Sequence[Part]) -> Interpretation:
    folders = [part.path for part in parts]
    around = ["", *folders, *map(os.path.dirname, folders)]
    file = _names_file(tree, around)
    names = tuple(tree.lines(file)) if file else ()
    for path in (inside(folder, name) for folder in around for name in _DATA):
        if not file and tree.has(path):
            found = of_yaml(tree.text(path), tree.root / path, needs_parts=False)
            file, names = (path, found.names) if found and found.names else ("", ())
    lists = Lists(partial(rows, tree, parts, ()), names, (file,) if file else ())
    return _found(tree, lists, parts, file)


def _found(
    tree: Tree, lists: Lists, parts: Sequence[Part], file: str, keypoints: int = 0
) -> Interpretation:
    """Return the finding; `file` is the one that names the classes."""
    count = len(lists.classes)
    names = f"{many(count, 'name')} from {file}" if count else "its classes without names"
    kinds = _kinds(tree, parts, keypoints) - {BOX}
    lines = "".join(f", {kind}" for kind in sorted(kinds))
    lines += " (segments or oriented boxes)" if OUTLINE in kinds else ""
    remarks = (_READ_OTHERS,) if kinds else ()
    facts = Facts(remarks=remarks, boxes=YOLO, only_boxes=not kinds)
    found = replace(lists, facts=facts, parse=partial(check, count, keypoints))
    return Interpretation("yolo", f"YOLO{lines}, {names}", partial(_open, tree, found))


def _open(tree: Tree, lists: Lists, classes: Sequence[str] | None) -> RowSource:
    """Open the images; `classes` may only continue those that the label files number."""
    names = tuple(lists.classes)
    if classes and names and tuple(classes[: len(names)]) != names:
        raise WrongOption(
            f"{tree.root}: its label files hold the numbers of the classes "
            f"{', '.join(names[:20])}, and ",
            option("classes"),
            " names them in another order. Remove it, or name these first, in their order.",
        )
    images = (row for row in lists.rows() if isinstance(row, Row))
    first = next(images, None)
    if first and not (first.members or any(row.members for row in images)):
        raise UnusableInput(
            f"{tree.root}: no image has a label file: that of {first.image} would be "
            f"{label_of(tree, first.image)}. Choose:",
            choices(tree.root, {"Pack the images alone": ("--as", "flat")}),
        )
    return RowSource.open(tree, lists, classes)


def _kinds(tree: Tree, parts: Sequence[Part], keypoints: int = 0) -> set[str]:
    """Return the kinds of lines in the first label files; empty if none is known."""
    found: set[str | None] = set()
    for part in parts:
        folder = os.path.dirname(part.path) if part.is_list else part.path
        for labels, level in tree.walk(labels_of(tree, folder)):
            texts = level.examples.get(".txt", ())
            found |= {kind_at(tree, inside(labels, name), keypoints) for name in texts}
            if any(found):
                break
    return {kind for kind in found if kind}


def _bases(tree: Tree, content: DataFile) -> Iterator[Tree]:
    """Where the images may be: beside the data file, otherwise where ultralytics looks for them."""
    yield tree
    folder = tree.root
    if content.base:
        for above in (folder, folder.parent, folder.parent / "datasets", folder / "datasets"):
            place = Path(os.path.realpath(above / content.base))
            if os.path.isdir(place):  # whatever is written there
                yield FolderTree(place)
        return
    for path in content.parts.get("train", ())[:1]:
        for above in (folder, folder.parent):
            place = Path(os.path.realpath(above / path))
            if os.path.exists(place):
                names = place.parts
                at = names.index("images") if "images" in names else len(names) - 1
                yield FolderTree(Path(*names[:at]))


def _folders(tree: Tree, content: DataFile) -> list[str]:
    """Return the folders of a tree that the paths of a data file may be relative to."""
    base = content.base
    rule = to_tree([base], ["", "datasets"], partial(folder_at, tree)) if base else None
    return [rule(base), ""] if rule else [""]


def _exists(tree: Tree, path: str) -> bool:
    return tree.has(path) or folder_at(tree, path)


def _names_file(tree: Tree, folders: Sequence[str]) -> str:
    paths = [inside(folder, name) for folder in folders for name in _NAMES]
    return next(filter(tree.has, paths), "")
