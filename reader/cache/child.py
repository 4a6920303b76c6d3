"""The parent's handle of a fetching process."""

import os
import socket
import sys
import weakref
from multiprocessing.connection import Connection

from reader.cache.messages import Opened, Progress, Setup
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.processes.child import Child, let_go_in_forks, start
from reader.store.urls import LIBRARY, need

_ENDING_SECONDS = 60.0


class FetchingProcess:
    def __init__(self, url: str) -> None:
        if sys.platform != "linux":
            raise StoreError(f"{url}: reading from a store needs Linux.")
        need(LIBRARY, url)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._child = start("reader.cache.process", (theirs.fileno(),))
            except OSError as error:
                ours.close()
                raise StoreError(
                    f"{url}: {sys.executable} cannot be started to fetch from it: {error}."
                ) from error
        self.pid = self._child.pid
        self._control = Connection(ours.detach())
        self.end = weakref.finalize(self, _end, self._child, os.getpid())
        let_go_in_forks(self)

    def open(self, setup: Setup) -> Opened:
        """Open the dataset; a terminal shows the progress."""
        bar = None
        try:
            self._control.send(setup)
            while isinstance(message := self._control.recv(), Progress):
                if bar is None:
                    from tqdm import tqdm  # rarely used

                    bar = tqdm(None, "indexes", message.total, leave=False, disable=None)
                bar.update(message.done - bar.n)
        except (EOFError, OSError):
            raise StoreError(
                f"{setup.url}: the fetching process has died. Open the dataset again."
            ) from None
        finally:
            if bar is not None:
                bar.close()
        if isinstance(message, ShardfeedError):
            raise message
        assert isinstance(message, Opened)
        return message

    @property
    def is_alive(self) -> bool:
        return (
            not self._control.closed and not self._control.poll()
        )  # it says nothing until it ends

    def let_go(self) -> None:
        if self.end.detach():
            self._child.let_go()
        self._control.close()


def _end(child: Child, owner: int) -> None:
    if os.getpid() == owner:
        child.kill()
        child.wait(_ENDING_SECONDS)
