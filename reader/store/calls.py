"""A store that is asked by blocking calls in threads, awaited by an event loop.

This costs two thirds of the processor's time of the network library's own coroutines, which hand
every answer through three threads. A call begins at once, however many are under way; one that
nobody awaits any more runs to its end. The threads end with the process.
"""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import obstore

from reader.store.client import Store

T = TypeVar("T")


class Calls:
    """Threads of one event loop; made when there is something to call, and used again."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]]]
        self._waiting = queue.SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._idle = 0  # threads that nothing was given to
        self._is_told = False  # whether the loop is about to look at what is done

    async def run(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.put((future, call))
        if self._idle:
            self._idle -= 1
        else:
            threading.Thread(target=self._work, args=(loop,), daemon=True).start()
        return await future

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            future, call = self._waiting.get()
            try:
                self._done.append((future, call(), None))
            except BaseException as error:  # whatever it is, it is the caller's
                self._done.append((future, None, error))
            if not self._is_told:  # one call of the loop for all that was done meanwhile
                self._is_told = True
                try:
                    loop.call_soon_threadsafe(self._tell)
                except RuntimeError:  # it is closed: nobody waits
                    return

    def _tell(self) -> None:
        self._is_told = False  # first: what is done from here on calls again
        while self._done:
            future, result, error = self._done.popleft()
            self._idle += 1
            if future.cancelled():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


class CallingStore(Store):
    def __init__(self, url: str, options: dict[str, Any], provider: bytes | None) -> None:
        super().__init__(url, options, provider)
        self._calls = Calls()

    async def _got(
        self, store: Any, name: str, options: dict[str, Any], most: int
    ) -> tuple[Any, memoryview]:
        def got() -> tuple[Any, memoryview]:
            found = obstore.get(store, name, options=options)
            body = self._body(found, options, most)
            for chunk in found.stream(min_chunk_size=body.chunk):
                if body.add(chunk):
                    break
            return found.meta, body.content

        if self._provider is not None:  # it may be a coroutine
            return await super()._got(store, name, options, most)
        return await self._calls.run(got)
