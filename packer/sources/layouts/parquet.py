"""Parquet as Hugging Face has it: the images are in it.

Parquet whose images are named, not held, is a list of images like CSV.
"""

from collections.abc import Sequence
from pathlib import Path

from packer.sources.folder.walk import subfolders
from packer.sources.layouts.table import reading_of
from packer.sources.reading import Place, Reading
from packer.sources.records import Source
from packer.sources.table.find import parquet


def recognise(place: Place) -> Reading | None:
    """A Parquet file, or a folder with some, in itself or in ``data``, and no other folder."""
    path, files = place.path, [place.path] if place.suffix == ".parquet" else []
    level = place.tree.level() if place.tree else None
    if level and not level.images and not level.counts.get(".tar"):  # img2dataset's have images
        files = _parquet_files(path)
    return _read_parquet(place, files) if files else None


def _parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a dataset as Hugging Face lays it out; empty if it is none."""
    files = sorted(folder.glob("*.parquet")) + sorted((folder / "data").glob("*.parquet"))
    return files if files and {"data"}.issuperset(subfolders(folder)) else []


def _read_parquet(place: Place, files: Sequence[Path]) -> Reading:
    src, options = place.path, place.options
    folder = src if place.tree else src.parent
    table = parquet(folder, files)
    from packer.sources.table.parquet_images import ParquetImages, image_columns

    if not place.tree and not image_columns(table.schema, options.image_column):
        return reading_of(place, lambda _: table)
    strangers = sorted(_strangers(folder, files)) if place.tree else []

    def open_images(classes: Sequence[str] | None) -> Source:
        return ParquetImages.open(src, table, options, classes, strangers)

    return Reading("hf", "images in Parquet, as Hugging Face has them", open_images)


def _strangers(folder: Path, files: Sequence[Path]) -> set[str]:
    """What else lies beside the Parquet files."""
    beside = {
        path for parent in {folder, *(file.parent for file in files)} for path in parent.iterdir()
    }
    return {str(path.relative_to(folder)) for path in beside.difference(files) if path.is_file()}
