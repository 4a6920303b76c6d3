"""What a store lists is read in the version that was listed, or not at all."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from s3_server import S3Server, bucket

from packer.storage.listing import Listed, ListingStore
from reader import StoreError

pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    with bucket(tmp_path / "bucket") as server:
        (server.folder / "x").mkdir()
        (server.folder / "x" / "a").write_bytes(b"first")
        yield server


@pytest.fixture
def store(s3: S3Server) -> ListingStore:
    return ListingStore("s3://bucket/x", s3.options, None)


do = asyncio.run


def test_a_part_is_of_the_version_that_was_listed(s3: S3Server, store: ListingStore) -> None:
    async def read() -> bytes:
        store.expect("a", (await store.names())["a"])
        return bytes(await store.part("a", 1, 4, 5))

    assert do(read()) == b"irs"
    listed = do(store.look("a"))
    (s3.folder / "x" / "a").write_bytes(b"other")
    store.expect("a", listed)
    with pytest.raises(StoreError, match=r"s3://bucket/x/a: it was replaced since it was listed"):
        do(store.part("a", 0, 5, 5))


def test_tags_that_are_listed_bare_are_those_in_quotes(s3: S3Server, store: ListingStore) -> None:
    s3.lists_bare_tags = True  # as Azure does
    tags = {listed.tag for listed in do(store.names()).values()}
    assert tags == {do(store.look("a")).tag}


def test_a_name_that_no_file_can_have_is_said_at_once(s3: S3Server, store: ListingStore) -> None:
    s3.listed_besides = {"x/b/../c": 5}
    with pytest.raises(StoreError, match=r"not valid for a file \('x/b/\.\./c'\): .* Rename"):
        do(store.names())
    assert isinstance(do(store.look("a")), Listed)
    assert do(store.look("b")) is None
