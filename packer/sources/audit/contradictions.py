"""What a table says of samples, and their folders say otherwise (pure)."""

from collections.abc import Mapping, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.trees.names import splits_of
from packer.words import listed, many

_SHOWN = 2


def other_splits(outcome: Outcome) -> Question | None:
    """Folders are named as splits, and a table puts some of their samples into others."""
    up = len(outcome.top)
    splits = splits_of(sorted({"".join(one.folders[up : up + 1]) for one in outcome.samples}))
    return None if outcome.is_divided else _asked(outcome, "split", up, splits)


def other_classes(outcome: Outcome) -> Question | None:
    """Folders are named as classes, and a table gives some of their samples other ones."""
    known = frozenset(outcome.classes)
    for at in range(max((len(one.folders) for one in outcome.samples), default=0)):
        names = {one.folders[at] for one in outcome.samples if at < len(one.folders)}
        if len(names) > 1 and 2 * len(names & known) >= len(names):
            named = {name: name for name in names & known}
            return _asked(outcome, "class", at, named, [*outcome.classes, ""])
    return None


def _asked(
    outcome: Outcome, what: str, at: int, named: Mapping[str, str], classes: Sequence[str] = ()
) -> Question | None:
    """Ask where a table disagrees with what the folders at a level are `named` as."""
    lists = outcome.source.facts.lists
    if outcome.kind != "table" or not lists:
        return None
    both = [
        (
            one,
            named.get("".join(one.folders[at : at + 1])),
            classes[one.label] if classes else one.split,
        )
        for one in outcome.samples
    ]
    both = [(one, own, told) for one, own, told in both if own and told]
    found = [(one, told) for one, own, told in both if own != told]
    are_numbers = all(own and own.isdecimal() for _, own, _ in both)
    if not found or (are_numbers and 2 * len(found) > len(both)):
        return None  # numbers divide files, such as 0/0/0
    shown = "; ".join(
        f"{outcome.row_of(one.name)} has {told!r} for {one.name}" for one, told in found[:_SHOWN]
    )
    return Question(
        f"{listed(lists)} and the folders disagree on the {what} of {many(len(found), 'image')}: "
        f"{shown}.",
        {f"{listed(lists)} is right": AS_READ, "The folders are right": ("--as", "folder")},
    )
