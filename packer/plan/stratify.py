"""Stratified splits: each class is divided by the same shares, in the order of its key hashes."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from packer.errors import WrongOption
from packer.plan.existing import ExistingSamples
from packer.samples.table import SampleTable
from packer.words import are, listed, many, option


def stratify(
    listing: SampleTable,
    shares: Mapping[str, float],
    classes: Sequence[str],
    existing: ExistingSamples | None,  # samples of the same dataset, which stay where they are
) -> tuple[str, ...]:
    """Divide the samples of `listing` in place; return a remark on classes that a split lacks.

    Raises:
        WrongOption: no sample has a label.
    """
    numbers = np.flatnonzero(listing.is_in(("", *shares)))
    labels = listing.labels[numbers]
    if len(labels) and (labels < 0).all():
        raise WrongOption(
            option("stratify", True),
            " divides each class, and no sample of the source has a label. Remove ",
            option("stratify", True),
            " to divide all samples together.",
        )
    found, counts = np.unique(labels, return_counts=True)
    before = np.zeros((len(found), len(shares)), np.int64)
    if existing is not None:
        before = existing.tally(found, list(shares))
    sizes = seats(counts, np.array([*shares.values()]), before)
    order = np.lexsort((listing.key_hashes[numbers], labels))
    codes = np.repeat(np.tile(np.arange(len(shares)), len(found)), sizes.ravel())
    listing.assign(numbers[order], list(shares), codes)
    return tuple(_remark(found, before + sizes, shares, classes))


def seats(
    counts: NDArray[np.int64], shares: NDArray[np.float64], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many of the samples of each class each split gets, (classes, splits).

    A split gets its share rounded down; those with the largest remainders, the first of equal
    ones, get the rest. `before`, the samples that the splits have, count towards their shares.
    """
    exact = ((counts + before.sum(1))[:, None] * shares - before).clip(0)
    exact *= (counts / exact.sum(1))[:, None]  # to which some have more than their share
    exact = exact.round(6)  # equal remainders are equal, whatever their last bits
    found = np.floor(exact).astype(np.int64)
    rank = np.argsort(np.argsort(found - exact, axis=1, kind="stable"), axis=1)
    return found + (rank < (counts - found.sum(1))[:, None])


def _remark(
    labels: NDArray[np.int64],
    sizes: NDArray[np.int64],
    shares: Mapping[str, float],
    classes: Sequence[str],
) -> Iterator[str]:
    lacking = (sizes == 0) & np.array([share > 0 for share in shares.values()])
    names = []
    for row in np.flatnonzero(lacking.any(1)).tolist():
        name = "no label" if labels[row] < 0 else classes[labels[row]]
        without = [split for split, lacks in zip(shares, lacking[row], strict=True) if lacks]
        names.append(f"{name} ({many(int(sizes[row].sum()), 'sample')}, none in {listed(without)})")
    if names:
        yield (
            f"{len(names)} of {many(len(labels), 'class')} {are(len(names))} too small for a "
            f"sample in every split: {listed(names)}."
        )
