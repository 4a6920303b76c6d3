"""An event loop in a thread of its own: what asks a store, for a caller that does not await.

Guarantees: what is asked for arrives, or its error does; when the block is left, all that is under
way is given up, and the thread has ended. A caller with an event loop of its own, as a notebook has
one, is not disturbed.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoop:
    """A context manager; its thread alone runs what it is given."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "EventLoop":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.give_up()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, what: "Coroutine[Any, Any, T]") -> "Future[T]":
        """Begin something."""
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def do(self, what: "Coroutine[Any, Any, T]") -> T:
        """What it gives, or raises."""
        future = self.start(what)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def give_up(self) -> None:
        """End all that is under way."""
        self.start(_end()).result()


async def _end() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
