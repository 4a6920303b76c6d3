"""CIFAR-10 and CIFAR-100, as their archives or the folders that these hold.

The files are those of https://www.cs.toronto.edu/~kriz/cifar.html, python or binary version.
"""

from functools import partial

from packer.sources.archive.compressed import is_gzip
from packer.sources.arrays.cifar import CifarSource
from packer.sources.reading import Place, Reading


def recognise(place: Place) -> Reading | None:
    """A file of class names beside a batch; in an archive, a folder of that name."""
    path = place.path
    if not place.tree and not is_gzip(path):
        return None
    if not CifarSource.recognises(path):
        return None
    return Reading("cifar", "CIFAR's files", partial(CifarSource.open, path))
