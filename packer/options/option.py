"""How an option is declared: its kind of value, help, section of ``--help`` and default."""

from dataclasses import dataclass, field
from typing import Any

from packer.options.kinds import Kind
from packer.words import flag

SECTIONS = (
    *("Source", "Stored data", "Splits, shards and order"),
    *("Errors and limits", "This run"),
)


@dataclass(frozen=True)
class Option:
    name: str  # of the Python argument
    kind: Kind  # of its values
    help: str  # a text for ``--help``
    section: str  # of ``--help``
    default: Any = None  # value without it, as ``--help`` shows it; None: the help text names it
    aliases: tuple[str, ...] = ()  # further spellings on a command line

    @property
    def flag(self) -> str:
        return flag(self.name)


def declare(section: str, kind: Kind, help: str, default: Any = None, **more: Any) -> Any:
    made = {"kind": kind, "help": help, "section": section, "default": default, **more}
    if default in ({}, ()):
        return field(default_factory=type(default), metadata={**made, "default": None})
    return field(default=default, metadata=made)
