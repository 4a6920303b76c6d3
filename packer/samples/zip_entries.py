"""Reads the files of a zip in place (PKWARE's APPNOTE 6.3: stored and deflated, also zip64).

The table of contents is parsed by the standard library's zipfile, which takes some 700 bytes a file
while it does. Local headers are read here, because each packing process would need that table.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISLNK
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import read_span
from packer.keys import MAX_NAME
from packer.samples.records import Skipped

Entry = tuple[int, int, int, int]  # offset of its header, bytes, deflated to (-1: stored), CRC

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_MAGIC = b"PK\x03\x04"
_METHODS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma", 9: "deflate64", 93: "zstandard"}
_SUSPICIOUS = 64 << 20  # only beyond this size an unlikely ratio is a bomb and no blank image
MAX_RATIO = 200
_CHUNK = 1 << 20
_LOOKED_AT = 1024  # deflated bytes, for the first few of a file


def zip_entries(path: Path) -> Iterator[tuple[str, Entry] | Skipped]:
    """Yield the files of a zip in the order of their bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
            end = archive.start_dir
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise UnusableInput(
            f"{path} is not a readable zip: {error}. Download or create it again."
        ) from error
    for number, info in enumerate(infos, 1):
        following = infos[number].header_offset if number < len(infos) else end
        name = info.filename.replace("\\", "/")  # as some programs for Windows write it
        if name.endswith("/"):
            continue
        if reason := _refusal(info, name, following):
            yield Skipped(name, reason)
            continue
        packed = -1 if info.compress_type == zipfile.ZIP_STORED else info.compress_size
        yield name, (info.header_offset, info.file_size, packed, info.CRC)


def read_zip_entry(descriptor: int, offset: int, size: int, packed: int, crc32: int) -> bytes:
    """Return a file's bytes, proven by their checksum; the arguments are those of an `Entry`."""
    return b"".join(_parts(descriptor, offset, size, packed, crc32))


def copy_zip_entry(
    descriptor: int, offset: int, size: int, packed: int, crc32: int, path: Path
) -> None:
    """Write the same to a file, a part at a time."""
    with path.open("wb") as file:
        file.writelines(_parts(descriptor, offset, size, packed, crc32))


def _parts(descriptor: int, offset: int, size: int, packed: int, crc32: int) -> Iterator[bytes]:
    begin = _data_offset(descriptor, offset)
    end = begin + (size if packed < 0 else packed)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    checksum = found = 0
    for at in range(begin, end, _CHUNK):
        data = read_span(descriptor, at, min(_CHUNK, end - at))
        if packed >= 0:
            data = _decompressed(inflater, data, size + 1 - found)
        yield data
        checksum, found = zlib.crc32(data, checksum), found + len(data)
        if found > size:
            break
    if found != size or (packed >= 0 and not inflater.eof):
        raise BadImage(f"the zip declares {size} bytes, which is wrong")
    if checksum != crc32:
        raise BadImage("the zip is damaged: its checksum is another")


def read_zip_beginning(descriptor: int, offset: int, whole: int, packed: int, size: int) -> bytes:
    """Return the first `size` bytes of a file, or all if it has fewer; proven by nothing."""
    begin = _data_offset(descriptor, offset)
    if packed < 0:
        return read_span(descriptor, begin, min(size, whole))
    data = read_span(descriptor, begin, min(max(_LOOKED_AT, size), packed))
    return _decompressed(zlib.decompressobj(-zlib.MAX_WBITS), data, size)


def _data_offset(descriptor: int, offset: int) -> int:
    header = read_span(descriptor, offset, _LOCAL_HEADER.size)
    magic, name, extra = _LOCAL_HEADER.unpack(header)
    if magic != _MAGIC:
        raise BadImage("the zip is damaged: it has no header where it should be")
    return int(offset + _LOCAL_HEADER.size + name + extra)


def _decompressed(inflater: Any, data: bytes, most: int) -> bytes:
    try:
        return bytes(inflater.decompress(data, most))
    except zlib.error as error:
        raise BadImage(f"the zip is damaged: {error}") from error


def _refusal(info: zipfile.ZipInfo, name: str, following: int) -> str | None:
    if not name:
        return "it has no name"
    if (length := len(name.encode())) > MAX_NAME:
        return f"its name has {length} bytes; {MAX_NAME} are the most"
    if name.startswith("/") or ".." in name.split("/"):
        return "its name leads outside the folder"
    if S_ISLNK(info.external_attr >> 16):
        return "it is a symbolic link"
    if info.flag_bits & 1:
        return "it is encrypted; unpack the zip with its password first"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        method = _METHODS.get(info.compress_type, f"method {info.compress_type}")
        return f"it is compressed by {method}; unpack the zip, or compress it with deflate"
    if info.header_offset + _LOCAL_HEADER.size + info.compress_size > following:
        return "its bytes are those of another file, too: the zip is damaged, or a bomb"
    if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
        return "the zip gives it two sizes"
    if info.file_size > max(_SUSPICIOUS, MAX_RATIO * info.compress_size):
        return f"{info.compress_size} bytes would become {info.file_size}: it is a zip bomb"
    return None
