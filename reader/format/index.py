"""A shard's index: columns in one safetensors file, mapped or in memory, without copies.

Format of the file: https://huggingface.co/docs/safetensors (header length, JSON header, data).
"""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from reader.format.columns import FORMATS, Column, fields_in, has_images, lists_in, rows_in
from reader.format.errors import FormatError
from reader.format.fields import values_in
from reader.format.index_faults import faults_of
from reader.format.safetensors import Layout, header_of, open_file

if TYPE_CHECKING:
    from reader.format.manifest import ShardEntry

VERSION = 1
KIND = "shardfeed-index"


def metadata_of(
    tar_bytes: int,
    tar_checksum: str,
    rejected: Sequence[tuple[str, str]],
    untiled: Sequence[tuple[str, str]] = (),
    unbanded: Sequence[tuple[str, str]] = (),
    dropped: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Return the metadata of an index; `Index` has attributes of the same names."""
    some = {"dropped": json.dumps(dict(sorted(dropped.items())))} if dropped else {}
    return some | {
        "format": KIND,
        "rejected": json.dumps(rejected),
        "tar_bytes": str(tar_bytes),
        "tar_checksum": tar_checksum,
        "unbanded": json.dumps(unbanded),
        "untiled": json.dumps(untiled),
        "version": str(VERSION),
    }


class Known(NamedTuple):
    """What the header of an index says, in few bytes."""

    tar_bytes: int
    tar_checksum: str
    layout: Layout


class Index:
    """The columns of one shard, one row for each sample; see `reader.format` for their meaning.

    A file stays mapped while a column is in use. All bounds are checked when it is opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mapped: bool = True,
        classes: int | None = None,
        content: memoryview | bytes | None = None,
        start: int = 0,
        known: "Known | None" = None,
    ) -> None:
        """Open the index at `path`; for a dataset's shard, use `of_shard`.

        A mapped one needs no memory; check `is_whole` before reading rows. `classes` is the number
        of class names, None if it is unknown; `content` are the file's bytes, or the part of a
        larger file that is mapped from `start` on; `known` is what was read and checked before.

        Raises:
            FormatError: the file is missing or not a valid index.
        """
        self._path = path
        self.content = open_file(self.path, mapped) if content is None else content
        self._end = start + len(self.content)
        self.known = self._read() if known is None else known
        self.tar_bytes, self.tar_checksum, self._layout = self.known
        for fault in faults_of(self.columns, self.tar_bytes, classes) if known is None else ():
            raise self._error(fault)

    @cached_property
    def columns(self) -> dict[str, Column]:
        return {name: self._layout.column(self.content, name) for name in self._layout.kinds}

    def column(self, name: str) -> Column:
        """Return a column without making the others, which takes longer."""
        made: dict[str, Column] | None = vars(self).get("columns")
        return self._layout.column(self.content, name) if made is None else made[name]

    @cached_property
    def has_images(self) -> bool:
        return has_images(self.columns)

    @cached_property
    def _lists(self) -> dict[str, str]:
        return lists_in(self.columns)

    @property
    def path(self) -> Path:
        return Path(self._path)

    @cached_property
    def metadata(self) -> dict[str, str]:
        """What `metadata_of` returns."""
        return self._header[1].pop("__metadata__")

    @property
    def _header(self) -> tuple[int, dict[str, Any]]:
        return header_of(self.path, self.content)

    def _read(self) -> "Known":
        data_start, header = self._header
        metadata = header.pop("__metadata__", None)
        if not isinstance(metadata, dict) or metadata.get("format") != KIND:
            raise self._error(f"its metadata has no format={KIND}")
        if metadata.get("version") != str(VERSION):
            raise self._error(
                f"it has version {metadata.get('version')}; this reader supports {VERSION}"
            )
        try:
            tar_bytes, tar_checksum = int(metadata["tar_bytes"]), str(metadata["tar_checksum"])
            layout = Layout.of(header, data_start, len(self.content))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._error(f"its header is damaged ({error})") from error
        if not 0 <= tar_bytes < 2**63:
            raise self._error(f"{tar_bytes} is not a possible size of a tar")
        return Known(tar_bytes, tar_checksum, layout)

    @classmethod
    def of_shard(
        cls,
        folder: Path,
        shard: "ShardEntry",
        classes: int,
        *,
        mapped: bool = True,
        content: memoryview | bytes | None = None,
        start: int = 0,
        known: "Known | None" = None,
        has_images: bool | None = None,
    ) -> "Index":
        """Open the index of a shard in `folder`, and check it by its entry in dataset.json.

        Raises:
            FormatError: the index is missing, damaged, or of another shard.
        """
        path = f"{folder}/{shard.index}"  # a Path takes longer than the rest if it is `known`
        found = cls(path, mapped, classes, content, start, known)
        if known is not None:
            return found
        counts = (
            (len(found), shard.samples, "samples"),
            (found.tar_bytes, shard.bytes, "bytes of its tar"),
        )
        for own, listed, what in counts:
            if own != listed:
                raise FormatError(
                    f"{folder / shard.file}: its index has {own} {what}, but dataset.json records "
                    f"{listed}. The shard was replaced. Restore it from a copy."
                )
        if has_images not in (None, found.has_images):
            raise found._error(f"dataset.json has images={has_images}, and its columns differ")
        if found.tar_checksum != shard.checksum:
            raise FormatError(
                f"{folder / shard.file} was replaced: its index belongs to another tar than "
                "dataset.json records. Restore it from a copy."
            )
        return found

    def __len__(self) -> int:
        return rows_in(self.columns)

    @property
    def is_whole(self) -> bool:
        """Whether a mapped file has its full size; reading beyond its end would be a SIGBUS."""
        if isinstance(self.content, bytes):
            return True
        try:
            return bool(self.content.obj.size() >= self._end)  # type: ignore[attr-defined]
        except OSError:
            return False

    @property
    def tiled(self) -> bool:
        """Whether any row has a segment table."""
        return "segment" in self.columns

    @property
    def members(self) -> list[str]:
        """Extensions of the members besides the image, in the order of the tar's bytes."""
        return [name[:-5] for name in self.columns if name.endswith(".size")]

    @property
    def fields(self) -> list[str]:
        """Paths in the samples' JSON whose values the index has; see `values`."""
        return fields_in(self.columns)

    @property
    def rejected(self) -> list[tuple[str, str]]:
        """The (source name, reason) of files that were planned for this shard and rejected."""
        return self._names("rejected")

    @property
    def untiled(self) -> list[tuple[str, str]]:
        """The (source name, reason) of the JPEGs that could not be tiled."""
        return self._names("untiled")

    @property
    def unbanded(self) -> list[tuple[str, str]]:
        """The (source name, reason) of the PNGs that could not be banded."""
        return self._names("unbanded") if "unbanded" in self.metadata else []

    @property
    def dropped(self) -> dict[str, int]:
        """The number of images by what they have and no reader shows, such as further pages."""
        try:
            found = json.loads(self.metadata.get("dropped", "{}"))
            return {str(what): int(count) for what, count in found.items()}
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise self._error(f"its counts of what is dropped are damaged ({error})") from error

    def add(self, columns: Mapping[str, Column]) -> None:
        """Add columns of the same rows, of a dataset that is joined."""
        self.columns |= columns
        self._lists = lists_in(self.columns)

    def _names(self, entry: str) -> list[tuple[str, str]]:
        try:
            return [(str(name), str(reason)) for name, reason in json.loads(self.metadata[entry])]
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise self._error(f"its list of {entry} files is damaged ({error})") from error

    def bytes_of(self, column: str, row: int) -> bytes:
        """Return row `row` of the list column ``key`` or ``name``."""
        bounds = self.columns[self._lists[column]]
        return self.columns[column][int(bounds[row]) : int(bounds[row + 1])].tobytes()

    def key(self, row: int) -> str:
        """Return the key of a sample."""
        try:
            return self.bytes_of("key", row).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._error(f"the key of row {row} is not UTF-8") from error

    def values_of(self, column: str) -> list[bytes]:
        """Return the texts of a column, one for each sample."""
        content, ends = self.columns[column].tobytes(), self.columns[self._lists[column]].tolist()
        return [content[start:end] for start, end in pairwise(ends)]

    def values(self, name: str) -> NDArray[Any] | None:
        """Return a value for each sample, copied; None: there is no such column.

        `name` is a column with a number for each sample; ``key`` or ``name``, as str objects; or
        one of `fields`, int64 or float64 with NaN for none, or str objects that are empty for none.
        ``json.width`` is the field where ``width`` is a column, too.
        """
        try:
            return values_in(self.columns, name, self.values_of)
        except UnicodeDecodeError as error:
            raise self._error(f"a value of {name!r} is not UTF-8") from error

    def names(self) -> list[str]:
        """Return the names of the source files, one for each sample."""
        return list(map(os.fsdecode, self.values_of("name")))

    def name(self, row: int) -> str:
        """Return the image's path in the source, in `os.fsdecode` form."""
        return os.fsdecode(self.bytes_of("name", row))

    def span(self, ext: str, row: int) -> tuple[int, int] | None:
        """Return (offset, size) of the member with extension `ext` in the tar; None for none."""
        formats = self.columns.get("format")
        if formats is not None and ext == FORMATS[int(formats[row])]:
            return int(self.columns["offset"][row]), int(self.columns["size"][row])
        if f"{ext}.offset" not in self.columns:
            return None
        offset = int(self.columns[f"{ext}.offset"][row])
        return (offset, int(self.columns[f"{ext}.size"][row])) if offset else None

    def _error(self, reason: str) -> FormatError:
        return FormatError(f"{self.path} is not a usable index: {reason}. Restore it from a copy.")
