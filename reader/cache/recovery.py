"""Create the files of a dataset's folder in the cache, and check them after the machine crashed.

After a crash, files may have their size but wrong bytes. So indexes are verified once after each
boot, and samples before they are read. Removed or truncated files are created again, and what they
had is fetched again.
"""

import contextlib
import os
from pathlib import Path

from reader.cache.files import INDEXES, ROWS, CachedFiles, is_index
from reader.cache.own_files import open_own
from reader.cache.presence import PresenceMap
from reader.cache.quota import DiskQuota, locked
from reader.format import Manifest
from reader.format.manifest import FILENAME

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def recover(folder: Path, manifest: Manifest, text: bytes, quota: DiskQuota) -> None:
    """Create missing files, and invalidate damaged ones; `text` is that of dataset.json."""
    boot, path = _BOOT.read_bytes(), folder / "boot"
    with open(open_own(path), "r+b", buffering=0) as file, locked(file.fileno(), path):
        is_new = file.read() != boot
        if _content(folder / FILENAME) != text:  # its folder's name is that of this text
            (folder / FILENAME).unlink(missing_ok=True)
        files = CachedFiles.of(folder, manifest)
        _create_rows(folder / ROWS, files.sizes[1], quota)
        if is_new:
            files.all_rows().invalidate()
        _check_indexes(files)
        if is_new:
            file.truncate(0)
            os.pwrite(file.fileno(), boot, 0)


def _create_rows(path: Path, size: int, quota: DiskQuota) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size == size:
            return
        path.unlink()  # others may have it mapped
    part = path.with_name(f"{path.name}.part")
    with open(open_own(part), "r+b") as file:
        quota.reserve(file.fileno(), 0, size)  # a mapping could not tell that the disk is full
        file.truncate(size)
        part.rename(path)


def _check_indexes(files: CachedFiles) -> None:
    """Create the file of the indexes, and verify those that were there when the machine crashed."""
    marks = PresenceMap.open(files.folder / ROWS, len(files.shards), is_writable=True)
    with open(open_own(files.folder / INDEXES), "r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != files.sizes[0]:
            marks.clear_all()
            file.truncate(files.sizes[0])
        for number in marks.unverified(0, len(files.shards)):
            shard = files.shards[number]
            content = os.pread(file.fileno(), shard.index_bytes, files.indexes.starts[number])
            (marks.fill if is_index(shard, content) else marks.clear)(number)


def _content(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""
