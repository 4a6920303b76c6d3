"""A folder or an object store behind five verbs: list, read, create, replace, remove."""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from packer.files.atomic import write_file


class Storage(Protocol):
    """Bytes under names below one place; each appears as a whole or not at all.

    Attributes:
        name: of the place, for a person.
    """

    name: str

    def list(self, folders: Iterable[str]) -> Collection[str]:
        """Return the names of what lies there, at least in these folders; "" is the top."""

    def read(self, name: str) -> bytes | None:
        """Return what a small object holds; None if there is none."""

    def create(self, name: str, content: bytes) -> bool:
        """Write an object; return False if there is one of this name, which stays."""

    def replace(self, name: str, content: bytes, tag: str | None = None) -> bool:
        """Write an object in place of the one with this `tag`; return False if that has gone."""

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""


class Folder:
    """A folder of this machine, which may not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def list(self, folders: Iterable[str]) -> Collection[str]:
        """Return the names of what lies in these folders; "" is the top."""
        found = []
        for folder in folders:
            inside = self.path / folder
            names = os.listdir(inside) if inside.is_dir() else ()
            found += [f"{folder}/{name}" if folder else name for name in names]
        return [name for name in found if (self.path / name).exists()]

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None if there is none."""
        with suppress(FileNotFoundError):
            return (self.path / name).read_bytes()
        return None

    def create(self, name: str, content: bytes) -> bool:
        """Write a file; return False if there is one of this name, which stays."""
        return not (self.path / name).exists() and self.replace(name, content)

    def replace(self, name: str, content: bytes, tag: str | None = None) -> bool:
        """Write a file, in place of the one that is there."""
        write_file(self.path / name, content)
        return True

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        (self.path / name).unlink(missing_ok=True)
