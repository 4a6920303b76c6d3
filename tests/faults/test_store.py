"""An epoch over a store that fails is exact, or ends in an error that names the store."""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("reading from a store needs Linux", allow_module_level=True)
pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")

from tests.faults.store import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_leftovers")]


@pytest.mark.timeout(1200)
def test_every_fault_is_passed_over_or_told_and_the_cache_serves_afterwards() -> None:
    assert sweep(1, print) == []
