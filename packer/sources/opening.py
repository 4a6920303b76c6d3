"""Which source a path is: told by what lies there."""

from collections.abc import Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.options import SourceOptions
from packer.sources import Source, coco
from packer.sources.coco import CocoSource
from packer.sources.folder import FolderSource
from packer.sources.lines import Delimited, JsonLines
from packer.sources.manifest import ManifestSource
from packer.sources.pairs import Pairs
from packer.sources.table import Table
from packer.sources.walk import subfolders
from packer.sources.watched import Watched


def open_source(src: Path, options: SourceOptions, classes: Sequence[str] | None = None) -> Source:
    """The source at `src`.

    Args:
        src: a folder, an archive or a manifest.
        options: how it is to be understood.
        classes: class names in label order, None for the source's own order.

    Raises:
        UnusableInput: it is nothing that can be packed.
    """
    if src.is_dir():
        for name, folder in options.pairs.items():
            if not (src / folder).is_dir():
                raise UnusableInput(f"--pair {name}: {src / folder} is not a folder.")
        if coco.is_layout(src):
            return CocoSource.open_folder(src, classes)
        if files := _parquet_files(src):
            return _open_parquet(src, files, options, classes)
        return FolderSource.open(src, classes, Pairs(options.pairs))
    if options.pairs:
        raise UnusableInput(f"--pair goes with a folder of images, and {src} is a file.")
    table: Table
    match src.suffix.lower():
        case ".csv":
            table = Delimited.open(Watched.of(src), ",")
        case ".tsv":
            table = Delimited.open(Watched.of(src), "\t")
        case ".jsonl" | ".ndjson":
            table = JsonLines.open(Watched.of(src))
        case ".json":
            return CocoSource.open(src, options, classes)
        case ".parquet":
            return _open_parquet(src, [src], options, classes)
        case _:
            raise UnusableInput(
                f"{src} is neither a folder nor an archive or list that can be packed."
            )
    return ManifestSource.open(src, table, options, classes)


def _parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a data set as Hugging Face lays it out; empty if it is none."""
    files = sorted(folder.glob("*.parquet")) + sorted((folder / "data").glob("*.parquet"))
    return files if files and {"data"}.issuperset(subfolders(folder)) else []


def _open_parquet(
    src: Path, files: Sequence[Path], options: SourceOptions, classes: Sequence[str] | None
) -> Source:
    try:
        from packer.sources.parquet import ParquetTable
        from packer.sources.parquet_images import ParquetImages, image_columns
    except ImportError as error:
        raise UnusableInput(
            f"{src}: Parquet needs pyarrow. Install it with: pip install 'shardfeed[parquet]'."
        ) from error
    folder = src if src.is_dir() else src.parent
    table = ParquetTable.open(folder, files)
    if src.is_file() and not image_columns(table.schema, options.image_column):
        return ManifestSource.open(src, table, options, classes)
    strangers = [] if src.is_file() else sorted(_strangers(folder, files))
    return ParquetImages.open(src, table, options, classes, strangers)


def _strangers(folder: Path, files: Sequence[Path]) -> set[str]:
    """What else lies beside the Parquet files."""
    beside = {
        path for parent in {folder, *(file.parent for file in files)} for path in parent.iterdir()
    }
    return {str(path.relative_to(folder)) for path in beside.difference(files) if path.is_file()}
