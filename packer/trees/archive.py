"""The files of a tar or a zip as a tree of folders, read in place: nothing is unpacked.

A tar in a tar is a folder of its name: ImageNet's train archive holds one for each class. A file is
some 120 bytes, so that millions fit. A file that is read in parts, such as a table, is unpacked
for as long as this process needs it.
"""

import os
import shlex
import shutil
import tempfile
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.files.snapshot import Watched, read_span, unchanged
from packer.samples.places import Files
from packer.samples.records import Place, Skipped
from packer.samples.zip_entries import copy_zip_entry, read_zip_beginning, zip_entries
from packer.trees.compressed import beginning
from packer.trees.folder import NO_FILE, FolderTree
from packer.trees.globs import Globs
from packer.trees.shape import inside
from packer.trees.tar_reader import is_tar, members
from packer.trees.tree import Level, Tree
from packer.trees.walk import BEGINNING, TABLES, not_entered, passed_over, skipped

_NO_ARCHIVES = (*TABLES, ".npz", ".npy")  # whose names tell enough
_CHUNK = 1 << 20
_OF_ENTRY = 4  # numbers: offset, size, packed, crc32

Entry = tuple[str, tuple[int, ...]]  # a file's path, and its numbers


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
    """The content of an archive, or of a folder in it."""

    def __init__(
        self,
        path: Path,
        zipped: bool,
        globs: Globs | None = None,
        entries: Iterable[Entry | Skipped] | None = None,
    ) -> None:
        """Read the table of contents, but for `entries` that are known already."""
        self.root = path
        self.files = Files(path)
        self.unpack = _unpacking(path, zipped)
        self.form = " in a zip" if zipped else " in a tar"
        self._zipped = zipped
        self._mtime_ns = os.stat(path).st_mtime_ns
        self._base = ""
        self._folders: dict[str, _Folder] = {"": _Folder()}
        self._children: dict[str, list[str]] = {}
        self.refused: list[Skipped] = []
        self._passed_over: dict[str, dict[str, str]] = {}
        self._hidden: list[str] = []
        self._unpacked = _Unpacked()
        if entries is None:
            entries = zip_entries(path) if zipped else _tar_entries(path)
        for item in entries:
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

    def has_folder(self, path: str) -> bool:
        """Return whether there is a folder at `path`."""
        return self._at(path) in self._folders

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

    def files_below(self, path: str) -> Iterator[tuple[str, list[str]] | Skipped]:
        """Yield a folder and all below it with the names of their files."""
        for folder, level in self.walk(path):
            for name, reason in level.skipped.items():
                yield not_entered(inside(folder, name), reason)
            yield folder, self.names(folder)

    def repeated(self, path: str) -> Iterator[Skipped]:
        """Yield the files of a folder that others of the same name replace."""
        for name in self._again.get(self._at(path), ()):
            yield skipped(inside(path, name), "the archive has a later file of the same name")

    def measure(self, path: str) -> tuple[int, int]:
        """Return a file's bytes, and when the archive was written (ns)."""
        return self._found(path)[1], self._mtime_ns

    def place(self, path: str) -> Place:
        """Return the span of a file in the archive."""
        offset, size, packed, crc32 = self._found(path)
        return ["", offset, size, packed, crc32] if self._zipped else ["", offset, size]

    def read(self, path: str, size: int) -> tuple[bytes, int]:
        """Return a file's bytes, and when the archive was written (ns)."""
        if (found := self._found(path)[1]) > size:
            raise BadImage(f"it has {found} bytes, more than {size}")
        place: Any = self.place(path)
        return self.files.packed(place, self._mtime_ns), self._mtime_ns

    def begin(self, path: str, size: int = BEGINNING) -> bytes:
        """Return a file's first bytes."""
        offset, whole, packed, _ = self._found(path)
        with unchanged(self.files.root, self._mtime_ns) as descriptor:
            if self._zipped:
                return read_zip_beginning(descriptor, offset, whole, packed, size)
            return read_span(descriptor, offset, min(whole, size))

    def watched(self, path: str) -> Watched:
        """Return a file that is read in parts, unpacked."""
        local = self._unpacked.folder / self._at(path)
        where = self.root / path
        try:
            offset, size, packed, crc32 = self._found(path)
            if not local.exists():
                local.parent.mkdir(parents=True, exist_ok=True)
                with unchanged(self.files.root, self._mtime_ns) as descriptor:
                    if self._zipped:
                        copy_zip_entry(descriptor, offset, size, packed, crc32, local)
                    else:
                        _copy_span(descriptor, offset, size, local)
        except BadImage as error:
            raise UnusableInput(f"{where}: {error}.") from error
        except OSError as error:
            raise UnusableInput(
                f"{where} cannot be unpacked to {local.parent}: {error.strerror}."
            ) from error
        os.utime(local, ns=(self._mtime_ns, self._mtime_ns))
        return Watched.of(where, local)

    def _at(self, path: str) -> str:
        """Return a path in the whole archive."""
        at = inside(self._base, path)
        return os.path.normpath(at).removeprefix(".") if ".." in path or path == "." else at

    def _folder(self, path: str) -> str:
        """Have a folder, and those above it; returns its path."""
        at = path
        while at not in self._folders:
            self._folders[at] = _Folder()
            above, _, name = at.rpartition("/")
            self._children.setdefault(above, []).append(name)
            at = above
        return path

    def _entry(self, path: str) -> tuple[int, int, int, int] | None:
        above, _, name = self._at(path).rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            return None
        row = bisect_left(folder.names, name)
        if row == len(folder.names) or folder.names[row] != name:
            return None
        offset, size, packed, crc32 = folder.numbers[_OF_ENTRY * row : _OF_ENTRY * (row + 1)]
        return offset, size, packed, crc32

    def _found(self, path: str) -> tuple[int, int, int, int]:
        found = self._entry(path)
        if found is None:
            raise Damaged(NO_FILE)
        return found


def _unpacking(path: Path, zipped: bool) -> str:
    source = shlex.quote(str(path))
    if zipped:
        return f"python -m zipfile -e {source} FOLDER"
    return f"mkdir -p FOLDER && tar -xf {source} -C FOLDER"


def _tar_entries(path: Path) -> Iterator[Entry | Skipped]:
    for item in members(path):
        if isinstance(item, Skipped):
            yield item
        elif not item.name.endswith(".tar"):
            yield item.name, (item.offset, item.size, -1, 0)
        else:
            folder = item.name.removesuffix(".tar")
            for inner in members(path, item.offset, item.offset + item.size):
                name = f"{folder}/{inner.name}"
                if isinstance(inner, Skipped):
                    yield Skipped(name, inner.reason)
                else:
                    yield name, (inner.offset, inner.size, -1, 0)


def _copy_span(descriptor: int, offset: int, size: int, path: Path) -> None:
    with path.open("wb") as file:
        for at in range(offset, offset + size, _CHUNK):
            file.write(read_span(descriptor, at, min(_CHUNK, offset + size - at)))


def tree_at(path: Path, globs: Sequence[str] = ()) -> Tree | None:
    """Return the tree of a folder, a zip or a tar without what `globs` hide; None for any other."""
    hiding = Globs(tuple(globs)) if globs else None
    if path.is_dir():
        return FolderTree(path, hiding)
    if path.suffix.lower() in _NO_ARCHIVES or not path.is_file():
        return None
    zipped = beginning(path).startswith(b"PK")
    return ArchiveTree(path, zipped, hiding) if zipped or is_tar(path) else None
