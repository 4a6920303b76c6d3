"""How large shards are where nobody chooses."""

READERS = 64  # processes that may read at a time: 8 GPUs with 8 workers each
SIZES = (10**7, 2 * 10**7, 5 * 10**7, 10**8, 2 * 10**8, 5 * 10**8, 10**9)


def default_shard_size(total: int) -> tuple[int, str]:
    """The largest round size that leaves a shard for each of 64 readers, from 10 MB to 1 GB.

    So shuffling windows, ranks and the workers of readers that divide whole shards (webdataset,
    DALI) have several to choose from in a small dataset, too.

    Args:
        total: bytes of all shards.

    Returns:
        Bytes, and the reason in words.
    """
    fitting = [size for size in SIZES if size * READERS <= total]
    if not fitting:
        return SIZES[0], "smaller ones would cost more in opening files than they gain"
    if fitting[-1] == SIZES[-1]:
        return SIZES[-1], "larger ones are slow to copy and to repair, and gain nothing"
    return fitting[-1], f"{READERS} readers, as of 8 GPUs with 8 workers each, then have one each"
