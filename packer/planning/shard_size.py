"""How large shards are: as somebody says it, and where nobody does."""

READERS = 64  # processes that may read at a time: 8 GPUs with 8 workers each
SMALLEST = 10**4  # what says less has a unit forgotten
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


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def byte_size(said: str | int, least: int = 1) -> int:
    """The number of bytes of ``500MB``, ``1GB``, ``2GiB`` or a plain number.

    Args:
        said: that.
        least: bytes it has to be.

    Raises:
        ValueError: it is not such a size, or too little; the text is a sentence.
    """
    text = str(said).strip().upper().removesuffix("B")
    number = text.rstrip("KMGTI")
    try:
        size = int(float(number) * _UNITS[text[len(number) :]])
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"{said!r} is not a size such as 500MB, 1GB or 2GiB.") from None
    if 0 < size < least:
        hint = f"Say {number.strip()}MB for megabytes, if these were meant."
        raise ValueError(f"{said!r} is {size} bytes, which is too little. {hint}")
    if size < 1:
        raise ValueError(f"{said!r} is not a size of at least one byte.")
    return size
