"""Calls a function on many items in parallel processes.

Purpose: pack, check or read the shards of a dataset on several cores.

Guarantees: when the parent dies, however it dies, its processes end at once, and the system keeps
nothing of theirs; when the work is given up, by an error or an interrupt, they end before the error
is raised, also one that is stopped, but for those that a hanging disk holds: these end when it
answers, and `unended` names them until then; a process that dies becomes a `ProcessDied` that names
what it was at, or, where a fault ended it, what the caller makes of that; one that comes no further
is reported, with what it is at; at most a few items are under way at a time, whatever their number.

Assumptions: function, items and results pickle; the function does not care in which process it is.

Each process is executed, not forked, and spoken to by a thread through its standard input and
output: so nothing else waits for one that is stopped, and the caller's main module is not run anew.
"""

import logging
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from subprocess import PIPE
from typing import Any, BinaryIO, TypeVar, cast

from packer.errors import ProcessDied

Item = TypeVar("Item")
Result = TypeVar("Result")
Advance = Callable[[int], None]

STALL_SECONDS = 60.0  # without any progress, after which a process is reported
DYING_SECONDS = 5.0  # for which processes that were killed are waited for

_POLL_SECONDS = 0.2  # how often progress is looked at
_TELL_SECONDS = 0.1  # how often a process tells its progress
_START = "import sys; sys.path[:] = sys.argv[1:]; from packer.processes import serve; serve()"
_OF_TERMINALS = {signal.SIGINT, signal.SIGHUP}  # sent to all: the parent decides what they mean
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
_log = logging.getLogger("packer")  # its warnings go to stderr as they are
_HINT = "Was it stopped, or does its disk hang? To give up, press Ctrl-C; the same command goes on."
_REMEDY = "Run the same command again, with a smaller --jobs if memory was short."


def map_unordered(
    function: Callable[[Item, Advance], Result],
    items: Iterable[Item],
    processes: int,
    advance: Advance,
    place: Callable[[Item], str],
    died: Callable[[Item, str], Result] | None = None,
) -> Generator[Result, None, None]:
    """Yield ``function(item, advance)`` of all `items` as they are finished.

    With one process all is done in this one, in order, unless there is `died`. Otherwise `advance`
    is told now and then how much more was done in all processes together.

    Args:
        function: may be called anywhere.
        items: are taken as they are needed.
        processes: how many.
        advance: see above.
        place: names an item to a person.
        died: for items that may be hostile: gives the result of one at which a fault ended the
            process, such as "Segmentation fault"; the others go on.

    Raises:
        ProcessDied: a process was killed, or there was no memory for it.
    """
    if processes == 1 and died is None:
        for item in items:
            try:
                result = function(item, advance)
            except MemoryError as error:
                raise _out_of_memory(place(item)) from error
            yield result
        return
    team = _Team()
    try:
        team.start(processes)
        tasks = ((function, item, place(item), died) for item in items)
        yield from team.work(tasks, advance)
    finally:
        team.end()


class _Process:
    """One process, and the thread that starts it and speaks to it.

    No signal's handler gets between a process and its name in a thread, and what the thread is deaf
    to, its process is.

    Attributes:
        at: what it is at, for a person; empty between two items.
        done: how much it has told of so far.
        popen: of the operating system, once there was something to do.
    """

    def __init__(self, tasks: "queue.SimpleQueue[Any]", answers: "queue.SimpleQueue[Any]") -> None:
        self.at = ""
        self.done = 0
        self.popen: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._is_over = False
        self._heard = 0
        self._stalled = -1, 0.0  # what was heard by then, and the seconds since
        threading.Thread(target=self._serve, args=(tasks, answers), daemon=True).start()

    def kill(self) -> None:
        """Have it end, whatever it is at."""
        with self._starting:
            self._is_over = True
            if self.popen is not None:
                self.popen.kill()

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Whether it has, after waiting for so long at most."""
        popen = self.popen
        if popen is None:
            return True
        try:
            popen.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            return False
        self._let_go()
        return True

    def report_stall(self, seconds: float) -> None:
        """Warn, once for each stall, where `seconds` more without progress are too many."""
        popen = self.popen
        heard, before = self._stalled
        before = before if self.at and heard == self._heard else 0.0
        self._stalled = self._heard, before + seconds
        if popen is not None and self.at and before < STALL_SECONDS <= before + seconds:
            _log.warning(
                "packer: process %d, at %s, has come no further for %.0f s. %s",
                *(popen.pid, self.at, STALL_SECONDS, _HINT),
            )

    def _serve(self, tasks: "queue.SimpleQueue[Any]", answers: "queue.SimpleQueue[Any]") -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
        for function, item, place, died in iter(tasks.get, None):
            result: Any = None
            error: Exception | None = None
            try:
                result = self._call(pickle.dumps((function, item)), place)
            except _Fault as fault:
                if died is None:
                    error = _died(place, str(fault))
                else:
                    result = died(item, str(fault))
            except Exception as failure:
                error = failure
            self.at = ""
            answers.put((result, error))

    def _call(self, message: bytes, place: str) -> Any:
        popen = self.popen or self._start()
        ask, hear = _pipes(popen)
        self.at = place
        try:
            ask.write(message)
            ask.flush()
            while isinstance(answer := pickle.load(hear), int):
                self.done += answer
                self._heard += 1
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            code = popen.wait()
            self._let_go()
            if -code in _FAULTS:
                raise _Fault(_cause(code)) from error
            raise _died(place, _cause(code)) from error
        self._heard += 1
        result, failure, trace = answer
        if isinstance(failure, MemoryError):
            raise _out_of_memory(place) from failure
        if failure is not None:
            raise failure from RuntimeError(f"in a process of its own:\n{trace}")
        return result

    def _let_go(self) -> None:
        """Of a process that has ended; there will be another one if there is more to do."""
        with self._starting:
            if self.popen is not None:
                for pipe in _pipes(self.popen):
                    with suppress(OSError):  # what was not sent has nowhere to go
                        pipe.close()
            self.popen = None

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", _START, *sys.path]
        with self._starting:
            if self._is_over:
                raise ProcessDied("The work was given up.")
            try:
                self.popen = subprocess.Popen(command, stdin=PIPE, stdout=PIPE)
            except (OSError, MemoryError) as error:
                raise _not_started(error) from error
        return self.popen


class _Team:
    """The processes, and what they have to do."""

    def __init__(self) -> None:
        self._processes: list[_Process] = []
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def start(self, processes: int) -> None:
        """Have so many."""
        try:
            for _ in range(processes):
                self._processes.append(_Process(self._tasks, self._answers))
        except RuntimeError as error:  # there is no room for a thread
            raise _not_started(error) from error

    def work(self, tasks: Iterator[tuple[Any, Any, str, Any]], advance: Advance) -> Iterator[Any]:
        """Keep few tasks waiting, so that ten million samples are never pickled at once."""
        under_way = told = 0
        while True:
            for task in islice(tasks, 2 * len(self._processes) - under_way):
                self._tasks.put(task)
                under_way += 1
            if not under_way:
                return
            began = time.monotonic()
            answer = None
            with suppress(queue.Empty):
                answer = self._answers.get(timeout=_POLL_SECONDS)
            # No more than what was waited for: while all is suspended, nothing stalls.
            waited = min(time.monotonic() - began, 2 * _POLL_SECONDS)
            for process in self._processes:
                process.report_stall(waited)
            done = sum(process.done for process in self._processes)
            advance(done - told)
            told = done
            if answer is not None:
                under_way -= 1
                result, error = answer
                if error is not None:
                    raise error
                yield result

    def end(self) -> None:
        """End the processes, whatever they are at."""
        for process in self._processes:
            process.kill()
            self._tasks.put(None)
        deadline = time.monotonic() + DYING_SECONDS
        _held.extend(p for p in self._processes if not p.has_ended(deadline - time.monotonic()))


_held: list[_Process] = []  # were killed, and had not ended when last looked at


def unended() -> list[int]:
    """The ids of the processes that were killed and have not ended yet."""
    _held[:] = [process for process in _held if not process.has_ended()]
    return [process.popen.pid for process in _held if process.popen is not None]


def _pipes(popen: "subprocess.Popen[bytes]") -> tuple[BinaryIO, BinaryIO]:
    return cast(BinaryIO, popen.stdin), cast(BinaryIO, popen.stdout)


class _Fault(Exception):
    """A process was ended by a fault of its own; the text is which."""


def _died(place: str, cause: str) -> ProcessDied:
    return ProcessDied(f"A process died at {place}: {cause}. {_REMEDY}")


def _not_started(error: Exception) -> ProcessDied:
    reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
    return ProcessDied(f"No process can be started: {reason}. {_REMEDY}")


def _cause(code: int) -> str:
    """What an exit status tells of a process's end."""
    if code >= 0:
        return f"exit status {code}"
    hint = ", as the system does when memory runs out" if code == -signal.SIGKILL else ""
    return f"{signal.strsignal(-code)} (signal {-code}){hint}"


def _out_of_memory(place: str) -> ProcessDied:
    return ProcessDied(f"{place}: there is not enough memory for it. {_REMEDY}")


def serve() -> None:
    """Be one of the processes: do what standard input asks for, until the parent is gone."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a library prints is no answer
    threading.Thread(target=_die_with_parent, args=(tasks.fileno(),), daemon=True).start()
    told, more = time.monotonic(), 0

    def say(message: bytes) -> None:
        try:
            answers.write(message)
            answers.flush()
        except OSError:  # nobody is left to hear it
            os._exit(1)

    def advance(count: int, at_least: float = _TELL_SECONDS) -> None:
        nonlocal told, more
        more += count
        if time.monotonic() - told >= at_least:
            say(pickle.dumps(more))
            told, more = time.monotonic(), 0

    while True:
        try:
            function, item = pickle.load(tasks)
            advance(0, at_least=0)  # it has begun
            answer = pickle.dumps((function(item, advance), None, ""))
        except Exception as error:
            answer = pickle.dumps((None, error, traceback.format_exc()))
        advance(0, at_least=0)
        say(answer)


def _die_with_parent(lifeline: int) -> None:
    """Wait for nothing but the end of the parent, which holds the pipe's other end."""
    poll = select.poll()
    poll.register(lifeline, 0)
    poll.poll()
    os._exit(1)
