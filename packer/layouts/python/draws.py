"""Random transforms of a dataset, made repeatable: a draw belongs to a sample."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def drawn(number: int | None) -> Iterator[None]:
    """Have the generators of Python, NumPy and torch that all share begin at `number` inside.

    Outside they go on where they were.
    """
    torch = sys.modules.get("torch")
    pythons, numpys = random.getstate(), np.random.get_state()
    torchs = None if torch is None else torch.get_rng_state()
    try:
        if number is not None:
            random.seed(number)
            np.random.seed(number % 2**32)
            if torch is not None:
                torch.default_generator.manual_seed(number % 2**63)
        yield
    finally:
        random.setstate(pythons)
        np.random.set_state(numpys)
        if torch is not None and torchs is not None:
            torch.set_rng_state(torchs)
