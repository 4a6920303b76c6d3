"""Numbers, names and options in messages.

Options are named as the caller writes them: ``--class-depth 2`` or, in Python, ``class_depth=2``.
"""

import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

_UNITS = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
NAMED = 5
LONGEST_NAME, _LONGEST_LINE = 400, 8_000  # characters
_LONG_WORD = re.compile(rf"\S{{{LONGEST_NAME + 1},}}")
_FLAGS = {
    "kind": "--as",
    "pairs": "--pair",
    "members": "--member",
    "as_json": "--json",
    "page": "--report",
}

_in_python: ContextVar[bool] = ContextVar("in_python", default=False)


@contextmanager
def for_python() -> Iterator[None]:
    """Name options as Python's arguments meanwhile, in this thread."""
    token = _in_python.set(True)
    try:
        yield
    finally:
        _in_python.reset(token)


def flag(name: str) -> str:
    """The option on a command line that is the Python argument `name`."""
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def option(name: str, value: Any = None) -> str:
    """An option with its value, as the caller writes it."""
    is_text = isinstance(value, (str, os.PathLike)) and not isinstance(value, Placeholder)
    if not _in_python.get():
        text = shlex.quote(os.fspath(value)) if is_text else str(value)
        return flag(name) if value is None or value is True else f"{flag(name)} {text}"
    text = json.dumps(os.fspath(value), ensure_ascii=False) if is_text else str(value)
    return f"{name}=" if value is None else f"{name}={text}"


def named_limits(reason: str) -> str:
    """Name the limits in a reason as the caller does.

    Reasons are stored in indexes, whose bytes depend on no caller: they have the command's names.
    """
    for name in ("max_bytes", "max_pixels"):
        reason = reason.replace(flag(name), option(name))
    return reason


def command(source: object, *arguments: str) -> str:
    """Return a command that packs a source, quoted for a shell; DST is for the caller to fill."""
    return shlex.join(["packer", "pack", str(source), "DST", *arguments])


def choices(source: object, readings: Mapping[str, Collection[str]]) -> str:
    """Return the readings of a source, each with the command that chooses it, a line each."""
    each = {meaning: command(source, *chosen) for meaning, chosen in readings.items() if chosen}
    return "".join(f"\n  {meaning}: {one}" for meaning, one in each.items())


class Placeholder(str):
    """A value that the reader of a message replaces, such as DIR."""

    __slots__ = ()


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
    """The verb of so many."""
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    """The other verb of so many."""
    return "has" if count == 1 else "have"


def share(part: int, whole: int) -> str:
    """``4.2%`` of a whole; never 0% of what is there."""
    percent = 100 * part / max(whole, 1)
    if 0 < percent < 0.1:
        return "less than 0.1%"
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def listed(names: Collection[str], most: int = NAMED) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(islice(names, most)) + more


def shortened(text: str, longest: int) -> str:
    """The beginning of a text that is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def abridged(text: str, longest: int) -> str:
    """A text that is longer without its middle: its end may say what to do."""
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
