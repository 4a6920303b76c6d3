"""A tree of folders, with what its folders seem to mean and the names in them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from packer.sources.trees.meaning import Layout
from packer.sources.trees.outright import literal
from packer.sources.trees.shape import Shape
from packer.sources.trees.tree import Tree
from packer.words import command

FOLDERS = 20  # that are looked into
MANY = 2000  # images of a folder that are looked at
LEAST = 3  # names in common
_NEARLY = 0.9  # of the names
FOLDER = ("--as", "folder")
FLAT = ("--as", "flat")
_KEPT = 50_000  # names of a folder that are listed once


def nearly_all(count: int) -> float:
    """Return how many of so many names are nearly all: nine of ten, and of few all but one."""
    return min(_NEARLY * count, count - 1)


def member(name: str) -> str:
    """Return the name of a member from that of a folder."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


@dataclass(frozen=True)
class Contents:
    """A tree, and what its folders seem to mean."""

    tree: Tree
    layout: Layout
    _listed: dict[str, list[str]] = field(default_factory=dict)  # of few folders

    @property
    def shape(self) -> Shape:
        """The folders of the images."""
        return self.tree.shape

    @property
    def where(self) -> Path:
        """The source, for a person."""
        return self.tree.root

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """The names of what may be class folders, by the folder of their split."""
        return {base: self.shape.with_images(base) for base in self.layout.bases}

    @cached_property
    def names(self) -> list[str]:
        """The names of all that may be class folders."""
        return sorted({name for names in self.classes.values() for name in names})

    @property
    def has_splits(self) -> bool:
        """Whether folders are splits."""
        return self.layout.splits.keys() != {""}

    def stems(self, folder: str) -> dict[str, str]:
        """Return the paths of images below a folder, relative to it, without extension -> that.

        If there are many, only the first ones of some folders.
        """
        found = {}
        for path, names in islice(self.images(folder), FOLDERS):
            for name in names[:MANY]:
                stem, _, ext = f"{path}/{name}"[len(folder) :].lstrip("/").rpartition(".")
                found[stem] = ext.lower()
        return found

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the images in a folder."""
        found = self._listed.get(folder)
        if found is None:
            found = self.tree.images(folder)
            if len(self._listed) < FOLDERS and len(found) < _KEPT:
                self._listed[folder] = found
        return found

    def images(self, folder: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the folders of images below a folder, each with the names of those."""
        for path, level in self.tree.walk(folder):
            if level.images:
                yield path, self.names_in(path)

    def beside_images(self, folder: str) -> set[str]:
        """Return the extensions of the files beside several images of a folder."""
        counts: Counter[str] = Counter()
        for _, level in islice(self.tree.walk(folder), FOLDERS):
            if level.images:
                counts.update({ext: len(level.examples[ext]) for ext in level.examples})
        return {ext for ext, count in counts.items() if count >= LEAST}

    def some(self) -> list[str]:
        """Return a few of the folders with images of their own, in order."""
        found = [path for path, count in self.shape.images.items() if count]
        return found[:: len(found) // FOLDERS + 1]

    @property
    def start(self) -> str | None:
        """The start of the templates of images; None if no template fits."""
        if self.has_splits and any("/" in base for base in self.layout.splits.values()):
            return None
        top = f"{literal(self.layout.top)}/" if self.layout.top else ""
        return f"{top}{{split}}/" if self.has_splits else top

    def member(self, name: str) -> str:
        """Return the name of a member from that of a folder, which some splits may lack."""
        lacks = any(name not in names for names in self.classes.values())
        return member(name) + "?" * lacks

    def packing(self, folder: str, meaning: str) -> str:
        """Return the command that packs only a folder; an archive has none."""
        return "" if self.tree.unpack else f"\n  {meaning}: {command(self.where / folder)}"
