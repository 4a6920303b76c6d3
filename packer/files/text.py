"""Text files of any encoding as UTF-8 with line feeds; only this module decides on it."""

import codecs
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import BinaryIO

from packer.errors import UnusableInput
from packer.files.scripts import likely_encodings
from packer.files.snapshot import Watched

LATIN = "cp1252"  # Latin-1, and the further signs that Windows has
OTHER = "another encoding"
_CHUNK = 1 << 20
_NAMED = 2  # encodings that a text may be in
_MOST = 1 << 28  # bytes of a file that has to be converted in memory
_HEAD = 1 << 12
_BOM = codecs.BOM_UTF8
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_8_SIGN = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_NO_ASCII = re.compile(rb"[\x80-\xff]+")
_WORDS = re.compile(rb"[\x80-\xff]{2,}")
_LEAST = 8  # bytes that are not ASCII, to judge by
_DAMAGED = 0.9  # of them are in UTF-8, if some of its characters are damaged
_NO_TEXT = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"})


@dataclass(frozen=True)
class Encoding:
    name: str = "utf-8"
    only_cr: bool = False  # whether lines end with a carriage return, as on old Macs

    @property
    def is_plain(self) -> bool:
        return self.name == "utf-8" and not self.only_cr


PLAIN = Encoding()


@lru_cache(maxsize=64)
def encoding_of(file: Watched) -> Encoding:
    """Return the encoding of a text file; UTF-8 also where a part of it is damaged."""
    with file.open() as content:
        return _encoding(iter(partial(content.read, _CHUNK), b""))


def _encoding(chunks: Iterable[bytes], *, is_cut: bool = False) -> Encoding:
    """Return the encoding of a text; `is_cut`: it may end within a character."""
    is_utf_8, has_signs, has_lf, has_cr, is_text = True, False, False, False, True
    foreign = Counter[str]()
    decoder = codecs.getincrementaldecoder("utf-8")()
    for number, chunk in enumerate(chunks):
        if not number and (wide := _utf_16(chunk)):
            return Encoding(wide)
        has_lf, has_cr = has_lf or b"\n" in chunk, has_cr or b"\r" in chunk
        is_text = is_text and len(chunk.translate(None, _NO_TEXT)) == len(chunk)
        has_signs = has_signs or (not chunk.isascii() and bool(_UTF_8_SIGN.search(chunk)))
        if is_utf_8:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                is_utf_8 = False
        if not is_utf_8:
            foreign.update(_foreign(chunk))
    is_utf_8 = is_utf_8 and (is_cut or not decoder.getstate()[0])
    if not is_utf_8 and is_text and _is_other(foreign):
        return Encoding(OTHER)
    is_latin = not is_utf_8 and not has_signs and is_text
    return Encoding(LATIN if is_latin else "utf-8", has_cr and not has_lf and is_text)


def _foreign(chunk: bytes) -> dict[str, int]:
    """Count the bytes that are not ASCII, those of them beside another, and those in UTF-8."""
    patterns = {"all": _NO_ASCII, "beside": _WORDS, "in UTF-8": _UTF_8_SIGN}
    return {name: sum(map(len, found.findall(chunk))) for name, found in patterns.items()}


def _is_other(foreign: Mapping[str, int]) -> bool:
    """Return whether a text that is not all UTF-8 is neither damaged UTF-8 nor Latin-1.

    In Latin-1 letters with marks stand among those of ASCII; in encodings of other scripts, such as
    GBK, Shift JIS or cp1251, whole words have no ASCII.
    """
    count = foreign["all"]
    is_damaged = foreign["in UTF-8"] > _DAMAGED * count
    return count >= _LEAST and 2 * foreign["beside"] > count and not is_damaged


def _utf_16(data: bytes) -> str:
    """Return the kind of UTF-16 that a text begins in, with its mark or without; "" for none."""
    if data[:2] in _UTF_16:
        return "utf-16"
    head = data[:_HEAD]
    if head.count(0) <= len(head) // 4:
        return ""
    return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"


def open_text(file: Watched, encoding: Encoding | None = None) -> BinaryIO:
    """Open a text file as UTF-8, behind its byte order mark."""
    encoding = encoding or encoding_of(file)
    if encoding.name == OTHER:
        raise UnusableInput(f"{file.path} is neither UTF-8 nor Latin-1. {_conversion(file)}")
    if encoding.is_plain:
        content = file.open()
        content.seek(len(_BOM) if content.read(len(_BOM)) == _BOM else 0)
        return content
    if file.size > _MOST:
        raise UnusableInput(
            f"{file.path} is not UTF-8 with line feeds, and is too large to convert here (more "
            f"than {_MOST} bytes). Convert it first: iconv -f {encoding.name} -t utf-8"
        )
    with file.open() as content:
        data = content.read()
    try:
        text = _decoded(data, encoding.name, "surrogateescape")
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{file.path} is not text ({encoding.name}).") from error
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return io.BytesIO(text.encode("utf-8", "surrogateescape"))


def _conversion(file: Watched) -> str:
    """Return how a text of another script becomes UTF-8."""
    with file.open() as content:
        data = content.read(_CHUNK)
    found = likely_encodings(data if len(data) < _CHUNK else data[: data.rfind(b"\n")])
    what = " or ".join(found[:_NAMED])
    may_be = f"It seems to be {what}. Convert it first" if found else "Convert it first"
    name = found[0] if found else "ENCODING"
    how = "" if found[:1] == found else f", with its encoding in place of {name}"
    old, new = shlex.quote(str(file.path)), shlex.quote(f"{file.path}.utf8")
    return f"{may_be}{how}: iconv -f {name} -t UTF-8 {old} >{new} && mv {new} {old}"


def decoded(data: bytes, *, is_cut: bool = False) -> str:
    """Return a small text of any usual encoding, without its byte order mark.

    Damaged characters raise UnicodeDecodeError, or are replaced if the text is the beginning of a
    file (`is_cut`).
    """
    name = _encoding([data], is_cut=is_cut).name
    name = "utf-8" if name == OTHER else name  # which it is not: no text is made up of it
    return _decoded(data, name, "replace" if is_cut else "strict")


def _decoded(data: bytes, name: str, errors: str) -> str:
    if name == LATIN:
        with suppress(UnicodeDecodeError):  # signs that Windows does not have
            return data.decode(name)
        return data.decode("latin-1")
    if name != "utf-8" and errors == "surrogateescape":
        errors = "strict"  # which UTF-16 does not have
    return data.decode(name, errors).removeprefix("\ufeff")
