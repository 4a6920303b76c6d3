"""Numbers of channels."""

from collections.abc import Sequence
from itertools import cycle, islice

Channels = tuple[float, ...]  # a number for each channel, or one for all


def by_channel(*values: Channels) -> list[tuple[float, ...]]:
    """Return the numbers of each channel together."""
    count = max(map(len, values))
    return [*zip(*(_repeated(each, count) for each in values), strict=True)]


def _repeated(values: Channels, count: int) -> Sequence[float]:
    return [*islice(cycle(values), count)]
