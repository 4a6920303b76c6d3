"""Tars that are compressed as a whole, decompressed once and packed from there.

No file in such a tar can be read without those before it, and packing reads in another order.

Guarantees: the tar is whole or not there, so that a run which is interrupted later goes on with it;
of several parts that need it, one decompresses and the others wait.
"""

import os
import shutil
from io import BufferedIOBase
from pathlib import Path

from packer.errors import UnusableInput
from packer.files.atomic import remove_leavings, replacing
from packer.progress import Progress
from packer.storage import lock
from packer.trees.compressed import DAMAGED, decompressed

_CHUNK = 1 << 20


def beside(dst: Path) -> Path:
    """Return the folder of what is made for the run of the dataset `dst`, until it is committed."""
    return dst.parent / f".{dst.name}.unpacked"


def forget(dst: Path) -> None:
    """Remove that folder."""
    shutil.rmtree(beside(dst), ignore_errors=True)


def target(src: Path, folder: Path) -> Path:
    """Return where in a folder the tar in `src` lies."""
    name = src.name
    for ext in (".gz", ".tgz", ".bz2", ".tbz2", ".tbz", ".xz", ".txz", ".tar"):
        name = name[: -len(ext)] if name.lower().endswith(ext) else name
    return folder / f"{name}.tar"


def is_current(src: Path, path: Path) -> bool:
    """Whether the tar in `src` is at `path` already."""
    return path.exists() and path.stat().st_mtime_ns == os.stat(src).st_mtime_ns


def decompress(src: Path, path: Path, progress: Progress, stays: str) -> None:
    """Write the tar in `src` to `path`, unless it is there; `stays` says how long it does."""
    held = path.with_name(".lock")
    with lock.waiting(held, lambda: progress.note(f"Waiting for {src.name} to be decompressed.")):
        try:
            if not is_current(src, path):
                _decompress(src, path, progress, stays)
        finally:
            held.unlink(missing_ok=True)


def _decompress(src: Path, path: Path, progress: Progress, stays: str) -> None:
    progress.note(
        f"packer: {src.name} is compressed as a whole. It is unpacked to {path} first; that takes "
        f"its unpacked size on the disk {stays}."
    )
    status = os.stat(src)
    remove_leavings([path])
    with (
        open(src, "rb") as packed,
        replacing(path) as unfinished,
        open(unfinished, "wb") as file,
        progress.phase("unpack", status.st_size, "B") as advance,
    ):
        done = 0
        content = decompressed(packed)
        while chunk := _read(src, content):
            file.write(chunk)
            advance(packed.tell() - done)
            done = packed.tell()
        file.flush()
        os.fsync(file.fileno())
        os.utime(unfinished, ns=(status.st_atime_ns, status.st_mtime_ns))


def _read(src: Path, content: BufferedIOBase) -> bytes:
    try:
        return content.read(_CHUNK)
    except DAMAGED as error:
        raise UnusableInput(f"{src} is damaged or cut short: {error}.") from error
