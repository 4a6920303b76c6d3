"""Numbers, names, options and commands in messages.

A message keeps the options and commands that it names as data. Whoever prints it writes them as
the caller does: ``--class-depth 2`` or, in Python, ``class_depth=2``.
"""

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

_UNITS = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
NAMED = 5
LONGEST_NAME, _LONGEST_LINE = 400, 8_000  # characters
_LONG_WORD = re.compile(rf"\S{{{LONGEST_NAME + 1},}}")
_FLAGS = {
    "kind": "--as",
    "pairs": "--pair",
    "members": "--member",
    "columns": "--column",
    "as_json": "--json",
    "page": "--report",
}


Own = TypeVar("Own", bound="Shell")


class Placeholder(str):
    """A value that the reader of a message replaces, such as DIR."""

    __slots__ = ()


@dataclass(frozen=True)
class NamedOption:
    """An option of packing, with a value or without."""

    name: str  # of the Python argument
    value: Any = None

    def __str__(self) -> str:
        return COMMAND_LINE.option(self)


@dataclass(frozen=True)
class Command:
    """What packs a source, with options as a command line has them; Python has a call for it."""

    source: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return COMMAND_LINE.command(self)


@dataclass(frozen=True)
class CommandLine:
    """What is only typed: another command than pack, or options that Python does not have."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"packer {shlex.join(self.words)}"


Part = str | NamedOption | Command | CommandLine


class Message(str):
    """A text for a person, as the command line has it, with the parts that it is made of."""

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> "Message":
        each = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        made = super().__new__(cls, "".join(map(str, parts)))
        made.parts = tuple(chain.from_iterable(each))
        return made

    @classmethod
    def of(cls, text: str, *parts: Part) -> "Message":
        """Return a text with parts in place of each ``{}``."""
        first, *texts = text.split("{}")
        return cls(first, *chain.from_iterable(zip(parts, texts, strict=True)))

    def __add__(self, more: Part) -> "Message":
        return Message(self, more)

    def __radd__(self, before: str) -> "Message":
        return Message(before, self)

    @property
    def commands(self) -> list[Command]:
        return [part for part in self.parts if isinstance(part, Command)]


class Shell:
    """How options and commands are written on a command line."""

    # What templates say is not said in another way, too.
    _REPLACED: tuple[str, ...] = ("--as", "--class-depth", "--pair", "--dry-run", "--explain")

    def __init__(self, dst: str = "DST", given: Mapping[str, Sequence[str]] | None = None) -> None:
        """Complete commands with `dst`, and with the words of each option that was `given`."""
        self._dst, self._given = dst, given or {}
        self._names: Mapping[str, str] = {}

    def calling(self: Own, names: Mapping[str, str]) -> Own:
        """Return one that writes these names in place of paths, such as a URL for its copy."""
        own = copy(self)
        own._names = names
        return own

    def written(self, text: Part) -> str:
        """Return a text, and the options and commands in it, as the caller has them."""
        if isinstance(text, Message):
            return "".join(map(self.written, text.parts))
        if isinstance(text, NamedOption):
            return self.option(NamedOption(text.name, self._named(text.value)))
        if isinstance(text, Command):
            return self.command(Command(*map(self._named, (text.source, text.words))))
        return str(self._named(text))

    def _named(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._named, value))
        for path, name in self._names.items() if isinstance(value, str) else ():
            value = value.replace(path, name)
        return value

    def option(self, named: NamedOption) -> str:
        value = named.value
        if value is None or value is True:
            return flag(named.name)
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={one}" for key, one in value.items())
        is_text = isinstance(value, str) and not isinstance(value, Placeholder)
        return f"{flag(named.name)} {shlex.quote(value) if is_text else value}"

    def command(self, asked: Command) -> str:
        replaced = {*asked.words, *(self._REPLACED if "--images" in asked.words else ())}
        kept = (words for name, words in self._given.items() if name not in replaced)
        words = shlex.join([self._dst, *chain(*kept), *asked.words])
        return f"packer pack {shlex.quote(asked.source)} {words}"


COMMAND_LINE = Shell()


def flag(name: str) -> str:
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def option(name: str, value: Any = None) -> NamedOption:
    return NamedOption(name, os.fspath(value) if isinstance(value, os.PathLike) else value)


def command(source: object, *words: str) -> Command:
    return Command(str(source), words)


def typed(*words: object) -> CommandLine:
    return CommandLine(tuple(map(str, words)))


def choices(source: object, readings: Mapping[str, Sequence[str]]) -> Message:
    """Return the readings of a source, each with the command that chooses it, a line each."""
    text = Message()
    for what, words in readings.items():
        text += Message(f"\n  {what}: ", command(source, *words)) if words else ""
    return text


def dropped_lines(dropped: Mapping[str, int]) -> list[str]:
    """Return a line for each thing that images have and no reader shows."""
    return [f"{many(count, 'image')} {have(count)} {what}" for what, count in dropped.items()]


def in_bytes(count: float) -> str:
    """Bytes in the unit that leaves up to three digits before the point."""
    for unit, factor in _UNITS:
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:.0f} bytes"


def many(count: int, noun: str) -> str:
    """``1 sample``, ``2,000 samples``; `noun` is in the singular."""
    plural = f"{noun}es" if noun.endswith(("s", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    return "has" if count == 1 else "have"


def share(part: int, whole: int) -> str:
    percent = 100 * part / max(whole, 1)
    if 0 < percent < 0.1:
        return "less than 0.1%"
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def listed(names: Collection[str], most: int = NAMED) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(islice(names, most)) + more


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def abridged(text: str, longest: int) -> str:
    """Return a text, without its middle if it is too long: its end may have the remedy."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} [... {len(text):,} characters ...] {text[-longest // 2 :]}"


def bounded(message: str) -> str:
    """Abridge the lines of a message and the words in them: it may quote what anybody wrote."""
    lines = (
        _LONG_WORD.sub(lambda word: abridged(word[0], LONGEST_NAME), line)
        for line in message.split("\n")
    )
    return "\n".join(abridged(line, _LONGEST_LINE) for line in lines)
