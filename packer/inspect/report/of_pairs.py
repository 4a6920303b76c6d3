"""Rules about samples that are alike: leakage between splits, contradictions, copies (pure)."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.agreement import differing
from packer.inspect.report.annotations import Annotated
from packer.inspect.report.finding import SHOWN_OF_GROUP, WEIGHTS, Finding
from packer.inspect.report.likeness import Groups
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import many

Flags = NDArray[np.bool_]


def of_pairs(
    table: Table, exact: Groups, near: Groups, looked: Looked, told: Mapping[int, Annotated]
) -> Iterator[Finding]:
    """What the groups of samples that are alike mean.

    Args:
        table: of all samples.
        exact: the samples of the same bytes.
        near: those that look the same, and have not all the same bytes.
        looked: at the samples that were compared for `near`.
        told: the boxes of the samples of both; nothing: the dataset has none.
    """
    both = (
        ("", exact, "byte for byte the same"),
        ("near_", near, "alike to the eye, or each other's mirror image"),
    )
    for prefix, groups, how in both:
        across = groups.differ(table.split)
        compared = f" among the {len(looked.numbers):,} samples looked at" if prefix else ""
        other: dict[str, Flags] = {}
        if told:
            other["boxes"], other["classes of the boxes"] = differing(groups, told, looked)
        contradict = groups.differ(table.label) if table.has_labels else np.zeros_like(across)
        if across.any():
            shown = groups.where(across)
            labels = {"classes": contradict} if table.has_labels else {}
            yield Finding(
                f"{prefix}leakage",
                "wrong" if not prefix else "doubtful",
                "Copies in another split" if not prefix else "Near copies in another split",
                f"{many(len(shown), 'group')} of images that are {how}{compared}, over several "
                f"splits: {many(len(shown.members), 'sample')} in all. What is trained on is "
                f"tested on.{_agreement(other | labels, across)}",
                len(shown.members),
                _ordered(shown, table.split, _any(other | labels, across)),
            )
        if contradict.any():
            shown = groups.where(contradict)
            yield Finding(
                f"{prefix}contradicting",
                "wrong" if not prefix else "doubtful",
                "One image, several classes" if not prefix else "Near copies of several classes",
                f"{many(len(shown), 'group')} of images that are {how}{compared}, of different "
                f"classes: {many(len(shown.members), 'sample')} in all."
                f"{_agreement(other, contradict)}",
                len(shown.members),
                _ordered(shown, table.label, _any(other, contradict)),
            )
        wanted = ~across & ~contradict
        rest = groups.where(wanted)
        if len(rest):
            extra = len(rest.members) - len(rest)
            differs = _any(other, wanted)
            usual = WEIGHTS.index("notable" if prefix else "doubtful")
            yield Finding(
                f"{prefix}duplicates",
                WEIGHTS[usual - differs.any()],  # one image cannot be annotated in two ways
                "Copies" if not prefix else "Near copies",
                f"{many(len(rest), 'group')} of images that are {how}{compared}: with one of each "
                f"the dataset would have {many(extra, 'sample')} fewer."
                f"{_agreement(other, wanted)}"
                + (" `packer pack --dedupe` leaves such copies out." if not prefix else ""),
                len(rest.members),
                _ordered(rest, table.split, differs),
            )


def _any(other: Mapping[str, Flags], wanted: Flags) -> Flags:
    """Which of the wanted groups differ in anything."""
    return np.any([np.zeros_like(wanted), *other.values()], axis=0)[wanted]


def _agreement(other: Mapping[str, Flags], wanted: Flags) -> str:
    """In how many of the wanted groups something differs that should not."""
    counts = {what: int((flags & wanted).sum()) for what, flags in other.items()}
    parts = [f"the {what} in {many(count, 'group')}" for what, count in counts.items() if count]
    if parts:
        return f" What differs: {', '.join(parts)}."
    return f" The {' and the '.join(counts)} agree." if counts else ""


def _ordered(groups: Groups, values: NDArray[np.int64], differs: Flags) -> list[list[int]]:
    """The groups' samples, those that differ first; in each some of different `values` first."""
    found = []
    for group in groups:
        if len(group) > SHOWN_OF_GROUP:
            _, first = np.unique(values[group], return_index=True)
            others = np.setdiff1d(np.arange(len(group)), first)
            group = group[np.concatenate([np.sort(first), others])]
        found.append(group.tolist())
    return [found[at] for at in np.argsort(~differs, kind="stable").tolist()]
