"""A dataset in a store, which is a server in a thread of the tests."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store_server import StoreServer, serving

from reader import Dataset


@pytest.fixture(scope="session")
def needs_store() -> None:
    """Skips where no store can be read."""
    if sys.platform != "linux":
        pytest.skip("reading from a store needs Linux")
    pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


@pytest.fixture
def server(packed: Path) -> Iterator[StoreServer]:
    """The packed `source`, served."""
    with serving(packed) as server:
        yield server


@pytest.fixture
def opened(server: StoreServer, tmp_path: Path) -> Iterator[Callable[..., Dataset]]:
    """`opened(split=...)`: the served dataset, with a cache of this test's."""
    found: list[Dataset] = []

    def open_dataset(**options: Any) -> Dataset:
        found.append(Dataset(server.url, **{"cache_dir": tmp_path / "cache", **options}))
        return found[-1]

    yield open_dataset
    while found:
        found.pop().fetching.close()
