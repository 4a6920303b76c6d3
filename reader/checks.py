"""Checks of plain values, and the one sentence for an invalid one."""

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reader.errors import ArgumentError

_SHOWN = 8  # values of a list in an error


def is_integer(value: object) -> bool:
    """Whether it is an integer, Python's or NumPy's, and no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    return is_integer(value) and value >= 1


def is_number(value: object) -> bool:
    """Whether it is a finite number, Python's or NumPy's, and no bool."""
    is_real = isinstance(value, (int, float, np.integer, np.floating))
    return is_real and not isinstance(value, bool) and math.isfinite(value)  # type: ignore[arg-type]


def is_flag(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_text(value: object) -> bool:
    return isinstance(value, str)


def check(arguments: Mapping[str, Any], rules: Mapping[str, "Rule"]) -> None:
    for name, (is_met, kind) in rules.items():
        if not is_met(arguments[name]):
            raise ArgumentError(f"{name} is {kind}, not {brief(arguments[name])}.")


def brief(value: Any) -> str:
    """Return a value for an error, of a long list only its first values and how many there are."""
    is_list = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)
    if is_list and len(value) > _SHOWN:
        return f"{len(value):,} values that begin with {value[:_SHOWN]!r:.200}"
    return f"{value!r:.200}"


def one_of(*values: object) -> Callable[[object], bool]:
    return lambda given: (given is None or isinstance(given, str)) and given in values


def or_none(is_met: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda given: given is None or is_met(given)


Rule = tuple[Callable[[Any], bool], str]  # a predicate, and the description of what it accepts

PATH: Rule = lambda given: isinstance(given, (str, os.PathLike)), "the path of a folder"
NAME: Rule = or_none(is_text), "a name, or None"
TEXT: Rule = is_text, "a string"
FLAG: Rule = is_flag, "True or False"
FUNCTION: Rule = or_none(callable), "a function, or None"
