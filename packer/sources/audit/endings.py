"""Pictures beside each other in a folder that differ in a word of their names only (pure)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question, as_parts, member_of, within
from packer.sources.trees.names import (
    cut,
    endings,
    glued,
    have_roles,
    infixes,
    is_named_as_mask,
    is_of_masks,
    windows,
)
from packer.sources.trees.outright import literal
from packer.sources.trees.shape import may_be_masks
from packer.words import listed

_LEAST = 3  # pictures
_FEW = 4  # interpretations of one kind
_FOLDERS = 20  # that are looked at
_FILES = 10_000  # that are no images and are looked at
_MOSTLY = 0.8  # of the samples


def variants(outcome: Outcome) -> Question | None:
    """Pictures of one sample are beside each other: ``x_sat.jpg`` and ``x_mask.png``."""
    if outcome.kind != "folder":
        return None
    each: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in outcome.seen:
        each[one.split, one.folders].append(f"{one.stem}.{one.ext}")
    names = list(each.values())[:: len(each) // _FOLDERS + 1]
    texts = endings(map(windows, names))
    infix = () if texts else next(filter(None, map(infixes, names)), ())
    if not (found := texts or infix):
        return _glued(outcome, names)
    found = tuple(sorted(found, key=lambda text: (is_of_masks(text), text)))
    between = "in" if infix else "at the end of"
    return Question(
        f"pictures beside each other differ in {listed(found)} {between} their names only: they "
        "may be parts of one sample.",
        {"Each is a sample of its own": AS_READ},
    )


def _glued(outcome: Outcome, names: Collection[Sequence[str]]) -> Question | None:
    """Ask about letters that are glued to numbers: ``1r.png`` and ``1d.png``.

    In a single folder, those before numbers may be labels, and others ask.
    """
    is_before, found = False, glued(names, is_before=False)
    if not found and outcome.names:
        is_before, found = True, glued(names, is_before=True)
    if not found:
        return None
    samples = {
        (*one.folders, cut(f"{one.stem}.", is_before=is_before)[1]) for one in outcome.samples
    }
    files = Counter[tuple[str, str]]()  # that are no images
    for item in outcome.listing.skipped[:_FILES]:
        *folders, name = item.name.split("/")
        before, key, behind = cut(name, is_before=is_before)
        files[before, behind] += (*folders, key) in samples
    texts = [one for one, count in files.items() if count >= _MOSTLY * len(samples)]
    keys, members = dict[str, str](), dict[str, str]()
    rank = {one: may_be_masks("".join(one).partition(".")[0]) for one in found}
    for before, behind in [*sorted(found, key=lambda one: (rank[one], one)), *texts]:
        text, (word, _, ext) = f"{before}*{behind}", behind.partition(".")
        lacks = 0 < files[before, behind] < len(samples)
        keys[text] = f"{literal(before)}{{key}}{literal(behind)}"
        members[text] = member_of(before + word, ext, is_optional=lacks)
    mains = list(keys)[: len(found)]
    readings: dict[str, Sequence[str]] = {}
    for way, meaning in _ways(outcome, is_last=not is_before).items():
        ways = {one: way + key for one, key in keys.items()}
        readings |= as_parts(f"Images are {{}}{meaning}", ways, members, *mains[:_FEW])
    return Question(
        f"pictures beside each other are called {' and '.join(mains)}: they may be parts of one "
        "sample.",
        readings | {"Each is a sample of its own": AS_READ},
    )


def _ways(outcome: Outcome, *, is_last: bool) -> Mapping[str, str]:
    """Return what templates of images begin with, and what that means; none if they cannot.

    `is_last`: whether keys end in what differs, so that the names of folders can begin them.
    """
    start, levels = outcome.start, {len(folders) for folders in outcome.by_folder}
    if not outcome.names:
        return {start: ""}
    rest = "" if is_last else "".join(f"{{folder{n}}}/" for n in range(1, max(levels)))
    if not is_last and len(levels) > 1:
        return {}
    return {
        f"{start}{{label}}/{rest}": ", and folders are classes",
        f"{start}{'' if is_last else '{folder}/'}{rest}": ", and folders mean nothing",
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
