"""The files in an archive, by folder: some 120 bytes a file, so that millions fit."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from packer.sources.folder.walk import names_an_image, skipped
from packer.sources.records import Skipped


@dataclass(frozen=True)
class Entry:
    """A file in an archive.

    Attributes:
        offset: where its bytes begin, in a zip its local header.
        size: its bytes.
        packed: bytes that they are deflated to; -1: they are stored as they are.
        crc32: of its bytes, in a zip.
    """

    offset: int
    size: int
    packed: int = -1
    crc32: int = 0


class Entries:
    """What an archive that was written at `mtime_ns` holds."""

    def __init__(self, mtime_ns: int) -> None:
        self.mtime_ns = mtime_ns
        self._names: dict[str, list[str]] = {}
        self._numbers: dict[str, array[int]] = {}  # four of each file
        self._sorted: list[str] = []  # their folders, once they are asked for
        self.skipped: list[Skipped] = []

    def add(self, path: str, entry: Entry) -> None:
        """Append a file."""
        folder, _, name = path.rpartition("/")
        if folder not in self._names:
            self._names[folder] = []
            self._sorted = []
        self._names[folder].append(name)
        numbers = self._numbers.setdefault(folder, array("q"))
        numbers.extend((entry.offset, entry.size, entry.packed, entry.crc32))

    def folders(self) -> list[str]:
        """The sorted paths of the folders that hold files."""
        self._sorted = self._sorted or sorted(self._names)
        return self._sorted

    def folders_below(self, path: str) -> list[str]:
        """Return the one at a path and those below it; "" is the root."""
        if not path:
            return self.folders()
        known = self.folders()
        begin, end = (bisect_left(known, f"{path}{sign}") for sign in "/0")  # 0 follows /
        return [path] * (path in self._names) + known[begin:end]

    def files(self, folder: str) -> dict[str, Entry]:
        """The files in a folder; of several with one name the last, as unpacking would leave it."""
        numbers = self._numbers[folder]
        return {
            name: Entry(*numbers[4 * row : 4 * row + 4])
            for row, name in enumerate(self._names[folder])
        }

    def repeated(self, folder: str) -> Iterator[Skipped]:
        """The files in a folder that others of the same name replace."""
        names = self._names[folder]
        if len(set(names)) < len(names):
            last = {name: row for row, name in enumerate(names)}
            for row, name in enumerate(names):
                if last[name] != row:
                    path = f"{folder}/{name}" if folder else name
                    yield skipped(path, "the archive holds a later file of the same name")

    def images(self, folder: str) -> int:
        """How many files in a folder are named as images are."""
        return sum(map(names_an_image, self._names.get(folder, ())))
