"""Class folders that hold the same images as others (pure)."""

from collections import Counter, defaultdict
from itertools import pairwise

from packer.sources.audit.outcome import Outcome, Question
from packer.sources.trees.shape import plain

_LEAST, _NEARLY = 3, 0.9  # files of both, and their share of the fewer
_MOST = 500  # folders that are compared
_COMPARED = 5  # files of each two

_Files = dict[tuple[object, ...], int]  # -> the number of the sample


def copied_class(outcome: Outcome) -> Question | None:
    """A class folder holds the files of another, and has its name in its own: ``dog_backup``."""
    if outcome.kind != "folder" or outcome.label_depth != 1 or len(outcome.names) > _MOST:
        return None
    each: dict[str, _Files] = defaultdict(dict)
    where: dict[tuple[object, ...], list[str]] = defaultdict(list)
    sizes = outcome.listing.sizes
    for seen in outcome.seen:
        file = (*seen.folders[1:], seen.stem, seen.ext, seen.split, int(sizes[seen.number]))
        each[seen.folders[0]][file] = seen.number
        where[file].append(seen.folders[0])
    for (one, other), both in Counter(
        pair for names in where.values() for pair in pairwise(names)
    ).items():
        shorter, longer = sorted((plain(one), plain(other)), key=len)
        fewer = min(len(each[one]), len(each[other]))
        if not shorter or shorter not in longer or both < max(_LEAST, _NEARLY * fewer):
            continue  # class folders may share images
        if _are_equal(outcome, each[one], each[other]):
            first, copy = sorted((one, other), key=lambda name: (len(name), name))
            return Question(
                f"{both} files in {copy} have the names and sizes of files in {first}: it may be "
                "a copy.",
                {
                    "It is a copy": ("--ignore", f"**/{copy}/**"),
                    "It is a class": ("--as", "folder"),
                },
            )
    return None


def _are_equal(outcome: Outcome, one: _Files, other: _Files) -> bool:
    """Return whether some images of the same names in two folders have the same bytes."""
    both = [file for file in one if file in other][:_COMPARED]
    contents = {(outcome.read(one[file]), outcome.read(other[file])) for file in both}
    is_equal = all(a is not None and a == b for a, b in contents)
    return is_equal and len(contents) > 1  # all of one picture are no copies
