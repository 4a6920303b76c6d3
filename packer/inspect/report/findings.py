"""What deserves a look, and the rules about images, classes and files that were left out (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import NAMED, are, have, listed, many, share, shortened

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
    """Something that deserves a look.

    Attributes:
        weight: wrong: no training can want it; doubtful: somebody should decide; notable: it may
            well be meant.
        groups: numbers of all samples that show it, of classes one each; of samples that are alike
            a group each, else one group.
        lines: (name, text) of what has no picture.
    """

    kind: str  # a word that scripts know it by
    weight: Weight
    title: str
    sentence: str  # what was found, how much of it, and what to do
    count: int  # samples, classes or files that it is about
    groups: list[list[int]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def samples(self) -> list[int]:
        """All samples that show it."""
        return [number for group in self.groups for number in group]

    @property
    def is_of_groups(self) -> bool:
        """Whether it is about samples that are alike."""
        return self.kind.endswith(_ALIKE)

    @property
    def shown(self) -> list[list[int]]:
        """The first of its samples, by group, of which there are pictures."""
        most = SHOWN_OF_GROUP if self.is_of_groups else SHOWN
        return [group[:most] for group in self.groups[:_SHOWN_GROUPS]]


def finding_of(
    samples: NDArray[np.int64] | Sequence[int],
    kind: str,
    weight: Weight,
    title: str,
    sentence: str,
    lines: Sequence[tuple[str, str]] = (),
) -> Finding:
    """Make a finding about samples, of which the first are shown."""
    groups = [[int(number) for number in samples]] if len(samples) else []
    return Finding(kind, weight, title, sentence, len(samples), groups, list(lines))


def gravest_first(finding: Finding) -> tuple[int, bool, int]:
    """Sorts by weight; then leakage comes first, as no result can be trusted, then by count."""
    is_leakage = finding.kind.endswith("leakage")
    return WEIGHTS.index(finding.weight), not is_leakage, -finding.count


def image_findings(table: Table, looked: Looked) -> Iterator[Finding]:
    """Images that are unlike the others, or show nothing."""
    if not len(table):
        return
    if looked.damages:
        count = len(looked.damages)
        sentence = (
            f"{many(count, 'sample')} of the {looked.count:,} looked at cannot be read. "
            "`packer verify` names all of them, `packer repair` makes them again."
        )
        lines = [(f"sample {number}", reason) for number, reason in sorted(looked.damages.items())]
        yield Finding("damaged", "wrong", "Damaged samples", sentence, count, [], lines)
    yield from _sizes(table)
    yield from _pixels(table, looked)


def _sizes(table: Table) -> Iterator[Finding]:
    short, long = table.short, table.long
    pixels = short * long
    usual_side, usual_pixels = float(np.median(short)), float(np.median(pixels))
    tiny = np.flatnonzero((short < _SMALL_PIXELS) & (short < _SMALL * usual_side))
    if len(tiny):
        sentence = (
            f"{_part(tiny, table)} {are(len(tiny))} less than "
            f"{min(_SMALL_PIXELS, _SMALL * usual_side):.0f} pixels high or wide, where the usual "
            f"shorter side is {usual_side:.0f}: thumbnails or icons, which a crop makes a blur."
        )
        order = tiny[np.argsort(short[tiny], kind="stable")]
        yield finding_of(order, "tiny", "doubtful", "Tiny images", sentence)
    huge = np.flatnonzero((pixels >= _LARGE_PIXELS) & (pixels > _LARGE * usual_pixels))
    if len(huge):
        sentence = (
            f"{_part(huge, table)} {have(len(huge))} more than "
            f"{_LARGE} times the usual {usual_pixels / 1e6:.2g} megapixels, up to "
            f"{pixels[huge].max() / 1e6:.3g}: they decode slowly, and `packer pack --max-side` "
            "shrinks them."
        )
        order = huge[np.argsort(-pixels[huge], kind="stable")]
        yield finding_of(order, "huge", "doubtful", "Huge images", sentence)
    ratio = long / short.clip(1)
    limit = max(_LONG, _LONGER * float(np.median(ratio)))
    long_ones = np.flatnonzero(ratio > limit)
    if len(long_ones):
        sentence = (
            f"{_part(long_ones, table)} {are(len(long_ones))} more than {limit:.3g} times "
            f"as long as wide, up to {ratio.max():,.1f}: a square crop shows little of them."
        )
        order = long_ones[np.argsort(-ratio[long_ones], kind="stable")]
        yield finding_of(order, "extreme_ratio", "doubtful", "Extreme shapes", sentence)


def _part(numbers: NDArray[np.int64], table: Table) -> str:
    """How many of all samples."""
    return f"{many(len(numbers), 'image')} ({share(len(numbers), len(table))})"


def _pixels(table: Table, looked: Looked) -> Iterator[Finding]:
    def part(flags: NDArray[np.bool_]) -> str:
        count = int(flags.sum())
        return f"{many(count, 'image')} ({share(count, len(flags))} of those looked at)"

    numbers = looked.numbers
    uniform = looked.spread < UNIFORM
    if uniform.any():
        sentence = (
            f"{part(uniform)} of nothing but one colour: a failed download, or a frame that is "
            "black."
        )
        yield finding_of(numbers[uniform], "uniform", "doubtful", "Images of one colour", sentence)
    cut_off = (looked.cut_off >= _LACKING) & ~uniform
    if cut_off.any():
        sentence = (
            f"{part(cut_off)} whose lower part is the even grey that decoders put in the place of "
            "what a file lacks: a download that broke off."
        )
        order = numbers[cut_off][np.argsort(-looked.cut_off[cut_off], kind="stable")]
        yield finding_of(order, "cut_off", "doubtful", "Images that end in grey", sentence)
    grey = looked.tint < _GREY
    rest = grey & ~uniform
    if rest.any() and grey.mean() <= _EXCEPTION:
        stored = table.channels[numbers[rest]] < 3
        sentence = (
            f"{part(rest)} without colour, {stored.sum():,} of them stored with one channel, where "
            "the others of the dataset are in colour."
        )
        yield finding_of(numbers[rest], "grey", "notable", "Grey images among colour", sentence)


def class_counts(table: Table, looked: Looked) -> tuple[NDArray[np.int64], str]:
    """How many each class has, (classes, splits), and of what: samples, or boxes."""
    if table.has_labels or not len(looked.box_label):
        return table.counts, "sample"
    return table.tally(looked.box_label, table.split[looked.box_sample]), "box"


def class_findings(table: Table, looked: Looked) -> Iterator[Finding]:
    """Classes that nobody can learn, and what is not in the dataset."""
    counts, unit = class_counts(table, looked)
    total = counts.sum(axis=1)
    if total.any():
        is_of_all = unit == "sample" or looked.count == len(table)
        yield from _few(table, looked, total, unit, is_of_all=is_of_all)
        if is_of_all:
            yield from _missing(table, looked, counts, unit)
    if lost := table.rejected.count:
        reasons = [f"{shortened(why, 160)} ({n:,})" for why, n in table.rejected.reasons.items()]
        sentence = (
            f"{many(lost, 'file')} of the source {are(lost)} not in the dataset. Why: "
            f"{'; '.join(reasons[:_REASONS])}{' and others' * (len(reasons) > _REASONS)}."
        )
        files, title = list(table.rejected.files[:_LINES]), "Files that were rejected"
        yield Finding("rejected", "doubtful", title, sentence, lost, [], files)


def _few(
    table: Table, looked: Looked, total: NDArray[np.int64], unit: str, *, is_of_all: bool
) -> Iterator[Finding]:
    """Classes of no sample or box, and of hardly any."""
    among = "" if is_of_all else " among the samples looked at"
    units = "samples" if unit == "sample" else "boxes"
    empty = np.flatnonzero(total == 0)
    if len(empty):
        names = [table.class_name(label) for label in empty.tolist()]
        sentence = (
            f"{many(len(empty), 'class')} of {len(total):,} {have(len(empty))} no {unit}{among}: "
            f"{listed([shortened(name, 60) for name in names])}."
        )
        weight: Weight = "wrong" if is_of_all else "doubtful"
        lines = _unsaid([(name, f"no {unit}") for name in names])
        title = f"Classes without {units}"
        yield Finding("empty_classes", weight, title, sentence, len(empty), [], lines)
    usual = float(np.median(total[total > 0]))
    limit = max(_FEW - 1, _RARE * usual)
    rare = np.flatnonzero((total > 0) & (total <= limit) & (total < usual))
    if len(rare):
        order = rare[np.argsort(total[rare], kind="stable")]
        named = [f"{shortened(table.class_name(at), 60)} ({total[at]:,})" for at in order]
        sentence = (
            f"{many(len(rare), 'class')} of {len(total):,} {have(len(rare))} {limit:.0f} or fewer "
            f"{units}{among}, where the usual one has {usual:,.0f}: {listed(named)}. "
            "`reader.ClassBalanced()` draws them more often."
        )
        lines = _unsaid(
            [(table.class_name(label), many(int(total[label]), unit)) for label in order]
        )
        groups = [_shown(table, looked, order, unit)]
        yield Finding(
            "rare_classes", "doubtful", "Rare classes", sentence, len(rare), groups, lines
        )


def _unsaid(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names with a line each, where the sentence has not all of them."""
    return lines[:_LINES] if len(lines) > NAMED else []


def _shown(table: Table, looked: Looked, labels: NDArray[np.int64], unit: str) -> list[int]:
    """A sample of each of the first classes."""
    of_all = table.label if unit == "sample" else looked.box_label
    first = [int(np.argmax(of_all == label)) for label in labels[:SHOWN].tolist()]
    return first if unit == "sample" else list(dict.fromkeys(looked.box_sample[first].tolist()))


def _missing(
    table: Table, looked: Looked, counts: NDArray[np.int64], unit: str
) -> Iterator[Finding]:
    """Classes that a split lacks and another one has."""
    if len(table.splits) < 2:
        return
    has = counts > 0
    for place, split in enumerate(table.splits):
        lacking = np.flatnonzero(~has[:, place] & has.any(axis=1))
        if not len(lacking) or not has[:, place].any():
            continue
        names = [shortened(table.class_name(label), 60) for label in lacking.tolist()]
        sentence = (
            f"{many(len(lacking), 'class')} {have(len(lacking))} no {unit} in the split {split} "
            f"and some in another: {listed(names)}."
        )
        yield Finding(
            "class_missing_in_split",
            "doubtful",
            f"Classes that {split} lacks",
            sentence,
            len(lacking),
            [_shown(table, looked, lacking, unit)],
            _unsaid([(name, f"no {unit} in {split}") for name in names]),
        )
