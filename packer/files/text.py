"""Text files as UTF-8 with line feeds, however they are encoded."""

import codecs
import io
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from packer.errors import UnusableInput
from packer.files.snapshot import Watched

LATIN = "cp1252"  # Latin-1, and the further signs that Windows has
_CHUNK = 1 << 20
_MOST = 1 << 28  # bytes of a file that has to be converted in memory
_BOM = codecs.BOM_UTF8
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_8_SIGN = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_NOT_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class Encoding:
    """How a text file is written."""

    name: str = "utf-8"
    only_cr: bool = False  # whether lines end with a carriage return, as on old Macs

    @property
    def is_plain(self) -> bool:
        """Whether its bytes can be read as they are."""
        return self.name == "utf-8" and not self.only_cr


PLAIN = Encoding()


@lru_cache(maxsize=64)
def encoding_of(file: Watched) -> Encoding:
    """Return the encoding of a text file; UTF-8 also where a part of it is damaged."""
    is_utf_8, has_signs, has_lf, has_cr, is_text = True, False, False, False, True
    with file.open() as content:
        if content.read(2) in _UTF_16:
            return Encoding("utf-16")
        content.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        while chunk := content.read(_CHUNK):
            has_lf, has_cr = has_lf or b"\n" in chunk, has_cr or b"\r" in chunk
            if is_utf_8:
                try:
                    decoder.decode(chunk, final=len(chunk) < _CHUNK)
                except UnicodeDecodeError:
                    is_utf_8 = False
            has_signs = has_signs or bool(_UTF_8_SIGN.search(chunk))
            is_text = is_text and not _NOT_TEXT.search(chunk)
    is_latin = not is_utf_8 and not has_signs and is_text
    return Encoding(LATIN if is_latin else "utf-8", has_cr and not has_lf and is_text)


def open_text(file: Watched, encoding: Encoding | None = None) -> BinaryIO:
    """Open a text file as UTF-8, behind its byte order mark."""
    encoding = encoding or encoding_of(file)
    if encoding.is_plain:
        content = file.open()
        content.seek(len(_BOM) if content.read(len(_BOM)) == _BOM else 0)
        return content
    if file.size > _MOST:
        raise UnusableInput(
            f"{file.path} is not UTF-8 with line feeds, and has more than {_MOST} bytes. Convert "
            f"it first, such as by: iconv -f {encoding.name} -t utf-8"
        )
    with file.open() as content:
        data = content.read()
    try:
        text = _decoded(data, encoding.name)
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{file.path} is not text ({encoding.name}).") from error
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return io.BytesIO(text.encode("utf-8", "surrogateescape"))


def decoded(data: bytes) -> str:
    """Return a small text of any usual encoding, without its byte order mark."""
    if data[:2] in _UTF_16:
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if _UTF_8_SIGN.search(data) or _NOT_TEXT.search(data):
            raise
        return _decoded(data, LATIN)


def _decoded(data: bytes, name: str) -> str:
    if name == LATIN:
        with suppress(UnicodeDecodeError):  # signs that Windows does not have
            return data.decode(name)
        return data.decode("latin-1")
    if name == "utf-8":
        return data.removeprefix(_BOM).decode(name, "surrogateescape")
    return data.decode(name)
