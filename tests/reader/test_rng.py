"""Random numbers are even, and a pure function of seed, epoch and position."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reader.rng import SampleRandom

SEEDS = st.integers(-(2**63), 2**64)


EPOCHS = st.integers(0, 2**40)


@given(
    seed=SEEDS,
    epoch=EPOCHS,
    position=st.integers(0, 2**62),
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    bound=st.integers(1, 2**32),
)
@settings(deadline=None)
def test_random_numbers_stay_within_their_bounds_and_repeat(
    seed: int, epoch: int, position: int, low: float, width: float, bound: int
) -> None:
    def throws() -> list[float]:
        rng = SampleRandom(seed, epoch, position)
        return [rng.uniform(low, low + width), rng.integer(bound), rng.uniform()]

    first, second, third = throws()
    assert low <= first <= low + width
    assert 0 <= second < bound
    assert 0 <= third < 1
    assert throws() == [first, second, third]


def test_random_numbers_are_even_over_positions_epochs_and_seeds() -> None:
    for rng in (
        [SampleRandom(0, 0, number) for number in range(4000)],
        [SampleRandom(0, number, 0) for number in range(4000)],
        [SampleRandom(number, 0, 0) for number in range(4000)],
    ):
        floats = np.array([one.uniform() for one in rng])
        tens = Counter(one.integer(10) for one in rng)
        assert np.histogram(floats, 10, (0, 1))[0] == pytest.approx([400] * 10, abs=100)
        assert [tens[number] for number in range(10)] == pytest.approx([400] * 10, abs=100)
        assert abs(np.corrcoef(floats[:-1], floats[1:])[0, 1]) < 0.08


def test_a_number_drawn_again_and_again_is_even() -> None:
    rng = SampleRandom(5, 3, 1)
    assert np.histogram([rng.uniform() for _ in range(4000)], 10, (0, 1))[0] == pytest.approx(
        [400] * 10, abs=100
    )
