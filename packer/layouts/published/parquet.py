"""Hugging Face's Parquet and Arrow: the images are in the files.

As ``huggingface-cli download`` or git brings a dataset (``data/train-00000-of-00002.parquet``,
``plain_text/test-00000-of-00001.parquet``), as the Hub converts it
(``default/train/0000.parquet``), and as ``save_to_disk`` writes it (``dataset_dict.json``,
``train/data-00000-of-00001.arrow``). See
https://huggingface.co/docs/hub/datasets-file-names-and-splits and
https://huggingface.co/docs/datasets/process#save. Parquet whose images are named, not held, is a
list of images like CSV.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.layouts.published.table import reading_of
from packer.samples.records import Skipped, Source
from packer.tables.find import PARQUET, parquet, refuse_parquet
from packer.trees.meaning import splits_of
from packer.trees.shape import inside
from packer.trees.tree import Tree
from packer.trees.walk import not_entered

_ARROW = ".arrow"


def recognise(place: Place) -> Reading | None:
    """A Parquet file, or a folder in which no images lie but Parquet or Arrow files do."""
    tree = place.tree
    if tree is None:
        return _of_files(place, [place.path], [None]) if place.suffix == PARQUET else None
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
            raise UnusableInput(
                f"{place.path} has several configurations: {names}. Pack one of them, such as "
                f"packer pack {place.path / (configurations[0] or 'data')} DST"
            )

        return Reading("hf", "a dataset of Hugging Face with several configurations", refuse)
    return _of_files(place, [tree.root / path for path in paths], [split for _, split in whose])


def _files(tree: Tree) -> Iterator[str]:
    """The files that hold rows, sorted."""
    for folder, level in tree.walk():
        written = ".json" in level.counts and tree.has(inside(folder, "state.json"))
        for name in tree.names(folder) if level.counts.get(PARQUET) or written else ():
            if name.endswith(_ARROW if written else PARQUET) and not name.startswith("._"):
                yield inside(folder, name)


def _whose(path: str) -> tuple[str, str | None]:
    """The configuration and the split that the folders of a file tell; None: its name tells it."""
    *folders, name = path.split("/")
    split = "" if name.endswith(_ARROW) else None
    if folders and (found := splits_of([folders[-1].removeprefix("partial-")])):
        folders.pop()
        (split,) = found.values()
    return "/".join(name for name in folders if name != "data"), split


def _of_files(place: Place, files: Sequence[Path], told: Sequence[str | None]) -> Reading:
    src, options, tree = place.path, place.options, place.tree
    folder = src if tree else src.parent
    table = parquet(folder, files)
    from packer.tables.parquet_images import ParquetImages, image_columns, split_of

    if not tree and not image_columns(table.schema, options.columns.image):
        return reading_of(place, lambda *_: table)
    splits = [
        split_of(file) if split is None else split for file, split in zip(files, told, strict=True)
    ]

    def open_images(classes: Sequence[str] | None) -> Source:
        if tree and "" in splits and any(splits):
            stray = files[splits.index("")].relative_to(folder)
            raise UnusableInput(
                f"{src}: {stray} is not named as a split is, and other files are. Pack it by "
                "itself, or rename it, such as train-00000-of-00001.parquet."
            )
        beside = tuple(_beside(tree, files)) if tree else ()
        return ParquetImages.open(src, table, options, classes, beside, splits)

    form = "Arrow" if files[0].suffix == _ARROW else "Parquet"
    return Reading("hf", f"images in {form}, as Hugging Face has them", open_images)


def _beside(tree: Tree, files: Sequence[Path]) -> Iterator[Skipped]:
    """What else lies there."""
    known = {str(file.relative_to(tree.root)) for file in files}
    for folder, level in tree.walk():
        for name, reason in level.skipped.items():
            yield not_entered(inside(folder, name), reason)
        for path in (inside(folder, name) for name in tree.names(folder)):
            if path not in known:
                reason = f"it is no part of {os.path.basename(tree.root)}"
                yield tree.ignored(path) or Skipped(path, reason)
