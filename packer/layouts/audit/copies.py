"""Class folders that hold the same images as others (pure)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from packer.layouts.audit.outcome import Outcome, Question
from packer.trees.shape import plain

_LEAST = 3
_NEARLY = 0.9
_MOST = 500  # folders that are compared
_COMPARED = 5  # files of each two


def copied_class(outcome: Outcome) -> Question | None:
    """A class folder holds the files of another, and has its name in its own: ``dog_backup``."""
    if outcome.kind != "folder" or outcome.label_depth != 1 or len(outcome.names) > _MOST:
        return None
    sizes = outcome.listing.sizes
    files: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for seen in outcome.seen:
        file = f"{seen.stem}.{seen.ext}", int(sizes[seen.number])
        files[seen.folders[0]].add(file)
    where: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name, some in files.items():
        for file in some:
            where[file].append(name)
    for one, other in _pairs(where.values()):
        shorter, longer = sorted((plain(one), plain(other)), key=len)
        if not shorter or shorter not in longer:
            continue  # class folders may share images
        both = len(files[one] & files[other])
        fewer = min(len(files[one]), len(files[other]))
        if both >= max(_LEAST, _NEARLY * fewer) and _are_equal(outcome, one, other):
            copy = max(one, other, key=lambda name: (len(name), name))
            text = f"{both} files in {copy} have the names and sizes of files in "
            text += f"{one if copy == other else other}: it may be a copy."
            return Question(
                text,
                {
                    "It is a copy": ("--ignore", f"**/{copy}/**"),
                    "It is a class": ("--as", "folder"),
                },
            )
    return None


def _are_equal(outcome: Outcome, one: str, other: str) -> bool:
    """Return whether some images of the same names in two folders have the same bytes."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for seen in outcome.seen:
        if seen.folders[0] in (one, other):
            place = (seen.split, *seen.folders[1:], seen.stem, seen.ext)
            found[place].append(seen.number)
    both = [numbers for numbers in found.values() if len(numbers) == 2][:_COMPARED]
    contents = [tuple(map(outcome.read, numbers)) for numbers in both]
    is_equal = all(a is not None and a == b for a, b in contents)
    return is_equal and len(set(contents)) > 1  # all of one picture are no copies


def _pairs(groups: Iterable[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield each two names that follow each other in a group, once."""
    yield from dict.fromkeys(pair for names in groups for pair in pairwise(names))
