"""The processes that the reader has started from this one."""

from contextlib import suppress

import psutil


def workers() -> list[psutil.Process]:
    """The workers of all loaders; other tests may have left multiprocessing's own helper."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # a zombie has no command line
            if any("reader.worker" in argument for argument in child.cmdline()):
                found.append(child)
    return found
