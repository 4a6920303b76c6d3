"""What is written into a store takes nothing's place."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from s3_server import S3Server, bucket

from packer.storage.writing import WritableStore
from reader import StoreError

pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    with bucket(tmp_path / "bucket") as server:
        yield server


@pytest.fixture
def store(s3: S3Server) -> WritableStore:
    return WritableStore("s3://bucket/x", s3.options, None)


do = asyncio.run


def test_an_object_is_created_once(s3: S3Server, store: WritableStore) -> None:
    assert do(store.create("a/b", b"first"))
    assert not do(store.create("a/b", b"second"))
    assert s3.objects("x") == {"a/b": b"first"}


def test_a_store_without_conditions_is_read_first(s3: S3Server, store: WritableStore) -> None:
    s3.heeds_conditions = store.heeds_conditions = False
    assert do(store.create("a", b"first"))
    assert not do(store.create("a", b"second"))
    assert s3.objects("x") == {"a": b"first"}


def test_only_an_object_that_was_seen_is_replaced(s3: S3Server, store: WritableStore) -> None:
    do(store.create("a", b"first"))
    seen = do(store.look("a"))
    assert do(store.replace("a", b"second", seen.tag))
    assert not do(store.replace("a", b"third", seen.tag))
    assert s3.objects("x") == {"a": b"second"}


def test_objects_are_listed_and_removed_once_or_twice(s3: S3Server, store: WritableStore) -> None:
    other = WritableStore("s3://bucket/xy", s3.options, None)
    do(other.create("a", b"other"))
    do(store.create("a", b"abc"))
    do(store.create("b/c", b"abcde"))
    assert {name: found.size for name, found in do(store.names()).items()} == {"a": 3, "b/c": 5}
    do(store.remove("a"))
    do(store.remove("a"))
    assert do(store.look("a")) is None
    assert list(do(store.names())) == ["b/c"]


@pytest.mark.parametrize("times", [1, 2])
def test_what_fails_for_a_time_is_retried(s3: S3Server, store: WritableStore, times: int) -> None:
    left = [times]

    def fault(handler: Any) -> int | None:
        left[0] -= 1
        return 503 if left[0] >= 0 else None

    s3.fault = fault
    assert do(store.create("a", b"abc"))
    assert s3.objects("x") == {"a": b"abc"}


def test_a_store_that_refuses_says_so(s3: S3Server, store: WritableStore) -> None:
    s3.fault = lambda handler: 403
    with pytest.raises(StoreError, match=r"s3://bucket/x/a: the store denies access"):
        do(store.create("a", b"abc"))
