"""Parquet as Hugging Face has it: the images are in it.

Parquet whose images are named, not held, is a list of images like CSV.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from packer.errors import UnusableInput
from packer.sources.folder.walk import subfolders
from packer.sources.options import SourceOptions
from packer.sources.reading import Place, Reading
from packer.sources.records import Source
from packer.sources.table.source import TableSource


def recognise(place: Place) -> Reading | None:
    """A Parquet file, or a folder with some, in itself or in ``data``, and no other folder."""
    path, files = place.path, [place.path] if place.suffix == ".parquet" else []
    if place.tree and not place.tree.level().images:
        files = _parquet_files(path)
    return _read_parquet(path, files, place.options) if files else None


def _parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a dataset as Hugging Face lays it out; empty if it is none."""
    files = sorted(folder.glob("*.parquet")) + sorted((folder / "data").glob("*.parquet"))
    return files if files and {"data"}.issuperset(subfolders(folder)) else []


def _read_parquet(src: Path, files: Sequence[Path], options: SourceOptions) -> Reading:
    try:
        from packer.sources.table.parquet import ParquetTable
        from packer.sources.table.parquet_images import ParquetImages, image_columns
    except ImportError as error:
        raise UnusableInput(
            f"{src}: Parquet needs pyarrow. Install it with: pip install 'shardfeed[parquet]'."
        ) from error
    folder = src if src.is_dir() else src.parent
    table = ParquetTable.open(folder, files)
    if src.is_file() and not image_columns(table.schema, options.image_column):
        opening = partial(TableSource.open, src, table, options)
        return Reading("table", "a list of images (Parquet)", opening)
    strangers = [] if src.is_file() else sorted(_strangers(folder, files))

    def open_images(classes: Sequence[str] | None) -> Source:
        return ParquetImages.open(src, table, options, classes, strangers)

    return Reading("hf", "images in Parquet, as Hugging Face has them", open_images)


def _strangers(folder: Path, files: Sequence[Path]) -> set[str]:
    """What else lies beside the Parquet files."""
    beside = {
        path for parent in {folder, *(file.parent for file in files)} for path in parent.iterdir()
    }
    return {str(path.relative_to(folder)) for path in beside.difference(files) if path.is_file()}
