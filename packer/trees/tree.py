"""The folders and files of a source, listed once for all who ask what they may be.

A `Tree` is a folder of this disk (`FolderTree`), or what an archive holds (`archive.tree`). Who
reads a layout asks it alone, so that every layout is read from each of them.
"""

import io
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from packer.errors import BadImage, Damaged, UnusableInput
from packer.files.snapshot import Watched, read_file
from packer.samples.places import Files
from packer.samples.records import Place, Skipped
from packer.trees.compressed import UNPACKED, is_unpacked
from packer.trees.files import begin, measure
from packer.trees.likeness import BEGINNING
from packer.trees.shape import Shape, inside, lies_in
from packer.trees.sidecars import Companions
from packer.trees.walk import (
    Identity,
    folders_below,
    identity,
    is_litter,
    look,
    names_an_image,
    not_an_image,
    tells_of_file,
    with_parents,
)

_EXAMPLES = 8  # names of each extension that are kept of a folder
_KEPT = 20_000  # folders; of those beyond, only such without examples are kept
_NONE: Mapping[str, Any] = {}
MAX_TEXT = 1 << 26  # bytes of a file that is read whole
MAX_LINE = 1 << 20  # characters


@dataclass(frozen=True, slots=True)
class Level:
    """What one folder holds itself; no name of the operating system's litter is in it."""

    folders: tuple[str, ...] = ()  # sorted names, but for those that are skipped
    images: int = 0  # how many files are named as images are
    counts: Mapping[str, int] = field(default_factory=dict)  # by extension: ".txt"; "" for none
    # A few sorted names of each extension; no images.
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)  # folder -> reason
    companions: Companions = field(default_factory=Companions)

    @property
    def files(self) -> int:
        """How many files it holds."""
        return sum(self.counts.values())

    @classmethod
    def of(
        cls, folders: Iterable[str], names: Iterable[str], skipped: Mapping[str, str] = _NONE
    ) -> "Level":
        """Return what a folder holds; `names` are those of its files, sorted."""
        names = [name for name in names if not is_litter(name)]
        examples: dict[str, list[str]] = {}
        counts: dict[str, int] = {}
        images = 0
        for name in names:
            ext = os.path.splitext(name)[1].lower()
            counts[ext] = counts.get(ext, 0) + 1
            if names_an_image(name):
                images += 1
            elif counts[ext] <= _EXAMPLES:
                examples.setdefault(ext, []).append(name)
        few = {ext: tuple(some) for ext, some in examples.items()} or _NONE
        companions = Companions.of(names)
        return cls(tuple(folders), images, counts, few, skipped or _NONE, companions)

    @property
    def only(self) -> str:
        """The one folder in it, if it holds no image itself; else ""."""
        return self.folders[0] if len(self.folders) == 1 and not self.images else ""


class Tree(ABC):
    """A folder with all below it, or the files of an archive.

    Paths are relative to the root, with ``/``; "" is the root. Ten million files cost a number for
    each folder, and a few names for each of the first thousands.
    """

    root: Path  # the folder or the archive, for a person; paths below it are made by ``/``
    files: Files  # what reads the samples that lie in it
    unpack: str = ""  # the command that makes a folder of an archive; "" for a folder
    refused: Sequence[Skipped] = ()  # what of an archive cannot be read
    form: str = ""  # of an archive, behind what it holds: " in a zip"

    @abstractmethod
    def level(self, path: str = "") -> Level:
        """Return what the folder at `path` holds; nothing if there is no such folder."""

    @abstractmethod
    def has(self, path: str) -> bool:
        """Return whether there is a file at `path`, which may be any text, as in a table."""

    @abstractmethod
    def has_folder(self, path: str) -> bool:
        """Return whether there is a folder at `path`."""

    @abstractmethod
    def names(self, path: str = "") -> list[str]:
        """Return the sorted names of the files in the folder at `path`, litter too."""

    @abstractmethod
    def below(self, folder: str) -> "Tree":
        """Return the tree of a folder in this one."""

    @abstractmethod
    def walk(self, path: str = "") -> Iterator[tuple[str, Level]]:
        """Yield the folder at `path` and all below it, sorted; nothing if there is none."""

    @abstractmethod
    def files_below(self, path: str) -> Iterator[tuple[str, list[str]] | Skipped]:
        """Yield a folder and all below it with the names of their files, and what is skipped."""

    @abstractmethod
    def repeated(self, path: str) -> Iterator[Skipped]:
        """Yield the files of a folder that others of the same name replace."""

    @abstractmethod
    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes and when it was written (ns)."""

    @abstractmethod
    def place(self, path: str) -> Place:
        """Return where the bytes of a file lie."""

    @abstractmethod
    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, one more than `size` at most, and when it was written (ns)."""

    @abstractmethod
    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes; so many tell whether it is an image."""

    @abstractmethod
    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts; one in an archive is unpacked for it."""

    def places(self, image: str, members: Iterable[Place]) -> Sequence[Place]:
        """Return what `SourceSample.places` has for an image and its members' places."""
        at = self.place(image)
        found = (None if at == image else at, *members)
        return () if found == (None,) else found

    def ignored(self, path: str) -> Skipped | None:
        """Return what to report of a file that is not meant as an image; None for one that is."""
        return not_an_image(path, lambda: self.begin(path))

    def measure_image(self, path: str) -> tuple[int, int]:
        """Return the same as `measure` for an image, which has bytes."""
        size, mtime_ns = self.measure(path)
        if not size:
            raise Damaged("it is empty")
        return size, mtime_ns

    def images(self, path: str = "") -> list[str]:
        """The sorted names of those that are named as images are; none if there is no folder."""
        if not self.level(path).images:
            return []
        return [name for name in self.names(path) if names_an_image(name)]

    @property
    def shape(self) -> Shape:
        """How many images each folder itself holds."""
        return self._whole[0]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many files of the whole tree have each extension (``.txt``; "" for none)."""
        return self._whole[1]

    @cached_property
    def _whole(self) -> tuple[Shape, Mapping[str, int]]:
        images: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for path, level in self.walk():
            images[path] = level.images
            counts.update(level.counts)
        return Shape(images), counts

    def lines(self, path: str) -> Iterator[str]:
        """The lines of a list that are not blank, stripped, without a byte order mark."""
        where = self.root / path
        try:
            with io.TextIOWrapper(self.watched(path).open(), "utf-8-sig", newline="\n") as file:
                while line := file.readline(MAX_LINE):
                    if len(line) == MAX_LINE:
                        raise UnusableInput(f"{where} has a line of more than {MAX_LINE} bytes.")
                    if line := line.strip():
                        yield line
        except UnicodeDecodeError as error:
            raise UnusableInput(f"{where} is not text (UTF-8).") from error
        except OSError as error:
            raise UnusableInput(f"{where} cannot be read: {error.strerror}.") from error

    def text(self, path: str) -> str:
        """The text of a small file, without a byte order mark."""
        try:
            return self.whole(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnusableInput(f"{self.root / path} is not text (UTF-8).") from error

    def whole(self, path: str, most: int = MAX_TEXT) -> bytes:
        """The bytes of a small file."""
        try:
            data, _ = self.read(path, most)
        except BadImage as error:
            raise UnusableInput(f"{self.root / path}: {error}.") from error
        if len(data) > most:
            raise UnusableInput(f"{self.root / path} has more than {most} bytes.")
        return data


class FolderTree(Tree):
    """A folder of this disk; what it tells is read once, and only when it is asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = Files(root)
        self._levels: dict[str, Level] = {}
        self._counts: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}  # equal ones, once
        self._parents: tuple[str, frozenset[Identity]] = "", frozenset()  # of the last folder

    def below(self, folder: str) -> "FolderTree":
        """Return the tree of a folder in this one, with what was listed of it."""
        if not folder:
            return self
        tree = FolderTree(self.root / folder)
        for path, level in self._levels.items():
            if lies_in(path, folder):
                tree._levels[path[len(folder) + 1 :]] = level
        return tree

    def level(self, path: str = "") -> Level:
        """Return what the folder at `path` holds; nothing if there is no such folder."""
        if path in self._levels:
            return self._levels[path]
        return self._look(path) if path or os.path.isdir(self.root) else Level()

    def has(self, path: str) -> bool:
        """Return whether there is a file at `path`, which may be any text, as in a table."""
        return os.path.isfile(self.root / path)

    def has_folder(self, path: str) -> bool:
        """Return whether there is a folder at `path`."""
        return os.path.isdir(self.root / path)

    def names(self, path: str = "") -> list[str]:
        """Return the sorted names of the files in the folder at `path`; listed anew."""
        folder = self.root / path
        return look(str(folder)).files if os.path.isdir(folder) else []

    def walk(self, path: str = "") -> Iterator[tuple[str, Level]]:
        """Yield the folder at `path` and all below it, sorted; nothing if there is none."""
        folder = self.root / path
        return (
            self._walk(path, with_parents(folder))
            if not path or os.path.isdir(folder)
            else iter(())
        )

    def files_below(self, path: str) -> Iterator[tuple[str, list[str]] | Skipped]:
        """Yield a folder and all below it with the names of their files."""
        above = os.path.dirname(path)
        if self._parents[0] != above or not self._parents[1]:
            self._parents = above, with_parents(self.root / above)
        return folders_below(self.root, path, self._parents[1])

    def repeated(self, path: str) -> Iterator[Skipped]:
        """Yield nothing: a name comes once in a folder."""
        return iter(())

    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes and when it was written (ns)."""
        return measure(self.root, path)

    def place(self, path: str) -> Place:
        """Return the path itself."""
        return path

    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, one more than `size` at most, and when it was written (ns)."""
        return read_file(f"{self.root}/{path}", size)

    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes; so many tell whether it is an image."""
        return begin(self.root, path, size)

    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts."""
        return Watched.of(self.root / path)

    def ignored(self, path: str) -> Skipped | None:
        """Return what to report of a file that is no image; None for one that is or may be."""
        if is_unpacked(f"{self.root}/{path}"):
            return Skipped(path, UNPACKED, ignored=True)
        return super().ignored(path)

    def _walk(self, path: str, above: frozenset[Identity]) -> Iterator[tuple[str, Level]]:
        waiting = [(path, above)]
        while waiting:
            path, above = waiting.pop()
            level = self._levels.get(path) or self._look(path, above)
            if level.folders:
                above |= {identity(self.root / path)}
            yield path, level
            waiting += [(inside(path, name), above) for name in reversed(level.folders)]

    def _look(self, path: str, above: frozenset[Identity] | None = None) -> Level:
        try:
            found = look(inside(str(self.root), path), above)
        except OSError as error:
            if not path or not tells_of_file(error):
                raise
            return Level()  # the scan names it
        level = Level.of(found.folders, found.files, found.skipped)
        level = replace(
            level, counts=self._counts.setdefault(tuple(level.counts.items()), level.counts)
        )
        if not level.examples or len(self._levels) < _KEPT:
            self._levels[path] = level
        return level
