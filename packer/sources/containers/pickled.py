"""Pickles of plain values, read without running them; bytes stay where they are.

What a pickle would call is refused, but for numpy's numbers, which labels often are.
See https://docs.python.org/3/library/pickletools.html for the instructions.
"""

import re
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from packer.errors import BadImage
from packer.sources.containers.entries import Blob, Window

_MOST = 10_000  # instructions
_BYTES = {b"C": "<B", b"B": "<I", b"\x8e": "<Q", b"\x96": "<Q", b"U": "<B", b"T": "<I"}
_TEXTS = {b"X": "<I", b"\x8c": "<B", b"\x8d": "<Q"}
_NUMBERS = {b"K": "<B", b"M": "<H", b"J": "<i", b"G": ">d"}
_CONSTANTS: dict[bytes, Callable[[], Any]] = {
    b"N": lambda: None,
    b"\x88": lambda: True,
    b"\x89": lambda: False,
    b"]": list,
    b"}": dict,
    b")": tuple,
}
_TUPLES = {b"\x85": 1, b"\x86": 2, b"\x87": 3}
_SCALARS = ("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar")
_KIND = re.compile(r"[biuf][1248]")  # of numbers
_MARK = object()


class _Called(NamedTuple):
    """What a pickle names, and the arguments of numpy's dtype."""

    name: str
    arguments: tuple[Any, ...] = ()


def is_pickle(head: bytes) -> bool:
    """Return whether bytes begin as pickles of protocols 2 to 5 do."""
    return head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def unpickled(window: Window, at: int, size: int) -> Any:
    """Return the value of a pickle; raise BadImage where it is not plain."""
    try:
        return _Machine(window, at, at + size).run()
    except (struct.error, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadImage("its pickle is damaged") from error


class _Machine:
    def __init__(self, window: Window, at: int, end: int) -> None:
        self.window, self.at, self.end = window, at, end
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        for _ in range(_MOST):
            if (sign := self._take(1)) == b".":
                return self.stack.pop()
            self._step(sign)
        raise BadImage("its pickle has too many parts")

    def _step(self, sign: bytes) -> None:
        stack = self.stack
        if sign in _BYTES:
            size = self._number(_BYTES[sign])
            stack.append(self.window.blob(self.at, size))
            self.at += size
        elif sign in _TEXTS:
            stack.append(self._take(self._number(_TEXTS[sign])).decode("utf-8", "surrogatepass"))
        elif sign in _NUMBERS:
            stack.append(self._number(_NUMBERS[sign]))
        elif sign == b"\x8a":
            stack.append(int.from_bytes(self._take(self._number("<B")), "little", signed=True))
        elif sign in _CONSTANTS:
            stack.append(_CONSTANTS[sign]())
        elif sign == b"(":
            stack.append(_MARK)
        elif sign in _TUPLES:
            count = _TUPLES[sign]
            stack[-count:] = [tuple(stack[-count:])]
        elif sign == b"t":
            stack.append(tuple(self._marked()))
        elif sign in b"ae":
            values = [stack.pop()] if sign == b"a" else self._marked()
            stack[-1].extend(values)
        elif sign in b"su":
            pairs = self._marked() if sign == b"u" else [stack.pop(-2), stack.pop()]
            stack[-1].update(zip(pairs[::2], pairs[1::2], strict=True))
        elif sign in (b"q", b"r", b"\x94"):
            formats = {b"q": "<B", b"r": "<I"}
            number = self._number(formats[sign]) if sign in formats else len(self.memo)
            self.memo[number] = stack[-1]
        elif sign in b"hj":
            stack.append(self.memo[self._number("<B" if sign == b"h" else "<I")])
        elif sign in (b"\x80", b"\x95"):
            self._take(1 if sign == b"\x80" else 8)
        else:
            self._call(sign)

    def _call(self, sign: bytes) -> None:
        stack = self.stack
        if sign == b"c":
            stack.append(_Called(f"{self._line()}.{self._line()}"))
        elif sign == b"\x93":
            name = stack.pop()
            stack.append(_Called(f"{stack.pop()}.{name}"))
        elif sign == b"R":
            arguments, called = stack.pop(), stack.pop()
            stack.append(self._result(called.name, arguments))
        elif sign == b"b" and stack[-2].name == "numpy.dtype":
            stack.pop()  # byte order and alignment
        else:
            named = next((one.name for one in reversed(stack) if isinstance(one, _Called)), "")
            raise BadImage(f"its pickle would run {named or 'Python'}, and is not run")

    def _result(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "numpy.dtype":
            return _Called(name, arguments)
        if name == "_codecs.encode" and arguments[1:] == ("latin1",):  # bytes of protocol 2
            data = arguments[0].encode("latin1")
            return Blob([data], len(data), data[:32])
        if name not in _SCALARS:
            raise BadImage(f"its pickle would call {name}, and is not run")
        kind, blob = arguments
        if not _KIND.fullmatch(code := kind.arguments[0]):
            raise BadImage("its pickle has a number of numpy's that is none")
        return np.frombuffer(blob.head[: blob.size], f"<{code}")[0].item()

    def _marked(self) -> list[Any]:
        at = len(self.stack) - 1 - self.stack[::-1].index(_MARK)
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self) -> str:
        found = b""
        while (sign := self._take(1)) != b"\n":
            found += sign
        return found.decode()

    def _take(self, size: int) -> bytes:
        if self.at + size > self.end:
            raise BadImage("its pickle is damaged: it ends too early")
        data = self.window.read(self.at, size)
        self.at += size
        return data
