"""What is to be packed, and what it is called: a path here, or a copy of what lies in a store."""

from dataclasses import dataclass
from pathlib import Path

from packer.sources.records import Skipped


@dataclass(frozen=True)
class Given:
    """A place to read from.

    Attributes:
        path: that is read.
        name: for a person, and to know it again: the path, or the URL that it is a copy of.
        version: a checksum of what the store listed; "" of a path.
        lacking: what lies there and not at the path.
    """

    path: Path
    name: str
    version: str = ""
    lacking: tuple[Skipped, ...] = ()

    @classmethod
    def at(cls, path: Path) -> "Given":
        """What lies at a path."""
        return cls(path, str(path))
