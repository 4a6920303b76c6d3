"""Values that are long are named by their first ones."""

from typing import Any

import numpy as np
import pytest

import reader


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (
            [-1] * 400,
            "400 values that begin with [-1, -1, -1, -1, -1, -1, -1, -1], where number 0 is -1.0.",
        ),
        (
            np.array([1.0] * 17 + [np.nan]),
            "18 values that begin with array([1., 1., 1., 1., 1., 1., 1., 1.]), where number 17",
        ),
        ([1, 2, np.inf], "not [1, 2, inf], where number 2 is inf."),
        ("abc", "not 'abc'."),
        ([[1, 2], [3]], "not [[1, 2], [3]]."),
    ],
)
def test_of_many_values_an_error_has_the_first_and_their_number(values: Any, shown: str) -> None:
    with pytest.raises(reader.ArgumentError) as caught:
        reader.Weighted(values)
    assert shown in str(caught.value)
