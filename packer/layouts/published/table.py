"""A list of images: CSV, TSV, JSON lines, or Parquet that names files.

A column names the image, and others the label and the split; further columns become each sample's
``json``. One row an object, with its box, gives what COCO's annotations give.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.samples.records import Source
from packer.tables.find import TEXTS, find, open_table, plain_view
from packer.tables.images import ImageIndex
from packer.tables.source import TableSource
from packer.tables.table import Table
from packer.trees.folder import FolderTree
from packer.trees.tree import Tree


def recognise(place: Place) -> Reading | None:
    """A file of that extension."""
    if place.suffix not in TEXTS:
        return None
    return reading_of(place, open_table)


def reading_of(place: Place, opening: Callable[[Tree, str], Table]) -> Reading:
    """The reading of one table."""
    path, options = place.path, place.options

    def open_one(classes: Sequence[str] | None) -> Source:
        table = opening(FolderTree(path.parent), path.name)
        root = Path(os.path.realpath(path.parent / (options.root or "")))
        images = ImageIndex(FolderTree(root))
        found = find(table, path, images, options)
        if found.doubt:
            raise UnusableInput(found.doubt)
        part = found.view or plain_view(table, path, images, options)
        return TableSource.open(path, [part], options, classes)

    return Reading("table", f"a list of images ({place.suffix[1:].upper()})", open_one)
