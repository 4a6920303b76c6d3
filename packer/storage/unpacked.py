"""The tar in a compressed one, decompressed once, and the folder beside a destination for it.

No file in a tar that is compressed as a whole can be read without those before it, and packing
reads in another order.

::

    .DST.unpacked/NAME.tar         with the time of its archive
    .DST.unpacked/.NAME.tar.json   its record: which archive it is of, and which tar is meant
    .DST.unpacked/made-...         what the scan makes for samples (`packer.samples.places.Spool`)

Guarantees: the tar is whole or not there, so that a run which is interrupted later goes on with it;
it is that of the archive which is there now, also if another one had the same size and time; of
several processes that need it, one decompresses and the others wait; what packer did not make is
neither replaced nor removed, and no link is followed.
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from packer.errors import UnusableInput
from packer.files.atomic import name_of_temporary, remove_leavings, replacing, write_file
from packer.files.hashed_file import measure
from packer.files.snapshot import changed
from packer.progress import Progress
from packer.sources.trees.compressed import DAMAGED, decompressed
from packer.storage.folder import wait_for_lock

_CHUNK = 1 << 20
_LOCK = ".lock"
_MADE = re.compile(r"made-[0-9a-f]{32}")


@dataclass(frozen=True)
class _Record:
    """An archive, and the tar that was decompressed from it."""

    archive: tuple[int, ...]  # see `_identity`
    checksum: str  # of the archive
    tar: tuple[int, ...]  # size and time

    @classmethod
    def read(cls, path: Path) -> "_Record | None":
        with suppress(OSError, TypeError, ValueError, RecursionError):
            if stat.S_ISREG(os.lstat(path).st_mode):
                found = json.loads(path.read_bytes())
                return cls(tuple(found["archive"]), str(found["checksum"]), tuple(found["tar"]))
        return None

    def write(self, path: Path) -> None:
        write_file(path, json.dumps(asdict(self)).encode())

    def is_of(self, tar: Path) -> bool:
        with suppress(OSError):
            status = os.lstat(tar)
            return stat.S_ISREG(status.st_mode) and _size_and_time(status) == self.tar
        return False


class UnpackedTar:
    """The tar of the archive at `src`, in a folder, where it may be already."""

    def __init__(self, src: Path, folder: Path) -> None:
        name = src.name
        for ext in (".gz", ".tgz", ".bz2", ".tbz2", ".tbz", ".xz", ".txz", ".tar"):
            name = name[: -len(ext)] if name.lower().endswith(ext) else name
        self._src = src
        self.path = folder / f"{name}.tar"
        self._record_path = _record_of(self.path)

    def checksum(self) -> str:
        """Return the checksum of the archive, if its tar is there; "" otherwise."""
        record = _Record.read(self._record_path)
        if record is None or not record.is_of(self.path):
            return ""
        status = os.stat(self._src)
        if _identity(status) == record.archive:
            return record.checksum
        if _size_and_time(status) != record.archive[:2]:
            return ""
        # It was moved or copied, or is another archive.
        if measure(self._src) != (status.st_size, record.checksum):
            return ""
        with suppress(UnusableInput):  # else it is read again by the next run
            _Record(_identity(status), record.checksum, record.tar).write(self._record_path)
        return record.checksum

    def make(self, progress: Progress, stays: str) -> str:
        """Write it, unless another process does; return the archive's checksum.

        `stays` is how long it is kept, for a person.
        """
        held = self.path.with_name(_LOCK)
        waits = f"Waiting for {self._src.name} to be decompressed."
        with wait_for_lock(held, lambda: progress.note(waits)):
            try:
                if not (checksum := self.checksum()):
                    self._remove()
                    progress.note(
                        f"packer: {self._src.name} is compressed as a whole. It is first "
                        f"decompressed to {self.path}, which takes its decompressed size on the "
                        f"disk {stays}."
                    )
                    checksum = self._write(progress)
            finally:
                if not os.path.getsize(held):
                    held.unlink(missing_ok=True)
        return checksum

    def _remove(self) -> None:
        """Remove that of another archive."""
        if not os.path.lexists(self.path):
            return
        record = _Record.read(self._record_path)
        if record is None or not record.is_of(self.path):
            raise UnusableInput(
                f"{self.path} exists, and is not what packer has unpacked there. Move it away, "
                "and run the same command again."
            )
        self.path.unlink()

    def _write(self, progress: Progress) -> str:
        src, tar = self._src, self.path
        remove_leavings([tar.parent], {tar.name, self._record_path.name}.__contains__)
        with (
            open(src, "rb") as packed,
            replacing(tar) as file,
            progress.phase("unpack", (status := os.fstat(packed.fileno())).st_size, "B") as advance,
        ):
            done, content = 0, decompressed(packed)

            def read() -> bytes:
                try:
                    return content.read(_CHUNK)
                except DAMAGED as error:
                    raise UnusableInput(
                        f"{src} is damaged or truncated: {error}. Download it again."
                    ) from error

            for chunk in iter(read, b""):
                file.write(chunk)
                advance(packed.tell() - done)
                done = packed.tell()
            file.flush()
            os.utime(file.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
            _, checksum = measure(src)
            if _identity(os.stat(src)) != _identity(status):
                raise changed(src)
            made = _size_and_time(os.fstat(file.fileno()))
            _Record(_identity(status), checksum, made).write(self._record_path)
        return checksum


def unpacked_folder(dst: Path) -> Path:
    """Return the folder beside the destination `dst`."""
    folder = dst.parent / f".{dst.name}.unpacked"
    if folder.is_symlink():
        raise UnusableInput(
            f"{folder} is a symbolic link, and what it points to is not changed. Remove the link."
        )
    return folder


def remove_unpacked(dst: Path) -> None:
    """Remove what packer made in the folder beside `dst`, and the folder if it is empty then."""
    with suppress(OSError):
        folder = unpacked_folder(dst)
        for path in [*_made_in(folder)]:
            path.unlink(missing_ok=True)
        folder.rmdir()


def _made_in(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        name, status = path.name, os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            continue
        tar = folder / name.removeprefix(".").removesuffix(".json")
        if name == _record_of(tar).name and (record := _Record.read(path)) is not None:
            yield path
            if record.is_of(tar):
                yield tar
        is_lock = name == _LOCK and not status.st_size
        if is_lock or _MADE.fullmatch(name) or _is_temporary(name_of_temporary(name)):
            yield path


def _is_temporary(name: str) -> bool:
    return name == "made" or name.endswith((".tar", ".tar.json"))


def _record_of(tar: Path) -> Path:
    return tar.with_name(f".{tar.name}.json")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file is written or another one takes its place."""
    return (*_size_and_time(status), status.st_ctime_ns, status.st_ino)


def _size_and_time(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns
