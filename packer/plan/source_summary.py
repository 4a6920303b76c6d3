"""What a source was understood as, in one sentence (pure)."""

from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from packer.plan.scan import is_numbered
from packer.samples.records import Facts
from packer.samples.table import Listing
from packer.words import option

_NAMED = 3  # classes
_SEVERAL = 10  # classes: of so many, most have more than one sample


def summary(what: str, listing: Listing, classes: Sequence[str], facts: Facts) -> str:
    """Return the sentence that `packer pack` begins with; `what` is that of the `Reading`."""
    count = len(listing)
    by_split = {name: len(numbers) for name, numbers in listing.by_split().items()}
    members = [
        f"{name}{_without(count - having)}" for name, having in sorted(listing.members.items())
    ]
    members += facts.members
    return sentence(what, count, classes, by_split, members, facts.is_labelled)


def remarks(facts: Facts, listing: Listing, recorded: Container[str]) -> Iterator[str]:
    """Yield what to say of a source and of its labels.

    Args:
        recorded: extensions of members whose boxes dataset.json describes.
    """
    yield from facts.remarks
    members = listing.members
    for ext in [] if facts.remarks else facts.boxes:
        if ext in recorded and ext in members:
            mark = "?" * (members[ext] < len(listing))
            yield f'Its boxes are read by fields=("image", reader.Boxes("{ext}{mark}")).'
    unlabelled = int((listing.labels < 0).sum())
    if facts.is_late:
        return
    if unlabelled == len(listing) > 0:
        yield from facts.unlabelled()
    elif unlabelled:
        have = "has" if unlabelled == 1 else "have"
        yield f"{unlabelled} of {len(listing)} samples {have} no label: a Loader gives them -1."


def doubts(listing: Listing, classes: Sequence[str]) -> Iterator[str]:
    """Yield what the samples of the classes say of whether their labels are classes at all."""
    labels = listing.labels
    counts = np.bincount(labels[labels >= 0], minlength=len(classes))
    empty = np.flatnonzero(counts == 0).tolist()
    single = int((counts == 1).sum())
    used = len(counts) - len(empty)
    if used >= _SEVERAL and 2 * single > used:
        yield (
            f"{single} of {used} classes have a single sample: are these names or numbers of "
            f"samples, not of classes? In a table, {option('label_column')} chooses another column."
        )
    elif used and empty and is_numbered(classes):
        names = ", ".join(map(str, empty[:_NAMED])) + ", ..." * (len(empty) > _NAMED)
        yield (
            f"No sample has the label {names}: labels are whole numbers, and all up to the largest "
            f"are classes, {len(classes)} in all."
        )


def sentence(
    what: str,
    count: int,
    classes: Sequence[str],
    splits: Mapping[str, int],
    members: Sequence[str],
    labelled: bool,
) -> str:
    """What is read as `what`: images, classes, how many images each split has, and members."""
    parts = [f"{count} {'image' if count == 1 else 'images'}"]
    if classes:
        names = ", ".join(classes[:_NAMED]) + ", ..." * (len(classes) > _NAMED)
        parts.append(f"{len(classes)} {'class' if len(classes) == 1 else 'classes'} ({names})")
    else:
        parts.append("labels that are numbers" if labelled else "no classes")
    if any(splits):
        each = (f"{name or 'without a split'} {number}" for name, number in splits.items())
        parts.append(f"splits {', '.join(each)}")
    if members:
        parts.append(f"members {', '.join(members)}")
    return f"Read as {what}: {'; '.join(parts)}."


def _without(count: int) -> str:
    """Return how many images are without a member."""
    if not count:
        return ""
    return f" ({count} {'image' if count == 1 else 'images'} without)"
