"""Pictures beside each other in a folder that differ in a word of their names only (pure)."""

from collections import defaultdict

from packer.sources.audit.outcome import AS_READ, Outcome, Question, within
from packer.sources.trees.names import (
    endings,
    glued,
    have_roles,
    infixes,
    is_named_as_mask,
    is_of_masks,
    windows,
)
from packer.words import listed

_LEAST = 3  # pictures
_FOLDERS = 20  # that are looked at


def variants(outcome: Outcome) -> Question | None:
    """Pictures of one sample are beside each other: ``x_sat.jpg`` and ``x_mask.png``.

    No sign needs to be between: ``1r.png`` and ``1d.png``. Letters before the numbers of a single
    folder may be labels, about which another question asks.
    """
    if outcome.kind != "folder":
        return None
    each: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in outcome.seen:
        each[one.split, one.folders].append(f"{one.stem}.{one.ext}")
    names = list(each.values())[:: len(each) // _FOLDERS + 1]
    texts = endings(map(windows, names))
    infix = () if texts else next(filter(None, map(infixes, names)), ())
    if not (found := texts or infix or glued(names, has_begins=bool(outcome.names))):
        return None
    found = tuple(sorted(found, key=lambda text: (is_of_masks(text), text)))
    where = " at the end of their names" if texts else " in their names" if infix else ""
    return Question(
        f"pictures beside each other differ in {listed(found)}{where} only: they may be parts of "
        "one sample.",
        {"Each is a sample of its own": AS_READ},
    )


def masks_alone(outcome: Outcome) -> Question | None:
    """All pictures of some folders are named as masks, ``x_mask.png``, and others are not."""
    each: dict[str, list[str]] = defaultdict(list)
    for one in outcome.seen:
        folder, _, name = one.name.rpartition("/")
        each[folder].append(name)
    alone = [path for path, names in each.items() if all(map(is_named_as_mask, names))]
    alone = [path for path in alone if len(each[path]) >= _LEAST]
    if not alone or len(alone) == len(each) or have_roles([p.rpartition("/")[2] for p in alone]):
        return None
    above = within(outcome.prefix or "")
    ignoring = [word for path in alone for word in ("--ignore", f"{above}{path}/*")]
    return Question(
        f"{alone[0]}/{each[alone[0]][0]} and all files beside it have names of masks, and others "
        "do not.",
        {"They are masks without images": ignoring, "They are samples": AS_READ},
    )
