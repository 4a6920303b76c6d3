"""Zips of class folders."""

import io
import zipfile
from collections.abc import Iterator

from packer.sources.readings.folders.reading import open_folders
from packer.sources.trees.archive import ArchiveTree
from reader.format import ShardfeedError
from targets.making import encoded, opened, read_through, scratch


def seeds() -> Iterator[bytes]:
    """Stored and deflated, with and without splits, with sidecars."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for prefix in ("", "set/train/"):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", method) as archive:
                archive.writestr(f"{prefix}cat/1.jpg", encoded("JPEG"))
                archive.writestr(f"{prefix}cat/1.json", b"{}" * 40)
                archive.writestr(f"{prefix}dog/2.bmp", encoded("BMP", mode="L"))
                archive.writestr(f"{prefix}dog/", b"")
            yield file.getvalue()


def one(data: bytes) -> None:
    """Read a zip as what it says it is, and as a zip."""
    path = scratch() / "fuzzed.zip"
    path.write_bytes(data)
    for read in (opened, lambda path: read_through(open_folders(ArchiveTree(path)))):
        try:
            read(path)
        except ShardfeedError:
            continue
