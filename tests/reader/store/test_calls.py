"""Blocking calls in threads: all at once, and what they give or raise arrives."""

import asyncio
import threading
from functools import partial

import pytest

from reader.store.calls import Calls


def test_as_many_calls_as_there_are_run_at_once_and_give_what_is_theirs() -> None:
    together = threading.Barrier(100, timeout=60)

    def call(number: int) -> int:
        together.wait()  # would break if one of them had to wait for another's end
        return number

    async def run() -> list[int]:
        calls, found = Calls(), []
        for first in (0, 100):  # the second time by the same threads
            several = (calls.run(partial(call, first + at)) for at in range(100))
            found += await asyncio.gather(*several)
        return found

    assert asyncio.run(run()) == list(range(200))


def test_a_thread_that_is_idle_is_used_again() -> None:
    async def run() -> set[int]:
        calls = Calls()
        return {await calls.run(threading.get_ident) for _ in range(50)}

    assert len(asyncio.run(run())) == 1


def test_an_error_goes_to_who_called() -> None:
    async def run() -> None:
        await Calls().run(lambda: {}["missing"])

    with pytest.raises(KeyError, match="missing"):
        asyncio.run(run())


def test_a_call_that_nobody_awaits_any_more_harms_no_other() -> None:
    async def run() -> str:
        calls, goes_on = Calls(), threading.Event()
        given_up = asyncio.ensure_future(calls.run(goes_on.wait))
        await asyncio.sleep(0)
        given_up.cancel()
        goes_on.set()
        return await calls.run(lambda: "there")

    assert asyncio.run(run()) == "there"
