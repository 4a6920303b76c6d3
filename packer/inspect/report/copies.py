"""Which samples are alike, byte for byte or to the eye, and what deserves a look of them (pure).

Samples are never compared all with all. Those of the same bytes have the same size and checksum,
which the indexes know; of those alike to the eye, at least one of five parts of their perceptual
hashes is the same, as these differ in four bits at most.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.agreement import differing
from packer.inspect.report.annotations import Annotated
from packer.inspect.report.findings import SHOWN_OF_GROUP, WEIGHTS, Finding, Weight
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Groups, Table
from packer.words import many

Flags = NDArray[np.bool_]
_PARTS = (13, 13, 13, 13, 12)  # bits; one more than may differ
_FAR = 4  # bits
_APART = 6.0  # mean difference of the grey values of two images that are alike
_NEIGHBOURS = 512  # with the same part of a hash, with whom a sample is compared at most


def copy_findings(
    table: Table, exact: Groups, near: Groups, looked: Looked, boxes: Mapping[int, Annotated]
) -> Iterator[Finding]:
    """What the groups of samples that are alike mean.

    Args:
        exact: the samples of the same bytes.
        near: those that look the same, and have not all the same bytes.
        boxes: of the samples of both; nothing: the dataset has none.
    """
    both = (
        ("", exact, "byte for byte the same"),
        ("near_", near, "alike to the eye, or each other's mirror image"),
    )
    for prefix, groups, how in both:
        copies = "Near copies" if prefix else "Copies"
        weight: Weight = "doubtful" if prefix else "wrong"
        compared = f" among the {len(looked.numbers):,} samples looked at" if prefix else ""
        across = groups.differ(table.split)
        other: dict[str, Flags] = {}
        if boxes:
            other["boxes"], other["classes of the boxes"] = differing(groups, boxes, looked)
        contradict = groups.differ(table.label) if table.has_labels else np.zeros_like(across)
        if across.any():
            shown = groups.where(across)
            labels = {"classes": contradict} if table.has_labels else {}
            sentence = (
                f"{many(len(shown), 'group')} of images that are {how}{compared}, over several "
                f"splits: {many(len(shown.members), 'sample')} in all. What is trained on is "
                f"tested on.{_agreement(other | labels, across)}"
            )
            found = _ordered(shown, table.split, _any(other | labels, across))
            kind, title = f"{prefix}leakage", f"{copies} in another split"
            yield Finding(kind, weight, title, sentence, len(shown.members), found)
        if contradict.any():
            shown = groups.where(contradict)
            sentence = (
                f"{many(len(shown), 'group')} of images that are {how}{compared}, of different "
                f"classes: {many(len(shown.members), 'sample')} in all."
                f"{_agreement(other, contradict)}"
            )
            found = _ordered(shown, table.label, _any(other, contradict))
            title = f"{copies} of several classes" if prefix else "One image, several classes"
            kind = f"{prefix}contradicting"
            yield Finding(kind, weight, title, sentence, len(shown.members), found)
        wanted = ~across & ~contradict
        rest = groups.where(wanted)
        if len(rest):
            differs = _any(other, wanted)
            usual = WEIGHTS.index("notable" if prefix else "doubtful")
            weight = WEIGHTS[usual - differs.any()]  # one image cannot be annotated in two ways
            sentence = (
                f"{many(len(rest), 'group')} of images that are {how}{compared}: with one of each "
                f"the dataset would have {many(len(rest.members) - len(rest), 'sample')} fewer."
                f"{_agreement(other, wanted)}"
                + " `packer pack --dedupe` leaves such copies out."
                * (not prefix)
            )
            found = _ordered(rest, table.split, differs)
            kind = f"{prefix}duplicates"
            yield Finding(kind, weight, copies, sentence, len(rest.members), found)


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


def same(*columns: NDArray[np.int64], samples: NDArray[np.int64] | None = None) -> Groups:
    """The groups of `samples` (None: 0 to N) that have the same values in all columns."""
    order = np.lexsort(columns)
    differs = np.zeros(len(order) + 1, np.bool_)
    differs[[0, -1]] = True
    for column in columns:
        differs[1:-1] |= column[order][1:] != column[order][:-1]
    return _grouped(order if samples is None else samples[order], np.flatnonzero(differs))


def alike(
    numbers: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    mirrored: NDArray[np.uint64],
    tiny: NDArray[np.uint8],
) -> Groups:
    """The groups of samples that look the same, or mirrored, each like one other at least.

    Args:
        numbers: of the samples, (N,).
        hashes, mirrored: perceptual, (N,), of each as it is and of its mirror image.
        tiny: grey values of a square image, (N, pixels).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, side = len(numbers), math.isqrt(tiny.shape[1])
    flipped = tiny.reshape(count, side, side)[:, :, ::-1].reshape(tiny.shape)
    both, shown = np.concatenate([hashes, mirrored]), np.concatenate([tiny, flipped])
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *_candidates(both)])
    pairs = pairs[(pairs < count).any(axis=1)]  # two mirror images are alike as their images are
    first, second = pairs.T
    far = np.abs(shown[first].astype(np.int16) - shown[second]).mean(axis=1)
    first, second = pairs[far <= _APART].T % max(count, 1)
    links = coo_array((np.ones(len(first)), (first, second)), (count, count))
    _, component = connected_components(links, directed=False)
    return same(component.astype(np.int64), samples=numbers)


def _candidates(hashes: NDArray[np.uint64]) -> Iterator[NDArray[np.int64]]:
    """Pairs of places, (pairs, 2), of hashes that differ in few bits; some come repeatedly."""
    shift = 0
    for bits in _PARTS:
        part = (hashes >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        shift += bits
        order = np.lexsort((hashes, part))
        for step in range(1, min(len(order), _NEIGHBOURS)):
            first, second = order[:-step], order[step:]
            together = part[first] == part[second]
            if not together.any():
                break
            first, second = first[together], second[together]
            near = _bits(hashes[first] ^ hashes[second]) <= _FAR
            yield np.stack([first[near], second[near]], axis=1)


def _bits(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits of each value are set."""
    octets = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return np.unpackbits(octets, axis=1).sum(axis=1)


def _grouped(ordered: NDArray[np.int64], bounds: NDArray[np.int64]) -> Groups:
    """The runs between `bounds` that have two samples at least."""
    sizes = np.diff(bounds)
    several = sizes > 1
    members = ordered[: bounds[-1]][np.repeat(several, sizes)]
    return Groups(members, np.cumsum([0, *sizes[several]])[:-1])
