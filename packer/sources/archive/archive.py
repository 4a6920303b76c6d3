"""A tar or zip of class folders, read in place: nothing is unpacked to disk.

Folders mean what they do on disk (`folder.py`), and the dataset is the same as if the archive were
unpacked first. A single folder that holds all others (``imagenette2/train/...``) is looked through.
A tar in a tar is a folder of its name: ImageNet's train archive holds one for each class.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from packer.errors import BadImage
from packer.files.snapshot import read_span, unchanged
from packer.keys import clashing, escape
from packer.sources.archive.class_folders import Places, shape_of
from packer.sources.archive.entries import Entries, Entry
from packer.sources.archive.lists import refuse_lists, to_be_unpacked, unpacking
from packer.sources.archive.tar_reader import members
from packer.sources.archive.zip_entries import read_zip_beginning, zip_entries
from packer.sources.folder.folder import NO_IMAGES
from packer.sources.folder.labels_beside import refuse_labels
from packer.sources.folder.layout import Layout, understand
from packer.sources.folder.likeness import BEGINNING
from packer.sources.folder.masks import OfOthers
from packer.sources.folder.sidecars import MAPS, Companions, group, members_named
from packer.sources.folder.walk import not_an_image, not_entered, passed_over
from packer.sources.labels import class_of_file, class_order
from packer.sources.places import Files
from packer.sources.records import EmptyClass, Plain, Skipped, SourceSample


@dataclass(frozen=True)
class ArchiveSource(Plain):
    """An archive of class folders, or of images without labels (`classes` is empty).

    Attributes:
        path: of the archive.
        zipped: it is a zip, and else a tar.
        classes: class names in label order.
        entries: its table of contents; packing processes do without.
        layout: what its folders mean.
        words: of the pictures beside images that are members, see `sidecars.members_named`.
    """

    path: Path
    zipped: bool
    classes: tuple[str, ...]
    entries: Entries | None = field(default=None, repr=False, compare=False)
    layout: Layout = field(default_factory=Layout)
    words: frozenset[str] = MAPS

    @classmethod
    def open(
        cls,
        path: Path,
        zipped: bool,
        classes: Sequence[str] | None = None,
        *,
        kind: str | None = None,
        depth: int | None = None,
    ) -> "ArchiveSource":
        """Read the archive's table of contents, and tell its classes.

        Args:
            path: of the archive.
            zipped: it is a zip.
            classes: class names in label order; None: the sorted names of the class folders.
            kind, depth: see `layout.understand`.

        Raises:
            UnusableInput: it is damaged, it may mean two things, or has a class that `classes`
                lacks.
        """
        entries = Entries(os.stat(path).st_mtime_ns)
        folders: dict[str, str] = {}
        for item in zip_entries(path) if zipped else _tar_entries(path):
            if isinstance(item, Skipped):
                entries.skipped.append(item)
            elif folder := passed_over(name := os.path.normpath(item[0])):
                folders[folder[0]] = folder[1]
            else:
                entries.add(name, item[1])
        entries.skipped += [
            not_entered(folder, reason) for folder, reason in sorted(folders.items())
        ]
        shape = shape_of(entries)
        try:
            if kind is None:
                refuse_lists(path, entries, zipped)
                refuse_labels(shape, path, partial(_names, entries))
            layout = understand(shape, path, kind=kind, depth=depth)
        except OfOthers as error:
            raise to_be_unpacked(path, "labels or masks in folders of their own", zipped) from error
        words = MAPS
        if kind is None:
            levels = (Companions.of(entries.files(folder)) for folder in entries.folders())
            words = members_named(levels, path, unpack=f"{unpacking(path, zipped)} && ")
        found = layout.classes(shape)
        return cls(path, zipped, class_order(path, found, classes), entries, layout, words)

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Go through the table of contents in ImageFolder's order.

        Raises:
            OSError: it cannot be read.
        """
        assert self.entries is not None, "a packing process reads, and never scans"
        found = Places.of(self.entries, self.layout)
        yield from self.entries.skipped
        for path, entry in found.beside.items():
            reason = "it lies beside the class folders and belongs to none of them"
            yield self._ignored(path, entry) or Skipped(path, reason)
        number_of = {name: number for number, name in enumerate(self.classes)}
        first_folder: dict[str, str] = {}  # of each class
        with_images: set[str] = set()
        for split, class_name, folder in found.folders:
            yield from self.entries.repeated(folder)
            prefix = self._below_top(folder)
            label = number_of[class_name] if class_name else -1
            if class_name:
                first_folder.setdefault(class_name, prefix)
            for record in self._files(self.entries.files(folder), prefix, split, label):
                if isinstance(record, SourceSample):
                    with_images.add(class_name)
                yield record
        for class_name in sorted(first_folder.keys() - with_images):
            yield EmptyClass(first_folder[class_name], NO_IMAGES, class_name=class_name)

    def _below_top(self, folder: str) -> str:
        """What to put before the names of the files in `folder`."""
        below = folder[len(self.layout.top) :].strip("/")
        return f"{below}/" if below else ""

    @property
    def files(self) -> Files:
        """What reads the samples."""
        return Files(self.path)

    def _files(
        self, files: Mapping[str, Entry], prefix: str, split: str, folder_label: int
    ) -> Iterator[SourceSample | Skipped]:
        """The samples of one folder."""
        grouping = group(files, self.words)
        for name, reason in grouping.refused.items():
            yield Skipped(prefix + name, reason)
        whole = clashing(grouping.samples)
        for name, beside in grouping.samples.items():
            image = prefix + name
            if no_image := self._ignored(image, files[name]):
                yield no_image
                continue
            if not files[name].size:
                yield Skipped(image, "it is empty", damaged=True)
                for file in beside.values():
                    lacks = f"it belongs to {image!r}, which is rejected"
                    yield Skipped(prefix + file, lacks, damaged=True)
                continue
            label = folder_label
            entries, exts = [files[name]], []
            for ext, file in beside.items():
                if ext == "cls":
                    try:
                        label = self._label(files[file], label)
                    except BadImage as error:
                        yield Skipped(prefix + file, str(error))
                    continue
                entries.append(files[file])
                exts.append(ext)
            yield self._sample(image, name in whole, label, split, entries, exts)

    def _sample(
        self,
        image: str,
        keep_extension: bool,
        label: int,
        split: str,
        entries: Sequence[Entry],
        exts: Sequence[str],
    ) -> SourceSample:
        assert self.entries is not None
        return SourceSample(
            name=image,
            key=escape(image if keep_extension else os.path.splitext(image)[0]),
            label=label,
            size=sum(entry.size for entry in entries),
            mtime_ns=self.entries.mtime_ns,
            members=tuple(exts),
            split=split,
            places=[self._place(entry) for entry in entries],
        )

    def _label(self, entry: Entry, label: int) -> int:
        """The class number that a ``.cls`` file holds, as `class_of_file` has it."""

        def read() -> bytes:
            assert self.entries is not None
            return self.files.packed(self._place(entry), self.entries.mtime_ns)

        return class_of_file(label, entry.size, read)

    def _ignored(self, path: str, entry: Entry) -> Skipped | None:
        """What to report of a file that is not meant to be an image; None for one that is."""
        assert self.entries is not None
        mtime_ns = self.entries.mtime_ns

        def begin() -> bytes:
            with unchanged(self.path, mtime_ns) as descriptor:
                if self.zipped:
                    return read_zip_beginning(descriptor, entry, BEGINNING)
                return read_span(descriptor, entry.offset, min(entry.size, BEGINNING))

        return not_an_image(path, begin)

    def _place(self, entry: Entry) -> Sequence[Any]:
        return ["", *astuple(entry)] if self.zipped else ["", entry.offset, entry.size]


def _names(entries: Entries, path: str) -> Iterator[str]:
    """The names of the files in a folder and below it."""
    for folder in entries.folders_below(path):
        yield from entries.files(folder)


def _tar_entries(path: Path) -> Iterator[tuple[str, Entry] | Skipped]:
    """The files of a tar and of the tars in it, which count as folders."""
    for item in members(path):
        if isinstance(item, Skipped):
            yield item
        elif not item.name.endswith(".tar"):
            yield item.name, Entry(item.offset, item.size)
        else:
            folder = item.name.removesuffix(".tar")
            for inner in members(path, item.offset, item.offset + item.size):
                name = f"{folder}/{inner.name}"
                if isinstance(inner, Skipped):
                    yield Skipped(name, inner.reason)
                else:
                    yield name, Entry(inner.offset, inner.size)
