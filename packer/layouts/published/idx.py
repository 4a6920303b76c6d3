"""MNIST's IDX files, gzipped or not, and what comes in the same form: Fashion-MNIST, EMNIST.

The format is that of http://yann.lecun.com/exdb/mnist/. torchvision has them in ``MNIST/raw``.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from packer.layouts.arrays.idx import IdxSource
from packer.layouts.interpretation import Place, Reading
from packer.samples.records import Skipped
from packer.trees.tree import Tree


def recognise(place: Place) -> Reading | None:
    """A folder with files named as MNIST's are, or whose ``raw`` has them."""
    if not place.tree:
        return None
    for folder in ("", "raw"):
        path = place.path / folder
        if path.is_dir() and IdxSource.recognises(path):
            beside = tuple(_beside(place.tree)) if folder else ()
            opening = partial(IdxSource.open, path)
            return Reading("idx", "IDX files, as MNIST has them", opening, beside)
    return None


def _beside(tree: Tree) -> Iterator[Skipped]:
    """What lies beside ``raw``."""
    for name in tree.level().folders:
        if name == "processed":
            yield Skipped("../processed/", "it has the same in torch's form", ignored=True)
        elif name != "raw":
            yield Skipped(f"../{name}/", "it lies beside the IDX files and belongs to nothing")
    for name in tree.names():
        stray = Skipped(name, "it lies beside the IDX files and belongs to nothing")
        yield replace(tree.ignored(name) or stray, name=f"../{name}")
