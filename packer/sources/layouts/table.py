"""A list of images: CSV, TSV, JSON lines, or Parquet that names files.

A column names the image, and others the label and the split; further columns become each sample's
``json``.
"""

from collections.abc import Sequence

from packer.files.snapshot import Watched
from packer.sources.reading import Place, Reading
from packer.sources.records import Source
from packer.sources.table.lines import Delimited, JsonLines, delimiter_of
from packer.sources.table.source import TableSource
from packer.sources.table.table import Table

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson")


def recognise(place: Place) -> Reading | None:
    """A file of that extension."""
    path, suffix = place.path, place.suffix
    if suffix not in (*_DELIMITERS, *_LINES):
        return None

    def open_table(classes: Sequence[str] | None) -> Source:
        file = Watched.of(path)
        if suffix in _DELIMITERS:
            table: Table = Delimited.open(file, delimiter_of(file, _DELIMITERS[suffix]))
        else:
            table = JsonLines.open(file)
        return TableSource.open(path, table, place.options, classes)

    return Reading("table", f"a list of images ({suffix[1:].upper()})", open_table)
