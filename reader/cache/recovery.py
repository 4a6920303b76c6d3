"""Check the files of a dataset's folder in the cache, also after the machine crashed.

After a crash, files may have their size but wrong bytes. So indexes are verified once after each
boot, and samples before they are read. Removed or truncated files are created again, and their rows
fetched again. This does not disturb a process that creates a shard's tar, map and index, in this
order.
"""

import contextlib
import os
from pathlib import Path

from reader.cache.presence import PresenceMap, map_path
from reader.cache.quota import locked
from reader.format import Manifest, ShardEntry
from reader.format.checksum import checksum_of
from reader.format.manifest import FILENAME

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def has_files(folder: Path, shard: ShardEntry) -> bool:
    tar, index = folder / shard.file, folder / shard.index
    files = (tar, shard.bytes), (map_path(tar), shard.samples), (index, shard.index_bytes)
    return all(_has_size(path, size) for path, size in files)


def is_index(shard: ShardEntry, content: bytes) -> bool:
    return checksum_of(content) == shard.index_checksum


def recover(folder: Path, manifest: Manifest, text: bytes) -> None:
    """Remove damaged files, or invalidate them; `text` is that of dataset.json."""
    boot, path = _BOOT.read_bytes(), folder / "boot"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        with locked(file, path):
            is_new = os.pread(file, len(boot) + 1, 0) != boot
            if is_new and _content(folder / FILENAME) != text:
                (folder / FILENAME).unlink(missing_ok=True)
            for shard in manifest.shards:
                _check_index(folder / shard.index, shard, is_new=is_new)
                _check_rows(folder / shard.file, shard, is_new=is_new)
            if is_new:
                os.ftruncate(file, 0)
                os.pwrite(file, boot, 0)
    finally:
        os.close(file)


def _check_index(path: Path, shard: ShardEntry, *, is_new: bool) -> None:
    if not _has_size(path, shard.index_bytes) or (is_new and not is_index(shard, _content(path))):
        path.unlink(missing_ok=True)


def _check_rows(tar: Path, shard: ShardEntry, *, is_new: bool) -> None:
    path = map_path(tar)
    if not path.exists():
        return  # the tar is created before it
    if not (_has_size(path, shard.samples) and _has_size(tar, shard.bytes)):
        path.unlink()
    elif is_new:
        PresenceMap(path, shard.samples, is_writable=True).invalidate()


def _has_size(path: Path, size: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size == size
    return False


def _content(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""
