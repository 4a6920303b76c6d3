"""The columns of Parquet and Arrow whose values are arrays: lists of numbers of one length."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from packer.processes import map_unordered
from packer.progress import Advance
from packer.samples.cells import ERRORS, opened
from packer.sources.tables.parquet import ParquetTable


def array_columns(table: ParquetTable) -> dict[str, str]:
    """Return the columns of arrays, each with numpy's type."""
    found = {field.name: field.type for field in table.schema if _is_array(field.type)}
    lists = [name for name, kind in found.items() if not pa.types.is_fixed_size_list(kind)]
    lengths: dict[str, set[int]] = {name: set() for name in lists}
    tasks = ((file.path, tuple(lists)) for file in table.files) if lists else iter(())
    for each in map_unordered(_lengths, tasks, 1, lambda _: None, str, lambda *_: {}):
        for name, some in each.items():
            lengths[name] |= some
    return {
        name: np.dtype(kind.value_type.to_pandas_dtype()).str
        for name, kind in found.items()
        if len(lengths.get(name, ())) < 2
    }


def _is_array(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not (is_list or pa.types.is_fixed_size_list(kind)):
        return False
    of = kind.value_type
    return bool(pa.types.is_integer(of) or pa.types.is_floating(of))


def _lengths(task: tuple[Path, tuple[str, ...]], _: Advance) -> dict[str, set[int]]:
    """Return the first two lengths of each column's lists; it may end the process."""
    path, columns = task
    found: dict[str, set[int]] = {name: set() for name in columns}
    try:
        with opened(path) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=list(columns), use_threads=False)
                for name in columns:
                    found[name] |= set(_two(rows.column(name)))
    except ERRORS:
        pass  # the scan names it
    return found


def _two(column: pa.ChunkedArray) -> Iterator[int]:
    extremes = pc.min_max(pc.list_value_length(column))
    for name in ("min", "max"):
        if (value := extremes[name].as_py()) is not None:
            yield value
