"""Which source a path is: told by what lies there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.sources.archive.archive import ArchiveSource
from packer.sources.archive.tar_reader import is_tar
from packer.sources.archive.webdataset import WebDatasetSource, packed_classes
from packer.sources.arrays.cifar import CifarSource
from packer.sources.arrays.idx import IdxSource
from packer.sources.coco import coco
from packer.sources.coco.coco import CocoSource
from packer.sources.folder.folder import FolderSource
from packer.sources.folder.pairs import Pairs
from packer.sources.folder.walk import subfolders
from packer.sources.labels import class_order
from packer.sources.options import SourceOptions
from packer.sources.parts import PartsSource, split_parts
from packer.sources.reading import Place, Reading, Recognise
from packer.sources.records import Source
from packer.sources.table.lines import Delimited, JsonLines, delimiter_of
from packer.sources.table.source import TableSource
from packer.sources.table.table import Table

_UNPACK = {  # by the first bytes of a compressed file
    b"\x1f\x8b": "gunzip -k",
    b"BZh": "bunzip2 -k",
    b"\xfd7zXZ": "unxz -k",
    b"\x28\xb5\x2f\xfd": "zstd -d",
}
_MAGIC = max(map(len, _UNPACK))
_GZIP = b"\x1f\x8b"

_TABLES = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson")

_WITHOUT_COLUMNS = (
    ArchiveSource,
    CifarSource,
    FolderSource,
    IdxSource,
    PartsSource,
    WebDatasetSource,
)


def open_source(src: Path, options: SourceOptions, classes: Sequence[str] | None = None) -> Source:
    """The source at `src`, as `read` understands it."""
    return read(src, options).open(classes)


def read(src: Path, options: SourceOptions) -> Reading:
    """How `src` is understood: the one reading that fits.

    Args:
        src: a folder, an archive or a manifest.
        options: how it is to be understood.

    Raises:
        UnusableInput: none fits, or several do and `options` chooses none of them.
    """
    place = Place(src, options)
    try:
        plain = options.kind in ("folder", "flat")  # whatever else it could be
        recognisers = () if plain else RECOGNISERS
        found = [reading for recognise in recognisers if (reading := recognise(place))]
        if options.kind and not plain:
            found = [reading for reading in found if reading.kind == options.kind]
            if not found:
                raise UnusableInput(f"{src} is not what --as {options.kind} reads.")
        if len(found) > 1:
            both = " or ".join(f"{reading.what} (--as {reading.kind})" for reading in found)
            raise UnusableInput(f"{src} may be {both}. Say which one with --as.")
        reading = found[0] if found else _folders(place)
    except OSError as error:
        raise UnusableInput(f"{src} cannot be read: {error.strerror}.") from error
    return replace(reading, open=partial(_open_checked, src, options, reading.open))


def _open_checked(
    src: Path,
    options: SourceOptions,
    opening: Callable[[Sequence[str] | None], Source],
    classes: Sequence[str] | None,
) -> Source:
    try:
        source = opening(classes)
    except OSError as error:
        raise UnusableInput(f"{src} cannot be read: {error.strerror}.") from error
    if options.pairs and not isinstance(source, FolderSource):
        raise UnusableInput(f"--pair goes with a folder of images, and {src} is none.")
    if options.of_table and isinstance(source, _WITHOUT_COLUMNS):
        raise UnusableInput(
            f"--root and the names of columns go with a list of images, and {src} is none."
        )
    return source


def _tables(place: Place) -> Reading | None:
    path, suffix = place.path, place.path.suffix.lower()
    if path.is_dir() or suffix not in (*_TABLES, *_LINES):
        return None

    def open_table(classes: Sequence[str] | None) -> Source:
        file = Watched.of(path)
        if suffix in _TABLES:
            table: Table = Delimited.open(file, delimiter_of(file, _TABLES[suffix]))
        else:
            table = JsonLines.open(file)
        return TableSource.open(path, table, place.options, classes)

    return Reading("table", f"a list of images ({suffix[1:].upper()})", open_table)


def _coco(place: Place) -> Reading | None:
    path = place.path
    if path.is_dir() and coco.is_layout(path):
        return Reading("coco", "COCO's folders", partial(CocoSource.open_folder, path))
    if path.is_dir() or path.suffix.lower() != ".json":
        return None
    return Reading("coco", "a COCO annotation file", partial(CocoSource.open, path, place.options))


def _parquet(place: Place) -> Reading | None:
    path = place.path
    if path.is_dir():
        files = _parquet_files(path)
    else:
        files = [path] if path.suffix.lower() == ".parquet" else []
    if not files:
        return None
    return _read_parquet(path, files, place.options)


def _cifar(place: Place) -> Reading | None:
    path = place.path
    if not path.is_dir() and (
        path.suffix in (*_TABLES, *_LINES) or not _beginning(path).startswith(_GZIP)
    ):
        return None
    if not CifarSource.recognises(path):
        return None
    return Reading("cifar", "CIFAR's files", partial(CifarSource.open, path))


def _idx(place: Place) -> Reading | None:
    if not place.path.is_dir() or not IdxSource.recognises(place.path):
        return None
    return Reading("idx", "IDX files, as MNIST has them", partial(IdxSource.open, place.path))


def _webdataset(place: Place) -> Reading | None:
    path = place.path
    if path.is_dir():
        parts = split_parts(path)
        if any(part.is_file() or WebDatasetSource.recognises(part) for part in parts.values()):
            return Reading(
                "webdataset",
                "archives, one for each split",
                partial(_open_parts, path, parts, place.options),
            )
    elif path.suffix.lower() in _FILES or not is_tar(path):
        return None
    if not WebDatasetSource.recognises(path):
        return None
    return Reading("webdataset", "WebDataset tars", partial(WebDatasetSource.open, path))


RECOGNISERS: tuple[Recognise, ...] = (_coco, _tables, _parquet, _cifar, _idx, _webdataset)
_FILES = (*_TABLES, *_LINES, ".json", ".parquet")


def _folders(place: Place) -> Reading:
    """What no other source recognises: folders of images, on disk or in an archive."""
    path, options = place.path, place.options
    if path.is_dir():
        for name, folder in options.pairs.items():
            if not (path / folder).is_dir():
                raise UnusableInput(f"--pair {name}: {path / folder} is not a folder.")

        def open_folder(classes: Sequence[str] | None) -> Source:
            pairs, kind, depth = Pairs(options.pairs), options.kind, options.class_depth
            return FolderSource.open(path, classes, pairs, kind=kind, depth=depth)

        return Reading(options.kind or "folder", "folders of images", open_folder)
    begin = _beginning(path)
    zipped = begin.startswith(b"PK")
    if command := next((_UNPACK[magic] for magic in _UNPACK if begin.startswith(magic)), None):
        raise UnusableInput(
            f"{path} is compressed as a whole, so that no file in it can be read without those "
            f"before it. Images do not get smaller by it: unpack it first with {command} {path}"
        )
    if not zipped and not is_tar(path):
        raise UnusableInput(
            f"{path} is neither a folder nor an archive or list that can be packed."
        )

    def open_archive(classes: Sequence[str] | None) -> Source:
        kind, depth = options.kind, options.class_depth
        return ArchiveSource.open(path, zipped, classes, kind=kind, depth=depth)

    what = f"folders of images in a {'zip' if zipped else 'tar'}"
    return Reading(options.kind or "folder", what, open_archive)


def _beginning(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MAGIC)


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
