"""Calls a function on many items in parallel processes.

Purpose: pack, check or read the shards of a data set on several cores.

Guarantees: when the parent dies, however it dies, its processes end at once; when the work is
given up, by an error or an interrupt, they end before the error is raised; a process that dies
becomes a `ProcessDied`; at most a few items are under way at a time, whatever their number.

Assumptions: function, items and results pickle; the function does not care in which process it is.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from ctypes import c_uint64
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from packer.errors import ProcessDied

Item = TypeVar("Item")
Result = TypeVar("Result")
Advance = Callable[[int], None]

_POLL_SECONDS = 0.2  # how often progress is looked at


def map_unordered(
    function: Callable[[Item, Advance], Result],
    items: Iterable[Item],
    processes: int,
    advance: Advance,
) -> Generator[Result, None, None]:
    """Yield ``function(item, advance)`` of all `items` as they are finished.

    With one process all is done in this one, in order. Otherwise `advance` is told now and then
    how much more was done in all processes together.

    Raises:
        ProcessDied: a process was killed, or ran out of memory.
    """
    if processes == 1:
        for item in items:
            yield function(item, advance)
        return
    context = multiprocessing.get_context("spawn")
    counters = context.RawArray(c_uint64, processes)
    slots = context.SimpleQueue()
    for slot in range(processes):
        slots.put(slot)
    lifeline, parent_end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        processes, context, initializer=_start_process, initargs=(lifeline, counters, slots)
    )
    try:
        done = 0
        for results in _in_window(pool, function, iter(items), 2 * processes):
            total = sum(counters)
            advance(total - done)
            done = total
            yield from results
    except BrokenProcessPool as error:
        raise ProcessDied() from error
    finally:
        parent_end.close()  # ends the processes, whatever they are at
        pool.shutdown(wait=True, cancel_futures=True)


def _in_window(
    pool: ProcessPoolExecutor,
    function: Callable[[Item, Advance], Result],
    items: Iterator[Item],
    window: int,
) -> Iterator[list[Result]]:
    """Keep `window` items submitted, so that ten million samples are never pickled at once."""

    def submit(item: Item) -> "Future[Result]":
        with _signals_held():  # this may start a process
            return pool.submit(_run, function, item)

    running = {submit(item) for item in islice(items, window)}
    while running:
        finished, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
        results = [future.result() for future in finished]
        running.update(submit(item) for item in islice(items, len(finished)))
        yield results


@contextmanager
def _signals_held() -> Iterator[None]:
    """Keep SIGINT and SIGTERM until the end, and from processes that are started meanwhile.

    One that is half started would die with a traceback, and later on the parent decides.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [
        signal.signal(number, lambda number, _: caught.append(number)) for number in numbers
    ]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what a child inherits
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

    counters: Any
    slot: int


def _start_process(lifeline: Connection, counters: Any, slots: Any) -> None:
    _Process.counters = counters
    _Process.slot = slots.get()
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()


def _die_with_parent(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(1)


def _run(function: Callable[[Item, Advance], Result], item: Item) -> Result:
    def advance(count: int) -> None:
        _Process.counters[_Process.slot] += count

    return function(item, advance)
