"""What the classes of a source suggest: their order, their sizes, and how splits share them."""

from collections.abc import Iterator, Sequence

import numpy as np

from packer.errors import UnusableInput, WrongOption
from packer.plan.scan import is_numbered
from packer.samples.table import SampleTable
from packer.sources.trees.outright import without
from packer.words import Message, choices, command, listed, many, option

_NAMED = 3  # classes
_SEVERAL = 10  # classes: of so many, most have more than one sample
_LEAST = 2  # samples of a split whose classes say anything
_TRAINING = ("train", "training")  # the split that others are compared with; else the largest


def by_number(names: Sequence[str], source: object) -> list[str]:
    if others := [name for name in names if not name.isdecimal()]:
        raise WrongOption(
            f"{source} has classes that are not whole numbers: {listed(others)}. To choose their "
            "order, pass all names in label order with ",
            option("classes"),
            ".",
        )
    return sorted(names, key=lambda name: (int(name), name))


def order_remark(classes: Sequence[str], source: str) -> Iterator[str]:
    """Yield a remark if classes are whole numbers in another order than that of numbers."""
    if not all(map(str.isdecimal, classes)) or list(classes) != sorted(classes):
        return
    for label, (name, other) in enumerate(zip(classes, by_number(classes, source), strict=True)):
        if name != other:
            yield Message(
                f"Classes are numbers in the order of text, as in torchvision: {name} has the "
                f"label {label}. To order them by number: ",
                command(source, "--classes", "numeric"),
            )
            return


def split_remarks(listing: SampleTable, classes: Sequence[str]) -> Iterator[str]:
    """Yield remarks on splits whose classes are not those of the training split."""
    found = _classes_of_splits(listing)
    first = _first(listing, found)
    for split, own in found.items():
        both = split, own, first, found[first]
        for one, has, other, others in (both, both[2:] + both[:2]) if split != first else ():
            if lacking := sorted(others - has):
                names = listed([classes[label] for label in lacking], _NAMED)
                count = many(len(lacking), "class")
                yield f"The split {one} has no sample of {count} of {other}: {names}."


def refuse_disjoint(
    listing: SampleTable, classes: Sequence[str], source: str, outright: Sequence[str]
) -> None:
    """Raise with the commands of each reading if folders of a split share no class with training.

    `outright` are the options that equal the layout.
    """
    found = _classes_of_splits(listing)
    first, sizes = _first(listing, found), _sizes(listing)
    for split, own in found.items() if "{label" in "".join(outright) else ():
        if own.isdisjoint(found[first]) and min(sizes[split], sizes[first]) >= _LEAST:
            each = (
                listed([repr(classes[label]) for label in sorted(labels)], _NAMED)
                for labels in (own, found[first])
            )
            readings = {
                "Each split has classes of its own": outright,
                "Folders are splits, and not classes": without("label", outright),
                "Folders are classes, and not splits": without("split", outright),
            }
            raise UnusableInput(
                f"{source}: no class of {split} ({next(each)}) is one of {first} ({next(each)}), "
                "so a model would be measured on classes that it never saw. Choose:",
                choices(source, readings),
            )


def _classes_of_splits(listing: SampleTable) -> dict[str, set[int]]:
    labels = listing.labels
    each = {split: np.unique(labels[at]) for split, at in listing.by_split().items()}
    sets = {split: {*found[found >= 0].tolist()} for split, found in each.items()}
    return {split: found for split, found in sets.items() if found}


def _sizes(listing: SampleTable) -> dict[str, int]:
    return {split: len(at) for split, at in listing.by_split().items()}


def _first(listing: SampleTable, found: dict[str, set[int]]) -> str:
    sizes = _sizes(listing)
    largest = max(found, key=lambda split: sizes[split], default="")
    return next((split for split in found if split.lower() in _TRAINING), largest)


def label_remarks(listing: SampleTable, classes: Sequence[str]) -> Iterator[str]:
    """Yield remarks if the numbers of samples suggest that labels are not classes."""
    labels = listing.labels
    counts = np.bincount(labels[labels >= 0], minlength=len(classes))
    empty = np.flatnonzero(counts == 0).tolist()
    single = int((counts == 1).sum())
    used = len(counts) - len(empty)
    if used >= _SEVERAL and 2 * single > used:
        yield Message(
            f"{single} of {used} classes have a single sample: the labels may be names of samples "
            "instead of classes. In a table, ",
            option("label_column"),
            " chooses another column.",
        )
    elif used and empty and is_numbered(classes):
        names = ", ".join(map(str, empty[:_NAMED])) + ", ..." * (len(empty) > _NAMED)
        yield (
            f"No sample has the label {names}: labels are whole numbers, and all up to the largest "
            f"are classes, {len(classes)} in all."
        )
