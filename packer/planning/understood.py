"""What a source was understood as, in one sentence (pure)."""

from collections.abc import Mapping, Sequence

import numpy as np

from packer.planning.listing import Listing
from packer.sources.python.probes import Probed

_NAMED = 3  # classes


def told(what: str, listing: Listing, classes: Sequence[str], probed: Probed | None = None) -> str:
    """The sentence that `packer pack` begins with.

    Args:
        what: the source was taken for, as `Reading` has it.
        listing: the samples that were found.
        classes: their names in label order.
        probed: what a few items tell of labels and members that only reading all of them lists.
    """
    count = len(listing)
    splits, counts = np.unique(listing.splits, return_counts=True)
    by_split = dict(zip(splits.tolist(), counts.tolist(), strict=True))
    members = [
        f"{name}{_without(count - having)}" for name, having in sorted(listing.members.items())
    ]
    if probed is not None:
        members += probed.members
    labelled = probed is not None and probed.labelled
    return sentence(what, count, classes, by_split, members, labelled)


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
    """How many images are without a member."""
    if not count:
        return ""
    return f" ({count} {'image' if count == 1 else 'images'} without)"
