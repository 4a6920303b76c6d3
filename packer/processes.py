"""Calls a function on many items in parallel processes.

Purpose: pack, check or read the shards of a data set on several cores.

Guarantees: when the parent dies, however it dies, its processes end at once; when the work is
given up, by an error or an interrupt, they end before the error is raised, also one that is
stopped, but for those that a hanging disk holds: these end when it answers, and `unended` names
them until then; a process that dies becomes a `ProcessDied` that names what it was at; one that
comes no further is told of, with what it is at; at most a few items are under way at a time,
whatever their number.

Assumptions: function, items and results pickle; the function does not care in which process it is.
"""

import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from ctypes import c_uint64
from itertools import count, islice
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from packer.errors import ProcessDied

Item = TypeVar("Item")
Result = TypeVar("Result")
Advance = Callable[[int], None]

STALL_SECONDS = 60.0  # without any progress, after which a process is told of

DYING_SECONDS = 5.0  # for which processes that were killed are waited for

_POLL_SECONDS = 0.2  # how often progress is looked at
_NUMBERS = 3  # that each process shares: what it has done, its id, the item that it is at
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_log = logging.getLogger("packer")  # its warnings go to stderr as they are
_HINT = "Was it stopped, or does its disk hang? To give up, press Ctrl-C; the same command goes on."
_REMEDY = "Run the same command again, with a smaller --jobs if memory was short."


def map_unordered(
    function: Callable[[Item, Advance], Result],
    items: Iterable[Item],
    processes: int,
    advance: Advance,
    place: Callable[[Item], str],
) -> Generator[Result, None, None]:
    """Yield ``function(item, advance)`` of all `items` as they are finished.

    With one process all is done in this one, in order. Otherwise `advance` is told now and then
    how much more was done in all processes together. `place` names an item to a person.

    Raises:
        ProcessDied: a process was killed, or there was no memory for it.
    """
    if processes == 1:
        for item in items:
            try:
                result = function(item, advance)
            except MemoryError as error:
                raise _out_of_memory(place(item)) from error
            yield result
        return
    try:
        with _signals_held():  # this may start the process that tracks Python's semaphores
            team = _Team(processes, place)
    except OSError as error:
        raise _not_started(error) from error
    try:
        done = 0
        for results in team.work(function, iter(items), 2 * processes):
            total = team.progress()
            advance(total - done)
            done = total
            yield from results
    finally:
        team.end()


_held: list[BaseProcess] = []  # were killed, and had not ended when they were last looked at


def unended() -> list[int]:
    """The ids of the processes that were killed and have not ended yet."""
    _held[:] = _alive(_held)
    return [process.ident for process in _held if process.ident is not None]


def _alive(processes: Collection[BaseProcess]) -> list[BaseProcess]:
    # `is_alive` takes a process for alive that another thread, or the system, has waited for.
    ended = multiprocessing.connection.wait([process.sentinel for process in processes], 0)
    return [process for process in processes if process.sentinel not in ended]


class _Team:
    """The processes, what they share, and what they are at."""

    def __init__(self, processes: int, place: Callable[[Any], str]) -> None:
        self._place = place
        self._numbers = count(1)
        self._under_way: dict[Future[Any], tuple[int, str]] = {}  # an item's number and place
        self._started: set[BaseProcess] = set()
        context = multiprocessing.get_context("spawn")
        self._shared = context.RawArray(c_uint64, _NUMBERS * processes)
        self._stalls = [_Stall() for _ in range(processes)]
        self._idle = _Stall()  # of all of them
        slots = context.SimpleQueue()
        for slot in range(processes):
            slots.put(slot)
        lifeline, self._our_end = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            processes,
            context,
            initializer=_start_process,
            initargs=(lifeline, self._shared, slots),
        )

    def work(
        self, function: Callable[[Any, Advance], Result], items: Iterator[Any], window: int
    ) -> Iterator[list[Result]]:
        """Keep `window` items submitted, so that ten million samples are never pickled at once."""
        for item in islice(items, window):
            self._submit(function, item)
        while self._under_way:
            began = time.monotonic()
            finished, _ = wait(self._under_way, _POLL_SECONDS, FIRST_COMPLETED)
            if not finished and not self._is_managed():
                raise _not_started(MemoryError())
            results = [self._result(future) for future in finished]
            for future in finished:
                del self._under_way[future]
            for item in islice(items, len(finished)):
                self._submit(function, item)
            # No more than what was waited for: while all is suspended, nothing stalls.
            self._tell_stalls(min(time.monotonic() - began, 2 * _POLL_SECONDS))
            yield results

    def progress(self) -> int:
        """How much was done in all processes together."""
        return sum(self._shared[::_NUMBERS])

    def end(self) -> None:
        """End the processes, whatever they are at."""
        self._our_end.close()
        for process in self._started:
            process.kill()
        deadline = time.monotonic() + DYING_SECONDS
        manager = self._manager
        self._pool.shutdown(wait=False, cancel_futures=True)
        if manager is not None:
            with suppress(RuntimeError):  # it could not be started
                manager.join(DYING_SECONDS)  # as it joins the processes
        for process in self._started:
            process.join(max(deadline - time.monotonic(), 0))
        _held.extend(_alive(self._started))

    def _submit(self, function: Callable[[Any, Advance], Any], item: Any) -> None:
        number = next(self._numbers)
        before = set(multiprocessing.active_children())
        try:
            with _signals_held():  # this may start a process
                future = self._pool.submit(_run, function, item, number)
        except BrokenProcessPool as error:
            raise self._died() from error
        except (OSError, RuntimeError, MemoryError) as error:  # of a process, or of a thread
            raise _not_started(error) from error
        finally:
            self._started |= set(multiprocessing.active_children()) - before
        self._under_way[future] = number, self._place(item)

    def _result(self, future: "Future[Result]") -> Result:
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise self._died() from error
        except MemoryError as error:
            raise _out_of_memory(self._under_way[future][1]) from error

    @property
    def _manager(self) -> threading.Thread | None:
        """The pool's thread, which hands out work."""
        return getattr(self._pool, "_executor_manager_thread", None)

    def _is_managed(self) -> bool:
        """Whether the pool still hands out work: its thread ends in silence if memory is short."""
        if self._manager is None or self._manager.is_alive():
            return True
        return any(future.done() for future in self._under_way)

    def _died(self) -> ProcessDied:
        at = {self._at(slot) for slot in range(len(self._stalls))} - {None}
        where = f" One of these was at work on it: {', '.join(sorted(map(str, at)))}." if at else ""
        return ProcessDied(f"A process died (killed, or out of memory).{where} {_REMEDY}")

    def _at(self, slot: int) -> str | None:
        """What the process in `slot` is at."""
        number = self._shared[_NUMBERS * slot + 2]
        return dict(self._under_way.values()).get(number)

    def _tell_stalls(self, seconds: float) -> None:
        at_work = any(self._shared[2::_NUMBERS])
        if self._idle.lasts(seconds, self.progress()) and not at_work:
            _log.warning(
                "packer: no process has begun to work for %.0f s. %s", STALL_SECONDS, _HINT
            )
        for slot, stall in enumerate(self._stalls):
            done, process, number = self._shared[_NUMBERS * slot : _NUMBERS * (slot + 1)]
            if number and stall.lasts(seconds, (done, number)):
                _log.warning(
                    "packer: process %d, at %s, has come no further for %.0f s. %s",
                    *(process, self._at(slot), STALL_SECONDS, _HINT),
                )


class _Stall:
    """For how long one process has come no further."""

    def __init__(self) -> None:
        self._seen: object = None
        self._seconds = 0.0

    def lasts(self, seconds: float, seen: object) -> bool:
        """Whether, after `seconds` more, it is time to say so: once for each stall."""
        before = self._seconds if seen == self._seen else 0.0
        self._seen, self._seconds = seen, before + seconds
        return before < STALL_SECONDS <= self._seconds


def _not_started(error: Exception) -> ProcessDied:
    reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
    return ProcessDied(f"No process can be started: {reason}. {_REMEDY}")


def _out_of_memory(place: str) -> ProcessDied:
    return ProcessDied(f"{place}: there is not enough memory for it. {_REMEDY}")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Keep SIGINT, SIGTERM and SIGHUP until the end.

    A process that is started meanwhile never gets SIGINT and SIGHUP, which a terminal sends to all:
    half started it would die with a traceback, and later on the parent decides.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    numbers = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    handlers = [
        signal.signal(number, lambda number, _: caught.append(number)) for number in numbers
    ]
    # What a child inherits.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])


class _Process:
    """What a process knows of itself."""

    shared: Any
    first: int  # its numbers begin there


def _start_process(lifeline: Connection, shared: Any, slots: Any) -> None:
    _Process.shared = shared
    _Process.first = _NUMBERS * slots.get()
    shared[_Process.first + 1] = os.getpid()
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()


def _die_with_parent(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(1)


def _run(function: Callable[[Item, Advance], Result], item: Item, number: int) -> Result:
    shared, first = _Process.shared, _Process.first

    def advance(more: int) -> None:
        shared[first] += more

    shared[first + 2] = number
    result = function(item, advance)
    shared[first + 2] = 0
    return result
