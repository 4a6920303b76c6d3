"""Tables that hold the pixels of images."""

import os
from functools import partial

from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.arrays.pixels import PixelSource, beside, pixel_table
from packer.sources.tables.names import PREDICTED
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.shape import inside
from packer.sources.trees.walk import DELIMITERS


def pixel_tables(candidate: Candidate) -> Interpretation | None:
    """Tables of pixel values: the digits of Kaggle, FER2013, Sign Language MNIST.

    ``train.csv`` with ``label,pixel0,...,pixel783``
    (https://www.kaggle.com/c/digit-recognizer/data), or ``emotion,pixels,Usage``
    (https://www.kaggle.com/c/challenges-in-representation-learning-facial-expression-recognition-challenge).
    """
    path, tree, options = candidate.path, candidate.tree, candidate.options
    if tree is None:
        if candidate.suffix not in DELIMITERS:
            return None
        tree, names = FolderTree(path.parent), [path.name]
    elif tree.shape.below(""):
        return None
    else:
        names = [
            inside(folder, name)
            for folder, level in tree.walk()
            for suffix in DELIMITERS
            for name in level.examples.get(suffix, ())
        ]
    aside = {name for name in names if PREDICTED.search(os.path.basename(name).lower())}
    found = [pixel_table(tree, name, options) for name in names if name not in aside]
    tables = [one for one in found if one]
    if not tables:
        return None
    reason = "it is named as predictions or a submission, which are nobody's truth"
    others = beside(tree, tables, dict.fromkeys(aside, reason)) if candidate.tree else ()
    opening = partial(PixelSource.open, path, tables, tuple(others))
    return Interpretation("table", "tables of pixel values", opening, columns=True)
