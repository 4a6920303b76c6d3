"""Seed the global random generators, which user code draws from, for each sample or batch."""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reader.errors import called
from reader.rng import SampleRandom, seed_of

_WORD = 1 << 64

Place = tuple[int, int]  # an epoch, and a position in it


class OtherThread(NamedTuple):
    """The place of a batch in a thread that must not seed the generators of the process."""

    epoch: int
    position: int


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


class OwnFunction:
    """Base of reader's functions of a batch, which draw from its random stream."""

    def __call__(self, batch: Any, rng: SampleRandom) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class BatchFunction:
    """Functions of a batch, one after the other; random numbers depend on the batch's place."""

    what: str
    function: Callable[..., Any] | Sequence[Callable[..., Any]]
    seed: int

    def __call__(self, batch: Any, place: Place | None) -> Any:
        """Call the function; without a `place`, a user's draws from the process's generators."""
        function = self.function
        if isinstance(function, Sequence):
            for number, one in enumerate(function):
                batch = BatchFunction(f"{self.what}[{number}]", one, self.seed)(batch, place)
            return batch
        if isinstance(function, OwnFunction):
            assert place is not None
            return function(batch, SampleRandom(seed_of(self.seed, self.what), *place))
        if place is None or isinstance(place, OtherThread) or not is_users(function):
            return called(self.what, function, batch)
        with kept_generators():
            seed_sample(self.seed, *place, self.what)
            return called(self.what, function, batch)
