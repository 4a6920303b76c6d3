"""MNIST's IDX files, gzipped or not, and what comes in the same form: Fashion-MNIST, EMNIST.

The format is that of http://yann.lecun.com/exdb/mnist/.
"""

from functools import partial

from packer.sources.arrays.idx import IdxSource
from packer.sources.reading import Place, Reading


def recognise(place: Place) -> Reading | None:
    """A folder with files named as MNIST's are."""
    if not place.tree or not IdxSource.recognises(place.path):
        return None
    return Reading("idx", "IDX files, as MNIST has them", partial(IdxSource.open, place.path))
