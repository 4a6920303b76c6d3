"""The files of tars and zips as a tree of folders, read in place: nothing is unpacked.

A tar in a tar is a folder of its name: ImageNet's train archive holds one for each class. A folder
of ``train.zip`` and ``val.tar`` is a tree, too, in which these are folders. A file is some 120
bytes, so that millions fit. A file that is read in parts, such as a table, is unpacked for as long
as this process needs it.
"""

import os
import shutil
import tempfile
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from packer.errors import BadImage, Missing, UnusableInput
from packer.files.snapshot import Watched, cannot_be_read
from packer.samples.places import Files
from packer.samples.records import Place, Skipped
from packer.sources.trees.archive_file import ArchiveFile, Entry, Numbers
from packer.sources.trees.folder import HIDDEN, NO_FILE
from packer.sources.trees.globs import Globs
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Level, Tree
from packer.sources.trees.walk import BEGINNING, passed_over, skipped

_ITSELF = {"": ""}  # the root is the archive
_OF_ENTRY = 4  # numbers: offset, size, packed, crc32


class _Folder:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: array[int] = array("q")

    def sort(self) -> list[str]:
        """Sort; return the names that come again, of which the last file is meant."""
        if all(map(str.__lt__, self.names, self.names[1:])):
            return []
        last = {name: row for row, name in enumerate(self.names)}
        again = [name for row, name in enumerate(self.names) if last[name] != row]
        self.names = sorted(last)
        rows = np.frombuffer(self.numbers, np.int64).reshape(-1, _OF_ENTRY)
        self.numbers = array("q", rows[[last[name] for name in self.names]].tobytes())
        return again


class _Unpacked:
    @cached_property
    def folder(self) -> Path:
        """Its path; made at the first use."""
        path = Path(tempfile.mkdtemp(prefix="packer-"))
        weakref.finalize(self, shutil.rmtree, path, True)
        return path


class ArchiveTree(Tree):
    """The content of an archive, or of a folder in it; or of a folder with archives."""

    def __init__(
        self,
        path: Path,
        globs: Globs | None = None,
        archives: Mapping[str, str] = _ITSELF,
        others: Iterable[str] = (),
        entries: Iterable[Entry | Skipped] | None = None,
    ) -> None:
        """Read the tables of contents, but for `entries` that are known already.

        `archives` have files at `path` for the folders that these stand for, `others` are files.
        """
        self.root = path
        self.files = Files(path)
        self._sources = {at: ArchiveFile.of(path, file) for at, file in archives.items()}
        self._only = self._sources.get("")
        if self._only:
            self.unpack = self._only.unpack
            self.form = " in a zip" if self._only.zipped else " in a tar"
        else:
            each = (
                one.unpack.replace("FOLDER", f"FOLDER/{at}") for at, one in self._sources.items()
            )
            self.unpack, self.form = " && ".join(each), " in archives"
        self._base = ""
        self._folders: dict[str, _Folder] = {"": _Folder()}
        self._children: dict[str, list[str]] = {}
        self.refused: list[Skipped] = []
        self._passed_over: dict[str, dict[str, str]] = {}
        self._hidden: list[str] = []
        self._unpacked = _Unpacked()
        for item in self._entries(others) if entries is None else entries:
            if isinstance(item, Skipped):
                self.refused.append(item)
                continue
            path_inside = os.path.normpath(item[0])
            if globs is not None and globs.hide(path_inside):
                self._hidden.append(path_inside)
                continue
            if over := passed_over(path_inside):
                above, _, name = over[0].rpartition("/")
                self._passed_over.setdefault(self._folder(above), {})[name] = over[1]
                continue
            above, _, name = path_inside.rpartition("/")
            folder = self._folders[self._folder(above)]
            folder.names.append(name)
            folder.numbers.extend(item[1])
        self._again = {at: again for at, of in self._folders.items() if (again := of.sort())}
        for names in self._children.values():
            names.sort()
        self._levels: dict[str, Level] = {}

    def hidden(self) -> Iterator[str]:
        """Yield the files that globs hide."""
        return iter(self._hidden)

    def hides(self, path: str) -> bool:
        """Return whether globs hide the file at a path."""
        return self._at(path) in self._hidden

    def below(self, folder: str) -> "ArchiveTree":
        """Return the tree of a folder in this one."""
        tree = object.__new__(ArchiveTree)
        tree.__dict__ |= self.__dict__
        tree.__dict__.pop("_whole", None)
        tree.root, tree._base = self.root / folder, inside(self._base, folder)
        return tree

    def level(self, path: str = "") -> Level:
        """Return what the folder at `path` holds; nothing if there is no such folder."""
        at = self._at(path)
        if at not in self._levels:
            over = self._passed_over.get(at, {})
            self._levels[at] = Level.of(self._children.get(at, ()), self.names(path), over)
        return self._levels[at]

    def has(self, path: str) -> bool:
        """Return whether there is a file at `path`, which may be any text, as in a table."""
        return self._entry(path) is not None

    def names(self, path: str = "") -> list[str]:
        """Return the sorted names of the files in the folder at `path`, litter too."""
        return self._folders.get(self._at(path), _Folder()).names

    def walk(self, path: str = "") -> Iterator[tuple[str, Level]]:
        """Yield the folder at `path` and all below it, sorted; nothing if there is none."""
        waiting = [path] if not path or self._at(path) in self._folders else []
        while waiting:
            path = waiting.pop()
            level = self.level(path)
            yield path, level
            waiting += [inside(path, name) for name in reversed(level.folders)]

    def repeated(self, path: str) -> Iterator[Skipped]:
        """Yield the files of a folder that others of the same name replace."""
        for name in self._again.get(self._at(path), ()):
            yield skipped(inside(path, name), "the archive has a later file of the same name")

    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes, and when the archive was written (ns)."""
        source, numbers = self._found(path)
        return numbers[1], source.mtime_ns

    def place(self, path: str) -> Place:
        """Return the span of a file in the archive."""
        source, numbers = self._found(path)
        if not self._only and source.file == self._at(path):
            return source.file  # it is beside the archives
        return [source.file, *(numbers if source.zipped else numbers[:2])]

    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, and when the archive was written (ns)."""
        source, numbers = self._found(path)
        if numbers[1] > size:
            raise BadImage(f"it has {numbers[1]} bytes, more than {size}")
        return source.read(numbers), source.mtime_ns

    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes."""
        source, numbers = self._found(path)
        return source.begin(numbers, size)

    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts, unpacked."""
        local = self._unpacked.folder / self._at(path)
        where = self.root / path
        try:
            source, numbers = self._found(path)
            if not local.exists():
                local.parent.mkdir(parents=True, exist_ok=True)
                source.copy(numbers, local)
        except BadImage as error:
            raise UnusableInput(f"{where}: {error}.") from error
        except OSError as error:
            raise UnusableInput(
                f"{where} cannot be unpacked to {local.parent}: {error.strerror}."
            ) from error
        os.utime(local, ns=(source.mtime_ns, source.mtime_ns))
        return Watched.of(where, local)

    def _at(self, path: str) -> str:
        """Return a path in the whole archive."""
        at = inside(self._base, path)
        return os.path.normpath(at).removeprefix(".") if ".." in path or path == "." else at

    def _entries(self, others: Iterable[str]) -> Iterator[Entry | Skipped]:
        for at, source in self._sources.items():
            for item in source.entries():
                if not at:
                    yield item
                elif isinstance(item, Skipped):
                    yield replace(item, name=f"{at}/{item.name}")
                else:
                    yield f"{at}/{item[0]}", item[1]
        for file in others:
            try:
                status = os.stat(self.root / file)
            except OSError as error:
                yield Skipped(file, cannot_be_read(error), damaged=True)
                continue
            self._sources[file] = ArchiveFile(file, self.root / file, False, status.st_mtime_ns)
            yield file, (0, status.st_size, -1, 0)

    def _folder(self, path: str) -> str:
        """Have a folder, and those above it; returns its path."""
        at = path
        while at not in self._folders:
            self._folders[at] = _Folder()
            above, _, name = at.rpartition("/")
            self._children.setdefault(above, []).append(name)
            at = above
        return path

    def _entry(self, path: str) -> Numbers | None:
        above, _, name = self._at(path).rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            return None
        row = bisect_left(folder.names, name)
        if row == len(folder.names) or folder.names[row] != name:
            return None
        offset, size, packed, crc32 = folder.numbers[_OF_ENTRY * row : _OF_ENTRY * (row + 1)]
        return offset, size, packed, crc32

    def _found(self, path: str) -> tuple[ArchiveFile, Numbers]:
        """Return a file's numbers, and the file on the disk that holds it."""
        found = self._entry(path)
        if found is None:
            raise Missing(HIDDEN if self.hides(path) else NO_FILE)
        if self._only:
            return self._only, found
        at = self._at(path)
        return self._sources.get(at) or self._sources[at.partition("/")[0]], found
