"""The processes that the reader has started from this one."""

import time
from contextlib import suppress

import psutil


def workers() -> list[psutil.Process]:
    """The workers of all loaders; other tests may have left multiprocessing's own helper."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # a zombie has no command line
            if any("reader.workers.worker" in argument for argument in _command_line(child)):
                found.append(child)
    return found


def _command_line(process: psutil.Process) -> list[str]:
    # For a moment after its start, while the system loads the program, there is none.
    while not (arguments := process.cmdline()):
        time.sleep(0.001)
    return arguments
