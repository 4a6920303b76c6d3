"""Tables beside tars, or beside folders of tars by split, that name their images.

Their rows give labels, splits and JSON, as those of a folder do; all else is the archives'.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import Ambiguous, UnusableInput
from packer.keys import are_among, hashes_of
from packer.options.declared import SourceOptions
from packer.samples.places import Files
from packer.samples.records import Sample, Skipped
from packer.samples.table import SampleTable
from packer.sources.scanners.rows.lists import Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.scanners.rows.tables import open_tables
from packer.sources.tables.columns import is_usual
from packer.sources.tables.find import find, known_columns, open_table, split_of_name
from packer.sources.tables.images import ImageIndex
from packer.sources.tables.view import TableView
from packer.sources.trees.archive import ArchiveTree
from packer.sources.trees.shape import plain
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import PARQUET, TEXT_TABLES

_CHUNK = 1 << 20
_KEY = "key"  # of a sample, or __key__, as webdataset names it
_MOST = 0.9  # of the images have to be named


class _Images(ArchiveTree):
    """The images of archives, by the names of samples; numbers of these are in place of spans."""

    def __init__(self, folder: Path, listing: SampleTable) -> None:
        sizes = listing.sizes.tolist()
        entries = ((listing.name_of(n), (n, size, -1, 0)) for n, size in enumerate(sizes))
        super().__init__(folder, entries=entries)
        self.form, self._listing = " in archives", listing

    def joined(self, row: Sample) -> Sample:
        """Return the sample of an image, with what its row has."""
        sample = self._listing[self._found(row.name)[1][0]]
        return replace(
            sample,
            label=row.label,
            split=row.split or sample.split,
            size=row.size,
            members=(*sample.members, *row.members),
            places=(*sample.places, *row.places[1:]),
        )


def labelled(
    samples: Iterable[Sample | Skipped],
    remarks: Sequence[str],
    tree: Tree,
    options: SourceOptions,
    classes: Sequence[str] | None,
) -> RowSource | None:
    """Join archives with the tables in the folder `tree` that name nearly all their images.

    Return None where samples have labels or JSON of their own.
    """
    names = [name for name in tree.names() if _is_table(tree, name)]
    if not names or options.root is not None:
        return None
    listing = SampleTable()
    for record in samples:
        if isinstance(record, Sample) and not _is_bare(record):
            return None
        listing.add(record)
    images = _Images(tree.root, listing)
    index = ImageIndex(images)
    try:
        views = list(_views(tree, names, index, options))
        if not views:
            return None
        rows = open_tables(tree.root, views, options, classes)
    except UnusableInput as error:
        readings = getattr(error, "readings", {})
        without = {f"Pack without {name}": ("--ignore", name) for name in names}
        raise Ambiguous(error.message, readings={**readings, **without}) from error
    hashes = hashes_of(os.fsencode(listing.name_of(row)) for row in range(len(listing)))
    assert rows.lists.known, "tables have been read"
    is_named = are_among(hashes, rows.lists.known())
    if is_named.mean() < _MOST:
        return None
    tables = tuple(view.where.name for view in views)
    named = f"The images are those that {' and '.join(tables)} name{'s' * (len(tables) < 2)}."
    own = rows.facts
    remarks = (*remarks, *own.remarks, *[named] * (not own.boxes))
    facts = replace(own, remarks=remarks, lists=tables)
    # Samples are as new as their archives, whatever tables are.
    images.files = Files(tree.root, identity=_checksum(views))

    def scan() -> Iterator[Row | Skipped]:
        yield from (item for item in listing.skipped if item.name not in tables)
        for folder, _ in images.walk():
            yield from images.repeated(folder)
        yield from rows.lists.rows()
        for number in np.flatnonzero(~is_named).tolist():
            yield Skipped(listing.name_of(number), "no table names it")

    return replace(rows, lists=replace(rows.lists, rows=scan, facts=facts, joined=images.joined))


def _is_table(tree: Tree, name: str) -> bool:
    """Whether a file is a table that is not of one tar, as img2dataset writes them."""
    stem, ext = os.path.splitext(name)
    return ext.lower() in (*TEXT_TABLES, PARQUET) and not tree.has(f"{stem}.tar")


def _is_bare(sample: Sample) -> bool:
    """Whether a sample has no label and no JSON, and its bytes lie in archives."""
    spans = (isinstance(place, list) and isinstance(place[0], str) for place in sample.places)
    return sample.label < 0 and "json" not in sample.members and all(spans)


def _checksum(views: Sequence[TableView]) -> str:
    state = xxhash.xxh3_128()
    for file in (file for view in views for file in view.table.files):
        with file.path.open("rb") as content:
            while data := content.read(_CHUNK):
                state.update(data)
    return state.hexdigest()


def _views(
    tree: Tree, names: Sequence[str], images: ImageIndex, options: SourceOptions
) -> Iterator[TableView]:
    for name in names:
        table = open_table(tree, name)
        split = split_of_name(os.path.splitext(name)[0])
        own = known_columns(table, options)
        keys = [column for column in table.columns if plain(column) == _KEY]
        if keys and own.image_column is None and not any(map(is_usual, table.columns)):
            own = replace(own, image_column=keys[0])
        if view := find(table, tree.root / name, images, own, split=split).view:
            yield view
