"""Every target for a few seconds; ``scripts/fuzz.sh`` looks longer, and knows what code it reached.

The examples are the same in every run, so that a change is to blame for what is found.
"""

import pytest
import targets
from hypothesis import HealthCheck, given, settings
from limits import limited_memory
from mutations import mutated

_EXAMPLES = min(80, settings().max_examples)
_MEMORY = 1 << 30


@pytest.mark.parametrize("name", targets.NAMES)
def test_whatever_the_input_is_it_is_read_or_refused(name: str) -> None:
    target = targets.load(name)
    seeds = list(target.seeds())
    for seed in seeds[:: max(1, len(seeds) // (2 * _EXAMPLES))]:
        target.one(seed)

    @settings(
        max_examples=_EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(seeds))
    def whatever(data: bytes) -> None:
        target.one(data)

    with limited_memory(_MEMORY):
        whatever()
