"""An epoch over a store that fails is exact, or ends in an error that names the store."""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("reading from a store needs Linux", allow_module_level=True)
pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")

from tests.faults.store import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_leftovers")]


@pytest.mark.timeout(600)
def test_faults_are_passed_over_or_told_and_the_cache_serves_afterwards() -> None:
    assert sweep(16, print) == []  # all of them take a quarter of an hour: see sweep's module
