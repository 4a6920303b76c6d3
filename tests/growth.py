"""What work costs as its input doubles, counted and not timed.

Tests compare the work for n of something with that for 2n: linear work at most doubles. A sum over
all code would hide a small quadratic part, so each line of ours is compared by itself, and each
function of others by its calls. Two things are counted of a line (`sys.settrace`):

- how often it runs. Loops, comprehensions, generators and callbacks all run lines, so this finds
  quadratic work in Python that calls nothing, too (`sys.setprofile` sees calls only);
- the bytes that one execution allocates (`tracemalloc`). A line that runs for each of n and copies,
  sorts or joins all n in C runs only n times, but allocates more each time.

Not seen is work in C that allocates nothing: `x in a_list`, `a_list.index(x)`, `min(a_list)`. Nor
is work in other threads and processes. Small sizes suffice: a quadratic line runs four times as
often from 12 to 24, whatever the rest does.
"""

import gc
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SIZE = 12  # when doubled, lists, dicts and sets of so many all grow; a set of 20 does not
LIMIT = 2.2  # times the work, for twice the input
_SLACK = 10  # executions of a line more than that: small numbers are no proportion
_LARGER = 1.25  # times the bytes of one execution, which should stay the same
_BYTES = 40  # more than that: numbers become longer

_OURS = tuple(f"{Path(__file__).parent.parent / name}/" for name in ("packer", "reader"))
_Line = tuple[CodeType, int]  # 0: calls of the function
_Trace = Callable[[FrameType, str, Any], Any]


@dataclass
class Work:
    """The work that a call did in this thread.

    Attributes:
        calls: Python calls, resumed generators included.
        lines: executions of each line of ours, and calls of each function.
        allocated: bytes that each execution allocated, of each line.
    """

    calls: int = 0
    lines: dict[_Line, int] = field(default_factory=lambda: defaultdict(int))
    allocated: dict[_Line, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class Growth:
    """The work for n and for 2n of something.

    Attributes:
        n: of the smaller input.
        small: the work that it took.
        large: the work that twice of it took.
    """

    n: int
    small: Work
    large: Work

    @property
    def ratio(self) -> float:
        """Python calls for 2n, in those for n."""
        return self.large.calls / max(1, self.small.calls)

    def excess(self) -> Iterator[str]:
        """Yield what grew faster than the input, each line of code in a sentence."""
        if self.ratio > LIMIT:
            yield f"{self.small.calls} calls for {self.n}, {self.large.calls} for {2 * self.n}"
        for line, count in self.large.lines.items():
            before = self.small.lines.get(line, 0)
            if count > LIMIT * before + _SLACK:
                yield f"{_named(line)} ran {before} times for {self.n}, {count} for {2 * self.n}"
        for line, sizes in self.large.allocated.items():
            earlier = self.small.allocated.get(line, [])
            if len(earlier) < self.n // 2 or len(sizes) < 1.5 * len(earlier):
                continue  # it does not run for each, so it may take what all take
            # 0.85 against 0.75: the shares of small and large allocations may shift a little.
            before, now = _at(0.85, earlier), _at(0.75, sizes)
            if now > _LARGER * before + _BYTES:
                yield (
                    f"{_named(line)} allocated {before} bytes each time for {self.n}, "
                    f"{now} for {2 * self.n}"
                )


def assert_linear(
    make: Callable[[int], Callable[[], object]], n: int = SIZE, *, allocations: bool = True
) -> Growth:
    """Assert that work at most doubles with its input.

    Args:
        make: prepares an input of a size, and returns what does the work. Called with n for a
            first run, which fills caches and is not counted, then with n and 2n.
        n: the smaller size, see `SIZE`.
        allocations: count bytes, too, as `counted` does.

    Returns:
        The work, for a table.

    Raises:
        AssertionError: with each line of code whose work grew more than `LIMIT` times.
    """
    growth = grown(make, n, allocations=allocations)
    excess = list(growth.excess())
    assert not excess, "\n".join(["the work grows faster than its input:", *excess])
    return growth


def grown(
    make: Callable[[int], Callable[[], object]], n: int = SIZE, *, allocations: bool = True
) -> Growth:
    """Count the work for n and for 2n; for the arguments see `assert_linear` and `counted`."""
    make(n)()
    small, large = (counted(make(size), allocations=allocations) for size in (n, 2 * n))
    return Growth(n, small, large)


def counted(run: Callable[[], object], *, allocations: bool = True) -> Work:
    """Count the work of a call in this thread.

    Args:
        run: what is called.
        allocations: count bytes, too, which takes six times as long.
    """
    work = Work()
    with _tracing(work, allocations):
        run()
    return work


@contextmanager
def _tracing(work: Work, allocations: bool) -> Iterator[None]:
    others = sys.gettrace()  # those of a measurement of coverage
    collected = gc.isenabled()
    gc.disable()
    if allocations:
        tracemalloc.start()
    sys.settrace(_with_allocations(work) if allocations else _without(work))
    try:
        yield
    finally:
        sys.settrace(others)
        if allocations:
            tracemalloc.stop()
        if collected:
            gc.enable()


def _without(work: Work) -> _Trace:
    lines = work.lines

    def local(frame: FrameType, event: str, argument: Any) -> _Trace:
        if event == "line":
            lines[frame.f_code, frame.f_lineno] += 1
        return local

    def called(frame: FrameType, event: str, argument: Any) -> _Trace | None:
        work.calls += 1
        lines[frame.f_code, 0] += 1
        return local if _is_ours(frame.f_code) else None

    return called


def _with_allocations(work: Work) -> _Trace:
    lines, allocated = work.lines, work.allocated
    at: _Line = (_tracing.__code__, 0)
    before = 0

    def local(frame: FrameType, event: str, argument: Any) -> _Trace:
        nonlocal at, before
        allocated[at].append(tracemalloc.get_traced_memory()[1] - before)
        if event == "return":
            frame = frame.f_back or frame
        at = frame.f_code, frame.f_lineno
        if event == "line":
            lines[at] += 1
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        return local

    def called(frame: FrameType, event: str, argument: Any) -> _Trace | None:
        work.calls += 1
        lines[frame.f_code, 0] += 1
        return local(frame, event, argument) if _is_ours(frame.f_code) else None

    return called


@cache
def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_OURS)


def _at(share: float, values: list[int]) -> int:
    """Return what a share of the values does not exceed."""
    return sorted(values)[int(len(values) * share)]


def _named(line: _Line) -> str:
    code, number = line
    return f"{code.co_filename}:{number or code.co_firstlineno} ({code.co_name})"
