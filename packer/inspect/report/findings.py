"""Findings, and the rules about images, classes and rejected files (pure)."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import (
    NAMED,
    are,
    dropped_lines,
    have,
    in_bytes,
    listed,
    many,
    share,
    shortened,
    typed,
)
from reader.store.urls import is_url

Weight = Literal["wrong", "doubtful", "notable"]
WEIGHTS: tuple[Weight, ...] = ("wrong", "doubtful", "notable")

SHOWN = 12  # samples of a finding, as pictures
SHOWN_OF_GROUP = 4
UNIFORM = 2.5  # standard deviation of values from 0 to 255
_SHOWN_GROUPS = 8
_ALIKE = ("leakage", "contradicting", "duplicates")
_LINES = 200

_SMALL = 0.25  # of the usual shorter side
_SMALL_PIXELS = 64  # a larger one is not tiny
_LARGE = 16  # times the usual pixels
_LARGE_PIXELS = 4_000_000  # fewer are not huge
_SPARSE = 100  # pixels a byte: photographs have up to 20, scanned pages more
_LONG = 4.0  # width to height, or the other way
_LONGER = 2.5  # times the usual ratio
_GREY = 1.0  # mean distance of the channels
_LACKING = 1 / 16  # of the height
_EXCEPTION = 0.2  # of all, at most

_FEW = 5  # samples: no class can be learned of fewer
_RARE = 0.1  # of the usual number
_REASONS = 5


@dataclass(frozen=True)
class Finding:
    kind: str  # a word that scripts know it by
    weight: Weight  # no training can want it; somebody should decide; it may well be meant
    title: str
    sentence: str  # what was found, how much of it, and what to do
    count: int  # samples, classes or files that it is about
    # All samples that show it, or one for each class: those alike in a group each, others in one.
    groups: list[list[int]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)  # name, text: what has no picture

    @property
    def samples(self) -> list[int]:
        return [number for group in self.groups for number in group]

    @property
    def is_of_groups(self) -> bool:
        return self.kind.endswith(_ALIKE)

    @property
    def shown(self) -> list[list[int]]:
        """The first of its samples, by group, of which there are pictures."""
        most = SHOWN_OF_GROUP if self.is_of_groups else SHOWN
        return [group[:most] for group in self.groups[:_SHOWN_GROUPS]]

    def rank(self) -> tuple[int, bool, int]:
        """Sort by weight; then leakage first, as no result can be trusted, then by count."""
        return WEIGHTS.index(self.weight), not self.kind.endswith("leakage"), -self.count


def finding_of(
    samples: NDArray[np.int64], kind: str, weight: Weight, title: str, sentence: str
) -> Finding:
    return Finding(kind, weight, title, sentence, len(samples), [samples.tolist()])


def image_findings(table: Table, looked: Looked, dataset: str) -> Iterator[Finding]:
    if not len(table):
        return
    if looked.damages:
        count = len(looked.damages)
        sentence = (
            f"{many(count, 'sample')} of the {looked.count:,} looked at cannot be read. "
            f"`{typed('verify', dataset)}` names all of them."
        )
        if not is_url(dataset):
            sentence += (
                f" `{typed('repair', dataset, '--from', 'SRC')}` mends them, with its source."
            )
        lines = [(f"sample {number}", reason) for number, reason in sorted(looked.damages.items())]
        yield Finding("damaged", "wrong", "Damaged samples", sentence, count, [], lines)
    if lost := table.manifest.dropped:
        yield Finding(
            *("dropped", "notable", "Pages and values that no reader shows"),
            f"{'; '.join(dropped_lines(lost))}.",
            max(lost.values()),
        )
    yield from flagged(_size_rules(table), np.arange(len(table)))
    yield from flagged(_pixel_rules(table, looked), looked.numbers, " of those looked at")


# Kind, weight and title; which samples, and what the first of them have least of; the sentence.
_Rule = tuple[str, Weight, str, NDArray[np.bool_], NDArray[Any], str]


def flagged(
    rules: Iterable[_Rule], numbers: NDArray[np.int64], among: str = ""
) -> Iterator[Finding]:
    """Find the samples with these `numbers` that a rule flags, the gravest first."""
    for kind, weight, title, flags, order, sentence in rules:
        if count := int(flags.sum()):
            part = f"{many(count, 'image')} ({share(count, len(flags))}{among})"
            sentence = sentence.format(are=are(count), have=have(count))
            samples = numbers[flags][np.argsort(order[flags], kind="stable")]
            yield finding_of(samples, kind, weight, title, f"{part} {sentence}")


def _size_rules(table: Table) -> Iterator[_Rule]:
    short, long = table.short, table.long
    pixels, ratio = short * long, long / short.clip(1)
    side, usual = float(np.median(short)), float(np.median(pixels))
    yield (
        *("tiny", "doubtful", "Tiny images"),
        (short < _SMALL_PIXELS) & (short < _SMALL * side),
        short,
        f"{{are}} less than {min(_SMALL_PIXELS, _SMALL * side):.0f} pixels high or wide, where the "
        f"usual shorter side is {side:.0f}: thumbnails or icons, which blur when enlarged.",
    )
    yield (
        *("huge", "doubtful", "Huge images"),
        (pixels >= _LARGE_PIXELS) & (pixels > _LARGE * usual),
        -pixels,
        f"{{have}} more than {_LARGE} times the usual {usual / 1e6:.2g} megapixels, up to "
        f"{pixels.max() / 1e6:.3g}: they decode slowly, and `{typed('pack', '--max-side')}` "
        "shrinks them.",
    )
    sparse = (pixels >= _LARGE_PIXELS) & (pixels > _SPARSE * table.size)
    yield (
        *("bomb", "doubtful", "Images far larger than their files", sparse, -pixels),
        f"{{have}} more than {_SPARSE} pixels for each byte of the file: small files, which take "
        f"up to {in_bytes(3 * int(pixels[sparse].max(initial=0)))} of memory to decode. "
        f"`{typed('pack', '--max-pixels')}` rejects larger images.",
    )
    limit = max(_LONG, _LONGER * float(np.median(ratio)))
    yield (
        *("extreme_ratio", "doubtful", "Extreme shapes"),
        ratio > limit,
        -ratio,
        f"{{are}} more than {limit:.3g} times as long as wide, up to {ratio.max():,.1f}: a square "
        "crop shows little of them.",
    )


def _pixel_rules(table: Table, looked: Looked) -> Iterator[_Rule]:
    uniform, grey = looked.spread < UNIFORM, looked.tint < _GREY
    yield (
        *("uniform", "doubtful", "Images of one colour", uniform, looked.numbers),
        "of only one colour: failed downloads or black frames.",
    )
    yield (
        *("cut_off", "doubtful", "Images that end in grey"),
        (looked.cut_off >= _LACKING) & ~uniform,
        -looked.cut_off,
        "whose lower part is the even grey that decoders put in the place of what a file lacks: a "
        "download that broke off.",
    )
    if grey.sum() <= _EXCEPTION * len(grey):
        grey &= ~uniform
        stored = table.channels[looked.numbers[grey]] < 3
        yield (
            *("grey", "notable", "Grey images among colour", grey, looked.numbers),
            f"without colour, {stored.sum():,} of them stored with one channel, where the others "
            "of the dataset are in colour.",
        )


def class_counts(table: Table, looked: Looked) -> tuple[NDArray[np.int64], str]:
    """Count what each class has, (classes, splits), and name it: samples, or boxes."""
    if table.has_labels or not len(looked.box_label):
        return table.tally(table.label, table.split), "sample"
    return table.tally(looked.box_label, table.split[looked.box_sample]), "box"


def class_findings(table: Table, looked: Looked) -> Iterator[Finding]:
    counts, unit = class_counts(table, looked)
    rules = _class_rules(table, looked, counts, unit) if counts.any() else ()
    for kind, weight, title, labels, held, text in rules:
        if not len(labels):
            continue
        names = [table.class_name(label) for label in labels.tolist()]
        each = list(zip(names, held[labels].tolist(), strict=True))
        short = [shortened(name, 60) + f" ({own:,})" * (own > 0) for name, own in each]
        sentence = f"{many(len(labels), 'class')} {text}: {listed(short)}."
        shown = _shown(table, looked, labels[counts[labels].any(axis=1)], unit)
        groups = [shown] if shown else []
        lines = [(name, many(own, unit) if own else f"no {unit}") for name, own in each[:_LINES]]
        lines = lines if len(labels) > NAMED else []  # otherwise the sentence names all
        yield Finding(kind, weight, title, sentence, len(labels), groups, lines)
    if lost := table.rejected.count:
        reasons = [f"{shortened(why, 160)} ({n:,})" for why, n in table.rejected.reasons.items()]
        sentence = (
            f"{many(lost, 'file')} of the source {are(lost)} not in the dataset. Reasons: "
            f"{'; '.join(reasons[:_REASONS])}{' and others' * (len(reasons) > _REASONS)}."
        )
        files, title = list(table.rejected.files[:_LINES]), "Files that were rejected"
        yield Finding("rejected", "doubtful", title, sentence, lost, [], files)


# Kind, weight and title; the classes; how much each class has, of what the sentence is about.
_ClassRule = tuple[str, Weight, str, NDArray[np.int64], NDArray[np.int64], str]


def _class_rules(
    table: Table, looked: Looked, counts: NDArray[np.int64], unit: str
) -> Iterator[_ClassRule]:
    total = counts.sum(axis=1)
    is_of_all = unit == "sample" or looked.count == len(table)
    among = "" if is_of_all else " among the samples looked at"
    units = "samples" if unit == "sample" else "boxes"
    empty = np.flatnonzero(total == 0)
    yield (
        *("empty_classes", WEIGHTS[not is_of_all], f"Classes without {units}", empty, total),
        f"of {len(total):,} {have(len(empty))} no {unit}{among}",
    )
    usual = float(np.median(total[total > 0]))
    limit = min(max(_FEW - 1, int(_RARE * usual)), math.ceil(usual) - 1)
    rare = np.flatnonzero((total > 0) & (total <= limit))
    rare = rare[np.argsort(total[rare], kind="stable")]
    yield (
        *("rare_classes", "doubtful", "Rare classes", rare, total),
        f"of {len(total):,} {have(len(rare))} {limit:,} or fewer {units}{among}, where the usual "
        f"one has {usual:,.0f} (`reader.ClassBalanced()` draws rare ones more often)",
    )
    for held, split in zip(counts.T, table.splits, strict=True):
        lacking = np.flatnonzero((held == 0) & (total > 0))
        if is_of_all and held.any():
            yield (
                *("class_missing_in_split", "doubtful", f"Classes that {split} lacks"),
                *(lacking, held),
                f"{have(len(lacking))} no {unit} in the split {split} and some in another",
            )


def _shown(table: Table, looked: Looked, labels: NDArray[np.int64], unit: str) -> list[int]:
    of_all = table.label if unit == "sample" else looked.box_label
    first = [int(np.argmax(of_all == label)) for label in labels[:SHOWN].tolist()]
    return first if unit == "sample" else list(dict.fromkeys(looked.box_sample[first].tolist()))
