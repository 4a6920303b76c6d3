"""Finds the commands that pack all of a source that was refused: each is tried before it is named.

A command is named only if it rejects nothing, and no file that it leaves names the images; these
files are named with it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.evidence.advice import glob_of, relative
from packer.sources.evidence.described import described
from packer.sources.evidence.evidence import find_evidence
from packer.sources.evidence.readings import readings
from packer.sources.evidence.scanned import Reading, Scanned, scanned
from packer.sources.proposals.bases import bases
from packer.sources.proposals.groups import groups_of
from packer.sources.tables.texts import Evidence
from packer.sources.trees.find import tree_at
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import is_litter
from packer.words import Command, Message, choices, command

_MOST_FILES = 200_000  # that are looked at, if each folder has few
_MOST_GROUPS = 50  # of files
_LEAST, _MOST = 3, 4  # commands, with those of the refusal
_TRIED, _MOST_TRIED = 12, 240_000  # readings of folders, and files of these
_DEEP = 2  # times that lists are found


def commands_for(
    src: Path, options: SourceOptions, known: Collection[Command], packs: Collection[int] = ()
) -> Message:
    """Return the commands that keep all images of a source, a line each.

    The refusal that they follow has the `known` ones already; `packs` are the digests of what
    these pack.
    """
    most = max(_LEAST, _MOST - len(known))
    if options.has_templates or options.of_table or options.pairs:
        return Message()
    found: dict[str, tuple[str, ...]] = {}
    less: dict[str, tuple[str, ...]] = {}  # with files that they do not read
    given = tuple(word for glob in options.ignore for word in ("--ignore", glob))
    seen = {*packs}
    for reading, digest in _complete(src, options):
        words = (*reading.words, *given)
        if command(src, *words) not in known and digest not in seen:
            one = less if reading.left else found
            one.setdefault(described(reading.words, reading.left), words)
        seen.add(digest)
        if len(found) + len(less) == most:
            break
    found |= less
    return Message("\nThese commands keep all images:", choices(src, found)) if found else Message()


def _complete(src: Path, options: SourceOptions) -> Iterator[tuple[Reading, int]]:
    """Yield each reading, and a number that readings alike share."""
    try:
        tree = tree_at(src, options.ignore)
        if tree is None or not (paths := _paths(tree)):
            return
        groups = groups_of(paths)
        if len(groups) > _MOST_GROUPS:
            return
    except (UnusableInput, OSError):
        return
    each = islice(bases(groups), min(_TRIED, max(1, _MOST_TRIED // len(paths))))
    plain = [(base, _Tried(Reading(base.words), src, options)) for base in each]
    left = [(base, _with_lists(one)) for base, one in plain]
    has_any = False
    while left:  # the first of each, then the second ones
        again = []
        for base, found in left:
            if (whole := next(found, None)) is not None:
                yield whole[0], whole[1].digest
                again.append((base, found))
        left, has_any = again, has_any or bool(again)
    for base, one in plain if not has_any else ():
        if "{label" not in " ".join(base.words) and (reading := _without_lists(one)):
            yield reading, 0
            return


def _paths(tree: Tree) -> list[str]:
    """Return the files of a tree; of one with very many, the first of each folder."""
    folders = [folder for folder, _ in tree.walk()]
    found: list[str] = []
    for folder in folders:
        names = [name for name in tree.readable_names(folder) or [] if not is_litter(name)]
        found += (inside(folder, name) for name in names[: max(1, _MOST_FILES // len(folders))])
    return found


class _Tried:
    """A reading of a source, and what is known of it once it is asked for."""

    def __init__(
        self, reading: Reading, src: Path, options: SourceOptions, scan: Scanned | None = None
    ) -> None:
        self.reading, self.src, self.options = reading, src, options
        self._scan = scan

    @cached_property
    def scan(self) -> Scanned | None:
        """What it packs; None if it rejects a file, or packs nothing."""
        scan = self._scan or scanned(self.reading, self.src, self.options)
        return scan if scan is not None and len(scan.listing) else None

    @cached_property
    def evidence(self) -> Sequence[Evidence]:
        """The texts that it leaves, and that name its images."""
        scan = self.scan
        return find_evidence(scan, scan.left, self.reading.words)[0] if scan else ()


def _with_lists(tried: _Tried, deep: int = _DEEP) -> Iterator[tuple[Reading, Scanned]]:
    """Yield a reading with the lists that it leaves, and what it packs.

    Nothing is yielded if it does not keep all.
    """
    reading, scan, found = tried.reading, tried.scan, tried.evidence
    if scan is None:
        return
    if not found:
        left = tuple(relative(scan.tree, path, tried.src) for path in scan.left)
        yield replace(reading, left=left), scan
        return
    ignored = [w for f, w in pairwise(reading.words) if f == "--ignore"]
    options = reading.options(tried.options)
    for one, further in readings(found, options, scan) if deep else ():
        words = (*one.words, *(w for glob in ignored for w in ("--ignore", glob)))
        one = replace(one, words=words)
        yield from _with_lists(_Tried(one, tried.src, tried.options, further), deep - 1)


def _without_lists(tried: _Tried) -> Reading | None:
    """Return a reading that ignores the lists that it leaves."""
    reading, scan, found = tried.reading, tried.scan, tried.evidence
    if scan is None or not found:
        return None
    tree = scan.tree
    globs = dict.fromkeys(relative(tree, glob_of(tree, one.paths), tried.src) for one in found)
    words = (*reading.words, *(word for glob in globs for word in ("--ignore", glob)))
    return replace(reading, words=words)
