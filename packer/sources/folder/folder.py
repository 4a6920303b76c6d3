"""Folders of image files: class folders by torchvision's ImageFolder rules, or one flat folder.

The sorted names of the top folders are the classes, nested folders below a class belong to it, and
samples come in ImageFolder's order. If all top folders are named train, val or test, each of them
is such a folder and a split. Files that share an image's stem are its members (`sidecars.py`).
Unlike in ImageFolder, a file counts by its content and not by its extension, so every file is
either packed or named, and folders whose names begin with a dot are named and not entered.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packer.errors import UnusableInput
from packer.keys import clashing
from packer.sources.folder.files import (
    ignored,
    member_paths,
    read_files,
    sample_of_files,
)
from packer.sources.folder.pairs import Pairs, unused
from packer.sources.folder.sidecars import (
    SHARED,
    group,
)
from packer.sources.folder.walk import (
    Identity,
    Inside,
    folders_below,
    look,
    with_parents,
)
from packer.sources.labels import class_order
from packer.sources.records import (
    Content,
    EmptyClass,
    Skipped,
    SourceSample,
)

NO_IMAGES = "it is a class folder without images"
SPLITS = frozenset({"train", "val", "valid", "validation", "test"})


@dataclass(frozen=True)
class FolderSource:
    """A folder of class folders, or a folder of images without labels (`classes` is empty).

    Attributes:
        root: the folder.
        classes: class names in label order.
        splits: the top folders that are splits; ("",) if the root is none.
        pairs: further folders whose files belong to the images.
    """

    root: Path
    classes: tuple[str, ...]
    splits: tuple[str, ...] = ("",)
    pairs: Pairs = field(default_factory=Pairs)

    @classmethod
    def open(
        cls, root: Path, classes: Sequence[str] | None = None, pairs: Pairs | None = None
    ) -> "FolderSource":
        """Tell class folders, split folders and a flat folder from each other.

        Args:
            root: the folder.
            classes: class names in label order; None: the sorted names of the class folders.
            pairs: further folders whose files belong to the images.

        Raises:
            UnusableInput: it is no readable folder, or it has a class that `classes` lacks.
        """
        try:
            tops = look(str(root), with_parents(root)).folders
            splits = tuple(tops) if tops and SPLITS.issuperset(tops) else ("",)
            found: set[str] = set()
            for split in splits:
                folder = root / split
                found.update(look(str(folder), with_parents(folder)).folders)
        except OSError as error:
            raise UnusableInput(
                f"{error.filename or root} is not a folder that can be read: {error.strerror}."
            ) from error
        return cls(root, class_order(root, found, classes), splits, pairs or Pairs())

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Walk the folder in ImageFolder's order.

        Raises:
            OSError: the folder cannot be listed.
        """
        number_of = {name: number for number, name in enumerate(self.classes)}
        first_folder: dict[str, str] = {}  # of each class
        with_images: set[str] = set()
        not_flat = set()  # folders that hold others; "." for the root
        if self.splits != ("",):
            top = look(str(self.root), with_parents(self.root))
            yield from self._beside("", top, "the folders of the splits")
            not_flat.add(".")
        for split in self.splits:
            above = with_parents(self.root / split)
            level = look(f"{self.root}/{split}", above)
            if not level.folders:
                yield from _not_entered(split, level)
                yield from self._files(split, level.files, -1, split)
                continue
            yield from self._beside(split, level, "the class folders")
            not_flat.add(split or ".")
            for name in level.folders:
                folder = _inside(split, name)
                first_folder.setdefault(name, folder)
                for record in self._class(folder, above, number_of[name], split):
                    if isinstance(record, SourceSample):
                        with_images.add(name)
                    yield record
        yield from self.pairs.elsewhere(self.root, not_flat)
        for name, folder in first_folder.items():
            if name not in with_images:
                yield EmptyClass(f"{folder}/", NO_IMAGES, class_name=name)

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """The sidecars, and the files of the parallel folders."""
        return member_paths(sample)

    def read(self, sample: SourceSample) -> Content:
        """The bytes of the sample's files, if they still are what was scanned."""
        return read_files(self.root, sample)

    def _beside(self, path: str, level: Inside, what: str) -> Iterator[Skipped]:
        """What lies in a folder beside those that mean something."""
        yield from _not_entered(path, level)
        for name in level.files:
            stray = _inside(path, name)
            reason = f"it lies beside {what} and belongs to none of them"
            yield ignored(self.root, stray) or Skipped(stray, reason)

    def _class(
        self, path: str, above: frozenset[Identity], label: int, split: str
    ) -> Iterator[SourceSample | Skipped]:
        folders: list[tuple[str, list[str]]] = []
        for item in folders_below(self.root, path, above):
            if isinstance(item, Skipped):
                yield item
            else:
                folders.append(item)
        for folder, files in sorted(folders):
            yield from self._files(folder, files, label, split)

    def _files(
        self, folder: str, files: Sequence[str], label: int, split: str
    ) -> Iterator[SourceSample | Skipped]:
        prefix = f"{folder}/" if folder else ""
        grouping = group(files)
        parallel = self.pairs.beside(self.root, folder)
        for name, reason in grouping.refused.items():
            yield Skipped(prefix + name, reason)
        if parallel:
            stems = Counter(os.path.splitext(name)[0] for name in grouping.samples)
            for stem in [stem for stem in parallel if stems[stem] > 1]:
                yield from (Skipped(path, SHARED) for path in parallel.pop(stem).values())
        whole = clashing(grouping.samples)
        for name, beside in grouping.samples.items():
            if no_image := ignored(self.root, prefix + name):
                yield no_image
                continue
            members = parallel.pop(os.path.splitext(name)[0], {})
            for ext, path in beside.items():
                if members.setdefault(ext, prefix + path) != prefix + path:
                    yield Skipped(prefix + path, f"{members[ext]!r} takes its place as .{ext}")
            if missing := self.pairs.missing(members):
                lacks = f"it has no {missing} in {self.pairs.folders[missing]}"
                yield Skipped(prefix + name, lacks)
                yield from (
                    Skipped(path, f"its image is rejected: {lacks}") for path in members.values()
                )
                continue
            yield from sample_of_files(
                self.root,
                prefix + name,
                members,
                label=label,
                split=split,
                keep_extension=name in whole,
            )
        for paired in parallel.values():
            yield from map(unused, paired.values())


def _not_entered(path: str, level: Inside) -> Iterator[Skipped]:
    """The folders in a folder that are passed over."""
    for name, reason in level.skipped.items():
        yield Skipped(_inside(path, name), reason)


def _inside(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
