"""The fetching process: `main` of this module, with its inherited descriptors as arguments.

It has one event loop and one thread. When its parent ends, it loses only the requests in flight.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import gc
import resource
import socket
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from reader.cache.fetcher import Fetcher
from reader.cache.files import CachedFiles
from reader.cache.messages import Opened, Progress, Setup
from reader.cache.mirror import Mirror
from reader.cache.opening import opened
from reader.cache.quota import DiskQuota
from reader.cache.turns import Turn
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.processes.child import end_with_parent
from reader.store import ranges
from reader.store.client import Store

# glibc's allocator keeps the memory of answers for the next ones, and all threads share it:
# otherwise the system clears the pages of each answer again. The numbers are those of malloc.h.
_ALLOCATOR = {-8: 1, -3: 32 << 20, -1: 128 << 20}  # arenas, and thresholds of mmap and of trimming
_SWITCH_SECONDS = 0.1  # the loop waits often; its store's threads need not look for their turn


async def _serve(control: Connection) -> None:
    setup: Setup = control.recv()
    reported = 0.0

    def coming(done: int, total: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > 0.1:
            reported = time.monotonic()
            control.send(Progress(done, total))

    def serve(listener: socket.socket) -> None:
        quota.count()  # also what a killed process has freed
        mirror = Mirror(CachedFiles.of(place.folder, place.manifest), quota)
        Fetcher(store, quota, mirror).listen(listener)

    try:
        store = Store(setup.url, setup.options, setup.provider, ranges.opened)
        quota = DiskQuota(Path(setup.cache_dir), setup.limit)
        place = await opened(store, quota, setup.split, coming)
        turn, listener = Turn(place.folder), None
        with contextlib.suppress(BlockingIOError):
            serve(listener := turn.take(fcntl.LOCK_EX | fcntl.LOCK_NB))
    except StoreError as error:
        control.send(StoreError(str(error)))  # the parent does not import its subclasses
        return
    except ShardfeedError as error:
        control.send(error)
        return
    except Exception as error:
        control.send(StoreError(f"{setup.url} cannot be opened: {type(error).__name__}: {error}."))
        return
    control.send(Opened(str(place.folder), quota.limit))
    if listener is None:
        serve(await asyncio.to_thread(turn.take))
    await asyncio.Event().wait()  # until the parent ends it


def main(arguments: list[str]) -> None:
    control_fd, life_fd = map(int, arguments)
    end_with_parent(life_fd)
    gc.freeze()  # what was imported is never garbage
    gc.set_threshold(50_000)
    with contextlib.suppress(AttributeError):  # another C library
        for option, value in _ALLOCATOR.items():
            ctypes.CDLL(None).mallopt(option, value)
    sys.setswitchinterval(_SWITCH_SECONDS)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        asyncio.run(_serve(Connection(control_fd)))
    sys.exit(0)
