"""Texts of a source, in any encoding, and what is reported of those that are evidence."""

import html
import io
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np

from packer.files.text import decoded
from packer.sources.trees.walk import IMAGE_EXTENSIONS, is_named_as_image

NUMBERS = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?(?:[\s,;]+[-+]?[\d.]+(?:e[-+]?\d+)?)*\s*", re.I)
_VIDEO = re.compile(r"(.+)\.(?:avi|mp4|mov|mkv|webm|mpe?g|m4v|wmv)", re.IGNORECASE)
_IMAGE = re.compile(rb"\.(?:%s)" % "|".join(sorted(IMAGE_EXTENSIONS)[::-1]).encode(), re.I)
_NUMBER = re.compile(r"0*(\d+)(\.0)?")
NAMES, FOLDERS, ORDER = "names", "folders", "order"  # by what a text annotates images
COMPOSED, DISORDER = "composed", "disorder"  # by columns together; by an order that names lack
_NEARLY = 0.9  # of the lines
LINE = 80  # characters of one that is shown
_LEAST_TEXT = 0.95  # share of the bytes that are no control characters
_ARCHIVED = 1 << 24  # bytes of a spreadsheet
_PART = 1 << 20  # bytes of one of its files
_ARCHIVES = (b"PK\3\4", b"Rar!", b"7z\xbc\xaf")
_HEAD = 200  # bytes that have the name of the first file
_CODED = re.compile(rb"(?<![\x80-\xff])[\x80-\xbf][ -~]")  # no UTF-8, nor UTF-16
_WIDE = re.compile(rb"(?:[ -~]\x00){3,}")  # UTF-16


@dataclass(frozen=True)
class Text:
    """A text, or several of one extension in a folder, one behind the other."""

    paths: tuple[str, ...]
    text: bytes
    share: float  # of the bytes that were read
    is_binary: bool = False  # a spreadsheet, or another form of which only the strings are known

    @property
    def has_numbers(self) -> bool:
        """Whether nearly all of its lines are rows of numbers."""
        lines = [line for line in self.text.decode("utf-8", "replace").split("\n") if line.strip()]
        rows = sum(
            bool(NUMBERS.fullmatch(line)) and len(re.split(r"[\s,;]+", line.strip())) > 2
            for line in lines
        )
        return bool(lines) and rows >= _NEARLY * len(lines)


class Composed(NamedTuple):
    """A template of paths in which columns of a table are fields, each behind a text."""

    texts: tuple[str, ...]  # one more than columns
    columns: tuple[str, ...]

    def template(self, fields: Mapping[str, str]) -> str:
        """Return the template, in which `fields` are the names of those of columns."""
        names = [f"{{{fields[column]}}}" for column in self.columns]
        return "".join(a + b for a, b in zip(self.texts, [*names, ""], strict=True))

    @property
    def hints(self) -> int:
        """How many columns have their name, or the first letter of it, before their value."""
        words = (re.findall(r"[^\W\d_]*", text)[-2:][0] for text in self.texts)
        pairs = zip(words, self.columns, strict=False)
        return sum(word.lower() in (name.lower(), name[:1].lower()) for word, name in pairs)


@dataclass(frozen=True)
class Evidence:
    """A file that names images, or the files of one extension in a folder that do so together."""

    paths: tuple[str, ...]
    count: int  # of images
    is_cut: bool = False  # more may be named where it was not read
    lines: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()  # of the images that it names
    reason: str = ""  # why it annotates images, if it names none
    kind: str = NAMES  # what it names, or `ORDER`
    level: int = -1  # of the folders that it names, in the paths of images
    composed: tuple[Composed, ...] = ()  # of `COMPOSED`: the ways to do so, the likely one first
    table: str = "file,label,split"  # the columns of a CSV to which it can be converted

    def has(self, text: str) -> bool:
        """Return whether a text is the name or the path of an image that it names."""
        name = text.replace("\\", "/").rpartition("/")[2]
        if self.kind == FOLDERS:
            return folder_of(text) in self.stems
        return bool({name, as_number(name)} & self.stems) or (
            is_named_as_image(name) and os.path.splitext(name)[0] in self.stems
        )


def as_number(text: str) -> str:
    """Return a whole number without zeros before or behind it; any other text as it is."""
    found = _NUMBER.fullmatch(text)
    return found[1] if found else text


def folder_of(text: str) -> str:
    """Return the folder that a text names: a number in one form, and a video by its stem.

    The frames of ``Archery/v_1.avi`` are in ``v_1``.
    """
    video = _VIDEO.fullmatch(text.replace("\\", "/").rpartition("/")[2])
    return video[1] if video else as_number(text)


def text_of(data: bytes) -> bytes | None:
    """Return the text of a file as UTF-8, with escapes resolved; None if it is none."""
    if data.startswith(b"PK\3\4"):
        return _spreadsheet(data)
    if b"\n" not in data and _CODED.search(data):
        return None  # MessagePack and the like
    head = decoded(data[:4096], is_cut=True).encode("latin-1", "replace")
    signs = np.frombuffer(head, np.uint8)
    if np.count_nonzero((signs >= 32) | ((signs >= 9) & (signs <= 13))) < _LEAST_TEXT * len(head):
        return None
    data = decoded(data, is_cut=True).encode("utf-8", "replace")
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\\u" in data:
        data = re.sub(rb"\\u([0-9a-fA-F]{4})", _character, data)
    data = data.replace(b"\\/", b"/").replace(b"\\\\", b"\\")
    if b"&" in data:
        data = html.unescape(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    return unquote_to_bytes(data) if re.search(rb"%[2-9A-Fa-f][0-9A-Fa-f]", data) else data


def strings_of(data: bytes) -> bytes | None:
    """Return the printable runs of a file, a line each; None for archives, which hold files.

    Names of images end a line: in a database, texts follow each other without a sign.
    """
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(31).decompress(data, _PART)
        except zlib.error:
            return None  # it is damaged, or only begins like gzip
    is_archive = data.startswith(_ARCHIVES) and b"data.pkl" not in data[:_HEAD]  # PyTorch's
    is_of_yolo = data.startswith(b"\x93NUMPY") and b"msgs" in data  # it repeats what YOLO has read
    if is_archive or is_of_yolo or data[257:262] == b"ustar":
        return None
    data = _WIDE.sub(lambda match: match[0][::2] + b"\n", data)
    return b"\n".join(re.findall(rb"[ -~]{3,}", _IMAGE.sub(rb"\g<0>\n", data))) or None


def _character(match: "re.Match[bytes]") -> bytes:
    return chr(int(match[1], 16)).encode("utf-8", "replace")


def _spreadsheet(data: bytes) -> bytes | None:
    """Return the texts of a spreadsheet, each on a line."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [item for item in archive.infolist() if item.filename.endswith(".xml")]
            parts = []
            for item in names:
                with archive.open(item) as file:
                    parts.append(file.read(_PART))
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return None
    text = b"\n".join(re.findall(rb">([^<>]+)<", b"".join(parts)[:_ARCHIVED]))
    return html.unescape(text.decode("utf-8", "replace")).encode() or None
