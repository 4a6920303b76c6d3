"""How large a Parquet file says its pages are, before anything is decompressed.

Arrow allocates what a page's header claims, whatever the file's footer says, so a file of kilobytes
could ask for gigabytes; and pyarrow ends the process where a footer is damaged in certain places.
This reads the structs of parquet.thrift (https://github.com/apache/parquet-format) by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packer.errors import BadImage
from packer.sources.table.thrift import read_struct

_MAGIC = b"PAR1"
_ROW_GROUPS, _COLUMNS, _ROWS, _META = 4, 1, 3, 3  # of FileMetaData, RowGroup and ColumnChunk
_COMPRESSED, _DATA, _DICTIONARY = 7, 9, 11  # of ColumnMetaData
_PAGE_UNCOMPRESSED, _PAGE_COMPRESSED = 2, 3  # of PageHeader


@dataclass(frozen=True)
class RowGroup:
    """A row group.

    Attributes:
        chunks: offset and size of each of its columns in the file.
    """

    rows: int
    chunks: tuple[tuple[int, int], ...]


def row_groups(path: Path) -> tuple[RowGroup, ...]:
    """The row groups of a file.

    Raises:
        BadImage: it is no sound Parquet file.
    """
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 8))
            size, magic = int.from_bytes(file.read(4), "little"), file.read(4)
            if magic != _MAGIC or size > end - 8:
                raise BadImage("it has no footer of a Parquet file")
            file.seek(end - 8 - size)
            return tuple(map(_row_group, read_struct(file)[_ROW_GROUPS]))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadImage("its footer is damaged") from error


def page_sizes(path: Path, chunks: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The bytes that each page of these columns decompresses to.

    Raises:
        BadImage: the headers of the pages make no sense.
    """
    with path.open("rb") as file:
        for start, size in chunks:
            position = start
            while position < start + size:
                file.seek(position)
                header = read_struct(file)
                yield _size(header, _PAGE_UNCOMPRESSED)
                position = file.tell() + _size(header, _PAGE_COMPRESSED)


def _row_group(group: dict[int, Any]) -> RowGroup:
    chunks = []
    for column in group[_COLUMNS]:
        meta = column[_META]
        start = _size(meta, _DATA)
        if meta.get(_DICTIONARY):  # older writers have 0 for none
            start = min(start, _size(meta, _DICTIONARY))
        chunks.append((start, _size(meta, _COMPRESSED)))
    return RowGroup(_size(group, _ROWS), tuple(chunks))


def _size(struct: dict[int, Any], number: int) -> int:
    value = struct.get(number)
    if not isinstance(value, int) or value < 0:
        raise BadImage("a size in it is damaged")
    return value
