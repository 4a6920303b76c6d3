"""Files that hold many images: CIFAR's batches, arrays, MNIST's also, and tars of samples."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from packer.errors import UnusableInput
from packer.samples.records import Skipped, Source
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.arrays.cifar import is_cifar, read_cifar
from packer.sources.scanners.arrays.idx import is_idx, read_idx
from packer.sources.scanners.arrays.named import ARRAYS, are_arrays, has_arrays, read_named
from packer.sources.scanners.arrays.source import Arrays, ArraysSource
from packer.sources.scanners.tars.source import WebDatasetSource, tars_below
from packer.sources.trees.find import split_parts
from packer.sources.trees.tar_reader import is_tar
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import TABLES
from packer.words import command


def cifar(candidate: Candidate) -> Interpretation | None:
    """CIFAR-10 and CIFAR-100, as their archives or the folders that these hold.

    The files are those of https://www.cs.toronto.edu/~kriz/cifar.html, python or binary version.
    """
    path = candidate.path
    if not is_cifar(path):
        return None
    return Interpretation("cifar", "CIFAR's files", _opening(path, partial(read_cifar, path)))


def idx(candidate: Candidate) -> Interpretation | None:
    """MNIST's IDX files, gzipped or not, and what comes in the same form: Fashion-MNIST, EMNIST.

    The format is that of http://yann.lecun.com/exdb/mnist/. torchvision has them in ``MNIST/raw``.
    """
    if not candidate.tree:
        return None
    for folder in ("", "raw"):
        path = candidate.path / folder
        if path.is_dir() and is_idx(path):
            leftovers = tuple(_beside_raw(candidate.tree)) if folder else ()
            opening = _opening(path, partial(read_idx, path))
            return Interpretation("idx", "IDX files, as MNIST has them", opening, leftovers)
    return None


def _beside_raw(tree: Tree) -> Iterator[Skipped]:
    reason = "it is beside the IDX files, and belongs to no sample"
    for name in tree.level().folders:
        if name == "processed":
            yield Skipped("../processed/", "it has the same in torch's form", ignored=True)
        elif name != "raw":
            yield Skipped(f"../{name}/", reason)
    for name in tree.names():
        yield replace(tree.ignored(name) or Skipped(name, reason), name=f"../{name}")


def arrays(candidate: Candidate) -> Interpretation | None:
    """Arrays of images and labels: MedMNIST, KMNIST, SVHN's digits, STL-10, NumPy's in general.

    A file or a folder of them, as https://medmnist.com, https://github.com/rois-codh/kmnist,
    http://ufldl.stanford.edu/housenumbers/ (format 2) and https://cs.stanford.edu/~acoates/stl10/
    have them. The names of files and arrays define the split and the content
    (``x_train.npy``, ``train_images``); images are (N, height, width) or (N, height, width, 3) of
    uint8.
    """
    path, tree = candidate.path, candidate.tree
    if tree and (not path.is_dir() or tree.level().folders or tree.level().images):
        return None
    if tree and not tree.level().counts.keys() & ARRAYS:
        return None
    files = [path / name for name in tree.names()] if tree else [path]
    if not are_arrays(files):
        return None
    reason = "it is no array of images or labels, by its name"
    others = (file.name for file in files if not has_arrays(file))
    leftovers = tuple(tree.ignored(name) or Skipped(name, reason) for name in others if tree)
    opening = _opening(path, partial(read_named, path, files))
    return Interpretation("arrays", "arrays of images and labels", opening, leftovers)


def _opening(path: Path, read: Callable[[], Arrays]) -> Callable[[Sequence[str] | None], Source]:
    return partial(ArraysSource.open, path, cache(read))  # for each order of classes


def webdataset(candidate: Candidate) -> Interpretation | None:
    """WebDataset tars: one, a folder of them, or a folder for each split.

    A sample is a run of members whose names share all up to the first dot, as in
    https://github.com/webdataset/webdataset, or up to the last one where several images would be
    one sample.
    """
    path, tree = candidate.path, candidate.tree
    parts: list[Path] = []
    if path.is_file():
        if candidate.suffix in TABLES or not is_tar(path):
            return None
    elif not tree or tree.unpack:
        return None  # it is in an archive
    elif tree.level().images or (tree.level().folders and tree.shape.below("")):
        return None  # tars beside folders of images are not the dataset
    else:
        parts = [path / name for name in split_parts(tree).values()]
    are_tars = {_are_tars(part): part.name for part in parts}
    if len(are_tars) > 1:
        raise UnusableInput(
            f"{path}: {are_tars[True]} has samples in tars, and {are_tars[False]} has none. Pack "
            "each separately, such as ",
            command(path / are_tars[True]),
        )
    if True not in are_tars and not WebDatasetSource.recognises(path, tree):
        is_asked = candidate.options.kind == "webdataset" and path.is_dir()
        if not (is_asked and tree and tars_below(tree)):  # in whatever folders
            return None

    what = "archives, one for each split" if are_tars else "WebDataset tars"
    folder = tree if path.is_dir() else None
    opening = partial(WebDatasetSource.open, path, folder, candidate.options)
    return Interpretation("webdataset", what, opening)


def _are_tars(path: Path) -> bool:
    return (path.is_dir() or is_tar(path)) and WebDatasetSource.recognises(path)
