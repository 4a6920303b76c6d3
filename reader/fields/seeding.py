"""Seed the global random generators, which user code draws from, for each sample or batch."""

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from reader.errors import called
from reader.rng import SampleRandom, seed_of

_WORD = 1 << 64

Place = tuple[int, int]  # an epoch, and a position in it


def seed_sample(seed: int, epoch: int, position: int, what: str = "") -> None:
    """Seed `random`, `numpy.random` and, if it is imported, torch's CPU generator, in about 20 us.

    A user's function then draws numbers that depend on (seed, epoch, position), not on the worker
    (see pytorch/pytorch#5059). `what` names the function, so that two do not draw the same numbers;
    `map_sample` needs no name. A function's own generators are not seeded: albumentations 2 needs
    ``pipeline.set_random_seed(random.getrandbits(32))``.
    """
    words = SampleRandom(seed_of(seed, what) if what else seed, epoch, position)
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


def is_users(thing: object) -> bool:
    """Whether a function, or an object's class, is not reader's, so that it may draw numbers."""
    module = getattr(thing, "__module__", None) or ""  # an object has its class's
    return str(module).partition(".")[0] != "reader"


@dataclass(frozen=True)
class BatchFunction:
    """A user's function of a batch, whose random numbers depend on the batch's place."""

    what: str
    function: Callable[[Any], Any]
    seed: int

    def __call__(self, batch: Any, place: Place | None) -> Any:
        """Call the function; without a `place`, it draws from the process's own generators."""
        if place is None or not is_users(self.function):
            return called(self.what, self.function, batch)
        with kept_generators():
            seed_sample(self.seed, *place, self.what)
            return called(self.what, self.function, batch)
