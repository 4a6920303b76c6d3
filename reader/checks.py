"""Checks of plain values, and the one sentence for an invalid one."""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from reader.errors import ArgumentError

P = ParamSpec("P")

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


def refuse_unknown(
    what: str, given: Mapping[str, Any], known: Iterable[str], elsewhere: Mapping[str, str]
) -> None:
    """Raise an error that names all keywords of `given`, which the class `what` does not have.

    `elsewhere` is what to write in place of some. Return if there is advice for none of them.
    """
    from difflib import get_close_matches  # rarely used

    names, advice = [*known, *elsewhere], []
    for name, value in given.items():
        shown, close = f"{value!r:.200}", get_close_matches(name, names, 1)
        if name in elsewhere:
            advice.append(f": {elsewhere[name].format(name=name, value=shown)}.")
        else:
            advice.append(f". Did you mean {close[0]}={shown}?" if close else ".")
    if set(advice) - {"."}:
        pairs = zip(given, advice, strict=True)
        raise ArgumentError(" ".join(f"A {what} has no {name}={text}" for name, text in pairs))


def explained(**elsewhere: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make an ``__init__`` raise ArgumentError for arguments that it does not have.

    `elsewhere` is what to write in place of some keywords, as for `refuse_unknown`.
    """

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        @wraps(init)
        def call(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                init(*args, **kwargs)
            except TypeError as error:
                if error.__traceback__ and error.__traceback__.tb_next:
                    raise  # `init` has raised it
                raise _misfit(init, args, kwargs, elsewhere) from None

        return call

    return decorate


def _misfit(
    init: Callable[..., None], args: Any, kwargs: dict[str, Any], elsewhere: Mapping[str, str]
) -> ArgumentError:
    import inspect  # rarely used

    signature, what = inspect.signature(init), init.__qualname__.partition(".")[0]
    _, *parameters = signature.parameters.values()
    names = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
    if len(names) == len(parameters):
        unknown = {name: value for name, value in kwargs.items() if name not in names}
        refuse_unknown(what, unknown, names, elsewhere)
    try:
        signature.bind(*args, **kwargs)
        reason = "these arguments do not fit"
    except TypeError as error:
        reason = str(error)
    return ArgumentError(f"reader.{what}: {reason}. Its arguments are {', '.join(names)}.")


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
