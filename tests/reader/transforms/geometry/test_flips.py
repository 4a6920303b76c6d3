"""Flips come with their probability."""

import numpy as np
import pytest
from geometries import applied

from reader import (
    RandomHorizontalFlip,
)


@pytest.mark.parametrize(("p", "least", "most"), [(0.0, 0, 0), (0.3, 0.26, 0.34), (1.0, 1, 1)])
def test_a_horizontal_flip_comes_with_its_probability(p: float, least: float, most: float) -> None:
    flips = [applied(RandomHorizontalFlip(p), 8, 8, number).hflip for number in range(2000)]
    assert least <= np.mean(flips) <= most
