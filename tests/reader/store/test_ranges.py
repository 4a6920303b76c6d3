"""A fetching process's store: ranges come without the library, and whatever fails comes by it."""

import asyncio
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from row_files import rows_of
from store_faults import FAULTS
from store_server import StoreServer, serving

from reader import StoreError
from reader.store import ranges
from reader.store.client import Store
from reader.store.library import CLIENT, Library
from reader.store.transport import Access

pytestmark = pytest.mark.usefixtures("needs_store")

SHARD = "shard-000000.tar"
QUICK = {"retry_timeout": 1, "client_options": {"read_timeout": "300ms"}}
KEYS = {"access_key_id": "AK1", "secret_access_key": "SK", "region": "here"}


@pytest.fixture
def by_library(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what the library was asked for."""
    return noted(monkeypatch, "get_range")


def noted(monkeypatch: pytest.MonkeyPatch, verb: str) -> list[str]:
    """The names with which the library's `verb` is called from now on."""
    names: list[str] = []
    call = getattr(Library, verb)

    async def note(self: Library, name: str, *others: Any) -> Any:
        names.append(name)
        return await call(self, name, *others)

    monkeypatch.setattr(Library, verb, note)
    return names


def fast(url: str, options: Any) -> Store:
    return Store(url, options, None, ranges.opened)


def parts(store: Store, packed: Path, *starts: int) -> None:
    """Read parts one after the other, and compare them."""
    content = (packed / SHARD).read_bytes()

    async def run() -> None:
        for start in starts:
            found = await store.part(SHARD, start, start + 1000, len(content))
            assert bytes(found) == content[start : start + 1000]
        for connections in store._transport._http._idle.values():  # type: ignore[attr-defined]
            for connection in connections:
                connection.close()
        await asyncio.sleep(0)  # in which they end

    asyncio.run(run())


def test_ranges_of_one_version_come_without_the_library(
    packed: Path, server: StoreServer, by_library: list[str]
) -> None:
    store = fast(server.url, {})
    parts(store, packed, 0, 512, 2000)
    assert not by_library
    assert [head.get("if-match") for head in server.headers] == [
        None,
        *[f'"1-{(packed / SHARD).stat().st_size}"'] * 2,
    ]
    assert (store.counts.requests, store.counts.retries) == (3, 0)
    server.version = 2
    with pytest.raises(StoreError, match="it was replaced since"):
        parts(store, packed, 0)


@pytest.mark.parametrize("name", ["reset", "body cut short", "head stalls", "500", "short range"])
def test_what_fails_once_comes_by_the_library(
    packed: Path, server: StoreServer, by_library: list[str], name: str
) -> None:
    faults: list[Any] = [None, FAULTS[name]]
    server.fault = lambda _: faults.pop(0) if faults else None
    store = fast(server.url, QUICK)
    parts(store, packed, 0, 512, 2000)
    assert by_library == [SHARD]
    assert (store.counts.requests, store.counts.retries) == (3, 0)


def test_a_server_that_refuses_so_many_is_not_asked_twice(
    packed: Path, server: StoreServer, by_library: list[str]
) -> None:
    text = b"<Error><Code>SlowDown</Code></Error>"
    server.fault = lambda _: lambda handler: handler.answer(503, text)
    store = fast(server.url, {"retry_timeout": 0.1})
    most = store.gate.most
    with pytest.raises(StoreError, match=r"status 503, SlowDown, also after"):
        parts(store, packed, 0)
    assert not by_library
    assert store.gate.most == most / 2


def test_a_way_that_always_fails_is_left_for_a_while(
    packed: Path, server: StoreServer, by_library: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "_PAUSE_SECONDS", 1000.0)
    refused: list[str] = []

    def refuse(handler: Any) -> int | None:
        if handler.headers["user-agent"] == "shardfeed":
            refused.append(handler.path)
            return 403
        return None

    server.fault = refuse
    store = fast(server.url, {})
    parts(store, packed, *range(20))
    assert len(by_library) == 20
    assert len(refused) == ranges._FAILURES
    monkeypatch.setattr(store._transport, "_resumed", 0.0)
    server.fault = lambda _: None
    parts(store, packed, *range(20))
    assert len(by_library) == 20


@pytest.mark.parametrize(
    ("url", "options", "environment"), rows_of(__file__, "left_to_the_library.rows")
)
def test_what_the_library_would_send_otherwise_is_left_to_it(
    url: str, options: str, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in eval(environment).items():
        monkeypatch.setenv(name, value)
    given = eval(options, {"KEYS": KEYS})
    client = {**CLIENT, **given.get("client_options", {})}
    assert ranges._times(Access(url, given, None), client) is None


def test_times_of_options_are_understood_as_the_library_does(server: StoreServer) -> None:
    times = {"connect_timeout": "250ms", "read_timeout": datetime.timedelta(minutes=1)}
    store = fast(server.url, {"client_options": times})
    assert isinstance(store._transport, ranges.FastRanges)
    assert store._transport._http._times == (0.25, 60.0, 180.0)


@pytest.fixture
def signed(packed: Path, tmp_path: Path) -> Iterator[tuple[StoreServer, Store]]:
    """The packed `source` as s3://bucket/to/it."""
    (tmp_path / "bucket" / "to").mkdir(parents=True)
    (tmp_path / "bucket" / "to" / "it").symlink_to(packed)
    with serving(tmp_path) as server:
        options = {**KEYS, "endpoint": server.url, "retry_timeout": 1}
        yield server, fast("s3://bucket/to/it", options)


def test_an_object_is_signed_once(
    packed: Path, signed: tuple[StoreServer, Store], by_library: list[str]
) -> None:
    server, store = signed
    paths: list[str] = []
    server.fault = lambda handler: paths.append(handler.path)
    parts(store, packed, 0, 512, 2000)
    assert not by_library
    assert len({*paths}) == 1
    assert paths[0].startswith(f"/bucket/to/it/{SHARD}?X-Amz-Algorithm=AWS4")
    assert not [head for head in server.headers if "authorization" in map(str.lower, head)]


def test_an_old_or_refused_signature_is_made_anew(
    packed: Path,
    signed: tuple[StoreServer, Store],
    by_library: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, store = signed
    made = noted(monkeypatch, "sign")
    refused = [403]
    server.fault = lambda handler: refused.pop() if "?" in handler.path and refused else None
    parts(store, packed, 0, 512, 2000)
    assert by_library == [SHARD]
    assert len(made) == 2
    assert isinstance(store._transport, ranges.FastRanges)
    signed_urls = store._transport._signed
    signed_urls.update((name, (url, 0.0)) for name, (url, _) in [*signed_urls.items()])
    parts(store, packed, 0, 512)
    assert len(made) == 3


def test_a_library_that_signs_another_object_is_not_trusted(
    packed: Path,
    signed: tuple[StoreServer, Store],
    by_library: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def wrong(self: Library, name: str, valid: Any) -> str:
        return f"http://127.0.0.1:1/bucket/{name}?signed"  # without the prefix

    monkeypatch.setattr(Library, "sign", wrong)
    parts(signed[1], packed, 0)
    assert by_library == [SHARD]
