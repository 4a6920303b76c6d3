"""Records that other libraries have written: their files are known by their names or beginnings."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.samples.records import Source
from packer.sources.containers import ffcv as betons
from packer.sources.containers import lmdb as databases
from packer.sources.containers import mds as shards
from packer.sources.containers import recordio as recordios
from packer.sources.containers import tfrecord as tfrecords
from packer.sources.containers.entries import Container
from packer.sources.containers.splits import splits_of_files
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.rows.containers import open_container
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

_HDF5 = re.compile(r"\.(h5|hdf5?)$")


def tfrecord(candidate: Candidate) -> Interpretation | None:
    """TFRecord of `tf.Example`, in any number of files and splits.

    Such as TFDS (``NAME-SPLIT.tfrecord-00000-of-00001``), the scripts of ImageNet
    (``train-00000-of-01024``), Roboflow, the Object Detection API and Kaggle (``.tfrec``).
    """
    return _of(candidate, "TFRecord", tfrecords.NAMES.search, tfrecords.TFRecords)


def lmdb(candidate: Candidate) -> Interpretation | None:
    """LMDB, whose values are images, pickles of one and its label, or Caffe's `Datum`.

    Such as LSUN's (https://github.com/fyu/lsun), BasicSR's, folders of several databases, and those
    of https://github.com/Fangyh09/Image2LMDB.
    """
    return _of(candidate, "LMDB", databases.NAMES.search, databases.LMDB)


def mds(candidate: Candidate) -> Interpretation | None:
    """MDS, as https://docs.mosaicml.com/projects/streaming has it, with a folder for each split."""
    return _of(candidate, "MDS", shards.NAMES.search, shards.MDS)


def recordio(candidate: Candidate) -> Interpretation | None:
    """RecordIO of MXNet, as im2rec, GluonCV and insightface write it."""
    return _of(candidate, "RecordIO", recordios.NAMES.search, recordios.RecordIO)


def ffcv(candidate: Candidate) -> Interpretation | None:
    """FFCV's ``.beton``, one file for each split; see https://docs.ffcv.io/writing_datasets.html."""
    return _of(candidate, "FFCV", betons.NAMES.search, betons.Beton)


def hdf5(candidate: Candidate) -> Interpretation | None:
    """HDF5 with datasets of images and of their labels, PCam's, and images that are datasets."""
    return _of(candidate, "HDF5", _HDF5.search, _hdf5)


def _hdf5(folder: Path, files: Sequence[str]) -> Container:
    try:
        from packer.sources.containers.hdf5 import HDF5, pair_of
    except ImportError as error:
        raise UnusableInput(
            f"{folder / files[0]}: HDF5 requires h5py. Install it: pip install 'shardfeed[hdf5]'."
        ) from error
    labels = {pair_of(folder, file) for file in files}
    return HDF5(folder, tuple(file for file in files if file not in labels))


def _of(
    candidate: Candidate,
    what: str,
    names: Callable[[str], object],
    make: Callable[[Path, tuple[str, ...]], Container],
) -> Interpretation | None:
    path, tree = candidate.path, candidate.tree
    if tree is None:
        tree, files = FolderTree(path.parent), [path.name]
    elif tree.unpack or tree.shape.below(""):
        return None  # of images beside them, they are copies
    else:
        files = list(_files(tree, names))
    if not files or not all(names(name.rpartition("/")[2]) for name in files):
        return None

    def opening(classes: Sequence[str] | None) -> Source:
        container = make(tree.root, tuple(files))
        splits = splits_of_files(container.files)
        if "" in splits.values() and any(splits.values()):
            stray = next(file for file, split in splits.items() if not split)
            raise UnusableInput(
                f"{path}: {stray} does not have the name of a split, unlike other files. Pack "
                "it separately, or rename it."
            )
        return open_container(path, tree, container, candidate.options, classes, splits)

    return Interpretation("records", what, opening, columns=True)


def _files(tree: Tree, names: Callable[[str], object]) -> Iterator[str]:
    for folder, level in tree.walk():
        if any(names(name) for some in level.examples.values() for name in some):
            for name in tree.names(folder):
                if names(name) and not name.startswith("._"):
                    yield inside(folder, name)
