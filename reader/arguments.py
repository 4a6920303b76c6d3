"""What the plain arguments of a loader may be; those that need the data set are checked with it."""

import math

import numpy as np

from reader.errors import ReaderError


def check_arguments(
    batch_size: object,
    workers: object,
    seed: object,
    epochs: int | None,
    on_error: str,
    max_bad: float,
    timeout: float,
    decode: str,
    cache: str | None,
) -> None:
    """Look at arguments of `reader.Loader`, each by itself and those that exclude each other.

    Raises:
        ReaderError: one cannot be met.
    """
    if not is_count(batch_size):
        raise ReaderError(f"batch_size is an integer of at least 1, not {batch_size!r}.")
    if workers != "auto" and not is_count(workers):
        raise ReaderError(f"workers is an integer of at least 1, 'auto' or None, not {workers!r}.")
    if not isinstance(seed, (int, np.integer)):
        raise ReaderError(f"seed is an integer, not {seed!r}.")
    if epochs is not None and epochs < 1:
        raise ReaderError("epochs must be at least 1, or None for no end.")
    if on_error not in ("raise", "substitute", "mask"):
        raise ReaderError(f"on_error is 'raise', 'substitute' or 'mask', not {on_error!r}.")
    if not 0 <= max_bad <= 1:
        raise ReaderError(f"max_bad is a share from 0 to 1, not {max_bad}.")
    if not isinstance(timeout, (int, float)) or not 0 <= timeout < math.inf:
        raise ReaderError(f"timeout is a number of seconds, 0 for no end, not {timeout!r}.")
    if decode not in ("cpu", "gpu"):
        raise ReaderError(f"decode is 'cpu' or 'gpu', not {decode!r}.")
    if decode == "gpu" and cache == "decoded":
        raise ReaderError('cache="decoded" keeps what workers decode, decode="gpu" has none.')


def is_count(value: object) -> bool:
    """Whether it is an integer of at least 1."""
    return isinstance(value, (int, np.integer)) and value is not True and int(value) >= 1
