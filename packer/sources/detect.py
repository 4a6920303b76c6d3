"""Which source a path is: told by what lies there."""

from collections.abc import Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.sources.archive.archive import ArchiveSource
from packer.sources.archive.tar_reader import is_tar
from packer.sources.archive.webdataset import (
    WebDatasetSource,
    packed_classes,
)
from packer.sources.arrays.cifar import CifarSource
from packer.sources.arrays.idx import IdxSource
from packer.sources.coco import coco
from packer.sources.coco.coco import CocoSource
from packer.sources.folder.folder import FolderSource
from packer.sources.folder.pairs import Pairs
from packer.sources.folder.walk import subfolders
from packer.sources.labels import class_order
from packer.sources.options import SourceOptions
from packer.sources.parts import (
    PartsSource,
    split_parts,
)
from packer.sources.records import Source
from packer.sources.table.lines import (
    Delimited,
    JsonLines,
)
from packer.sources.table.source import TableSource

_UNPACK = {  # by the first bytes of a compressed file
    b"\x1f\x8b": "gunzip -k",
    b"BZh": "bunzip2 -k",
    b"\xfd7zXZ": "unxz -k",
    b"\x28\xb5\x2f\xfd": "zstd -d",
}
_MAGIC = max(map(len, _UNPACK))


_WITHOUT_COLUMNS = (
    ArchiveSource,
    CifarSource,
    FolderSource,
    IdxSource,
    PartsSource,
    WebDatasetSource,
)


def open_source(src: Path, options: SourceOptions, classes: Sequence[str] | None = None) -> Source:
    """The source at `src`.

    Args:
        src: a folder, an archive or a manifest.
        options: how it is to be understood.
        classes: class names in label order, None for the source's own order.

    Raises:
        UnusableInput: it is nothing that can be packed.
    """
    try:
        source = (_open_folder if src.is_dir() else _open_file)(src, options, classes)
    except OSError as error:
        raise UnusableInput(f"{src} cannot be read: {error.strerror}.") from error
    if options.pairs and not isinstance(source, FolderSource):
        raise UnusableInput(f"--pair goes with a folder of images, and {src} is none.")
    if options.of_table and isinstance(source, _WITHOUT_COLUMNS):
        raise UnusableInput(
            f"--root and the names of columns go with a list of images, and {src} is none."
        )
    return source


def _open_file(src: Path, options: SourceOptions, classes: Sequence[str] | None) -> Source:
    match src.suffix.lower():
        case ".csv":
            return TableSource.open(src, Delimited.open(Watched.of(src), ","), options, classes)
        case ".tsv":
            return TableSource.open(src, Delimited.open(Watched.of(src), "\t"), options, classes)
        case ".jsonl" | ".ndjson":
            return TableSource.open(src, JsonLines.open(Watched.of(src)), options, classes)
        case ".json":
            return CocoSource.open(src, options, classes)
        case ".parquet":
            return _open_parquet(src, [src], options, classes)
        case _:
            return _open_archive(src, classes)


def _open_folder(src: Path, options: SourceOptions, classes: Sequence[str] | None) -> Source:
    if coco.is_layout(src):
        return CocoSource.open_folder(src, classes)
    if files := _parquet_files(src):
        return _open_parquet(src, files, options, classes)
    if CifarSource.recognises(src):
        return CifarSource.open(src, classes)
    if IdxSource.recognises(src):
        return IdxSource.open(src, classes)
    parts = split_parts(src)
    if any(path.is_file() or WebDatasetSource.recognises(path) for path in parts.values()):
        return _open_parts(src, parts, options, classes)
    if WebDatasetSource.recognises(src):
        return WebDatasetSource.open(src, classes)
    for name, folder in options.pairs.items():
        if not (src / folder).is_dir():
            raise UnusableInput(f"--pair {name}: {src / folder} is not a folder.")
    return FolderSource.open(src, classes, Pairs(options.pairs))


def _open_archive(src: Path, classes: Sequence[str] | None) -> Source:
    with open(src, "rb") as file:
        begin = file.read(_MAGIC)
    if begin.startswith(b"PK"):
        return ArchiveSource.open(src, True, classes)
    if CifarSource.recognises(src):
        return CifarSource.open(src, classes)
    if command := next((_UNPACK[magic] for magic in _UNPACK if begin.startswith(magic)), None):
        raise UnusableInput(
            f"{src} is compressed as a whole, so that no file in it can be read without those "
            f"before it. Images do not get smaller by it: unpack it first with {command} {src}"
        )
    if not is_tar(src):
        raise UnusableInput(f"{src} is neither a folder nor an archive or list that can be packed.")
    if WebDatasetSource.recognises(src):
        return WebDatasetSource.open(src, classes)
    return ArchiveSource.open(src, False, classes)


def _open_parts(
    src: Path, paths: dict[str, Path], options: SourceOptions, classes: Sequence[str] | None
) -> PartsSource:
    """A source for each split, with the classes of all."""
    classes = classes or packed_classes(src) or None
    parts = {split: open_source(path, options, classes) for split, path in paths.items()}
    names = class_order(src, (name for part in parts.values() for name in part.classes), classes)
    for split, part in parts.items():
        if part.classes and part.classes != names:
            parts[split] = open_source(paths[split], options, names)
    return PartsSource(tuple(parts.items()), names)


def _parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a data set as Hugging Face lays it out; empty if it is none."""
    files = sorted(folder.glob("*.parquet")) + sorted((folder / "data").glob("*.parquet"))
    return files if files and {"data"}.issuperset(subfolders(folder)) else []


def _open_parquet(
    src: Path, files: Sequence[Path], options: SourceOptions, classes: Sequence[str] | None
) -> Source:
    try:
        from packer.sources.table.parquet import ParquetTable
        from packer.sources.table.parquet_images import (
            ParquetImages,
            image_columns,
        )
    except ImportError as error:
        raise UnusableInput(
            f"{src}: Parquet needs pyarrow. Install it with: pip install 'shardfeed[parquet]'."
        ) from error
    folder = src if src.is_dir() else src.parent
    table = ParquetTable.open(folder, files)
    if src.is_file() and not image_columns(table.schema, options.image_column):
        return TableSource.open(src, table, options, classes)
    strangers = [] if src.is_file() else sorted(_strangers(folder, files))
    return ParquetImages.open(src, table, options, classes, strangers)


def _strangers(folder: Path, files: Sequence[Path]) -> set[str]:
    """What else lies beside the Parquet files."""
    beside = {
        path for parent in {folder, *(file.parent for file in files)} for path in parent.iterdir()
    }
    return {str(path.relative_to(folder)) for path in beside.difference(files) if path.is_file()}
