"""The folders and files of a source: what every layout is read from.

`folder.FolderTree` is a folder of this disk, `archive.ArchiveTree` what an archive holds.
"""

import io
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import decoded, open_text
from packer.keys import Hashes, are_among, hashes_of
from packer.samples.places import Files
from packer.samples.records import Place, Skipped
from packer.sources.trees.compressed import UNPACKED, is_unpacked
from packer.sources.trees.shape import Shape, enclosing, folders_above, inside
from packer.sources.trees.sidecars import Companions
from packer.sources.trees.walk import (
    BEGINNING,
    is_file_error,
    is_litter,
    is_named_as_image,
    names_an_image,
    not_an_image,
    not_entered,
)
from reader.format.members import PICTURES

_EXAMPLES = 8  # names of each extension that are kept of a folder
_NONE: Mapping[str, Any] = {}
_MAX_TEXT = 1 << 26  # bytes of a file that is read whole
_MAX_LINE = 1 << 20  # characters


@dataclass(frozen=True, slots=True)
class Level:
    """The entries of one folder, without files of the operating system."""

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
        examples: dict[str, list[str]] = {}
        counts: dict[str, int] = {}
        stems: list[str] = []  # of pictures
        images = 0
        for name in names:
            if is_litter(name):
                continue
            stem, ext = os.path.splitext(name)
            ext = ext.lower()
            counts[ext] = counts.get(ext, 0) + 1
            if ext[1:] in PICTURES:
                stems.append(stem)
            if is_named_as_image(name):
                images += 1
            elif counts[ext] <= _EXAMPLES:
                examples.setdefault(ext, []).append(name)
        few = {ext: tuple(some) for ext, some in examples.items()} or _NONE
        companions = Companions.of(stems)
        return cls(tuple(folders), images, counts, few, skipped or _NONE, companions)

    @property
    def only(self) -> str:
        """The one folder in it, if it has no image itself, otherwise ""."""
        return self.folders[0] if len(self.folders) == 1 and not self.images else ""


class Tree(ABC):
    """A folder with all below it, or the files of an archive.

    Paths are relative to the root, with ``/``; "" is the root. Ten million files cost a number for
    each folder, and a few names for each of the first thousands.
    """

    root: Path  # the folder or the archive, for a person; paths below it are made by ``/``
    files: Files  # what reads the samples that are in it
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
    def names(self, path: str = "") -> list[str]:
        """Return the sorted names of the files in the folder at `path`, litter too."""

    def readable_names(self, path: str) -> list[str] | None:
        """Return the sorted names of the files in a folder; None if it cannot be read."""
        try:
            return self.names(path)
        except OSError as error:
            if not is_file_error(error):
                raise
            return None

    @abstractmethod
    def below(self, folder: str) -> "Tree":
        """Return the tree of a folder in this one."""

    @abstractmethod
    def walk(self, path: str = "") -> Iterator[tuple[str, Level]]:
        """Yield the folder at `path` and all below it, sorted; nothing if there is none."""

    @abstractmethod
    def hidden(self) -> Iterator[str]:
        """Yield the files and folders that globs hide, folders with a ``/`` behind them."""

    @abstractmethod
    def hides(self, path: str) -> bool:
        """Return whether globs hide the file at a path."""

    def repeated(self, path: str) -> Iterator[Skipped]:
        """Yield the files of a folder that others of the same name replace."""
        return iter(())

    @abstractmethod
    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes and when it was written (ns)."""

    def place(self, path: str) -> Place:
        """Return the place of a file's bytes."""
        return path

    @abstractmethod
    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, one more than `size` at most, and when it was written (ns)."""

    @abstractmethod
    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes, as many as identify an image."""

    @abstractmethod
    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts; one in an archive is unpacked for it."""

    def ignored(self, path: str) -> Skipped | None:
        """Return what to report of a file that is not meant as an image; None for one that is."""
        if reason := self.examined.get(path):
            return Skipped(path, reason, ignored=True)
        found = not_an_image(path, lambda size: self.begin(path, size))
        if found and is_unpacked(f"{self.root}/{path}"):
            return Skipped(path, UNPACKED, ignored=True)
        return found

    def images(self, path: str = "") -> list[str]:
        """The sorted names of those that are named as images are; none if there is no folder."""
        if not self.level(path).images:
            return []
        return [name for name in self.names(path) if names_an_image(name)]

    @cached_property
    def examined(self) -> dict[str, str]:
        """Files that may hold labels and were found to name no image, with the reason."""
        return {}

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
        """Yield the lines of a list that are not blank, stripped, without a byte order mark."""
        where = self.root / path
        try:
            with io.TextIOWrapper(open_text(self.watched(path)), "utf-8", newline="\n") as file:
                while line := file.readline(_MAX_LINE):
                    if len(line) == _MAX_LINE:
                        raise UnusableInput(f"{where} has a line of more than {_MAX_LINE} bytes.")
                    if line := line.strip():
                        yield line
        except UnicodeDecodeError as error:
            raise UnusableInput(f"{where} is not UTF-8 text. Convert it first.") from error
        except OSError as error:
            raise UnusableInput(f"{where} cannot be read: {error.strerror}.") from error

    def text(self, path: str) -> str:
        """Return the text of a small file, without a byte order mark."""
        try:
            return decoded(self.whole(path))
        except UnicodeDecodeError as error:
            raise UnusableInput(
                f"{self.root / path} is not UTF-8 text. Convert it first."
            ) from error

    def head(self, path: str, size: int) -> bytes:
        """The first bytes of a file that may describe the images: it is not read past errors."""
        try:
            return self.begin(path, size)
        except BadImage as error:
            raise UnusableInput(f"{self.root / path}: {error}.") from error

    def whole(self, path: str, most: int = _MAX_TEXT) -> bytes:
        """Return the bytes of a small file."""
        try:
            data, _ = self.read(path, most)
        except BadImage as error:
            raise UnusableInput(f"{self.root / path}: {error}.") from error
        if len(data) > most:
            raise UnusableInput(f"{self.root / path} has more than {most} bytes.")
        return data


def unnamed(
    tree: Tree, known: Hashes, passed: Mapping[str, str]
) -> Iterator[tuple[str, list[str]] | Skipped]:
    """Yield each folder with its files whose hashes are not in `known`, which is sorted.

    The folders among `passed`, with a ``/`` behind them, are skipped for the reason that they have.
    """
    folders = {path[:-1] for path in passed if path.endswith("/")}
    for folder, level in tree.walk():
        if (found := enclosing(folder, folders)) is not None:
            if folder == found:
                yield Skipped(f"{found}/", passed[f"{found}/"], ignored=True)
            continue
        for name, reason in level.skipped.items():
            yield not_entered(inside(folder, name), reason)
        yield from tree.repeated(folder)
        paths = [inside(folder, name) for name in tree.names(folder)]
        named = are_among(hashes_of(map(os.fsencode, paths)), known)
        yield folder, list(compress(paths, ~named))


def aside(
    tree: Tree, folders: Collection[str], reason: str, is_meant: Callable[[str], bool]
) -> dict[str, str]:
    """Return the highest folders of images that hold none of `folders`, with ``/`` -> reason.

    Only those that are known to be none of them, by `is_meant`: images in others may be data.
    """
    known = set(folders)
    above = {path for folder in known for path in (folder, *folders_above(folder))}
    shape = tree.shape
    return {
        f"{path}/": reason
        for path in shape.images
        if path not in above
        and os.path.dirname(path) in above
        and shape.below(path)
        and is_meant(path)
        and enclosing(path, known) is None
    }
