"""Numbers, names, options and commands in messages.

Options and commands are written as the caller does: ``--class-depth 2`` or, in Python,
``class_depth=2``. A message names them by `option`, `command` and `choices`; the command line and
`packer.pack` choose between these with `written_by`.
"""

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any

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


class Placeholder(str):
    """A value that the reader of a message replaces, such as DIR."""

    __slots__ = ()


class Shell:
    """How options and commands are written on a command line."""

    # What templates say is not said in another way, too.
    _REPLACED: tuple[str, ...] = ("--as", "--class-depth", "--pair", "--dry-run", "--explain")

    def __init__(self, dst: str = "DST", given: Mapping[str, Sequence[str]] | None = None) -> None:
        """Complete commands with `dst`, and with the words of each option that was `given`."""
        self._dst, self._given = dst, given or {}

    def option(self, name: str, value: Any) -> str:
        if value is None or value is True:
            return flag(name)
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={one}" for key, one in value.items())
        return f"{flag(name)} {shlex.quote(value) if _is_text(value) else value}"

    def packing(self, source: str) -> str:
        return f"packer pack {shlex.quote(source)}"

    def command(self, source: str, arguments: Sequence[str]) -> str:
        replaced = {*arguments, *(self._REPLACED if "--images" in arguments else ())}
        kept = (words for name, words in self._given.items() if name not in replaced)
        return f"{self.packing(source)} {shlex.join([self._dst, *chain(*kept), *arguments])}"


_COMMAND_LINE = Shell()
_caller: ContextVar[Shell] = ContextVar("caller", default=_COMMAND_LINE)


@contextmanager
def written_by(caller: Shell) -> Iterator[None]:
    """Write options and commands as `caller` does meanwhile, in this thread."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def flag(name: str) -> str:
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def option(name: str, value: Any = None) -> str:
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    return _caller.get().option(name, text)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Placeholder)


def named_limits(reason: str) -> str:
    """Name the limits in a reason as the caller does.

    Reasons are stored in indexes, whose bytes depend on no caller: they have the command's names.
    """
    for name in ("max_bytes", "max_pixels"):
        reason = reason.replace(flag(name), option(name))
    return reason


def command(source: object, *arguments: str) -> str:
    """Return the command, or the call, that packs a source with these options of a command line."""
    return _caller.get().command(str(source), arguments)


def unpacked_to(target: str, text: str, archive: object) -> str:
    """Return a text whose commands that pack a folder in `archive` pack it in `target`."""
    begin = _caller.get().packing(f"{archive}/").rstrip("'\"")
    return text.replace(begin, begin.replace(str(archive), target))


def choices(source: object, readings: Mapping[str, Sequence[str]]) -> str:
    """Return the readings of a source, each with the command that chooses it, a line each."""
    each = {meaning: command(source, *chosen) for meaning, chosen in readings.items() if chosen}
    return "".join(f"\n  {meaning}: {one}" for meaning, one in each.items())


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
