"""Tars from elsewhere: as `packer index` takes them, as WebDataset, and as class folders.

Inputs are tars; the checksums of their headers are also made right, so that what lies in a damaged
header gets past them. What `packer index` writes must open, with every member inside the tar and no
key twice.
"""

import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from packer.inspect.tar_index import index_tar
from packer.options.declared import SourceOptions
from packer.sources.readings.folders.reading import open_folders
from packer.sources.scanners.tars.source import WebDatasetSource
from packer.sources.trees.archive import ArchiveTree
from reader.format import FORMATS, Index, ShardfeedError
from targets.making import LIMITS, encoded, opened, read_through, scratch

_BLOCK = 512
_CHECKSUM = slice(148, 156)


def seeds() -> Iterator[bytes]:
    """USTAR, GNU and PAX tars of samples and of class folders."""
    jpeg, png = encoded("JPEG"), encoded("PNG")
    samples = {"a/1.jpg": jpeg, "a/1.cls": b"3", "a/1.json": b'{"label": 4}', "2.seg.png": png}
    long = {f"{'x' * 120}/{'y' * 60}.jpg": jpeg, "déjà.png": png, "cat/1.jpg": jpeg}
    inner = {"cat.tar": tar({"1.jpg": jpeg, "2.jpg": jpeg}), "dog.tar": tar({"3.png": png})}
    for kind in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        yield tar(samples, kind)
        yield tar(long | {"cat/1.cls": b"0"}, kind)
    yield tar(inner)


def one(data: bytes) -> None:
    """Read a tar in all ways."""
    path = scratch() / "fuzzed.tar"
    for content in {data, sealed(data)}:
        path.write_bytes(content)
        for read in (_index, _webdataset, _archive, _whatever_it_is):
            try:
                read(path)
            except ShardfeedError:
                continue


def tar(files: Mapping[str, bytes], kind: int = tarfile.GNU_FORMAT) -> bytes:
    """A tar with these files."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=kind) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def sealed(data: bytes) -> bytes:
    """`data` with the right checksum in whatever looks like a header."""
    content = bytearray(data)
    for start in range(0, len(data) - _BLOCK + 1, _BLOCK):
        block = content[start : start + _BLOCK]
        if block[257:262] == b"ustar":
            block[_CHECKSUM] = b" " * 8
            block[_CHECKSUM] = b"%06o\0 " % sum(block)
            content[start : start + _BLOCK] = block
    return bytes(content)


def _index(path: Path) -> None:
    content, _ = index_tar(path, LIMITS, lambda _: None)
    index_path = path.with_suffix(".safetensors")
    index_path.write_bytes(content)
    index, size, data = Index(index_path), path.stat().st_size, path.read_bytes()
    assert index.tar_bytes == size
    for row in range(len(index)):
        for ext in {FORMATS[index.columns["format"][row]], *index.members}:
            if span := index.span(ext, row):
                assert sum(span) <= size, (ext, span)
        offset, length = int(index.columns["offset"][row]), int(index.columns["size"][row])
        assert zlib.crc32(data[offset : offset + length]) == index.columns["crc32"][row]
    keys = [index.key(row) for row in range(len(index))]
    assert len(set(keys)) == len(keys), keys


def _webdataset(path: Path) -> None:
    read_through(WebDatasetSource.open(path, None, SourceOptions()))


def _archive(path: Path) -> None:
    read_through(open_folders(ArchiveTree(path)))


def _whatever_it_is(path: Path) -> None:
    opened(path)
