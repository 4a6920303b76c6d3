"""A folder of this disk as a tree."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from packer.errors import BadImage, Damaged, Missing, UnusableInput, naming
from packer.files.snapshot import Watched, cannot_be_read, read_file
from packer.samples.places import Files
from packer.sources.trees.globs import Globs
from packer.sources.trees.shape import inside, is_within
from packer.sources.trees.tree import Level, Tree
from packer.sources.trees.walk import (
    BEGINNING,
    Identity,
    identity,
    is_file_error,
    look,
    with_parents,
)
from packer.words import Message, option

HIDDEN = Message(option("ignore"), " hides it")  # why a file is not there for a scan
NO_FILE = f"it cannot be read: {os.strerror(errno.ENOENT)}"
_MOST_LINKS = 1_000  # paths to one folder
_MAX_KEPT = 20_000  # folders; of those beyond, only such without examples are kept


class FolderTree(Tree):
    """A folder of this disk; its entries are read once, on demand."""

    def __init__(self, root: Path, globs: Globs | None = None) -> None:
        self.root = root
        self._globs = globs
        self.files = Files(root)
        self._prefix = f"{root}/"
        self._levels: dict[str, Level] = {}
        self._links: dict[Identity, set[str]] = {}  # paths of links to each folder
        self._counts: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}  # equal ones, once

    def below(self, folder: str) -> "FolderTree":
        """Return the tree of a folder in this one, with what was listed of it."""
        if not folder:
            return self
        tree = FolderTree(self.root / folder, self._globs and self._globs.below(folder))
        tree._links = self._links
        for path, level in self._levels.items():
            if is_within(path, folder):
                tree._levels[path[len(folder) + 1 :]] = level
        return tree

    def level(self, path: str = "") -> Level:
        """Return what the folder at `path` holds; nothing if there is no such folder."""
        if path in self._levels:
            return self._levels[path]
        return self._look(path) if path or os.path.isdir(self.root) else Level()

    def has(self, path: str) -> bool:
        """Return whether there is a file at `path`, which may be any text, as in a table."""
        return os.path.isfile(self.root / path) and not self.hides(path)

    def names(self, path: str = "") -> list[str]:
        """Return the sorted names of the files in the folder at `path`; listed again."""
        folder = self.root / path
        names = look(str(folder)).files if os.path.isdir(folder) else []
        return names if self._globs is None else list(self._globs.visible(path, names))

    def hidden(self) -> Iterator[str]:
        """Yield the files that globs hide, and the highest folders, with a ``/`` behind them."""
        if self._globs is None:
            return
        waiting = [""]
        while waiting:
            found = look(inside(str(self.root), folder := waiting.pop()))
            for name in (*found.folders, *found.skipped):
                path = inside(folder, name)
                if self._globs.hide(path):
                    yield f"{path}/"
                elif name not in found.skipped:
                    waiting.append(path)
            paths = (inside(folder, name) for name in found.files)
            yield from filter(self._globs.hide, paths)

    def walk(self, path: str = "") -> Iterator[tuple[str, Level]]:
        """Yield the folder at `path` and all below it, sorted; nothing if there is none."""
        if path and not os.path.isdir(self.root / path):
            return
        waiting = [(path, with_parents(self.root / path))]
        while waiting:
            path, above = waiting.pop()
            level = self._levels.get(path) or self._look(path, above)
            if level.folders:
                above |= {identity(self.root / path)}
            yield path, level
            waiting += [(inside(path, name), above) for name in reversed(level.folders)]

    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes and when it was written (ns)."""
        if self._globs is not None and self._globs.hide(path):  # no call more for each file
            raise Missing(HIDDEN)
        try:
            status = os.stat(self._prefix + path)
        except OSError as error:
            if not is_file_error(error):
                raise
            if os.path.islink(self.root / path):
                reason = f"it is a symbolic link that leads nowhere: {error.strerror}"
                raise Damaged(reason) from error
            kind = Missing if error.errno == errno.ENOENT else Damaged
            raise kind(cannot_be_read(error)) from error
        if not stat.S_ISREG(status.st_mode):
            raise Damaged("it is not a regular file")
        return status.st_size, status.st_mtime_ns

    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, one more than `size` at most, and when it was written (ns)."""
        return read_file(f"{self.root}/{path}", size)

    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes, as many as identify an image."""
        self.measure(path)
        try:
            with naming(self.root / path), open(self.root / path, "rb") as file:
                return file.read(size)
        except OSError as error:
            if not is_file_error(error):
                raise
            raise BadImage(cannot_be_read(error)) from error

    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts."""
        return Watched.of(self.root / path)

    def hides(self, path: str) -> bool:
        """Return whether globs hide the file at a path."""
        return self._globs is not None and self._globs.hide(path)

    def _look(self, path: str, above: frozenset[Identity] | None = None) -> Level:
        try:
            found = look(inside(str(self.root), path), above)
        except OSError as error:
            if not path or not is_file_error(error):
                raise
            return Level()  # the scan names it
        if (globs := self._globs) is not None:
            found.folders, found.files = (
                list(globs.visible(path, names)) for names in (found.folders, found.files)
            )
            found.skipped = {n: found.skipped[n] for n in globs.visible(path, found.skipped)}
        for name, linked in found.linked.items():
            self._count(f"{self.root}/{inside(path, name)}", linked)
        level = Level.of(found.folders, found.files, found.skipped)
        counts = self._counts.setdefault(tuple(level.counts.items()), level.counts)
        level = replace(level, counts=counts)
        if not level.examples or len(self._levels) < _MAX_KEPT:
            self._levels[path] = level
        return level

    def _count(self, link: str, linked: Identity) -> None:
        """Raise where a folder has more paths than anyone means: links to links multiply them."""
        paths = self._links.setdefault(linked, set())
        paths.add(link)
        if len(paths) > _MOST_LINKS:
            target = os.path.realpath(link)
            raise UnusableInput(
                f"{self.root}: more than {_MOST_LINKS:,} paths lead to {target} by symbolic links, "
                f"such as {link}. Remove links, or pass the folder that holds the images."
            )
