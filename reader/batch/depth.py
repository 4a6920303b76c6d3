"""How many samples a task has, how many batches are decoded ahead, and in how many slots (pure)."""

from reader.batch.layout import BatchLayout

_AHEAD_BYTES = 64 << 20  # small batches are decoded further ahead, up to this much memory
_MAX_AHEAD = 16
_MAX_CHUNK = 32
_MAX_GATHERED = 4096
_LENT = 2  # batches that the consumer may hold meanwhile


def chunk_size(batch_size: int, workers: int, is_gathered: bool) -> int:
    """Samples a task, so that each worker has a part of a batch unless it gathers all at once."""
    if is_gathered:
        return min(_MAX_GATHERED, batch_size)
    return min(_MAX_CHUNK, -(-batch_size // workers))


def depth_of(layout: BatchLayout, in_hand: int) -> int:
    """Batches to decode ahead: enough for every worker to hold one chunk and find another.

    Args:
        in_hand: samples in all chunks that the workers hold.
    """
    for_workers = 1 + -(-2 * in_hand // layout.rows)
    return max(2, for_workers, min(_MAX_AHEAD, _AHEAD_BYTES // layout.slot_bytes))


def slots_of(depth: int) -> int:
    """Batches that there is memory for, where so many are decoded ahead."""
    return depth + _LENT
