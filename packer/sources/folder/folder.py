"""Folders of image files: class folders by torchvision's ImageFolder rules, or images alone.

`layout` tells which folders are splits and classes. The sorted names of the classes are numbered,
nested folders below a class belong to it, and samples come in ImageFolder's order. Files that share
an image's stem are its members (`sidecars.py`). Unlike in ImageFolder, a file counts by its content
and not by its extension, so every file is either packed or named, and folders whose names begin
with a dot are named and not entered.
"""

import os
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packer.errors import UnusableInput
from packer.keys import clashing
from packer.sources.folder.files import ignored, sample_of_files
from packer.sources.folder.labels_beside import refuse_labels
from packer.sources.folder.layout import FLAT, Layout, understand
from packer.sources.folder.pairs import BESIDE, Pairs, unused
from packer.sources.folder.shape import folders_above, inside, lies_in
from packer.sources.folder.sidecars import MAPS, SHARED, group, members_named
from packer.sources.folder.walk import (
    Identity,
    Inside,
    folders_below,
    look,
    names_an_image,
    not_entered,
    with_parents,
)
from packer.sources.labels import class_order
from packer.sources.places import Files
from packer.sources.records import EmptyClass, Facts, Skipped, SourceSample
from packer.sources.tree import Tree

NO_IMAGES = "it is a class folder without images"
_ALL_REJECTED = "it is a class folder whose images are all rejected"
EMPTY_SPLIT = "it is the folder of a split and holds no images"


@dataclass(frozen=True)
class FolderSource:
    """A folder of class folders, or a folder of images without labels (`classes` is empty).

    Attributes:
        root: the folder in which all others lie.
        classes: class names in label order.
        layout: what its folders mean.
        pairs: further folders whose files belong to the images.
        words: of the pictures beside images that are members, see `sidecars.members_named`.
    """

    root: Path
    classes: tuple[str, ...]
    layout: Layout = field(default_factory=Layout)
    pairs: Pairs = field(default_factory=Pairs)
    words: frozenset[str] = MAPS

    @classmethod
    def open(
        cls,
        root: Path,
        classes: Sequence[str] | None = None,
        pairs: Pairs | None = None,
        *,
        kind: str | None = None,
        depth: int | None = None,
        tree: Tree | None = None,
    ) -> "FolderSource":
        """Tell class folders, split folders and a flat folder from each other.

        Args:
            root: the folder.
            classes: class names in label order; None: the sorted names of the class folders.
            pairs: further folders whose files belong to the images.
            kind, depth: see `layout.understand`.
            tree: of the folder, where it is known.

        Raises:
            UnusableInput: it is not a readable folder, it may mean two things, or it has a class
                that `classes` lacks.
        """
        pairs = pairs or Pairs()
        folders = pairs.elsewhere_only
        leave = [os.path.normpath(folder) for folder in folders.values()]
        tree = tree or Tree(root)
        try:
            shape = tree.shape.without(leave)
        except OSError as error:
            raise UnusableInput(
                f"{error.filename or root} is not a folder that can be read: {error.strerror}."
            ) from error
        stems = None if folders else partial(_stems, root)
        if kind is None and not folders:
            refuse_labels(shape, root, partial(_names, root))
        layout = understand(shape, root, kind=kind, depth=depth, stems=stems)
        below = {
            name: os.path.relpath(folder, layout.top or ".")
            for name, folder in {**folders, **layout.pairs}.items()
        }
        below |= {name: BESIDE for name in pairs.folders if name not in folders}
        found = layout.classes(shape.without(list(layout.pairs.values())))
        words = MAPS | pairs.beside_images
        if kind is None:
            aside = [*leave, *layout.pairs.values()]
            words = _words(tree, aside, pairs.beside_images)
        return cls(
            root / layout.top, class_order(root, found, classes), layout, Pairs(below), words
        )

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Walk the folder in ImageFolder's order.

        Raises:
            OSError: the folder cannot be listed.
        """
        number_of = {name: number for number, name in enumerate(self.classes)}
        first_folder: dict[str, str] = {}  # of each class
        with_images: set[str] = set()
        with_rejected: set[str] = set()
        not_flat = set()  # folders that hold others; "." for the root
        bases = set(self.layout.splits.values())
        above = {folder for base in bases for folder in folders_above(base)}
        up = [os.path.join(*[os.pardir] * (1 + n)) for n in range(_levels(self.layout.top))]
        what = "the folder of all images" if "" in bases else "the folders of the splits"
        for folder in [*reversed(up), *sorted(above)]:
            yield from self._beside(folder, above | bases | set(up) | {"."}, what)
            not_flat.add(folder or ".")
        flat = self.layout.depth == FLAT
        for split, base in self.layout.splits.items():
            is_empty = True
            parents = with_parents(self.root / base)
            level = look(f"{self.root}/{base}", parents)
            tops = [name for name in level.folders if not self._is_aside(inside(base, name))]
            yield from self._beside(base, (), "the class folders", files=bool(tops) and not flat)
            if not tops or flat:
                for item in self._files(base, level.files, -1, split):
                    is_empty &= not isinstance(item, SourceSample)
                    yield item
            else:
                not_flat.add(base or ".")
            for name in tops:
                class_name = ""
                for record in self._class(inside(base, name), base, parents, split, number_of):
                    if isinstance(record, str):
                        class_name = record
                        first_folder.setdefault(record, inside(base, name))
                        continue
                    if isinstance(record, Skipped) and names_an_image(record.name):
                        with_rejected.add(class_name)
                    if isinstance(record, SourceSample):
                        is_empty = False
                        if record.label >= 0:
                            with_images.add(self.classes[record.label])
                    yield record
            if split and is_empty:
                yield Skipped(f"{base}/", EMPTY_SPLIT, ignored=True)
        yield from self.pairs.elsewhere(self.root, not_flat)
        for name, folder in first_folder.items():
            if name not in with_images:
                reason = _ALL_REJECTED if name in with_rejected else NO_IMAGES
                yield EmptyClass(f"{folder}/", reason, class_name=name)

    @property
    def facts(self) -> Facts:
        """It may have parallel folders."""
        return Facts(heeds=frozenset({"pairs"}), root=self.root)

    @property
    def files(self) -> Files:
        """What reads the samples."""
        return Files(self.root)

    def _beside(
        self, path: str, known: Container[str], what: str, *, files: bool = True
    ) -> Iterator[Skipped]:
        """What lies in a folder beside those that mean something.

        Args:
            path: of the folder, relative to the root.
            known: the folders that mean something; empty: all that the layout does not set aside.
            what: lies there, for a person.
            files: its own files mean nothing.
        """
        folder = self.root / path
        above = with_parents(folder)
        level = look(str(folder), above)
        yield from _not_entered(path, level)
        strays = [inside(path, name) for name in level.files] if files else []
        for name in level.folders:
            below = inside(path, name)
            if path.startswith(os.pardir):  # which may lead back into the source
                below = os.path.relpath(self.root / below, self.root)
            if below in known if known else not self._is_aside(below):
                continue
            for item in folders_below(self.root, below, above):
                if isinstance(item, Skipped):
                    yield item
                elif not self._in_pair(item[0]):
                    strays += [f"{item[0]}/{name}" for name in item[1]]
        reason = f"it lies beside {what} and belongs to none of them"
        for stray in strays:
            yield ignored(self.root, stray) or Skipped(stray, reason)

    def _is_aside(self, path: str) -> bool:
        """Whether a folder where classes lie is none."""
        pairs = map(os.path.normpath, self.pairs.elsewhere_only.values())
        return path in self.layout.aside or any(lies_in(folder, path) for folder in pairs)

    def _in_pair(self, path: str) -> bool:
        pairs = map(os.path.normpath, self.pairs.elsewhere_only.values())
        return any(lies_in(path, folder) for folder in pairs)

    def _class(
        self,
        path: str,
        base: str,
        above: frozenset[Identity],
        split: str,
        number_of: Mapping[str, int],
    ) -> Iterator[SourceSample | Skipped | str]:
        """What lies below a folder of classes, with the name of each class that begins."""
        folders: list[tuple[str, str, list[str]]] = []
        for item in folders_below(self.root, path, above):
            if isinstance(item, Skipped):
                yield item
            else:
                folder, files = item
                name = self.layout.class_of(folder[len(base) :].strip("/"))
                folders.append((name or "", folder, files))
        for name, folder, files in sorted(folders):
            if name in number_of or self.layout.depth == FLAT:
                if name:
                    yield name
                yield from self._files(folder, files, number_of.get(name, -1), split)
                continue
            for file in files:
                reason = "it lies above the class folders and belongs to none of them"
                yield ignored(self.root, f"{folder}/{file}") or Skipped(f"{folder}/{file}", reason)

    def _files(
        self, folder: str, files: Sequence[str], label: int, split: str
    ) -> Iterator[SourceSample | Skipped]:
        prefix = f"{folder}/" if folder else ""
        grouping = group(files, self.words)
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


def _words(tree: Tree, aside: Sequence[str], chosen: frozenset[str]) -> frozenset[str]:
    """The words of pictures that are members, in the whole tree but for the folders `aside`."""
    levels = (
        level.companions
        for folder, level in tree.walk()
        if not any(lies_in(folder, other) for other in aside)
    )
    return members_named(levels, tree.root, chosen=chosen)


def _not_entered(path: str, level: Inside) -> Iterator[Skipped]:
    """The folders in a folder that are passed over."""
    for name, reason in level.skipped.items():
        yield not_entered(inside(path, name), reason)


def _levels(path: str) -> int:
    return path.count("/") + bool(path)


def _names(root: Path, path: str) -> Iterator[str]:
    """The names of the files in a folder and below it."""
    for item in folders_below(root, path, with_parents(root)):
        if not isinstance(item, Skipped):
            yield from item[1]


def _stems(root: Path, path: str) -> frozenset[str]:
    """The paths of the images below a folder, relative to it and without extension."""
    folders = folders_below(root, path, with_parents(root))
    return frozenset(
        os.path.splitext(f"{folder}/{name}")[0][len(path) :]
        for folder, files in (item for item in folders if not isinstance(item, Skipped))
        for name in files
        if names_an_image(name)
    )
