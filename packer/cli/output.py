"""Printing: the report goes to stdout, what went wrong to stderr."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from packer.errors import summary
from packer.progress import Progress, silence
from packer.words import bounded, listed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Output:
    """The form of a command's output: JSON, errors only, or lines."""

    as_json: bool
    quiet: bool = False

    @property
    def progress(self) -> Progress:
        return Progress(self.quiet)

    @property
    def is_silent(self) -> bool:
        return self.as_json or self.quiet

    def report(
        self,
        content: "Mapping[str, Any] | DataclassInstance",
        lines: str | Iterable[str],
        wrong: object = False,
    ) -> int:
        """Print the result of a command: its content as JSON, otherwise its lines.

        Return the exit code: 1 if anything is `wrong`.
        """
        if self.as_json:
            print_json(content if isinstance(content, Mapping) else asdict(content))
        elif not self.quiet:
            for line in [lines] if isinstance(lines, str) else lines:
                echo(line, err=False)
        return 1 if wrong else 0


def echo(text: str, err: bool = True, lines: bool = False, is_json: bool = False) -> None:
    """Print a line, or with `lines` all of them; unless it is JSON, with an end to long names.

    Names come from strangers: what is not a printable character, such as a terminal's escape
    sequence, a line's end or a byte that is not UTF-8, is shown as an escape.
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
    """Print what became of files, with their reasons; many files of one reason are counted."""
    for line in summary(files, f"{what}: "):
        echo(line)


def name_ignored(files: Iterable[tuple[str, str]]) -> None:
    names: dict[str, list[str]] = {}
    for name, reason in files:
        names.setdefault(reason, []).append(name)
    for reason, several in names.items():
        count = f"{len(several)} files: " if len(several) > 1 else ""
        more = f" ({listed(several)})" if count else ""
        echo(f"ignored: {count or f'{several[0]}: '}{reason}{more}")


def print_json(report: Mapping[str, Any]) -> None:
    text = json.dumps({name: _named(value) for name, value in report.items()})
    echo(text, err=False, is_json=True)


def _named(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(item, tuple) for item in value):
        return value
    return [{"file": file, "reason": reason} for file, reason in value]
