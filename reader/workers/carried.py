"""Send an exception of the user's code from a worker to the loop, as if it were raised there.

Guarantees: type, arguments, attributes, frames and the chain of causes arrive, also for a class
that cannot be called with its arguments, or has attributes that cannot be pickled. The receiver
runs none of the user's functions.
"""

import ast
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

import cloudpickle

from reader.errors import own_frames

_MOST_CAUSES = 8


@dataclass(frozen=True)
class Carried:
    content: bytes  # the exception, pickled; empty if it cannot be sent
    frames: tuple[tuple[str, str, tuple[int, int, int, int]], ...]  # lines, columns
    cause: "Carried | None"  # and `context`, `is_suppressed`: its chain
    context: "Carried | None"
    is_suppressed: bool

    @classmethod
    def of(cls, error: BaseException, depth: int = _MOST_CAUSES) -> "Carried":
        def linked(other: BaseException | None) -> Carried | None:
            return cls.of(other, depth - 1) if other is not None and depth else None

        frames = tuple((f.filename, f.name, _position(f)) for f in own_frames(error))
        cause = linked(error.__cause__)
        context = None if cause or error.__suppress_context__ else linked(error.__context__)
        return cls(_content(error), frames, cause, context, error.__suppress_context__)

    def unpack(self) -> BaseException | None:
        try:
            error = cloudpickle.loads(self.content)()
        except Exception:  # its class may raise
            return None
        if not isinstance(error, BaseException):
            return None
        error.__cause__ = self.cause.unpack() if self.cause else None
        error.__context__ = self.context.unpack() if self.context else None
        error.__suppress_context__ = self.is_suppressed
        following = None
        for file, name, position in reversed(self.frames):
            following = _frame(file, name, position, following)
        return error.with_traceback(following)


def _content(error: BaseException) -> bytes:
    """Pickle an exception in the first way that keeps its type and text."""
    kind, arguments = type(error), error.args
    ways: list[Callable[[], BaseException]] = [
        partial(_same, error),
        partial(_rebuilt, kind, arguments, vars(error)),
        partial(_rebuilt, kind, arguments, {}),
        partial(_rebuilt, kind, (str(error),), {}),
    ]
    for way in ways:
        try:
            content: bytes = cloudpickle.dumps(way)
            found = cloudpickle.loads(content)()
            if type(found) is kind and str(found) == str(error):
                return content
        except Exception:  # the user's class may raise
            continue
    return b""


def _same(error: BaseException) -> BaseException:
    return error


def _rebuilt(
    kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    vars(error).update(attributes)
    return error


def _position(frame: traceback.FrameSummary) -> tuple[int, int, int, int]:
    line = frame.lineno or 1
    last = getattr(frame, "end_lineno", None) or line
    first, end = (getattr(frame, name, None) or 0 for name in ("colno", "end_colno"))
    return line, last, first, end


class _Stop(Exception):
    """Raised to make a frame."""


def _frame(
    file: str, name: str, position: tuple[int, int, int, int], following: TracebackType | None
) -> TracebackType:
    line, last, first, end = position
    where = {"lineno": line, "end_lineno": last, "col_offset": first, "end_col_offset": end}
    stop = ast.Raise(ast.Name("stop", ast.Load(), **where), None, **where)
    code = compile(ast.Module([stop], []), file, "exec")
    named: dict[str, Any] = dict.fromkeys({"co_name", "co_qualname"} & set(dir(code)), name)
    try:
        exec(code.replace(**named), {"stop": _Stop()})
    except _Stop as error:
        made = error.__traceback__ and error.__traceback__.tb_next
    assert made is not None
    made.tb_next = following
    return made
