"""Tables beside tars, or beside folders of tars by split, that name their images.

Their rows give labels, splits and JSON, as those of a folder do; all else is the archives'.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import Ambiguous, UnusableInput
from packer.keys import Hashes, are_among, hashes_of
from packer.options.declared import SourceOptions
from packer.samples.records import Facts, Sample, Skipped
from packer.samples.table import SampleTable
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
        self.form = " in archives"

    def number(self, path: str) -> int:
        """Return the number of the sample."""
        return self._found(path)[1][0]


@dataclass(frozen=True)
class Labelled:
    """The samples of archives, with what tables beside these have of them."""

    listing: SampleTable  # of the archives
    tables: tuple[str, ...]  # their names
    rows: RowSource
    images: _Images
    hashes: Hashes  # of the names in `listing`
    checksum: str  # of the tables: samples are as new as their archives, whatever these are

    def facts(self, remarks: tuple[str, ...]) -> Facts:
        """Return those of the tables, with the remarks of the archives."""
        own = self.rows.facts
        named = f"The images are those that {' and '.join(self.tables)} "
        named += "name." if self.tables[1:] else "names."
        remarks = (*remarks, *own.remarks, *[named] * (not own.boxes))
        return replace(own, root=None, remarks=remarks, lists=self.tables)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the sample of each row, in the tables' order; name images without a row."""
        yield from (item for item in self.listing.skipped if item.name not in self.tables)
        for folder, _ in self.images.walk():
            yield from self.images.repeated(folder)
        assert self.rows.lists.known, "tables have been read"
        is_named = are_among(self.hashes, self.rows.lists.known())
        for found in self.rows.scan():
            if isinstance(found, Sample):
                found = _joined(self.listing[self.images.number(found.name)], found)
            yield found
        for row in np.flatnonzero(~is_named).tolist():
            yield Skipped(self.listing.name_of(row), "no table names it")


def _joined(sample: Sample, row: Sample) -> Sample:
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
    tree: Tree,
    options: SourceOptions,
    classes: Sequence[str] | None,
) -> Labelled | None:
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
        raise Ambiguous(str(error), {**readings, **without}) from error
    hashes = hashes_of(os.fsencode(listing.name_of(row)) for row in range(len(listing)))
    if not rows.lists.known or are_among(hashes, rows.lists.known()).mean() < _MOST:
        return None
    tables = tuple(view.where.name for view in views)
    return Labelled(listing, tables, rows, images, hashes, _checksum(views))


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
