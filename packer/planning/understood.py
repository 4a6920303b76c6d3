"""What a source was understood as, in one sentence (pure)."""

from collections.abc import Sequence

import numpy as np

from packer.planning.listing import Listing

_NAMED = 3  # classes


def told(what: str, listing: Listing, classes: Sequence[str], labelled: bool = False) -> str:
    """The sentence that `packer pack` begins with.

    Args:
        what: the source was taken for, as `Reading` has it.
        listing: the samples that were found.
        classes: their names in label order.
        labelled: there are labels all the same.
    """
    count = len(listing)
    parts = [f"{count} {'image' if count == 1 else 'images'}"]
    if classes:
        names = ", ".join(classes[:_NAMED]) + ", ..." * (len(classes) > _NAMED)
        parts.append(f"{len(classes)} {'class' if len(classes) == 1 else 'classes'} ({names})")
    else:
        parts.append("labels that are numbers" if labelled else "no classes")
    splits, counts = np.unique(listing.splits, return_counts=True)
    if any(splits.tolist()) and count:
        each = zip(splits.tolist(), counts.tolist(), strict=True)
        named = ", ".join(f"{name or 'without a split'} {number}" for name, number in each)
        parts.append(f"splits {named}")
    if members := sorted(listing.members.items()):
        named_members = [f"{name}{_without(count - having)}" for name, having in members]
        parts.append(f"members {', '.join(named_members)}")
    return f"Read as {what}: {'; '.join(parts)}."


def _without(count: int) -> str:
    """How many images are without a member."""
    if not count:
        return ""
    return f" ({count} {'image' if count == 1 else 'images'} without)"
