"""Cases of a sweep, of which ./scripts/test.sh tries some, and --all the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Return the cases as parameters of a test, all but each `every`-th marked `slow`.

    Cases of a kind lie beside each other in a list, so that some of each are tried.
    """
    return [
        pytest.param(case, marks=pytest.mark.slow if number % every else ())
        for number, case in enumerate(cases)
    ]
