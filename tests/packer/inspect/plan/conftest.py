"""The store of the reader's own tests."""

import sys

import pytest


@pytest.fixture(scope="session")
def needs_store() -> None:
    """Skips where no store can be read."""
    if sys.platform != "linux":
        pytest.skip("reading from a store needs Linux")
    pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")
