"""Reads the members of tars that somebody else wrote: USTAR, PAX and GNU headers.

The headers are parsed by the standard library's tarfile. It takes a damaged header for the end of
the archive, passes over what follows that end, and trusts sizes; all of it is looked after here.
"""

import errno
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.keys import MAX_NAME, METADATA
from packer.samples.records import Skipped
from packer.sources.trees.walk import JUNK, is_litter, passed_over
from reader.format.members import picture_format

MAX_MEMBERS = 64  # of a sample; a dataset has a handful of extensions

MAX_EXTENDED = 1 << 20  # a long name or PAX records; tarfile reads them whole
_CHUNK = 1 << 20
_LOOKED_AT = 8  # samples that tell what a tar is
_MAX_DIGITS = 300  # in such records; a file's name may have as many
_EXTENDED = {
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
}


@dataclass(frozen=True)
class Member:
    """A file in a tar."""

    name: str  # in `os.fsdecode` form, without a leading ``./``
    start: int  # where its headers begin
    offset: int  # of its data
    size: int
    by_last_dot: bool = False  # ends the key; webdataset's rule is the first dot

    @property
    def stem(self) -> str:
        """The name up to that dot of its last part: by this, webdataset groups samples."""
        folder, slash, base = self.name.rpartition("/")
        return folder + slash + (os.path.splitext(base) if self.by_last_dot else base.split("."))[0]

    @property
    def ext(self) -> str:
        """The part after that dot, in lower case."""
        return self.name[len(self.stem) + 1 :].lower()


def image_of(run: Sequence[Member]) -> Member | None:
    """Return the sample's image: ``x.jpg`` before ``x.input.jpg``; the first of each."""
    images = [member for member in run if picture_format(member.ext) is not None]
    return min(images, key=lambda member: "." in member.ext, default=None)


TAR_ERRORS = (tarfile.TarError, ValueError, RecursionError, OverflowError)  # of damaged headers


class CheckedTarInfo(tarfile.TarInfo):
    """Refuses headers that would have tarfile read anything into memory, go backwards, or hang."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "CheckedTarInfo":
        """Return a header from its block; raises HeaderError."""
        info = super().frombuf(buf, encoding, errors)
        if info.size < 0 or (info.type in _EXTENDED and info.size > MAX_EXTENDED):
            raise tarfile.HeaderError(
                f"an extended header of {info.size} bytes, and {MAX_EXTENDED} are the most"
            )
        return info

    def _proc_pax(self, archive: Any) -> tarfile.TarInfo:
        """Look at PAX records first: before 3.11.10, long runs of digits take forever to parse."""
        start = archive.fileobj.tell()
        digits = map(len, re.findall(rb"\d+", archive.fileobj.read(self.size)))
        if max(digits, default=0) > _MAX_DIGITS:
            raise tarfile.HeaderError(f"a record has a number of more than {_MAX_DIGITS} digits")
        archive.fileobj.seek(start)
        return super()._proc_pax(archive)  # type: ignore[misc]


def is_tar(path: Path) -> bool:
    """Return whether a file begins as a tar does."""
    try:
        with tarfile.TarFile(path, tarinfo=CheckedTarInfo):
            return True
    except TAR_ERRORS:
        return False


def members(path: Path, begin: int = 0, end: int | None = None) -> Iterator[Member | Skipped]:
    """Yield the regular files of a tar, which may be the bytes from `begin` to `end` of a file."""
    try:
        with open(path, "rb") as file:
            end = os.fstat(file.fileno()).st_size if end is None else end
            file.seek(begin)
            archive = tarfile.TarFile(
                fileobj=file, tarinfo=CheckedTarInfo, encoding="utf-8", errors="surrogateescape"
            )
            while (info := archive.next()) is not None and info.offset < end:
                archive.members.clear()  # type: ignore[attr-defined]  # tarfile keeps them all
                if info.size < 0 or info.offset_data + info.size > end:
                    raise _damaged(path, f"{info.name!r} has {info.size} bytes, more than follow")
                name = info.name.removeprefix("./")
                if info.isdir():
                    continue
                if reason := _refusal(info, name):
                    yield Skipped(name, reason)
                else:
                    yield Member(name, info.offset, info.offset_data, info.size)
            if info is None:
                _check_end(path, file.fileno(), archive.offset, end)
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
    except TAR_ERRORS as error:
        raise _damaged(path, str(error)) from error


def samples(
    files: Iterable[Member | Skipped], *, by_last_dot: bool = False
) -> Iterator[list[Member] | Skipped]:
    """Runs of adjacent members with one stem, at most one of each extension."""
    run: dict[str, Member] = {}
    stem = None
    for file in files:
        if isinstance(file, Skipped):
            yield file
            continue
        over = passed_over(file.name)
        if is_litter(os.path.basename(file.name)) or (over and over[1] == JUNK):
            yield Skipped(file.name, JUNK, ignored=True)
            continue
        if METADATA.match(file.name):
            yield Skipped(file.name, "webdataset takes it for metadata")
            continue
        file = replace(file, by_last_dot=True) if by_last_dot else file
        if not file.stem or file.stem.endswith("/") or not file.ext:
            reason = "its name has no stem or no extension, so it belongs to no sample"
            yield Skipped(file.name, reason)
            continue
        if file.stem != stem and run:
            yield list(run.values())
            run = {}
        stem = file.stem
        if file.ext in run:
            yield Skipped(file.name, f"its sample has a member .{file.ext} already")
        elif len(run) == MAX_MEMBERS:
            yield Skipped(file.name, f"its sample has {MAX_MEMBERS} members already")
        else:
            run[file.ext] = file
    if run:
        yield list(run.values())


def holds_samples(tar: Path) -> bool:
    """Return whether a tar holds samples of several members, which class folders lack."""
    firsts = islice((run for run in samples(members(tar)) if isinstance(run, list)), _LOOKED_AT)
    found = [member for run in firsts if len(run) > 1 for member in run]
    return any(member.ext == "cls" or "/" not in member.name for member in found)


def _refusal(info: tarfile.TarInfo, name: str) -> str | None:
    if info.issym() or info.islnk():
        return f"it is a link to {info.linkname!r}"
    if info.issparse():
        return "it is a sparse file"
    if not info.isreg():
        return "it is not a regular file"
    if (length := len(os.fsencode(name))) > MAX_NAME:
        return f"its name has {length} bytes; {MAX_NAME} are the most"
    if name.startswith("/") or ".." in name.split("/"):
        return "its name leads outside the folder"
    return None


def _check_end(path: Path, descriptor: int, offset: int, end: int) -> None:
    """Raise where an archive does not end, by zeros or nothing, at `offset`."""
    more = _first_data(descriptor, offset, end)
    if more is None:
        return
    if more < offset + tarfile.BLOCKSIZE:
        raise _damaged(path, f"there is no header at byte {offset}")
    raise UnusableInput(
        f"{os.fspath(path)} continues at byte {more}, after its end of archive: it may be "
        "several tars in one file, of which most tools read only the first. Pack its parts "
        "separately, join them with tar -A, or unpack all of it with tar --ignore-zeros -xf."
    )


def _first_data(descriptor: int, offset: int, end: int) -> int | None:
    """Return the offset of the first byte that is not zero, if any; holes are not read."""
    while offset < end:
        if hasattr(os, "SEEK_DATA"):
            try:
                offset = os.lseek(descriptor, offset, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return None  # there are only holes; other errors say that nobody knows of any
        chunk = os.pread(descriptor, max(min(_CHUNK, end - offset), 0), offset)
        if data := chunk.lstrip(b"\0"):
            return offset + len(chunk) - len(data)
        if not chunk:
            return None  # a hole reaches beyond `end`, or the file was cut meanwhile
        offset += len(chunk)
    return None


def _damaged(path: Path, reason: str) -> UnusableInput:
    return UnusableInput(
        f"{os.fspath(path)} is not a tar, or damaged: {reason.removesuffix('.')}. Restore it "
        "from a copy, or remove it."
    )
