"""The scanner of arrays: a form of them finds its arrays, and this makes samples of them.

An array of images belongs to that of their labels by its name. The labels are in memory from the
beginning, the images of one array at a time.
"""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.samples.labels import MAX_CLASSES, class_order, to_json
from packer.samples.places import Files
from packer.samples.records import Facts, Sample, Skipped
from packer.sources.trees.shape import inside

IMAGES, LABELS, COARSE = "images", "labels", "coarse labels"
MAX_SIDE = 1 << 14
FAULTS: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, KeyError)
FAULTS += (zipfile.BadZipFile, zlib.error)
FAULTS += (NotImplementedError, RuntimeError)  # of zips that are packed otherwise, or encrypted


class Name(NamedTuple):
    """The content of an array."""

    split: str
    key: str  # of its samples, before their numbers
    kind: str  # IMAGES, LABELS or COARSE; "" for anything else
    dataset: str = ""


class Array(NamedTuple):
    """An array, or what else holds numbers, in a file."""

    path: Path
    key: str  # in its file; "": it is all of it
    read: Callable[[], Any]  # may raise FAULTS
    title: str = ""  # of its samples' names, where it is not that of their keys

    def images(self) -> NDArray[np.uint8]:
        """Return images (N, height, width) or (N, height, width, channels)."""
        found = self._load()
        if not are_images(found.shape, found.dtype):
            raise UnusableInput(f"{self} has {found.shape} of {found.dtype}, which are no images.")
        return found

    def labels(self) -> NDArray[np.int64]:
        """Return class numbers (N,), or (N, classes) of 0 and 1."""
        found = self._load()
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        numbers = found.astype(np.int64) if found.dtype.kind in "biuf" else np.array(-1)
        is_shaped = found.ndim == 1 or (found.ndim == 2 and numbers.size and numbers.max() < 2)
        if not is_shaped or not np.array_equal(found, numbers) or (numbers < 0).any():
            raise UnusableInput(f"{self} has {found.shape} of {found.dtype}, which are no labels.")
        return numbers

    def _load(self) -> NDArray[Any]:
        try:
            return np.asarray(self.read())
        except FAULTS as error:
            raise UnusableInput(f"{self} is damaged or cannot be read: {error}.") from error

    def __str__(self) -> str:
        return f"{self.path}: {self.key}" if self.key else f"{self.path}"


def are_images(shape: tuple[int, ...], dtype: Any) -> bool:
    """Return whether an array is images: grey ones, or of one or three channels."""
    is_shaped = len(shape) == 3 or (len(shape) == 4 and shape[3] in (1, 3))
    return is_shaped and dtype == np.uint8 and all(0 < side <= MAX_SIDE for side in shape[1:3])


class Arrays(NamedTuple):
    """The content of a source."""

    arrays: Mapping[Name, Array]
    classes: Sequence[str] = ()  # names of the labels' numbers; empty: there are none
    others: Sequence[Skipped] = ()  # files beside those of the arrays
    digits: int = 6  # of the samples' numbers


@dataclass(frozen=True)
class ArraysSource:
    """A file with arrays, or a folder of such files."""

    path: Path
    found: Arrays
    labels: Mapping[Name, NDArray[np.int64]]  # by the name of their images, and their kind
    classes: tuple[str, ...]
    mtime_ns: int  # when the newest of its files was written

    facts = Facts()

    @classmethod
    def open(
        cls, path: Path, read: Callable[[], Arrays], classes: Sequence[str] | None = None
    ) -> "ArraysSource":
        """Return the source; `read` gives its content."""
        found = read()
        if len(sets := sorted({name.dataset for name in found.arrays})) > 1:
            raise UnusableInput(
                f"{path} holds several datasets: {', '.join(sets)}. Put the files of the one that "
                "you want into a folder of their own."
            )
        for name, array in found.arrays.items():
            if name._replace(kind=IMAGES) not in found.arrays:
                raise UnusableInput(f"{array}: the array of its images is missing.")
        labels = {name: one.labels() for name, one in found.arrays.items() if name.kind != IMAGES}
        names = found.classes
        order = class_order(path, names, classes) if names and classes else classes or names
        newest = max(os.stat(array.path).st_mtime_ns for array in found.arrays.values())
        return cls(path, found, labels, tuple(order), newest)

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the splits, train first."""
        yield from self.found.others
        labels = self._numbered()
        for name in sorted(self.found.arrays, key=lambda name: (name.split != "train", name)):
            if name.kind == IMAGES:
                of_images = (labels.get(name._replace(kind=kind)) for kind in (LABELS, COARSE))
                yield from self._samples(name, *of_images)

    def _numbered(self) -> dict[Name, NDArray[np.int64]]:
        """Return the labels by the order of the classes."""
        names, found = self.found.classes, dict(self.labels)
        own = {name: one for name, one in found.items() if name.kind == LABELS and one.ndim == 1}
        count = len(names or self.classes) or MAX_CLASSES
        ends = [end for one in own.values() if one.size for end in (one.min(), one.max())]
        first = int(bool(names and ends) and min(ends) > 0 and max(ends) == count)  # STL-10's
        order = np.array([self.classes.index(name) for name in names])
        for name, one in own.items():
            if one.size and one.max() - first >= count:
                raise UnusableInput(
                    f"{self.found.arrays[name]} has labels from {one.min()} to {one.max()}; there "
                    f"are {count} classes."
                )
            found[name] = order[one - first] if names else one
        return found

    def _samples(
        self, name: Name, labels: NDArray[np.int64] | None, coarse: NDArray[np.int64] | None
    ) -> Iterator[Sample]:
        array = self.found.arrays[name]
        images = array.images()
        for each in (labels, coarse):
            if each is not None and len(each) != len(images):
                raise UnusableInput(f"{array} has {len(images)} images, and {len(each)} labels.")
        shape = [*images.shape[1:], 1][:3]
        for row in range(len(images)):
            label, members, number = -1, dict[str, bytes](), f"{row:0{self.found.digits}}"
            if labels is not None and labels.ndim == 1:
                label = int(labels[row])
            elif labels is not None:
                members["json"] = to_json({"labels": np.flatnonzero(labels[row]).tolist()})
            if coarse is not None:
                members["coarse.cls"] = b"%d" % coarse[row]
            pixels = images[row].tobytes()
            yield Sample(
                name=inside(array.title or name.key, number),
                key=inside(name.key, number),
                label=label,
                size=len(pixels) + sum(map(len, members.values())),
                mtime_ns=self.mtime_ns,
                members=tuple(members),
                split=name.split,
                places=[[pixels, shape], *([member] for member in members.values())],
            )
