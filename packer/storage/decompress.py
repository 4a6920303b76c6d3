"""Tars that are compressed as a whole, unpacked once beside the destination and packed from there.

No file in such a tar can be read without those before it, and packing reads in another order. The
unpacked tar is whole or not there, so that a run which is interrupted later goes on with it; it is
removed once the dataset is committed.
"""

import os
import shutil
from pathlib import Path

from packer.errors import UnusableInput, cannot_write
from packer.files.atomic import remove_leavings, replacing
from packer.progress import Progress
from packer.sources.archive.compressed import DAMAGED, decompressed, is_compressed_tar

_CHUNK = 1 << 20


def unpacked(src: Path, dst: Path, progress: Progress) -> Path:
    """Where to pack `src` from: itself, or what a compressed tar is unpacked to.

    Args:
        src: what is to be packed.
        dst: the dataset that it becomes; the unpacked tar lies beside it.
        progress: where to say what it costs, and to show how far it is.

    Raises:
        UnusableInput: the tar is damaged or cut short.
        PackingFailed: it cannot be written.
        OSError: the tar cannot be read.
    """
    if not src.is_file() or not is_compressed_tar(src):
        return src
    status, target = os.stat(src), _target(src, dst)
    if target.exists() and target.stat().st_mtime_ns == status.st_mtime_ns:
        return target
    progress.note(
        f"packer: {src.name} is compressed as a whole. It is unpacked to {target} first; that "
        "takes its unpacked size on the disk until the dataset is committed."
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(target.parent, error) from error
    remove_leavings([target])
    with replacing(target) as unfinished:
        _unpack(src, unfinished, progress)
        os.utime(unfinished, ns=(status.st_atime_ns, status.st_mtime_ns))
    return target


def beside(dst: Path) -> Path:
    """Return the folder of what is unpacked or made for the dataset at `dst`, until it is there."""
    return dst.parent / f".{dst.name}.unpacked"


def forget_unpacked(dst: Path) -> None:
    """Remove that folder."""
    shutil.rmtree(beside(dst), ignore_errors=True)


def _target(src: Path, dst: Path) -> Path:
    name = src.name
    for ext in (".gz", ".tgz", ".bz2", ".tbz2", ".tbz", ".xz", ".txz", ".tar"):
        name = name[: -len(ext)] if name.lower().endswith(ext) else name
    return beside(dst) / f"{name}.tar"


def _unpack(src: Path, path: Path, progress: Progress) -> None:
    with (
        open(src, "rb") as packed,
        open(path, "wb") as file,
        progress.phase("unpack", os.fstat(packed.fileno()).st_size, "B") as advance,
    ):
        done = 0
        content = decompressed(packed)
        while True:
            try:
                chunk = content.read(_CHUNK)
            except DAMAGED as error:
                raise UnusableInput(f"{src} is damaged or cut short: {error}.") from error
            if not chunk:
                break
            file.write(chunk)
            advance(packed.tell() - done)
            done = packed.tell()
        file.flush()
        os.fsync(file.fileno())
