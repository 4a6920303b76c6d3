"""A tar or zip of class folders, read in place: nothing is unpacked to disk.

Folders mean what they do on disk (`folder.py`), and the data set is the same as if the archive were
unpacked first. A single folder that holds all others (``imagenette2/train/...``) is looked through.
A tar in a tar is a folder of its name: ImageNet's train archive holds one for each class.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

from packer.errors import (
    BadImage,
    UnusableInput,
)
from packer.files.spans import (
    read_span,
    unchanged,
)
from packer.keys import (
    clashing,
    escape,
)
from packer.printable import printable
from packer.sources.archive.class_folders import Layout
from packer.sources.archive.entries import (
    Entries,
    Entry,
)
from packer.sources.archive.tar_reader import members
from packer.sources.archive.zip_entries import (
    read_zip_entry,
    zip_entries,
)
from packer.sources.folder.files import stem_paths
from packer.sources.folder.sidecars import group
from packer.sources.folder.walk import (
    is_litter,
    left_out,
)
from packer.sources.labels import (
    class_of_file,
    class_order,
)
from packer.sources.records import (
    Content,
    LeftOut,
    SourceSample,
)


@dataclass(frozen=True)
class ArchiveSource:
    """An archive of class folders, or of images without labels (`classes` is empty).

    Attributes:
        path: of the archive.
        zipped: it is a zip, and else a tar.
        classes: class names in label order.
        entries: its table of contents; packing processes do without.
    """

    path: Path
    zipped: bool
    classes: tuple[str, ...]
    entries: Entries | None = field(default=None, repr=False, compare=False)

    @classmethod
    def open(
        cls, path: Path, zipped: bool, classes: Sequence[str] | None = None
    ) -> "ArchiveSource":
        """Read the archive's table of contents, and tell its classes.

        Raises:
            UnusableInput: it is damaged, or has a class that `classes` lacks.
        """
        entries = Entries(os.stat(path).st_mtime_ns)
        for item in zip_entries(path) if zipped else _tar_entries(path):
            if isinstance(item, LeftOut):
                entries.left_out.append(item)
            elif item[0].startswith("__MACOSX/"):
                litter = LeftOut(item[0], "it belongs to the operating system", ignored=True)
                entries.left_out.append(litter)
            else:
                entries.add(os.path.normpath(item[0]), item[1])
        found = Layout.of(entries).class_names
        return cls(path, zipped, class_order(path, found, classes), entries)

    def __reduce__(self) -> tuple[Callable[..., "ArchiveSource"], tuple[object, ...]]:
        """What goes to a packing process: no table of contents, which may list millions."""
        return ArchiveSource, (self.path, self.zipped, self.classes)

    def scan(self) -> Iterator[SourceSample | LeftOut]:
        """Go through the table of contents in ImageFolder's order.

        Raises:
            UnusableInput: a class folder holds no image.
        """
        assert self.entries is not None, "a packing process reads, and never scans"
        layout = Layout.of(self.entries)
        yield from self.entries.left_out
        for path in layout.beside:
            yield left_out(path, "it lies beside the class folders and belongs to none of them")
        empty = set(layout.class_names)
        for split, class_name, folder in layout.folders:
            yield from self.entries.repeated(folder)
            prefix = layout.below_top(folder)
            for record in self._files(self.entries.files(folder), prefix, split, class_name):
                if isinstance(record, SourceSample):
                    empty.discard(class_name)
                yield record
        if empty:
            raise UnusableInput(
                f"{self.path}: class folders without images: "
                f"{', '.join(map(printable, sorted(empty)))}. Make the archive without them."
            )

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """The files that share the image's stem."""
        return stem_paths(sample)

    def read(self, sample: SourceSample) -> Content:
        """The bytes of the sample's files, if the archive still is what was scanned."""
        entries = [Entry(*numbers) for numbers in json.loads(sample.locator)]
        image, *contents = self._read(entries, sample.mtime_ns)
        return Content(image, dict(zip(sample.members, contents, strict=True)))

    def _files(
        self, files: Mapping[str, Entry], prefix: str, split: str, class_name: str
    ) -> Iterator[SourceSample | LeftOut]:
        """The samples of one folder."""
        grouping = group(files)
        for name in grouping.ambiguous:
            yield LeftOut(prefix + name, "more than one image has its name")
        whole = clashing(grouping.samples)
        folder_label = self.classes.index(class_name) if class_name else -1
        for name, beside in grouping.samples.items():
            image = prefix + name
            if not files[name].size:
                yield left_out(image, "it is empty")
                for file in beside.values():
                    yield LeftOut(prefix + file, f"it belongs to {image}, which is rejected")
                continue
            if is_litter(name):
                yield left_out(image, "")
                continue
            label = folder_label
            entries, exts = [files[name]], []
            for ext, file in beside.items():
                if ext == "cls":
                    try:
                        label = self._label(files[file], label)
                    except BadImage as error:
                        yield LeftOut(prefix + file, str(error))
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
            locator=json.dumps([astuple(entry) for entry in entries], separators=(",", ":")),
        )

    def _label(self, entry: Entry, label: int) -> int:
        """The class number that a ``.cls`` file holds, as `class_of_file` has it."""

        def read() -> bytes:
            assert self.entries is not None
            return self._read([entry], self.entries.mtime_ns)[0]

        return class_of_file(label, entry.size, read)

    def _read(self, entries: Sequence[Entry], mtime_ns: int) -> list[bytes]:
        with unchanged(self.path, mtime_ns) as descriptor:
            if self.zipped:
                return [read_zip_entry(descriptor, entry) for entry in entries]
            return [read_span(descriptor, entry.offset, entry.size) for entry in entries]


def _tar_entries(path: Path) -> Iterator[tuple[str, Entry] | LeftOut]:
    """The files of a tar and of the tars in it, which count as folders."""
    for item in members(path):
        if isinstance(item, LeftOut):
            yield item
        elif not item.name.endswith(".tar"):
            yield item.name, Entry(item.offset, item.size)
        else:
            folder = item.name.removesuffix(".tar")
            for inner in members(path, item.offset, item.offset + item.size):
                name = f"{folder}/{inner.name}"
                if isinstance(inner, LeftOut):
                    yield LeftOut(name, inner.reason)
                else:
                    yield name, Entry(inner.offset, inner.size)
