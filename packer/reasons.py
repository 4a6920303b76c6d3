"""Many files with few reasons, told in few lines (pure)."""

import re
from collections.abc import Iterable, Iterator

EXAMPLES = 10  # of each reason

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")  # names and numbers do not tell reasons apart


def told(files: Iterable[tuple[str, str]], what: str = "") -> Iterator[str]:
    """Lines that name the files: each of a few, else how many there are of a reason and examples.

    Args:
        files: (name, reason) of each.
        what: became of them; begins each line that is not an example.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, reason in files:
        groups.setdefault(_VARYING.sub("...", reason), []).append((name, reason))
    for reason, members in groups.items():
        if len(members) <= EXAMPLES:
            yield from (f"{what}{name}: {own}" for name, own in members)
            continue
        same = len({own for _, own in members}) == 1
        yield f"{what}{len(members)} files: {members[0][1] if same else reason}"
        for name, own in members[:EXAMPLES]:
            yield f"  {name}" if same else f"  {name}: {own}"
        yield f"  and {len(members) - EXAMPLES} more"
