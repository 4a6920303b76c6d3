"""What user callables draw depends on (seed, epoch, position), and on nothing else."""

import random
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

from reader.fields.seeding import seed_sample

DRAWS: dict[str, Callable[[], float]] = {
    "random": random.random,
    "numpy": np.random.random_sample,
    "torch": lambda: torch.rand((), dtype=torch.float64).item(),
}


def drawn(seed: int, epoch: int, position: int) -> dict[str, float]:
    seed_sample(seed, epoch, position)
    return {name: draw() for name, draw in DRAWS.items()}


@pytest.fixture(autouse=True)
def _states_are_put_back() -> object:
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])


def test_the_same_sample_draws_the_same_whatever_was_drawn_before() -> None:
    first = drawn(0, 3, 17)
    random.gauss(0, 1)  # keeps a second number for later
    np.random.standard_normal(7)
    torch.randn(3)
    assert drawn(0, 3, 17) == first


def test_no_two_samples_of_any_epoch_draw_the_same() -> None:
    places = [(seed, epoch, at) for seed in (0, 1) for epoch in range(3) for at in range(200)]
    found = [drawn(*place) for place in places]
    for name in DRAWS:
        assert len({one[name] for one in found}) == len(places)


def test_neighbouring_samples_draw_evenly_and_independently() -> None:
    values = np.array([list(drawn(0, 0, position).values()) for position in range(2000)])
    assert np.abs(values.mean(axis=0) - 0.5).max() < 0.03  # four standard errors and a half
    correlations = np.corrcoef(values[:-1].T, values[1:].T) - np.eye(6)
    assert np.abs(correlations).max() < 0.1


def test_the_generators_do_not_copy_each_other() -> None:
    assert len(set(drawn(0, 0, 0).values())) == len(DRAWS)


@pytest.mark.parametrize("place", [(-1, 0, 0), (2**70, 10**6, 10**12)])
def test_any_seed_epoch_and_position_will_do(place: tuple[int, int, int]) -> None:
    assert all(0 <= value < 1 for value in drawn(*place).values())


def test_numpys_seeds_have_more_than_32_bits() -> None:
    seed_sample(0, 0, 0)
    assert np.random.get_state()[1][0] == 2**31  # as a sequence of words leaves it
    np.random.seed(5)
    assert np.random.get_state()[1][0] == 5


def test_torch_is_not_imported_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = drawn(0, 3, 17)["random"]
    monkeypatch.delitem(sys.modules, "torch")
    seed_sample(0, 3, 17)
    assert random.random() == expected
    assert "torch" not in sys.modules
