"""Detects files compressed as a whole by their first bytes, and archives that were unpacked."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from packer.sources.trees.tar_reader import TAR_ERRORS, CheckedTarInfo

UNPACKED = "it is an archive whose content is unpacked beside it"

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ"
_UNPACK = {_GZIP: "gunzip -k", _BZIP2: "bunzip2 -k", _XZ: "unxz -k", b"\x28\xb5\x2f\xfd": "zstd -d"}
_MAGIC = max(map(len, _UNPACK))
_CIFAR = "cifar-10"
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)  # of what is compressed


def beginning(path: Path) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    with open(path, "rb") as file:
        return file.read(_MAGIC)


def decompressed(file: BinaryIO) -> io.BufferedIOBase:
    """Return the content of a file that is compressed by gzip, bzip2 or xz."""
    begin = file.read(_MAGIC)
    file.seek(0)
    if begin.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file, mode="rb")
    return bz2.BZ2File(file) if begin.startswith(_BZIP2) else lzma.LZMAFile(file)


def is_compressed_tar(path: Path) -> bool:
    """Return whether a file is a tar that is compressed by gzip, bzip2 or xz, but for CIFAR's."""
    is_packed = beginning(path).startswith((_GZIP, _BZIP2, _XZ))
    name = _first_name(path) if is_packed else None
    return name is not None and not name.startswith(_CIFAR)


def is_cifar(path: Path) -> bool:
    """Return whether a file is one of CIFAR's gzipped tars."""
    return is_gzip(path) and (_first_name(path) or "").startswith(_CIFAR)


def _first_name(path: Path) -> str | None:
    try:
        with tarfile.open(path, "r:*", tarinfo=CheckedTarInfo) as tar:
            first = tar.next()
    except (*DAMAGED, *TAR_ERRORS):
        return None
    return None if first is None else first.name.removeprefix("./")


def is_gzip(path: Path) -> bool:
    """Return whether a file is compressed by gzip."""
    return beginning(path).startswith(_GZIP)


def unpacks(path: Path) -> str | None:
    """Return the command that unpacks a file which is compressed as a whole; None for any other."""
    begin = beginning(path)
    return next((_UNPACK[magic] for magic in _UNPACK if begin.startswith(magic)), None)


def is_unpacked(path: str) -> bool:
    """Return whether a file is a zip or tar, compressed or not, whose first file is beside it."""
    if not path.lower().endswith((".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz")):
        return False
    archive = Path(path)
    try:
        first = _first_file(archive)
    except (OSError, EOFError, zipfile.BadZipFile, NotImplementedError, *TAR_ERRORS):
        return False
    inside = os.path.normpath(first) if first else os.pardir
    return not inside.startswith((os.pardir, os.sep)) and os.path.isfile(archive.parent / inside)


def _first_file(archive: Path) -> str | None:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            return next((info.filename for info in zipped.infolist() if not info.is_dir()), None)
    with tarfile.open(archive, "r:*", tarinfo=CheckedTarInfo) as tar:
        return next((info.name for info in tar if info.isreg()), None)
