"""Tables that name images, and Parquet and Arrow that hold them."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import escape
from itertools import islice
from pathlib import Path

from packer.errors import Ambiguous, BadImage, UnusableInput
from packer.samples.records import Source
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.folders.reading import layout_of
from packer.sources.scanners.rows.tables import Leftovers, open_tables
from packer.sources.tables.classes import NONE
from packer.sources.tables.find import (
    find,
    known_columns,
    open_table,
    plain_view,
    refuse_parquet,
    split_of_name,
)
from packer.sources.tables.find import parquet as parquet_table
from packer.sources.tables.images import ImageIndex
from packer.sources.tables.names import PREDICTED
from packer.sources.tables.table import Record, Table
from packer.sources.tables.texts import as_number
from packer.sources.tables.view import TableView
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.meaning import Layout, interpret
from packer.sources.trees.names import splits_of
from packer.sources.trees.outright import masks_refusal
from packer.sources.trees.shape import inside, masks
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import PARQUET, TEXT_TABLES
from packer.words import command, listed, many

_ARROW = ".arrow"
_MOST = 8  # tables of one kind in a folder; more are files that belong to images
_HEAD = 50
_SHOWN = 2  # rows
_SHORTEST = 3  # letters of a class; shorter names of folders divide those of files
_WORDNET = re.compile(r"(?<![^/])(n\d{8})(?![^/])|\d+")  # or a number, which is no word


def table(candidate: Candidate) -> Interpretation | None:
    """A list of images: CSV, TSV, JSON lines, or Parquet that names files.

    A column names the image, and others the label and the split; further columns become each
    sample's ``json``. One row an object, with its box, gives what COCO's annotations give.
    """
    if candidate.suffix not in TEXT_TABLES:
        return None
    return _of_table(candidate, open_table)


def _of_table(candidate: Candidate, opening: Callable[[Tree, str], Table]) -> Interpretation:
    """Return the reading of one table."""
    path, options = candidate.path, candidate.options

    def open_one(classes: Sequence[str] | None) -> Source:
        table = opening(FolderTree(path.parent), path.name)
        root = Path(os.path.realpath(path.parent / (options.root or "")))
        images = ImageIndex(FolderTree(root))
        found = find(table, path, images, options)
        part = found.view or plain_view(table, path, images, options)
        return open_tables(path, [part], options, classes)

    what = f"a list of images ({candidate.suffix[1:].upper()})"
    return Interpretation("table", what, open_one, general=True, columns=True)


def tables(candidate: Candidate) -> Interpretation | None:
    """A folder of images with tables that name them, as Kaggle and Hugging Face lay them out.

    ``train.csv`` beside ``train`` and ``test`` (https://www.kaggle.com/competitions), or
    ``metadata.csv``, ``.jsonl`` or ``.parquet`` with a ``file_name``
    (https://huggingface.co/docs/datasets/image_dataset). Each table is of the split in its name
    or folder; images of a split without a table are samples without labels.
    """
    tree, options = candidate.tree, candidate.options
    if tree is None:
        return None
    if options.root is None and tree.counts.get(".tar") and not tree.shape.below(""):
        return None  # they name images in these
    paths = list(_tables(tree))
    only = tree.level().only
    wraps = only and not splits_of([only])
    if not paths or (wraps and all("/" in path for path in paths)):
        return None  # the folder within is asked for itself
    root = candidate.path.parent / options.root if options.root else candidate.path
    images = ImageIndex(tree if options.root is None else FolderTree(Path(os.path.realpath(root))))
    parts, aside = [], {}
    errors: list[UnusableInput] = []
    has: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        if PREDICTED.search(name.lower()):
            aside[path] = "it is named as predictions or a submission, which are nobody's truth"
            continue
        split = split_of_name(os.path.splitext(name)[0]) or images.split_of(path)
        folders = list(dict.fromkeys([folder, ""])) if options.root is None else [""]
        table = None
        try:
            table = open_table(tree, path)
            has |= set(table.columns)
            found = find(
                table, tree.root / path, images, known_columns(table, options), folders, split
            )
        except UnusableInput as error:
            if table is None and path.endswith(PARQUET):
                aside[path] = str(error)
            else:
                errors.append(error)
            continue
        if found.view:
            parts.append(found.view)
        elif found.lost:
            errors.append(found.lost)
        elif not table.columns:
            errors.append(UnusableInput(f"{tree.root / path}: {found.reason}."))
        elif not path.endswith(PARQUET):
            aside[path] = found.reason
        elif "binary" not in str(table.compound):  # else its cells may hold images
            aside[path] = tree.examined[path] = found.reason
        elif lost := _only_paths(tree.root / path, table):
            errors.append(lost)
    if not parts and not errors:
        return None
    for column in (options.image_column, options.label_column, options.split_column):
        if column not in (None, NONE, *has):
            errors.append(
                UnusableInput(
                    f"No table of {candidate.path} has a column {column!r}. Choose one of these: "
                    f"{listed(sorted(has))}."
                )
            )
    names = [str(part.table.files[0].path.relative_to(tree.root)) for part in parts]
    leftovers = Leftovers(images, frozenset(names), aside)

    def opening(classes: Sequence[str] | None) -> Source:
        if errors:
            raise errors[0]
        for folder, _ in masks(images.tree.shape):
            raise UnusableInput(masks_refusal(folder, candidate.path))
        folders = _class_folders(candidate, images.tree, parts)
        source = open_tables(candidate.path, parts, options, classes, leftovers, folders)
        if folders is None and options.kind is None:
            _refuse_other_classes(candidate, images.tree, parts)
        return source

    what = f"images named by {' and '.join(names) or paths[0]}"
    return Interpretation("table", what, opening, general=True, columns=True)


def _only_paths(path: Path, table: Table) -> UnusableInput | None:
    """Return why Hugging Face's Parquet that names local files is not read; None for another."""
    from packer.sources.scanners.rows.parquet import only_paths  # which loads pyarrow

    if not (column := only_paths(table)):
        return None
    return UnusableInput(
        f"{path}: its column {column!r} holds no images, only their paths. To make it a list of "
        "images, which keeps all other columns, run these lines in Python:\n"
        "    import pyarrow.parquet as pq\n"
        f"    table = pq.read_table({str(path)!r})\n"
        f"    images = table[{column!r}].combine_chunks()\n"
        "    assert images.field('bytes').null_count == len(table), 'some rows hold images'\n"
        f"    table = table.drop_columns([{column!r}]).append_column("
        "'file_name', images.field('path'))\n"
        f"    pq.write_table(table, {str(path)!r})"
    )


def _tables(tree: Tree) -> Iterator[str]:
    """Yield the paths of the tables."""
    for folder, level in tree.walk():
        for suffix in (*TEXT_TABLES, PARQUET):
            if level.counts.get(suffix, 0) <= _MOST:
                yield from (inside(folder, name) for name in level.examples.get(suffix, ()))


def _class_folders(candidate: Candidate, tree: Tree, parts: Sequence[TableView]) -> Layout | None:
    """Return the layout of folders that are classes for certain.

    No table has labels, or these are the numbers of the class folders.
    """
    try:
        layout = layout_of(tree)
    except UnusableInput:
        layout = None
    classes = layout.classes(tree.shape) if layout and not layout.pairs else set()
    is_certain = len(_unnumbered(classes)) > 1  # otherwise these may be patients
    has_own = any(part.columns.label or part.columns.box or part.flags for part in parts)
    if layout and is_certain and not has_own:
        return layout
    if not layout or not is_certain or candidate.options.kind is not None:
        return None
    return layout if _are_numbers(sorted(classes), layout, parts) else None


def _unnumbered(names: Iterable[str]) -> set[str]:
    """Return names of classes without the numbers in them."""
    return {_WORDNET.sub(r"\1", name) for name in names}


def _labels_in(
    layout: Layout, part: TableView
) -> Iterator[tuple[Record, str, str, str | None, bool]]:
    """Yield the rows of a table that name images in class folders.

    Each with the image, its class by its folder, its label, and whether a field has the class.
    """
    column = part.columns.label
    for record in part.table.records(part.scalars):
        if not isinstance(record, Record):
            continue
        fields = record.fields
        try:
            name = part.name(fields)
        except BadImage:
            continue
        folder, file = os.path.split(name)
        of_folder = layout.class_in(folder)
        is_divided = max(map(len, of_folder.split("/"))) < _SHORTEST
        if not of_folder or (is_divided and file.startswith(of_folder.replace("/", ""))):
            continue  # as 000aa in 0/0/0
        label = as_number(str(fields.get(column, ""))) if column else None
        yield record, name, of_folder, label, of_folder in map(str, fields.values())


def _are_numbers(classes: Sequence[str], layout: Layout, parts: Sequence[TableView]) -> bool:
    """Return whether the labels of all tables are the numbers of the class folders, from 0 or 1."""
    found: dict[str, str | None] = {}
    for part in parts:
        if part.columns.box or part.flags or not part.columns.label:
            return False
        for _, _, of_folder, label, _ in _labels_in(layout, part):
            if found.setdefault(of_folder, label) != label:
                return False
    numbers = [found.get(name) for name in classes]
    return any(numbers == list(map(str, range(n, n + len(classes)))) for n in (0, 1))


def _refuse_other_classes(candidate: Candidate, tree: Tree, parts: Sequence[TableView]) -> None:
    """Raise where the folders are also classes, which the tables do not have."""
    try:
        layout = interpret(tree.shape, candidate.path, depth=candidate.options.class_depth)
    except UnusableInput:
        return  # as folders they mean nothing certain
    classes = layout.classes(tree.shape)
    kinds = _unnumbered(classes)
    is_of_boxes = all(part.columns.box and part.columns.label is None for part in parts)
    if len(kinds) < 2 and not (is_of_boxes and len(classes) > 1 and "" not in kinds):
        return
    for part in parts:
        if all(has for *_, has in islice(_labels_in(layout, part), _HEAD)):
            continue
        rows = list(_labels_in(layout, part))
        table = str(part.table.files[0].path.relative_to(candidate.path))
        labels: dict[str, Counter[str | None]] = defaultdict(Counter)
        for _, _, of_folder, label, _ in rows:
            labels[of_folder][label] += 1
        usual = {of_folder: max(each, key=each.__getitem__) for of_folder, each in labels.items()}
        are_numbers = all(label and label.isdecimal() for label in usual.values())
        others = [row for row in rows if not row[4]]
        if are_numbers and len({*usual.values()}) == len(usual):  # the rows that contradict others
            others = [row for row in rows if row[3] != usual[row[2]]] or others
        shown = "; ".join(
            f"{record.where}: {name} has {f'the label {label!r}' if label else 'no label'}, and is "
            f"in the folder {of_folder!r}"
            for record, name, of_folder, label, _ in others[:_SHOWN]
        )
        named = [str(one.table.files[0].path.relative_to(candidate.path)) for one in parts]
        ignoring = [word for name in named for word in ("--ignore", escape(name))]
        raise Ambiguous(
            f"{table} and the folders disagree on the class of {many(len(others), 'image')} of "
            f"{len(rows):,}: {shown}.",
            readings={
                f"{table} is right": ("--as", "table"),
                "The folders are right": ("--as", "folder", *ignoring),
            },
        )


def parquet(candidate: Candidate) -> Interpretation | None:
    """Hugging Face's Parquet and Arrow: the images are in the files.

    As ``huggingface-cli download`` or git brings a dataset (``data/train-00000-of-00002.parquet``,
    ``plain_text/test-00000-of-00001.parquet``), as the Hub converts it
    (``default/train/0000.parquet``), and as ``save_to_disk`` writes it (``dataset_dict.json``,
    ``train/data-00000-of-00001.arrow``). See
    https://huggingface.co/docs/hub/datasets-file-names-and-splits and
    https://huggingface.co/docs/datasets/process#save. Parquet whose images are named, not held, is
    a list of images like CSV.
    """
    tree = candidate.tree
    if tree is None:
        path = candidate.path
        return _of_files(candidate, [path], [None]) if candidate.suffix == PARQUET else None
    if not (tree.counts.get(PARQUET) or tree.counts.get(_ARROW)) or tree.shape.below(""):
        return None
    if tree.counts.get(".tar"):
        return None  # img2dataset's, which have the images
    refuse_parquet(tree)
    paths = list(_files(tree))
    if not paths:
        return None
    whose = [_whose(path) for path in paths]
    if len(configurations := sorted({config for config, _ in whose})) > 1:

        def refuse(_: Sequence[str] | None) -> Source:
            names = ", ".join(config or "data" for config in configurations[:20])
            one = candidate.path / (configurations[0] or "data")
            raise UnusableInput(
                f"{candidate.path} has several configurations: {names}. Pack one of them, such as ",
                command(one),
            )

        return Interpretation("hf", "a dataset of Hugging Face with several configurations", refuse)
    return _of_files(candidate, [tree.root / path for path in paths], [split for _, split in whose])


def _files(tree: Tree) -> Iterator[str]:
    """Yield the files that hold rows, sorted."""
    for folder, level in tree.walk():
        written = ".json" in level.counts and tree.has(inside(folder, "state.json"))
        for name in tree.names(folder) if level.counts.get(PARQUET) or written else ():
            if name.endswith(_ARROW if written else PARQUET) and not name.startswith("._"):
                yield inside(folder, name)


def _whose(path: str) -> tuple[str, str | None]:
    """Return the configuration and the split by the folders of a file; None: by its name."""
    *folders, name = path.split("/")
    split = "" if name.endswith(_ARROW) else None
    if folders and (found := splits_of([folders[-1].removeprefix("partial-")])):
        folders.pop()
        (split,) = found.values()
    return "/".join(name for name in folders if name != "data"), split


def _of_files(
    candidate: Candidate, files: Sequence[Path], found: Sequence[str | None]
) -> Interpretation:
    src, options, tree = candidate.path, candidate.options, candidate.tree
    folder = src if tree else src.parent
    table = parquet_table(folder, files)
    from packer.sources.scanners.rows.parquet import image_columns, open_images, split_of

    if not tree and not image_columns(table.schema, options.image_column):
        return _of_table(candidate, lambda *_: table)
    named = zip(files, found, strict=True)
    splits = [split_of(file) if split is None else split for file, split in named]

    def opening(classes: Sequence[str] | None) -> Source:
        if tree and "" in splits and any(splits):
            stray = files[splits.index("")].relative_to(folder)
            raise UnusableInput(
                f"{src}: {stray} does not have the name of a split, unlike other files. Pack "
                "it separately, or rename it, such as train-00000-of-00001.parquet."
            )
        return open_images(src, tree or FolderTree(folder), table, options, classes, splits)

    form = "Arrow" if files[0].suffix == _ARROW else "Parquet"
    what = f"images in {form}, as Hugging Face has them"
    return Interpretation("hf", what, opening, columns=True)
