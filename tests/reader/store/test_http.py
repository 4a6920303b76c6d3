"""Ranges by HTTP: exact ones, by kept connections; all other answers are left to the library."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from store_faults import FAULTS, whole_file
from store_server import StoreServer

from reader.store.http import Answer, HttpRanges, Times, Unsuited

TIMES = Times(connect=2.0, read=0.4, whole=10.0)
SHARD = "shard-000000.tar"


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[HttpRanges]:
    http = HttpRanges(TIMES)
    yield http
    for connection in [*http._busy, *chain.from_iterable(http._idle.values())]:
        connection.close()
    await asyncio.sleep(0)  # in which they end


def ranges(server: StoreServer, *spans: tuple[int, int], at_once: bool = False) -> list[Answer]:
    async def run() -> list[Answer]:
        async with opened() as http:
            requests = [http.get(f"{server.url}/{SHARD}", {}, *span) for span in spans]
            if at_once:
                return await asyncio.gather(*requests)
            return [await request for request in requests]

    return asyncio.run(run())


def closing(handler: Any) -> None:
    write = handler.answer
    handler.answer = lambda *given: write(*given[:2], {**given[2], "Connection": "close"})
    handler.serve()
    handler.answer = write


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("fault", [None, closing])
def test_ranges_come_as_they_are_however_connections_end(
    packed: Path, server: StoreServer, at_once: bool, fault: Any
) -> None:
    server.fault = lambda _: fault
    content = (packed / SHARD).read_bytes()
    spans = [(at, at + at // 3 + 1) for at in range(0, len(content) // 2, 5000)]
    for span, answer in zip(spans, ranges(server, *spans, at_once=at_once), strict=True):
        assert bytes(answer.content) == content[slice(*span)]
        assert (answer.tag, answer.size) == (f'"1-{len(content)}"', len(content))


def test_a_connection_is_used_again(server: StoreServer) -> None:
    clients: list[Any] = []
    server.fault = lambda handler: clients.append(handler.client_address)
    ranges(server, *[(0, 100)] * 20)
    assert len(clients) == 20
    assert len(set(clients)) == 1


def split_head(handler: Any) -> None:
    """Send the head of an answer in pieces."""
    write = handler.wfile.write

    def pieces(content: bytes) -> None:
        for at in range(0, len(content), 97):
            write(content[at : at + 97])
            handler.wfile.flush()
            time.sleep(0.0005)

    handler.wfile.write = pieces
    handler.serve()
    handler.wfile.write = write


def test_an_answer_that_comes_in_pieces_is_whole(packed: Path, server: StoreServer) -> None:
    server.fault = lambda _: split_head
    [answer] = ranges(server, (1000, 3000))
    assert bytes(answer.content) == (packed / SHARD).read_bytes()[1000:3000]


def changed(**headers: str) -> Any:
    """A fault that serves with other headers."""

    def serve(handler: Any) -> None:
        write = handler.answer
        others = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.answer = lambda *given: write(*given[:2], {**given[2], **others})
        handler.serve()
        handler.answer = write

    return serve


UNSUITED = {
    **{name: fault for name, fault in FAULTS.items() if name not in ("wrong bytes",)},
    "whole file": whole_file,
    "redirect": lambda handler: handler.answer(302, b"", {"Location": "http://example.org"}),
    "another range": changed(Content_Range="bytes 1-1000/20000"),
    "no range": changed(Content_Range="bytes */20000"),
    "encoded": changed(Content_Encoding="gzip"),
    "in chunks": changed(Transfer_Encoding="chunked"),
    "a long head": changed(X_Long="x" * 5000),
    "no HTTP": lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n"),
}


@pytest.mark.parametrize("fault", UNSUITED.values(), ids=list(UNSUITED))
def test_another_answer_is_unsuited_and_ends_its_connection(
    packed: Path, server: StoreServer, fault: Any
) -> None:
    clients: list[Any] = []
    content = (packed / SHARD).read_bytes()

    def choose(handler: Any) -> Any:
        clients.append(handler.client_address)
        return fault if len(clients) == 2 else None

    async def run() -> None:
        async with opened() as http:
            request = partial(http.get, f"{server.url}/{SHARD}", {}, 0, 1000)
            assert bytes((await request()).content) == content[:1000]
            with pytest.raises(Unsuited) as raised:
                await request()
            assert not isinstance(fault, int) or raised.value.status == fault
            assert bytes((await request()).content) == content[:1000]

    server.fault = choose
    asyncio.run(run())
    assert len(set(clients)) == 2


def test_the_first_bytes_of_a_refusal_come_with_it(server: StoreServer) -> None:
    text = b"<Error><Code>SlowDown</Code></Error>"
    server.fault = lambda _: lambda handler: handler.answer(503, text)
    with pytest.raises(Unsuited) as refused:
        ranges(server, (0, 1000))
    assert (refused.value.status, refused.value.content) == (503, text)


def test_no_connection_is_unsuited_too() -> None:
    for url in ("http://127.0.0.1:1/x", "http://nowhere.invalid/x", "https://127.0.0.1:1/x"):
        with pytest.raises(Unsuited):
            asyncio.run(HttpRanges(TIMES).get(url, {}, 0, 10))
