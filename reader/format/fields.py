"""Fields of the samples' JSON as columns of an index: numbers, or texts where one is a text."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.format.columns import LISTS, NUMBER, TEXT, Column, bounds
from reader.format.members import Missing, at_path

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)

Value = int | float | str
Values = NDArray[Any]  # int64, float64, or str as objects


def values_at(content: Any, paths: Iterable[str]) -> Iterator[tuple[str, Value]]:
    """Yield what JSON has at each of the paths; ValueError: a list or an object."""
    for path in paths:
        try:
            value = at_path(content, path)
        except Missing:
            continue
        if isinstance(value, (list, dict)):
            kind = "a list" if isinstance(value, list) else "an object"
            raise ValueError(f"{path!r} in its .json is {kind}, and a column has numbers or texts")
        if isinstance(value, int):  # or a bool
            value = int(value) if -(2**63) <= value < 2**63 else str(value)
        if value is not None:
            yield path, value


def field_columns(name: str, values: Mapping[int, Value], rows: int) -> dict[str, Column]:
    """Return the columns of a field, from its values by row."""
    if any(isinstance(value, str) for value in values.values()):
        given = [values.get(row, "") for row in range(rows)]
        texts = [_text(value).encode("utf-8", "replace") for value in given]
        column = np.frombuffer(b"".join(texts), "u1")
        return {f"{name}{TEXT}": column, f"{name}{TEXT}_offset": bounds(map(len, texts))}
    numbers = [values.get(row, math.nan) for row in range(rows)]
    is_whole = all(type(value) is int for value in numbers)
    column = np.array(numbers, "<i8") if is_whole else np.array(numbers, "<f8").view("<u8")
    return {f"{name}{NUMBER}": column}


def values_in(
    columns: Mapping[str, Column], name: str, texts_of: Callable[[str], Sequence[bytes]]
) -> Values | None:
    """Return what `Index.values` does; `texts_of` reads a column of texts."""
    field = name.removeprefix("json.")
    is_field = f"{field}{NUMBER}" in columns or f"{field}{TEXT}" in columns
    is_list = name in LISTS or name.endswith(("_offset", "band", TEXT))
    if name in columns and not is_list and (field == name or not is_field):
        return columns[name].copy()
    if (numbers := columns.get(f"{field}{NUMBER}")) is not None:
        return numbers.copy() if numbers.dtype.kind == "i" else numbers.view("<f8").copy()
    column, errors = (name, "surrogateescape") if name in LISTS else (f"{field}{TEXT}", "strict")
    if column not in columns:
        return None
    decoded = cache(lambda text: text.decode("utf-8", errors))  # equal texts are one object
    return np.array([*map(decoded, texts_of(column))], object)


def joined(parts: Sequence[Values | None], rows: Sequence[int]) -> Values:
    """Join a field of several indexes; NaN where there is no number, texts are empty there."""
    if not any(part is not None and part.dtype == object for part in parts):
        pairs = [(p, n) for p, n in zip(parts, rows, strict=True) if n] or [(None, 0)]
        return np.concatenate([np.full(n, math.nan) if p is None else p for p, n in pairs])
    found: list[Value] = []
    for part, count in zip(parts, rows, strict=True):
        values = [""] * count if part is None else part.tolist()
        found += values if part is None or part.dtype == object else map(_text, values)
    return _numbers(found)


def _numbers(texts: Sequence[Any]) -> Values:
    """Return numbers if all texts are some, as in a CSV."""
    if not any(texts) or not all(not text or _NUMBER.fullmatch(text) for text in texts):
        return np.array(texts, object)
    try:
        return np.array([int(text) for text in texts], np.int64)
    except (ValueError, OverflowError):
        return np.array([float(text or "nan") for text in texts])


def _text(value: Value) -> str:
    """Return a value as a text: 2.0 as "2", as numbers beside it may have made a float of 2."""
    if isinstance(value, str) or math.isnan(value):
        return value if isinstance(value, str) else ""
    is_whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if is_whole else value)
