"""Read a store by blocking calls in threads, awaited by an event loop.

This takes two thirds of the CPU time of the network library's own coroutines, which pass every
answer through three threads. A call begins at once, regardless of how many are running; a cancelled
one runs to its end. The threads end with the process.
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
    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]]]
        self._waiting = queue.SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._idle = 0  # threads without a call
        self._is_scheduled = False  # whether the loop will call `_deliver`

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
            except BaseException as error:  # raised in the caller
                self._done.append((future, None, error))
            if not self._is_scheduled:  # once for all calls that have finished
                self._is_scheduled = True
                try:
                    loop.call_soon_threadsafe(self._deliver)
                except RuntimeError:  # the loop is closed
                    return

    def _deliver(self) -> None:
        self._is_scheduled = False  # first: later calls schedule again
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
