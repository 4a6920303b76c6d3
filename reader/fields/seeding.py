"""Seed the global random generators, which user code draws from, for each sample."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reader.rng import SampleRandom

_WORD = 1 << 64


def seed_sample(seed: int, epoch: int, position: int) -> None:
    """Seed `random`, `numpy.random` and, if it is imported, torch's CPU generator, in about 20 us.

    A user's function then draws numbers that depend on (seed, epoch, position), not on the worker
    (see pytorch/pytorch#5059). A function's own generators are not seeded: albumentations 2 needs
    ``pipeline.set_random_seed(random.getrandbits(32))``.
    """
    words = SampleRandom(seed, epoch, position)
    # random and numpy are both MT19937: the same seed would give the same numbers. An integer seed
    # of numpy has only 32 bits, which some of a hundred million samples would share.
    random.seed(words.integer(_WORD))
    numpys = words.integer(_WORD)
    np.random.seed((numpys >> 32, numpys & 0xFFFFFFFF))
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(words.integer(_WORD))  # of the CPU: workers use no GPU


@contextmanager
def kept_generators() -> Iterator[None]:
    torch = sys.modules.get("torch")
    state = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(state[0])
        np.random.set_state(state[1])
        if torch is not None:
            torch.set_rng_state(state[2])
