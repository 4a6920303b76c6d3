"""CIFAR-10 and CIFAR-100, as their archives or the folders that these hold.

The files are those of https://www.cs.toronto.edu/~kriz/cifar.html, python or binary version.
"""

from functools import partial

from packer.layouts.arrays.cifar import CifarSource
from packer.layouts.interpretation import Place, Reading
from packer.trees.compressed import is_gzip


def recognise(place: Place) -> Reading | None:
    """A file of class names beside a batch; in an archive, a folder of that name."""
    path = place.path
    if not place.tree and not is_gzip(path):
        return None
    if not CifarSource.recognises(path):
        return None
    return Reading("cifar", "CIFAR's files", partial(CifarSource.open, path))
