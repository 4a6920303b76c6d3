"""Folders of image files: class folders by torchvision's ImageFolder rules, or one flat folder.

The sorted names of the top folders are the classes, nested folders below a class belong to it, and
samples come in ImageFolder's order. If all top folders are named train, val or test, each of them
is such a folder and a split. Files that share an image's stem are its members (`sidecars.py`).
Unlike in ImageFolder, a file counts by its content and not by its extension, so every file is
either packed or named.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packer.errors import UnusableInput
from packer.keys import clashing
from packer.printable import printable
from packer.sources.folder.files import (
    member_paths,
    read_files,
    sample_of_files,
)
from packer.sources.folder.pairs import Pairs, unused
from packer.sources.folder.sidecars import group
from packer.sources.folder.walk import (
    LOOP,
    folders_below,
    identity,
    is_folder,
    left_out,
    subfolders,
    with_parents,
)
from packer.sources.labels import class_order
from packer.sources.records import (
    Content,
    LeftOut,
    SourceSample,
)

_SHARED = "more than one image has its name"
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
            above = with_parents(root)
            tops = [name for name in subfolders(root) if identity(root / name) not in above]
            splits = tuple(tops) if tops and SPLITS.issuperset(tops) else ("",)
            found = {name for split in splits for name in _class_folders(root / split)}
        except OSError as error:
            raise UnusableInput(
                f"{root} is not a folder that can be read: {error.strerror}."
            ) from error
        return cls(root, class_order(root, found, classes), splits, pairs or Pairs())

    def scan(self) -> Iterator[SourceSample | LeftOut]:
        """Walk the folder in ImageFolder's order.

        Raises:
            UnusableInput: a class folder holds no file, or the folder cannot be listed.
        """
        without_images = set()
        if self.splits != ("",):
            yield from self._beside("", self.splits, "the folders of the splits")
            without_images.add(".")
        classes_with_folder: dict[str, bool] = {}
        for split in self.splits:
            names = _class_folders(self.root / split)
            if not names:
                yield from self._loops(split, names)
                yield from self._files(split, label=-1, split=split)
                continue
            yield from self._beside(split, names, "the class folders")
            without_images.add(split or ".")
            for name in names:
                found = classes_with_folder.setdefault(name, False)
                for record in self._class(f"{split}/{name}" if split else name, name, split):
                    found = found or isinstance(record, SourceSample)
                    yield record
                classes_with_folder[name] = found
        yield from self.pairs.elsewhere(self.root, without_images)
        if empty := [name for name, found in classes_with_folder.items() if not found]:
            raise UnusableInput(
                f"{self.root}: class folders without images: {', '.join(map(printable, empty))}. "
                "Remove them, or put images into them."
            )

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """The sidecars, and the files of the parallel folders."""
        return member_paths(sample)

    def read(self, sample: SourceSample) -> Content:
        """The bytes of the sample's files, if they still are what was scanned."""
        return read_files(self.root, sample)

    def _beside(self, path: str, names: Sequence[str], what: str) -> Iterator[LeftOut]:
        """What lies in a folder beside its `names`."""
        yield from self._loops(path, names)
        with os.scandir(self.root / path) as entries:
            files = sorted(entry.name for entry in entries if not is_folder(entry))
        for name in files:
            inside = f"{path}/{name}" if path else name
            yield left_out(inside, f"it lies beside {what} and belongs to none of them")

    def _loops(self, path: str, names: Sequence[str]) -> Iterator[LeftOut]:
        """The folders in a folder that are none of its `names`: they lead back to it."""
        for name in sorted(set(subfolders(self.root / path)).difference(names)):
            yield LeftOut(f"{path}/{name}" if path else name, LOOP)

    def _class(self, path: str, name: str, split: str) -> Iterator[SourceSample | LeftOut]:
        folders: list[str] = []
        for folder in folders_below(self.root, path, with_parents((self.root / path).parent)):
            if isinstance(folder, LeftOut):
                yield folder
            else:
                folders.append(folder)
        label = self.classes.index(name)
        for folder in sorted(folders):
            yield from self._files(folder, label, split)

    def _files(self, folder: str, label: int, split: str) -> Iterator[SourceSample | LeftOut]:
        prefix = f"{folder}/" if folder else ""
        with os.scandir(self.root / folder) as entries:
            grouping = group(entry.name for entry in entries if not is_folder(entry))
        parallel = self.pairs.beside(self.root, folder)
        for name in grouping.ambiguous:
            yield LeftOut(prefix + name, _SHARED)
        stems = Counter(os.path.splitext(name)[0] for name in grouping.samples)
        for stem in [stem for stem in parallel if stems[stem] > 1]:
            yield from (LeftOut(path, _SHARED) for path in parallel.pop(stem).values())
        whole = clashing(grouping.samples)
        for name, beside in grouping.samples.items():
            members = parallel.pop(os.path.splitext(name)[0], {})
            for ext, path in beside.items():
                if members.setdefault(ext, prefix + path) != prefix + path:
                    yield LeftOut(prefix + path, f"{members[ext]} takes its place as .{ext}")
            if missing := self.pairs.missing(members):
                lacks = f"it has no {missing} in {self.pairs.folders[missing]}"
                yield left_out(prefix + name, lacks)
                yield from (
                    LeftOut(path, f"its image is rejected: {lacks}") for path in members.values()
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
        for files in parallel.values():
            yield from map(unused, files.values())


def _class_folders(path: Path) -> list[str]:
    above = with_parents(path)
    return [name for name in subfolders(path) if identity(path / name) not in above]
