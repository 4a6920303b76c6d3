"""Which share of the dataset this process reads."""

import os
import sys
from typing import NamedTuple

from reader.checks import is_integer
from reader.errors import ArgumentError, ReaderError


class Share(NamedTuple):
    """One rank of `world_size`."""

    rank: int
    world_size: int


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    """The share that a Loader's arguments name; None if they leave it to `current_share`.

    Raises:
        ArgumentError: one is given without the other, or they contradict each other.
    """
    if rank is None and world_size is None:
        return None
    if is_integer(rank) and is_integer(world_size) and 0 <= rank < world_size:  # type: ignore[operator]
        return Share(int(rank), int(world_size))  # type: ignore[arg-type]
    raise ArgumentError(
        f"rank={rank!r} of world_size={world_size!r}: give both, as integers, rank from 0 and "
        "below world_size."
    )


def current_share() -> Share:
    """This process's share as torch.distributed says it; before that has begun, as torchrun does.

    Raises:
        ReaderError: torchrun's variables contradict each other.
    """
    distributed = sys.modules.get("torch.distributed")  # what is not imported has not begun
    if distributed and distributed.is_available() and distributed.is_initialized():
        return Share(distributed.get_rank(), distributed.get_world_size())
    rank, world_size = (os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE"))
    if not (rank.isdecimal() and world_size.isdecimal()):
        return Share(0, 1)
    if int(rank) >= int(world_size):
        raise ReaderError(
            f"The environment says RANK={rank} of WORLD_SIZE={world_size}: the rank is below the "
            "world size. Start the script with torchrun, or give rank= and world_size=."
        )
    return Share(int(rank), int(world_size))
