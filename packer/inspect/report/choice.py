"""Which samples are looked at and shown, by a seed (pure)."""

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.table import Table


def chosen(total: int, most: int, seed: int) -> NDArray[np.int64]:
    """At most `most` of `total` samples, each as likely as any other, ascending."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(seed).choice(total, most, replace=False))


def gallery(table: Table, most: int, seed: int) -> list[int]:
    """At most `most` samples to show: every class and split has its turn before one has another."""
    if not len(table):
        return []
    order = np.random.default_rng(seed).permutation(len(table))
    stratum = ((table.label + 1) * len(table.splits) + table.split)[order]
    by_stratum = np.argsort(stratum, kind="stable")
    ordered = stratum[by_stratum]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    sizes = np.diff([*starts, len(ordered)])
    turn = np.arange(len(ordered)) - np.repeat(starts, sizes)
    first = by_stratum[np.lexsort((by_stratum, turn))[:most]]
    return order[first].tolist()
