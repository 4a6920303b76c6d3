"""HDF5: datasets of images beside those of their labels, read by h5py.

The datasets of a group that have one length are its columns; a split is a group, or a word in the
names (``x_train``). In a group whose datasets all are images each of these is a sample. PCam's
labels are in a file of their own, ``NAME_y.h5`` beside ``NAME_x.h5``.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.lib import format as npy

from packer.samples.hdf5 import FAULTS, WHOLE, content, is_channels_first, opened
from packer.samples.records import Skipped
from packer.sources.containers.entries import HEAD, Blob, Container, Entry, stem_of
from packer.sources.trees.names import split_of
from packer.sources.trees.shape import inside

_CLASSES = re.compile(r"(list_?)?class(es|_?names)|label_?names|categories", re.IGNORECASE)
_LABELS = re.compile(r"labels?|y|targets?", re.IGNORECASE)
_HELD = 1 << 26  # bytes of a column that is read at once
_FEW = 64  # numbers of a row that go into the JSON
_MEANINGLESS = ("set", "orig")  # words in names
_CHANNELS = (1, 3)


@dataclass
class _Group:
    """Datasets of one group and one split, by their names without the split."""

    path: str  # without the split
    split: str
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_images(self) -> bool:
        """Whether each dataset is one image."""
        several = len(self.columns) > 1 or bool(self.path)
        return several and all(map(_is_image, self.columns.values()))

    @property
    def images(self) -> dict[str, Any]:
        """The datasets with an image in each row."""
        return {name: one for name, one in self.columns.items() if _has_images(one)}


@dataclass(frozen=True)
class HDF5(Container):
    """Files of HDF5."""

    @cached_property
    def aside(self) -> Mapping[str, str]:
        """The files of labels."""
        reason = "its labels are those of the file with the images"
        return {pair: reason for file in self.files if (pair := pair_of(self.folder, file))}

    @cached_property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """Names of classes in a dataset of their own, for the datasets of labels."""
        found: dict[str, list[str]] = {}
        for file in self.files:
            try:
                with opened(self.folder / file) as inner:
                    columns = [each for group in _groups(inner) for each in group.columns.items()]
                    named = [one for name, one in columns if _CLASSES.fullmatch(name)]
                    names = [_plain(one) for one in named[0][()]] if named else []
                    if names and all(isinstance(name, str) for name in names):
                        found |= {name: names for name, _ in columns if _LABELS.fullmatch(name)}
            except FAULTS:
                continue  # the scan names it
        return found

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each row of the datasets of images, and each dataset that is an image."""
        path = self.folder / file
        try:
            mtime_ns = path.stat().st_mtime_ns
            with ExitStack() as stack:
                groups = _groups(stack.enter_context(opened(path)))
                if pair := pair_of(self.folder, file):
                    for group in _groups(stack.enter_context(opened(self.folder / pair))):
                        for own in groups:
                            own.columns |= group.columns
                for group in groups:
                    each = self._datasets if group.is_of_images else self._rows
                    yield from each(file, mtime_ns, group)
        except FAULTS as error:
            yield Skipped(file, f"it cannot be read as HDF5: {error}", damaged=True)

    def _datasets(self, file: str, mtime_ns: int, group: _Group) -> Iterator[Entry | Skipped]:
        further = {"label": group.path.rpartition("/")[2]} if group.path else {}
        further |= {"split": group.split} if group.split else {}
        for name, dataset in group.columns.items():
            where = f"{file}: {dataset.name}"
            prefix = stem_of(file) if len(self.files) > 1 else group.split
            key = inside(inside(prefix, group.path), name)
            try:
                yield Entry(where, key, {"image": _blob(file, dataset, WHOLE), **further}, mtime_ns)
            except FAULTS as error:
                yield Skipped(where, f"it cannot be read: {error}", damaged=True)

    def _rows(self, file: str, mtime_ns: int, group: _Group) -> Iterator[Entry | Skipped]:
        images, of_rows = group.images, dict[str, Any]()
        count = max(map(len, images.values()), default=0)
        for name, one in group.columns.items():
            if one.ndim and len(one) == count and count:
                # All of a column at once, but for images and what is large.
                is_held = name not in images and one.nbytes <= _HELD
                of_rows[name] = one[()] if is_held else one
            elif one.ndim and not _CLASSES.fullmatch(name):
                what = "no dataset beside it holds images, which are encoded or of uint8"
                reason = f"it has as many rows as no dataset of images ({one.shape} of {one.dtype})"
                yield Skipped(f"{file}: {one.name}", reason if count else what)
        chunks = next((one.chunks for one in images.values()), None)
        prefix = inside(inside(stem_of(file), group.split), group.path)
        for row in range(count):
            where = f"{file}: {inside(group.path, f'row {row}')}"
            fields: dict[str, Any] = {"split": group.split} if group.split else {}
            try:
                for name, one in of_rows.items():
                    fields[name] = _blob(file, one, row) if name in images else _value(one[row])
            except FAULTS as error:
                yield Skipped(where, f"it cannot be read: {error}", damaged=True)
                continue
            block = row // chunks[0] if chunks else -1
            yield Entry(where, inside(prefix, f"{row:08d}"), fields, mtime_ns, block)


def pair_of(folder: Path, file: str) -> str:
    """Return the file of labels that belongs to one of images, "" for none."""
    pair = re.sub(r"([_-])x(\.\w+)$", r"\1y\2", file)
    return pair if pair != file and (folder / pair).is_file() else ""


def _groups(file: Any) -> list[_Group]:
    found: dict[tuple[str, str], _Group] = {}

    def add(path: str, one: Any) -> None:
        if not isinstance(one, h5py.Dataset):
            return
        *folders, name = path.split("/")
        splits = [split for folder in folders if (split := split_of(folder))]
        words = re.split(r"[\W_]+", name)
        if not splits and len(words) > 1:
            splits = [split for word in words if (split := split_of(word))]
            words = [word for word in words if not split_of(word) and word not in _MEANINGLESS]
            name = "_".join(words) if splits and words else name
        rest = "/".join(folder for folder in folders if not split_of(folder))
        split = splits[0] if splits else ""
        found.setdefault((rest, split), _Group(rest, split)).columns[name] = one

    file.visititems(add)
    return list(found.values())


def _is_image(dataset: Any) -> bool:
    """Return whether a dataset is one image: pixels, or the bytes of a file."""
    shape = dataset.shape
    if dataset.dtype == np.uint8 and len(shape) in (2, 3):
        return len(shape) == 2 or shape[2] in _CHANNELS or is_channels_first(shape)
    return len(shape) < 2 and _is_encoded(dataset, WHOLE)


def _has_images(dataset: Any) -> bool:
    """Return whether each row of a dataset is an image."""
    if dataset.dtype == np.uint8 and dataset.ndim in (3, 4) and len(dataset):
        shape = dataset.shape[1:]
        if max(shape) == 1:  # a number
            return False
        return len(shape) == 2 or shape[2] in _CHANNELS or is_channels_first(shape)
    return dataset.ndim == 1 and len(dataset) > 0 and _is_encoded(dataset, 0)


def _is_encoded(dataset: Any, row: int) -> bool:
    if dataset.dtype.kind not in "uOVS":
        return False
    try:
        data = content(dataset, row).tobytes()[:HEAD]
    except FAULTS:
        return False
    return Blob([data], len(data), data).is_image


def _blob(file: str, dataset: Any, row: int) -> Blob:
    shape = dataset.shape if row == WHOLE else dataset.shape[1:]
    if len(shape) > 1:
        shape = [*shape[1:], shape[0]] if is_channels_first(shape) else [*shape, 1][:3]
        return Blob([file, dataset.name, row, list(map(int, shape))], int(np.prod(shape)))
    data = content(dataset, row).tobytes()
    return Blob([file, dataset.name, row, ""], len(data), data[:HEAD])


def _value(value: Any) -> Any:
    found = np.asarray(value)
    if found.size == 1 and found.ndim:
        found = found.reshape(())
    if found.dtype.kind not in "biuf" or found.size <= _FEW:
        return _plain(found.tolist())
    file = io.BytesIO()
    npy.write_array(file, found, allow_pickle=False)
    return Blob([file.getvalue()], file.tell(), file.getvalue()[:HEAD])


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_plain, value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value
