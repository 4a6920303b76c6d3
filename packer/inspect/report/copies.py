"""Groups of samples that are alike, byte for byte or to the eye, and findings on them (pure).

Samples are never compared all with all: the same bytes have the same size and checksum, and those
alike to the eye share at least one of five parts of hashes that differ in four bits at most.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import Annotated, Points
from packer.inspect.report.findings import SHOWN_OF_GROUP, UNIFORM, WEIGHTS, Finding
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Groups, Table
from packer.keys import Hashes
from packer.words import many, typed

Flags = NDArray[np.bool_]
_PARTS = (13, 13, 13, 13, 12)  # bits; one more than may differ
_FAR = 4  # bits
_APART = 6.0  # mean difference of the grey values of two images that are alike
_NEIGHBOURS = 512  # with the same part of a hash, with whom a sample is compared at most
_NEAR = 0.01  # of the image's side: boxes whose corners are no farther apart are the same
_CLASSES = 10.0  # so far apart are those of different classes


def copy_findings(
    table: Table, exact: Groups, near: Groups, looked: Looked, boxes: Mapping[int, Annotated]
) -> Iterator[Finding]:
    """Find what groups of the same bytes, and of the same looks, mean; `boxes` may be none."""
    for prefix, groups, how in (
        ("", exact, "byte for byte the same"),
        ("near_", near, "alike to the eye, or each other's mirror image"),
    ):
        copies = "Near copies" if prefix else "Copies"
        if prefix:
            how += f" among the {len(looked.numbers):,} samples looked at"
        across = groups.differ(table.split)
        other: dict[str, Flags] = {}
        if boxes:
            other["boxes"], other["classes of the boxes"] = differing(groups, boxes, looked)
        labels, contradict = other, np.zeros_like(across)
        if table.has_labels:
            contradict = groups.differ(table.label)
            labels = {**other, "classes": contradict}
        rest = ~across & ~contradict
        is_grave = _any(other, rest).any()  # one image cannot be annotated in two ways
        of_several = f"{copies} of several classes" if prefix else "One image, several classes"
        for kind, title, wanted, values, differs, is_light, text in (
            (
                *("leakage", f"{copies} in another split", across, table.split, labels, False),
                ", over several splits: {all} in all. Training uses images of the test.",
            ),
            (
                *("contradicting", of_several, contradict, table.label, other, False),
                ", of different classes: {all} in all.",
            ),
            (
                *("duplicates", copies, rest, table.split, other, not is_grave),
                ": with one of each the dataset would have {fewer} fewer.",
            ),
        ):
            if not wanted.any():
                continue
            shown = groups.where(wanted)
            count = len(shown.members)
            text = text.format(all=many(count, "sample"), fewer=many(count - len(shown), "sample"))
            sentence = f"{many(len(shown), 'group')} of images that are {how}{text}"
            sentence += _agreement(differs, wanted)
            if kind == "duplicates" and not prefix:
                sentence += f" `{typed('pack', '--dedupe')}` skips such copies."
            found = _ordered(shown, values, _any(differs, wanted))
            weight = WEIGHTS[bool(prefix) + is_light]
            yield Finding(f"{prefix}{kind}", weight, title, sentence, count, found)


def differing(
    groups: Groups, annotated: Mapping[int, Annotated], looked: Looked
) -> tuple[Flags, Flags]:
    """Return whether boxes differ in each group, and whether the classes of equal boxes do."""
    boxes, classes = np.zeros((2, len(groups)), np.bool_)
    for at, group in enumerate(groups):
        first, *others = [number for number in group.tolist() if number in annotated] or [-1]
        for other in others:
            own, theirs = _rows(annotated[first]), _rows(annotated[other])
            if looked.are_mirrored(first, other):
                theirs = (theirs * [-1, 1, -1, 1, 1] + [1, 0, 1, 0, 0])[:, [2, 1, 0, 3, 4]]
            boxes[at] |= not _same(own[:, :4], theirs[:, :4])
            classes[at] |= not _same(own, theirs)
    return boxes, classes & ~boxes


def _rows(annotated: Annotated) -> Points:
    return np.column_stack([annotated.boxes, annotated.labels * _CLASSES])


def _same(first: Points, second: Points) -> bool:
    """Return whether there are as many rows, and each is near one of the others."""
    from scipy.spatial import KDTree

    if not len(first) or len(first) != len(second):
        return len(first) == len(second)
    both = ((first, second), (second, first))
    return all(KDTree(one).query(other, p=np.inf)[0].max() <= _NEAR for one, other in both)


def _any(other: Mapping[str, Flags], wanted: Flags) -> Flags:
    return np.any([np.zeros_like(wanted), *other.values()], axis=0)[wanted]


def _agreement(other: Mapping[str, Flags], wanted: Flags) -> str:
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
    """Return the groups of `samples` (None: 0 to N) that have the same values in all columns."""
    order = np.lexsort(columns)
    differs = np.zeros(len(order) + 1, np.bool_)
    differs[[0, -1]] = True
    for column in columns:
        differs[1:-1] |= column[order][1:] != column[order][:-1]
    bounds, ordered = np.flatnonzero(differs), order if samples is None else samples[order]
    sizes = np.diff(bounds)
    several = sizes > 1  # with two samples at least
    members = ordered[: bounds[-1]][np.repeat(several, sizes)]
    return Groups(members, np.cumsum([0, *sizes[several]])[:-1])


def near_copies(table: Table, looked: Looked) -> Groups:
    """Group samples that look the same and have different bytes; skip those of one colour."""
    varied = looked.spread > 4 * UNIFORM
    hashes, mirrored = looked.hash[varied], looked.mirrored[varied]
    groups = alike(looked.numbers[varied], hashes, mirrored, looked.tiny[varied])
    return groups.where(groups.differ(table.crc32))


def alike(
    numbers: NDArray[np.int64], hashes: Hashes, mirrored: Hashes, tiny: NDArray[np.uint8]
) -> Groups:
    """Group samples that look the same, or mirrored; `tiny`: square grey images, (N, pixels)."""
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


def _candidates(hashes: Hashes) -> Iterator[NDArray[np.int64]]:
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
            octets = (hashes[first] ^ hashes[second]).view(np.uint8).reshape(-1, 8)
            near = np.unpackbits(octets, axis=1).sum(axis=1) <= _FAR
            yield np.stack([first[near], second[near]], axis=1)
