"""Rules about the whole: classes without samples, files that were left out (pure)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.finding import Finding
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import NAMED, are, have, listed, many, shortened

_FEW = 5  # samples: no class can be learned of fewer
_RARE = 0.1  # of the usual number
_LINES = 200
_REASONS = 5
_PICTURES = 12


def class_counts(table: Table, looked: Looked) -> tuple[NDArray[np.int64], str]:
    """How many each class has, (classes, splits), and of what: samples, or boxes."""
    if table.has_labels or not len(looked.box_label):
        return table.counts, "sample"
    return table.tally(looked.box_label, table.split[looked.box_sample]), "box"


def of_classes(table: Table, looked: Looked) -> Iterator[Finding]:
    """Classes that nobody can learn, and what is not in the dataset."""
    counts, unit = class_counts(table, looked)
    total = counts.sum(axis=1)
    if total.any():
        yield from _few(table, looked, total, unit)
        if _is_of_all(table, looked, unit):
            yield from _missing(table, looked, counts, unit)
    if lost := table.rejected.count:
        reasons = [f"{shortened(why, 160)} ({n:,})" for why, n in table.rejected.reasons.items()]
        yield Finding(
            "rejected",
            "doubtful",
            "Files that were rejected",
            f"{many(lost, 'file')} of the source {are(lost)} not in the dataset. Why: "
            f"{'; '.join(reasons[:_REASONS])}{' and others' * (len(reasons) > _REASONS)}.",
            lost,
            [],
            list(table.rejected.files[:_LINES]),
        )


def _is_of_all(table: Table, looked: Looked, unit: str) -> bool:
    """Whether all samples were counted, and not those looked at alone."""
    return unit == "sample" or looked.count == len(table)


def _few(table: Table, looked: Looked, total: NDArray[np.int64], unit: str) -> Iterator[Finding]:
    is_all = _is_of_all(table, looked, unit)
    among = "" if is_all else " among the samples looked at"
    empty = np.flatnonzero(total == 0)
    if len(empty):
        names = [table.class_name(label) for label in empty.tolist()]
        yield Finding(
            "empty_classes",
            "wrong" if is_all else "doubtful",
            "Classes without samples" if unit == "sample" else "Classes without boxes",
            f"{many(len(empty), 'class')} of {len(total):,} {have(len(empty))} no {unit}{among}: "
            f"{listed([shortened(name, 60) for name in names])}.",
            len(empty),
            [],
            _unsaid([(name, f"no {unit}") for name in names]),
        )
    usual = float(np.median(total[total > 0]))
    limit = max(_FEW - 1, _RARE * usual)
    rare = np.flatnonzero((total > 0) & (total <= limit) & (total < usual))
    if len(rare):
        order = rare[np.argsort(total[rare], kind="stable")]
        lines = [(table.class_name(label), many(int(total[label]), unit)) for label in order]
        named = [f"{shortened(table.class_name(at), 60)} ({total[at]:,})" for at in order]
        yield Finding(
            "rare_classes",
            "doubtful",
            "Rare classes",
            f"{many(len(rare), 'class')} of {len(total):,} {have(len(rare))} {limit:.0f} or fewer "
            f"{'samples' if unit == 'sample' else 'boxes'}{among}, where the usual one has "
            f"{usual:,.0f}: {listed(named)}. "
            "`reader.ClassBalanced()` draws them more often.",
            len(rare),
            [_shown(table, looked, order, unit)],
            _unsaid(lines),
        )


def _unsaid(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names with a line each, where the sentence has not all of them."""
    return lines[:_LINES] if len(lines) > NAMED else []


def _shown(table: Table, looked: Looked, labels: NDArray[np.int64], unit: str) -> list[int]:
    """A sample of each of the first classes."""
    of_all = table.label if unit == "sample" else looked.box_label
    first = [int(np.argmax(of_all == label)) for label in labels[:_PICTURES].tolist()]
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
        yield Finding(
            "class_missing_in_split",
            "doubtful",
            f"Classes that {split} lacks",
            f"{many(len(lacking), 'class')} {have(len(lacking))} no {unit} in the split {split} "
            f"and some in another: {listed(names)}.",
            len(lacking),
            [_shown(table, looked, lacking, unit)],
            _unsaid([(name, f"no {unit} in {split}") for name in names]),
        )
