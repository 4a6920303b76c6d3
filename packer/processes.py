"""Calls a function on many items in parallel processes.

Purpose: pack, check or read the shards of a dataset on several cores.

Guarantees: when the parent dies, however it dies, its processes end at once, and the system keeps
nothing of theirs; when the work is given up, by an error or an interrupt, they end before the error
is raised, also one that is stopped, but for those that a hanging disk holds: these end when it
answers; a process that dies becomes a `ProcessDied` that names what it was at, or, where a fault
ended it, what the caller makes of that; one that comes no further is reported, with what it is at;
at most a few items are under way at a time, whatever their number.

Assumptions: function, items and results pickle; the function does not care in which process it is.

A process does what its connection asks for in `main`. On Linux it is forked from a server that
loads what it needs once, and is kept for a while; elsewhere it is executed. A thread speaks to each
through a socket: so nothing else waits for one that is stopped, and the caller's main module is not
run again.
"""

import logging
import os
import pickle
import queue
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NoReturn, TypeVar

from packer.errors import ProcessDied
from packer.progress import Advance
from packer.words import option
from reader.processes.child import Child, can_be_ended, end_with_parent
from reader.processes.fork_server import fork

Item = TypeVar("Item")
Result = TypeVar("Result")
_Call = Callable[..., Any]
_Queue = queue.SimpleQueue[Any]


STALL_SECONDS = 60.0  # without any progress, after which a process is reported
DYING_SECONDS = 5.0  # for which processes that were killed are waited for

_POLL_SECONDS = 0.2  # how often stalls are looked for
_TELL_SECONDS = 0.1  # how often a process tells its progress
_OF_TERMINALS = {signal.SIGINT, signal.SIGHUP}  # sent to all: the parent decides what they mean
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
_log = logging.getLogger("packer")  # its warnings go to stderr as they are
_NO_MEMORY = "there is not enough memory for it"
_HINT = (
    "Check whether it was stopped, or its disk hangs. To cancel, press Ctrl-C; the same "
    "command continues the run."
)


def map_unordered(
    function: Callable[[Item, Advance], Result],
    items: Iterable[Item],
    processes: int,
    advance: Advance,
    place: Callable[[Item], str],
    died: Callable[[Item, str], Result] | None = None,
    load: Sequence[str] = (),
    excused: Callable[[], bool] = lambda: False,
) -> Generator[Result, None, None]:
    """Yield ``function(item, advance)`` of all `items` when they are finished.

    With one process, or one of several known items, all is done in this one, in order, unless there
    is `died`. Otherwise `advance` is called now and then with how much more was done in all
    processes together. `place` names an item to a person; `died` gives the result of one at which a
    fault ended the process; `load` are modules that the processes need, loaded once for all;
    `excused` is asked before a process without progress is reported.
    """
    if isinstance(items, Sequence):
        processes = max(1, min(processes, len(items)))
    if processes == 1 and died is None:
        for item in items:
            try:
                result = function(item, advance)
            except MemoryError as error:
                raise _lost(f"{place(item)}: {_NO_MEMORY}") from error
            yield result
        return
    tasks, answers = _Queue(), _Queue()
    module = getattr(function, "func", function).__module__  # also that of a partial
    load = [*[module] * module.startswith("packer."), *load]  # nothing of the user's
    team = [_Process(function, died, tasks, answers, load) for _ in range(processes)]
    try:
        try:
            for process in team:
                process.start()
        except RuntimeError as error:  # there is no room for a thread
            raise _not_started(error) from error
        left, under_way, watched = iter(items), 0, time.monotonic()
        while True:
            for item in islice(left, 2 * processes - under_way):  # ten million are never pickled
                tasks.put((item, place(item)))
                under_way += 1
            if not under_way:
                return
            answer: Any = 0
            with suppress(queue.Empty):
                answer = answers.get(timeout=_POLL_SECONDS)
            if time.monotonic() - watched >= _POLL_SECONDS:
                watched = time.monotonic()
                for process in team:
                    process.watch(excused)
            if isinstance(answer, int):
                advance(answer)
                continue
            under_way -= 1
            result, failure = answer
            if failure is not None:
                raise failure
            yield result
    finally:
        for process in team:
            process.kill()
            tasks.put(None)
        deadline = time.monotonic() + DYING_SECONDS
        for process in filter(threading.Thread.is_alive, team):
            process.join(max(0, deadline - time.monotonic()))


class _Process(threading.Thread):
    """One process, and the thread that starts it and speaks to it.

    It puts into `answers` how much more is done, and the (result, error) of each item of `tasks`.
    """

    def __init__(
        self,
        function: _Call,
        died: _Call | None,
        tasks: _Queue,
        answers: _Queue,
        load: Sequence[str],
    ) -> None:
        super().__init__(daemon=True)
        self._function, self._died, self._tasks, self._answers = function, died, tasks, answers
        self._load = load
        self._child: Child | None = None
        self._stream: Any = None  # to it and from it
        self._is_over = False
        self._at = ""  # for a person; empty between two items
        self._quiet = 0  # how often it was looked at since it was heard of

    def kill(self) -> None:
        self._is_over = True
        if (child := self._child) is not None:  # else it is killed as it starts
            child.kill()

    def watch(self, excused: Callable[[], bool]) -> None:
        """Warn, once for each stall; is called every so often, but not while all is suspended."""
        self._quiet += 1
        child, at = self._child, self._at
        if child is not None and at and self._quiet == round(STALL_SECONDS / _POLL_SECONDS):
            if excused():
                self._quiet = 0
                return
            text = "packer: process %d, at %s, has made no progress for %.0f s. %s"
            _log.warning(text, child.pid, at, STALL_SECONDS, _HINT)

    def run(self) -> None:
        """Do what is asked for, until it is over."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)  # which the process inherits
        for item, place in iter(self._tasks.get, None):
            if self._is_over:
                break
            try:
                answer: Any = self._call(item, place), None
            except Exception as error:
                answer = None, error
            self._at = ""
            self._answers.put(answer)
        self._let_go()

    def _call(self, item: Any, place: str) -> Any:
        message = pickle.dumps((self._function, item))
        if self._child is None:
            self._begin()
        self._at, self._quiet = place, 0
        try:
            self._stream.write(message)
            self._stream.flush()
            while isinstance(answer := pickle.load(self._stream), int):
                self._answers.put(answer)
                self._quiet = 0
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            code = self._let_go()
            if self._died is not None and -code in _FAULTS:
                return self._died(item, _cause(code))
            raise _lost(f"A process died at {place}: {_cause(code)}") from error
        result, failure, trace = answer
        if failure is not None:
            raise_again(failure, place, trace)
        return result

    def _begin(self) -> None:
        try:
            ours, theirs = socket.socketpair()
            with theirs, ours:
                self._child = fork(__name__, [theirs.fileno()], load=self._load)
                self._stream = ours.makefile("rwb")
        except (OSError, MemoryError) as error:
            raise _not_started(error) from error
        if self._is_over:
            self._child.kill()
        with suppress(OSError):  # it died; that is seen by the first answer
            self._stream.write(pickle.dumps(sys.path))

    def _let_go(self) -> int:
        """Close the connection and wait for the end, which that brings about; return the status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        with suppress(OSError):  # what was not sent has nowhere to go
            self._stream.close()
        code = child.wait(DYING_SECONDS)
        child.kill()
        return code


def _not_started(error: Exception) -> ProcessDied:
    reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
    return _lost(f"Cannot start a process: {reason}")


def _lost(what: str) -> ProcessDied:
    return ProcessDied(
        f"{what}. Run the same command again, with a smaller ",
        option("jobs"),
        " if memory ran out.",
    )


def _cause(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    hint = ", as the system does when memory runs out" if code == -signal.SIGKILL else ""
    return f"{signal.strsignal(-code)} (signal {-code}){hint}"


def raise_again(failure: Exception, place: str, trace: str) -> NoReturn:
    """Raise what another process has raised at an item, with its traceback."""
    if isinstance(failure, MemoryError):
        raise _lost(f"{place}: {_NO_MEMORY}") from failure
    raise failure from RuntimeError(f"in a process of its own:\n{trace}")


def main(arguments: Sequence[str | int]) -> None:
    """Be one of the processes: do what the connection asks for, until the parent is gone."""
    connection, life, *_ = map(int, arguments)
    end_with_parent(life)
    tasks, answers = os.fdopen(connection, "rb"), os.fdopen(os.dup(connection), "wb")
    os.dup2(2, 1)  # what a library prints is for a person
    if not can_be_ended():
        threading.Thread(target=_die_with_parent, args=(connection,), daemon=True).start()
    sys.path[:] = pickle.load(tasks)
    sent, more = time.monotonic(), 0

    def say(message: bytes) -> None:
        try:
            answers.write(message)
            answers.flush()
        except OSError:  # nobody is left to hear it
            os._exit(1)

    def advance(count: int, at_least: float = _TELL_SECONDS) -> None:
        nonlocal sent, more
        more += count
        if time.monotonic() - sent >= at_least:
            say(pickle.dumps(more))
            sent, more = time.monotonic(), 0

    while True:
        try:
            function, item = pickle.load(tasks)
            advance(0, at_least=0)  # it has begun
            answer = pickle.dumps((function(item, advance), None, ""))
        except Exception as error:
            answer = pickle.dumps((None, error, traceback.format_exc()))
        advance(0, at_least=0)
        say(answer)


def _die_with_parent(connection: int) -> None:
    """Wait for nothing but the end of the parent, which holds the other end."""
    poll = select.poll()
    poll.register(connection, 0)
    poll.poll()
    os._exit(1)
