"""Printing: the report goes to stdout, what went wrong to stderr."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

from packer.errors import told
from packer.progress import silence
from packer.words import bounded, listed


def say(text: str, err: bool = True, lines: bool = False, is_json: bool = False) -> None:
    """Print a line, or with `lines` all of them; unless it is JSON, with an end to long names.

    Names come from strangers: what is not a printable character, such as a terminal's escape
    sequence, a line's end or a byte that is not UTF-8, is shown as an escape.

    Raises:
        OSError: the report cannot be written; with `err`, there is nobody left to tell.
    """
    text = text if is_json else bounded(text)
    parts = text.split("\n") if lines else [text]
    shown = "\n".join("".join(map(_shown, part)) for part in parts)
    try:
        click.echo(shown, err=err)
    except OSError as error:
        silence(sys.stderr if err else sys.stdout)
        if not err:
            error.filename = "standard output"
            raise


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # how Python holds a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def name_files(what: str, files: Iterable[tuple[str, str]]) -> None:
    """Say what became of files, with their reasons: of many with one reason the number."""
    for line in told(files, f"{what}: "):
        say(line)


def name_ignored(files: Iterable[tuple[str, str]]) -> None:
    """Say what was ignored, on one line for each reason: it is as it should be."""
    names: dict[str, list[str]] = {}
    for name, reason in files:
        names.setdefault(reason, []).append(name)
    for reason, several in names.items():
        count = f"{len(several)} files: " if len(several) > 1 else ""
        more = f" ({listed(several)})" if count else ""
        say(f"ignored: {count or f'{several[0]}: '}{reason}{more}")


def print_json(report: Mapping[str, Any]) -> None:
    """The report as one line of JSON, in which each (file, reason) is an object."""
    say(
        json.dumps({name: _named(value) for name, value in report.items()}), err=False, is_json=True
    )


def _named(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(item, tuple) for item in value):
        return value
    return [{"file": file, "reason": reason} for file, reason in value]
