"""The global random generators, seeded for a sample: what user callables draw from."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reader.rng import SampleRandom

_WORD = 1 << 64


def seed_sample(seed: int, epoch: int, position: int) -> None:
    """Seed `random`, `numpy.random` and, if it is imported, torch's CPU generator, in about 20 us.

    What a user's function draws then depends on (seed, epoch, position), not on who runs it (see
    pytorch/pytorch#5059). Generators of its own are not reached: that of albumentations 2 needs
    ``pipeline.set_random_seed(random.getrandbits(32))``.
    """
    words = SampleRandom(seed, epoch, position)
    # A word each: random and numpy are both MT19937 and would give the same numbers for the same
    # seed. numpy takes it in two halves, as an integer seed has only 32 bits there, and some of a
    # hundred million samples would share one.
    random.seed(words.integer(_WORD))
    numpys = words.integer(_WORD)
    np.random.seed((numpys >> 32, numpys & 0xFFFFFFFF))
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(words.integer(_WORD))  # of the CPU: workers use no GPU


@contextmanager
def kept_generators() -> Iterator[None]:
    """Leave the global generators, in the end, as they were."""
    torch = sys.modules.get("torch")
    state = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(state[0])
        np.random.set_state(state[1])
        if torch is not None:
            torch.set_rng_state(state[2])
