"""Members in files of a tree, named by key: ``cat/0001.npy``, ``cat/0001.mask.png``."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from packer.errors import BadImage
from packer.samples.records import Place, Skipped
from packer.sources.members.known import KnownSamples, Members
from packer.sources.trees.sidecars import EXTENSION
from packer.sources.trees.tree import Tree, unnamed
from packer.sources.trees.walk import skipped


def members_of_files(tree: Tree, known: KnownSamples) -> Iterator[Members | Skipped]:
    """Yield the files of each sample in one folder together, and what belongs to none."""
    yield from tree.refused
    for found in unnamed(tree, np.empty(0, np.uint64), {}):
        if isinstance(found, Skipped):
            yield found
            continue
        samples: dict[int, dict[str, str]] = {}
        for path in found[1]:
            try:
                number, ext = _sample_of(path, known)
                if ext in samples.setdefault(number, {}):
                    raise BadImage(f"its sample has another .{ext}")
                samples[number][ext] = path
            except BadImage as error:
                yield replace(skipped(path, str(error)), damaged=True)
        for number, paths in samples.items():
            yield from _measured(tree, known.key(number), paths)


def _sample_of(path: str, known: KnownSamples) -> tuple[int, str]:
    """Return the sample whose key or name is the longest beginning of `path`, and the rest."""
    folder, slash, name = path.rpartition("/")
    end, reason = len(name), BadImage("its name is not a key with an extension")
    while (end := name.rfind(".", 0, end)) > 0:
        ext = name[end + 1 :].lower()
        if EXTENSION.fullmatch(ext):
            try:
                return known.find(f"{folder}{slash}{name[:end]}"), ext
            except BadImage as error:
                reason = error
    raise reason


def _measured(tree: Tree, key: str, paths: dict[str, str]) -> Iterator[Members | Skipped]:
    places: dict[str, Place] = {}
    size = newest = 0
    for ext, path in paths.items():
        try:
            bytes_of, written = tree.measure(path)
        except BadImage as error:
            yield Skipped.of(path, error)
            continue
        places[ext] = tree.place(path)
        size, newest = size + bytes_of, max(newest, written)
    if places:
        yield Members(key, list(paths.values()), places, size, newest)
