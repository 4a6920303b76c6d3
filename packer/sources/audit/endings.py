"""Pictures beside each other in a folder that differ in a word of their names only (pure)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question, as_parts, member_of, within
from packer.sources.trees.names import (
    endings,
    have_roles,
    infixes,
    is_named_as_mask,
    is_of_masks,
    windows,
)
from packer.sources.trees.outright import literal
from packer.words import listed

_LEAST = 3  # pictures
_FEW = 4  # interpretations of one kind
_FOLDERS = 20  # that are looked at


def variants(outcome: Outcome) -> Question | None:
    """Pictures of one sample are beside each other: ``x_sat.jpg`` and ``x_mask.png``."""
    if outcome.kind != "folder":
        return None
    each: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in outcome.seen:
        each[one.split, one.folders].append(f"{one.stem}.{one.ext}")
    names = list(each.values())[:: len(each) // _FOLDERS + 1]
    texts, all_have = endings(map(windows, names))
    infix = () if texts else next(filter(None, map(infixes, names)), ())
    if not (found := texts or infix):
        return None
    found = tuple(sorted(found, key=lambda text: (_is_mask(text), is_of_masks(text), text)))
    mains = [text for text in found[:_FEW] if not _is_mask(text)] or found[:1]
    readings: dict[str, Sequence[str]] = {}
    members = {one: member_of(*one.partition(".")[::2], is_optional=not all_have) for one in found}
    for way, meaning in _ways(outcome, is_infix=bool(infix)).items():
        key = f"{way}{{part}}{{}}{{key}}" if infix else f"{way}{{key}}{{}}"
        ways = {one: key.replace("{}", literal(one), 1) for one in found}
        readings |= as_parts(f"Images have {{}}{meaning}", ways, members, *mains)
    between = "in" if infix else "at the end of"
    return Question(
        f"pictures beside each other differ in {listed(found)} {between} their names only: they "
        "may be parts of one sample.",
        readings | {"Each is a sample of its own": AS_READ},
    )


def _is_mask(ending: str) -> bool:
    """Return whether the end of a name is that of a mask, or of one of several: ``_mask_1.png``."""
    return is_named_as_mask(f"x{ending.rpartition('.')[0].rstrip('_- 0123456789')}.")


def _ways(outcome: Outcome, *, is_infix: bool) -> Mapping[str, str]:
    """Return what templates of images begin with, and what that means; none if they cannot."""
    start, levels = outcome.start, {len(folders) for folders in outcome.by_folder}
    if not outcome.names:
        return {start: ""}
    rest = "".join(f"{{folder{n}}}/" for n in range(1, max(levels))) * is_infix
    if is_infix and len(levels) > 1:
        return {}
    return {
        f"{start}{{label}}/{rest}": ", and folders are classes",
        f"{start}{'{folder}/' * is_infix}{rest}": ", and folders mean nothing",
    }


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
