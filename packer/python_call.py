"""Calls from Python: their errors, and arguments that are paths."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packer.errors import Rejected, UnusableInput, told
from packer.words import bounded, for_python
from reader.format import ShardfeedError
from reader.store.urls import is_url


@contextmanager
def python_call() -> Iterator[None]:
    """Name options as arguments in errors, and name the files of `Rejected`.

    The command line prints these files itself.
    """
    with for_python():
        try:
            yield
        except ShardfeedError as error:
            if isinstance(error, Rejected):
                error.args = ("\n  ".join([*error.args, *told(error.files, noun=error.noun)]),)
            error.args = tuple(
                bounded(argument) if isinstance(argument, str) else argument
                for argument in error.args
            )
            raise


def path_of(name: str, value: Any) -> Path:
    """Return the path that the argument `name` is.

    Raises:
        UnusableInput: it is not a path.
    """
    try:
        return Path(os.fsdecode(value))
    except TypeError:
        raise UnusableInput(f"{name} is a path, not {value!r:.200}.") from None


def place_of(name: str, value: Any) -> Path | str:
    """Return the path or the URL that the argument `name` is.

    Raises:
        UnusableInput: it is neither.
    """
    return str(value) if is_url(value) else path_of(name, value)
