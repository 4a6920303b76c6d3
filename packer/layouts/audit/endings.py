"""Pictures beside each other in a folder that differ in a word of their names only (pure)."""

from collections import defaultdict
from collections.abc import Mapping

from packer.layouts.audit.outcome import Outcome, Question
from packer.layouts.folders.contents import member
from packer.trees.names import endings, infixes, is_of_masks, windows
from packer.trees.outright import by_templates, literal
from packer.words import listed

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
    found = tuple(sorted(found, key=lambda text: (is_of_masks(text), text)))
    readings = {}
    for main in found[:_FEW]:
        for way, meaning in _ways(outcome, is_infix=bool(infix)).items():
            key = f"{way}{{part}}{{}}{{key}}" if infix else f"{way}{{key}}{{}}"
            members = {_ending(one, all_have): _put(key, one) for one in found if one != main}
            words = by_templates([_put(key, main)], members)
            readings[f"Images have {main}{meaning}"] = words
    between = "in" if infix else "at the end of"
    return Question(
        f"pictures beside each other differ in {listed(found)} {between} their names only: they "
        "may be parts of one sample.",
        readings | {"Each is a sample of its own": ("--as", "folder")},
    )


def _put(key: str, text: str) -> str:
    return key.replace("{}", literal(text), 1)


def _ending(text: str, all_have: bool) -> str:
    """Return the name of a member from what a file's name ends in."""
    stem, _, ext = text.partition(".")
    name = (member(stem) or "picture") + ("" if all_have else "?")
    return f"{name}.{ext.lower()}" if ext else name


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
