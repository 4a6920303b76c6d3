"""A JSON file larger than memory: the elements of its lists, one at a time.

The bytes are read as Latin-1, in which every byte is a character: places in the text are places in
the file, and JSON's own characters are ASCII. The scanner of `json`, written in C, does the rest.
Text in the values is therefore not to be used; `Element.load` decodes it properly.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from packer.errors import UnusableInput
from packer.files.snapshot import Watched

MAX_ELEMENT = 16 << 20  # bytes; an element takes five times as much while it is read
_MAX_MEMBER = 128 << 20  # bytes of what is skipped
_CHUNK = 1 << 20
_SPACE = " \t\r\n"
_CUT = ("", ".", "e", "E")  # what follows a number that may go on behind the window


@dataclass(frozen=True)
class Element:
    """An element of the list `of` in the top object, and its position in the file.

    Numbers, lists and ASCII text in `value` are right.
    """

    of: str
    offset: int
    size: int
    value: Any
    raw: str

    def load(self) -> Any:
        """Return the value with its text decoded; raise ValueError if that is not UTF-8."""
        return parsed(self.raw.encode("latin-1"))


def parsed(data: bytes) -> Any:
    """Return what JSON holds; raise ValueError also where it is nested too deeply."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def elements(file: Watched, lists: set[str]) -> Iterator[Element]:
    """Yield the elements of all lists in the object that a file holds; skip other members.

    The names of the lists, also of empty ones, are added to `lists`.
    """
    with file.open() as content:
        text = _Text(content, file.path)
        for name in text.names():
            if text.peek() != "[":
                text.value()
            else:
                lists.add(name)
                yield from (element for _, element in text.items(name))


def values(file: Watched, of: str, others: dict[str, Any]) -> Iterator[tuple[str, Element]]:
    """Yield the elements of the top list, or of the top object's member `of`, each with its key.

    `of` may be "*", all members of the top object; otherwise these are put into `others`.
    """
    with file.open() as content:
        text = _Text(content, file.path)
        if text.peek() == "[":
            yield from text.items(of)
            return
        for name in text.names():
            if of == "*":
                yield name, text.value(name)
            elif name == of and text.peek() in "[{":
                yield from text.items(of)
            else:
                others[name] = text.value().load()


class _Text:
    """A window on the file that moves on and grows as values need it."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._text = ""
        self._begin = 0  # of the window in the file
        self._at = 0  # in the window
        self._decode = json.JSONDecoder().raw_decode
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        self._begin = file.tell()

    def peek(self) -> str:
        """Return the next character that is not a space."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                raise self._unsound("it ends too early")

    def expect(self, character: str) -> None:
        """Go behind `character`."""
        if self.peek() != character:
            raise self._unsound(f"{character!r} is missing")
        self._at += 1

    def names(self) -> Iterator[str]:
        """Yield the names in an object; after each, its value has to be passed."""
        self.expect("{")
        while self.peek() != "}":
            try:
                name = str(self.value().load())
            except ValueError:
                raise self._unsound("a name in it is not UTF-8") from None
            self.expect(":")
            yield name
            if self.peek() != "}":
                self.expect(",")
        self.expect("}")

    def items(self, of: str) -> Iterator[tuple[str, Element]]:
        """Yield the elements of a list or of an object, with their names there."""
        if self.peek() == "{":
            yield from ((name, self.value(of or name)) for name in self.names())
            return
        self.expect("[")
        while self.peek() != "]":
            yield "", self.value(of or "[]")
            if self.peek() != "]":
                self.expect(",")
        self.expect("]")

    def value(self, of: str = "") -> Element:
        """Go behind the next value."""
        self.peek()
        most = MAX_ELEMENT if of else _MAX_MEMBER
        while True:
            try:
                value, end = self._decode(self._text, self._at)
                if end - self._at > most:
                    raise self._unsound(
                        f"a value of {end - self._at:,} bytes; {most:,} are the most"
                    )
                if self._text[end : end + 1] not in _CUT:
                    break
                reason = "it ends too early"
            except RecursionError:
                raise self._unsound("it is nested too deeply") from None
            except ValueError as error:
                reason = getattr(error, "msg", str(error))
            if len(self._text) - self._at > most:
                raise self._unsound(f"a value of more than {most:,} bytes, or none: {reason}")
            if not self._more():
                raise self._unsound(reason)
        start, self._at = self._at, end
        return Element(of, self._begin + start, end - start, value, self._text[start:end])

    def _more(self) -> bool:
        """Move the window's begin to the present place and its end on; whether there was more."""
        rest = self._text[self._at :]
        data = self._file.read(max(_CHUNK, len(rest)))
        self._begin += self._at
        self._at = 0
        self._text = rest + data.decode("latin-1")
        return bool(data)

    def _unsound(self, reason: str) -> UnusableInput:
        place = self._begin + self._at
        return UnusableInput(f"{self._path} is not valid JSON at byte {place}: {reason}.")
