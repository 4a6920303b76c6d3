"""Rules about samples that are alike: leakage between splits, contradictions, copies (pure)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from packer.report.finding import SHOWN_GROUPS, SHOWN_OF_GROUP, Finding
from packer.report.likeness import Groups
from packer.report.table import Table
from packer.words import many


def of_pairs(table: Table, exact: Groups, near: Groups, looked: int) -> Iterator[Finding]:
    """What the groups of samples that are alike mean.

    Args:
        table: of all samples.
        exact: the samples of the same bytes.
        near: those that look the same, and have not all the same bytes.
        looked: how many were compared for `near`.
    """
    both = (
        ("", exact, "byte for byte the same"),
        ("near_", near, "alike to the eye, or each other's mirror image"),
    )
    for prefix, groups, how in both:
        across = groups.differ(table.split)
        compared = f" among the {looked:,} samples looked at" if prefix else ""
        if across.any():
            shown = groups.where(across)
            yield Finding(
                f"{prefix}leakage",
                "wrong" if not prefix else "doubtful",
                "Copies in another split" if not prefix else "Near copies in another split",
                f"{many(len(shown), 'group')} of images that are {how}{compared}, over several "
                f"splits: {many(len(shown.members), 'sample')} in all. What is trained on is "
                "tested on.",
                len(shown.members),
                _shown(shown, table.split),
            )
        contradict = groups.differ(table.label) if table.has_labels else np.zeros_like(across)
        if contradict.any():
            shown = groups.where(contradict)
            yield Finding(
                f"{prefix}contradicting",
                "wrong" if not prefix else "doubtful",
                "One image, several classes" if not prefix else "Near copies of several classes",
                f"{many(len(shown), 'group')} of images that are {how}{compared}, of different "
                f"classes: {many(len(shown.members), 'sample')} in all.",
                len(shown.members),
                _shown(shown, table.label),
            )
        rest = groups.where(~across & ~contradict)
        if len(rest):
            extra = len(rest.members) - len(rest)
            yield Finding(
                f"{prefix}duplicates",
                "doubtful" if not prefix else "notable",
                "Copies" if not prefix else "Near copies",
                f"{many(len(rest), 'group')} of images that are {how}{compared}: "
                f"{many(extra, 'sample')} more than there are images."
                + (" `packer pack --dedupe` leaves such copies out." if not prefix else ""),
                len(rest.members),
                _shown(rest, table.split),
            )


def _shown(groups: Groups, values: NDArray[np.int64]) -> list[list[int]]:
    """Some samples of the first groups, those of different `values` before others."""
    found = []
    for group, _ in zip(groups, range(SHOWN_GROUPS), strict=False):
        _, first = np.unique(values[group], return_index=True)
        others = np.setdiff1d(np.arange(len(group)), first)
        order = np.concatenate([np.sort(first), others])[:SHOWN_OF_GROUP]
        found.append(group[order].tolist())
    return found
