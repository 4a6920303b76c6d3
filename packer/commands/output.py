"""Printing: the report goes to stdout, what went wrong to stderr."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click


def say(text: str, err: bool = True) -> None:
    """Print; bytes of file names that are no UTF-8 as escapes.

    Raises:
        OSError: the report cannot be written; with `err`, there is nobody left to tell.
    """
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    try:
        click.echo(shown, err=err)
    except OSError as error:
        if not err:
            error.filename = "standard output"
            raise


def name_files(what: str, files: Iterable[tuple[str, str]]) -> None:
    """A line for each file with its reason."""
    for name, reason in files:
        say(f"{what}: {name}: {reason}")


def counted(number: int, noun: str) -> str:
    """``1 shard``, ``2 shards``; `noun` is in the plural."""
    if number == 1:
        noun = noun.removesuffix("es") if noun == "classes" else noun.removesuffix("s")
    return f"{number} {noun}"


def print_json(report: Mapping[str, Any]) -> None:
    """The report as one line of JSON."""
    say(json.dumps(report), err=False)
