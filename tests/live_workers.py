"""The processes that the reader has started from this one."""

import time
from contextlib import suppress

import psutil

from reader.processes import fork_server


def started(count: int) -> list[psutil.Process]:
    """So many workers, which are being started, as soon as they are there."""
    while len(found := workers()) < count:
        time.sleep(0.001)
    return found


def workers(parent: int | None = None) -> list[psutil.Process]:
    """The workers of all loaders of a process, by default this one, in the order of their start."""
    for asked in list(fork_server.living) if parent is None else ():
        while asked.is_alive() and len(asked.pids) < asked.asked:
            time.sleep(0.001)
    found = []
    for child in psutil.Process(parent).children():
        with suppress(psutil.NoSuchProcess):  # a zombie has no command line
            if "reader.workers.worker" in _command_line(child):
                found += child.children()
    return found


def _command_line(process: psutil.Process) -> list[str]:
    # For a moment after its start, while the system loads the program, there is none.
    while not (arguments := process.cmdline()):
        time.sleep(0.001)
    return arguments
