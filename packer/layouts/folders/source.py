"""Folders of image files: class folders by torchvision's ImageFolder rules, or only images.

`layout` decides which folders are splits and classes. The sorted names of the classes are numbered,
nested folders below a class belong to it, and samples come in ImageFolder's order. Files that share
an image's stem are its members (`sidecars.py`). Unlike in ImageFolder, a file counts by its content
and not by its extension, so every file is either packed or named, and folders whose names begin
with a dot are named and not entered.
"""

import os
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from packer.errors import UnusableInput
from packer.keys import clashing
from packer.layouts.folders.pairs import BESIDE, Pairs, refuse_labels, unused
from packer.samples.labels import class_order
from packer.samples.records import EmptyClass, Facts, Reader, Sample, Skipped
from packer.trees.meaning import Layout, interpret
from packer.trees.outright import FLAT
from packer.trees.sample import sample_of_files
from packer.trees.shape import Shape, folders_above, inside, is_within
from packer.trees.sidecars import MAPS, SHARED, group, members_named
from packer.trees.tree import Tree
from packer.trees.walk import names_an_image, not_entered, skipped

NO_IMAGES = "it is a class folder without images"
_ALL_REJECTED = "it is a class folder whose images are all rejected"
EMPTY_SPLIT = "it is the folder of a split and holds no images"


@dataclass(frozen=True)
class FolderSource:
    """Class folders, or images without labels (`classes` is empty), on a disk or in an archive."""

    tree: Tree = field(repr=False)
    classes: tuple[str, ...]
    layout: Layout = field(default_factory=Layout)
    pairs: Pairs = field(default_factory=Pairs)
    words: frozenset[str] = MAPS  # of pictures that are members, see `sidecars.members_named`
    outright: tuple[str, ...] = ()  # see `Facts`

    @classmethod
    def open(
        cls,
        tree: Tree,
        classes: Sequence[str] | None = None,
        pairs: Pairs | None = None,
        *,
        kind: str | None = None,
        depth: int | None = None,
    ) -> "FolderSource":
        """Distinguish class folders, split folders and a flat folder."""
        pairs = pairs or Pairs()
        folders = pairs.elsewhere_only
        leave = [os.path.normpath(folder) for folder in folders.values()]
        try:
            shape = tree.shape.without(leave)
        except OSError as error:
            raise UnusableInput(
                f"{error.filename or tree.root} is not a folder that can be read: {error.strerror}."
            ) from error
        stems = None if folders else partial(_stems, tree)
        if kind is None and not folders:
            refuse_labels(shape, tree.root, partial(_names, tree))
        layout = interpret(shape, tree.root, kind=kind, depth=depth, stems=stems)
        if layout.depth != FLAT:
            layout = replace(layout, aside=layout.aside | _others(tree, shape, layout))
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
        order = class_order(tree.root, found, classes)
        source = cls(tree.below(layout.top), order, layout, Pairs(below), words)
        if kind is not None and words_of(tree) != words:
            return source
        with_classes = [name for name, base in layout.splits.items() if source._tops(base)]
        all_pairs = {**pairs.folders, **layout.pairs}
        return replace(source, outright=layout.as_options(shape, with_classes, all_pairs))

    def scan(self) -> Iterator[Sample | Skipped]:
        """Go through the folders in ImageFolder's order."""
        number_of = {name: number for number, name in enumerate(self.classes)}
        first_folder: dict[str, str] = {}  # of each class
        with_images: set[str] = set()
        with_rejected: set[str] = set()
        not_flat = set()  # folders that hold others; "." for the root
        bases = set(self.layout.splits.values())
        above = {folder for base in bases for folder in folders_above(base)}
        levels = len(list(folders_above(self.layout.top)))
        up = [os.path.join(*[os.pardir] * (1 + level)) for level in range(levels)]
        what = "the folder of all images" if "" in bases else "the folders of the splits"
        for folder in [*reversed(up), *sorted(above)]:
            yield from self._beside(folder, above | bases | set(up) | {"."}, what)
            not_flat.add(folder or ".")
        flat = self.layout.depth == FLAT
        for split, base in self.layout.splits.items():
            is_empty = True
            tops = self._tops(base)
            yield from self._beside(base, (), "the class folders", files=bool(tops) and not flat)
            if not tops or flat:
                for item in self._files(base, self.tree.names(base), -1, split):
                    is_empty &= not isinstance(item, Sample)
                    yield item
            else:
                not_flat.add(base or ".")
            for name in tops:
                class_name = ""
                for record in self._class(inside(base, name), base, split, number_of):
                    if isinstance(record, str):
                        class_name = record
                        first_folder.setdefault(record, inside(base, name))
                        continue
                    if isinstance(record, Skipped) and names_an_image(record.name):
                        with_rejected.add(class_name)
                    if isinstance(record, Sample):
                        is_empty = False
                        if record.label >= 0:
                            with_images.add(self.classes[record.label])
                    yield record
            if split and is_empty:
                yield Skipped(f"{base}/", EMPTY_SPLIT, ignored=True)
        yield from self.pairs.elsewhere(self.tree, not_flat)
        for name, folder in first_folder.items():
            if name not in with_images:
                reason = _ALL_REJECTED if name in with_rejected else NO_IMAGES
                yield EmptyClass(f"{folder}/", reason, class_name=name)

    @property
    def facts(self) -> Facts:
        """It may have parallel folders."""
        root = None if self.tree.unpack else self.tree.root
        return Facts(heeds=frozenset({"pairs"}), root=root, outright=self.outright)

    @property
    def files(self) -> Reader:
        """The reader of the samples."""
        return self.tree.files

    @property
    def _paired(self) -> list[str]:
        return [os.path.normpath(folder) for folder in self.pairs.elsewhere_only.values()]

    def _beside(
        self, path: str, known: Container[str], what: str, *, files: bool = True
    ) -> Iterator[Skipped]:
        """Yield the entries of a folder except the `known` ones, or those that the layout names.

        `what` names these in the reason; `files`: whether the folder's own files are strays.
        """
        level = self.tree.level(path)
        for name, reason in level.skipped.items():
            yield not_entered(inside(path, name), reason)
        strays = [inside(path, name) for name in self.tree.names(path)] if files else []
        for name in level.folders:
            below = inside(path, name)
            if path.startswith(os.pardir):  # which may lead back into the source
                here = "/".join(["top", *self.layout.top.split("/")])
                below = os.path.relpath(os.path.join(here, below), here)
            if below in known if known else not self._is_aside(below):
                continue
            for item in self.tree.files_below(below):
                if isinstance(item, Skipped):
                    yield item
                elif not any(is_within(item[0], folder) for folder in self._paired):
                    strays += [f"{item[0]}/{name}" for name in item[1]]
        reason = f"it is beside {what}, and belongs to none of them"
        for stray in strays:
            yield self.tree.ignored(stray) or Skipped(stray, reason)

    def _tops(self, base: str) -> list[str]:
        """Return the folders in that of a split which may be classes."""
        folders = self.tree.level(base).folders
        return [name for name in folders if not self._is_aside(inside(base, name))]

    def _is_aside(self, path: str) -> bool:
        return path in self.layout.aside or any(is_within(folder, path) for folder in self._paired)

    def _class(
        self, path: str, base: str, split: str, number_of: Mapping[str, int]
    ) -> Iterator[Sample | Skipped | str]:
        """Yield the images below a folder of classes, with the name of each class that begins."""
        folders: list[tuple[str, str, list[str]]] = []
        for item in self.tree.files_below(path):
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
                reason = "it is above the class folders, and belongs to none of them"
                yield self.tree.ignored(f"{folder}/{file}") or Skipped(f"{folder}/{file}", reason)

    def _files(
        self, folder: str, files: Sequence[str], label: int, split: str
    ) -> Iterator[Sample | Skipped]:
        prefix = f"{folder}/" if folder else ""
        yield from self.tree.repeated(folder)
        grouping = group(files, self.words)
        parallel = self.pairs.parallel(self.tree, folder)
        for name, reason in grouping.refused.items():
            yield Skipped(prefix + name, reason)
        if parallel:
            stems = Counter(os.path.splitext(name)[0] for name in grouping.samples)
            for stem in [stem for stem in parallel if stems[stem] > 1]:
                yield from (skipped(path, SHARED) for path in parallel.pop(stem).values())
        whole = clashing(grouping.samples)
        for name, sidecars in grouping.samples.items():
            path = prefix + name
            if no_image := self.tree.ignored(path):
                yield no_image
                continue
            members = parallel.pop(os.path.splitext(name)[0], {}) if parallel else {}
            for ext, file in sidecars.items():
                if members.setdefault(ext, prefix + file) != prefix + file:
                    yield Skipped(prefix + file, f"{members[ext]!r} takes its place as .{ext}")
            if self.pairs.folders and (missing := self.pairs.missing(members)):
                lacks = f"it has no {missing} in {self.pairs.folders[missing]}"
                yield Skipped(path, lacks, lacks=missing)
                for file in members.values():
                    yield Skipped(file, f"its image is rejected: {lacks}", lacks=missing)
                continue
            yield from sample_of_files(
                self.tree, path, members, label=label, split=split, keep_extension=name in whole
            )
        for paired in parallel.values():
            yield from map(unused, paired.values())


def _others(tree: Tree, shape: Shape, layout: Layout) -> frozenset[str]:
    """The folders beside class folders, below the top, with files of which none is an image."""
    found = (
        inside(base, name)
        for base in layout.bases
        if shape.with_images(base)
        for name in shape.folders(base)
        if not shape.below(inside(base, name))
    )
    return frozenset(p[len(layout.top) :].strip("/") for p in found if _holds_others(tree, p))


def _holds_others(tree: Tree, path: str) -> bool:
    files = [
        inside(folder, name)
        for folder, level in tree.walk(path)
        for names in level.examples.values()
        for name in names
    ]
    found = [tree.ignored(file) for file in files]
    return bool(files) and all(one is not None and one.ignored for one in found)


def words_of(tree: Tree, aside: Sequence[str] = ()) -> frozenset[str]:
    """Return the words of pictures that are members for certain; see `sidecars.members_named`."""
    try:
        return _words(tree, aside, frozenset())
    except UnusableInput:
        return MAPS


def _words(tree: Tree, aside: Sequence[str], chosen: frozenset[str]) -> frozenset[str]:
    levels = (
        level.companions
        for folder, level in tree.walk()
        if not any(is_within(folder, other) for other in aside)
    )
    unpack = f"{tree.unpack} && " if tree.unpack else ""
    return members_named(levels, tree.root, chosen=chosen, unpack=unpack)


def _names(tree: Tree, path: str) -> Iterator[str]:
    for folder, _ in tree.walk(path):
        yield from tree.names(folder)


def _stems(tree: Tree, path: str) -> frozenset[str]:
    """Return the paths of the images below a folder, relative to it and without extension."""
    return frozenset(
        os.path.splitext(f"{folder}/{name}")[0][len(path) :]
        for folder, _ in tree.walk(path)
        for name in tree.images(folder)
    )
