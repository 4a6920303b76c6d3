"""An epoch over a store that fails is exact, or ends in an error that names the store."""

import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("reading from a store needs Linux", allow_module_level=True)
pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")

from store_faults import FAULTS
from store_server import serving

from reader import BlockShuffle, Dataset
from tests.faults.reading import expected, loader, one_pass

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_leftovers")]

ALWAYS = 1 << 60
TIMES = {"once": 1, "3 times": 3, "for ever": ALWAYS}
ORDERS = {"shuffle": True, "blocks": BlockShuffle(1), "in turn": False}
OPTIONS = {"retry_timeout": 3, "client_options": {"read_timeout": "500ms"}}
TRIALS = list(product(FAULTS, TIMES, ORDERS))  # all of them take a quarter of an hour


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("fault", "times", "order"), TRIALS[::16])
def test_faults_are_passed_over_or_told_and_the_cache_serves_afterwards(
    fault: str, times: str, order: str, packed: Path, tmp_path: Path
) -> None:
    truth, left = expected(packed), [TIMES[times]]

    def choose(handler: Any) -> Any:
        if not handler.path.endswith(".tar") or left[0] <= 0:
            return None
        left[0] -= 1
        return FAULTS[fault]

    with serving(packed) as server:
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", storage_options=OPTIONS)
        try:
            server.fault = choose
            with loader(dataset, shuffle=ORDERS[order]) as running:
                outcome = one_pass(running, truth)
                server.fault = lambda _: None
                after = one_pass(running, truth)  # of the same cache
        finally:
            dataset.fetching.close()
        place = Path(server.url.partition("//")[2])
        assert outcome.complaint(place, len(truth)) == ""
    assert outcome.errors or times != "for ever", "nobody told of it"
    assert (after.errors, after.exact) == ([], set(truth))
