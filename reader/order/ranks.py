"""Which share of the data set this process reads."""

import sys

from reader.errors import ReaderError


def rank_in_world(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """This process's rank and the world size; None to ask torch.distributed, if initialised.

    Raises:
        ReaderError: one is given without the other, or they contradict each other.
    """
    if rank is None and world_size is None:
        distributed = sys.modules.get("torch.distributed")  # what is not imported has not begun
        if distributed and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return 0, 1
    if rank is None or world_size is None or not 0 <= rank < world_size:
        raise ReaderError(
            f"rank={rank} of world_size={world_size}: give both, rank below world_size."
        )
    return rank, world_size
