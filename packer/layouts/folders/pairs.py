"""Parallel folders: files elsewhere that belong to the images of the same path (masks, texts)."""

import os
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from packer.samples.records import Skipped
from packer.trees.tree import Tree
from packer.trees.walk import is_litter, skipped, tells_of_file

BESIDE = "."  # the folder of files that lie beside their images


@dataclass(frozen=True)
class Pairs:
    """Folders that run parallel to a source."""

    # name -> folder, relative to the source. The file at the path of an image, but for its
    # extension, is the image's member ``name.ext`` (``name``, if that is the extension). Behind the
    # name, a ``?`` says that an image may be without it. The source itself, ".", has it beside the
    # image, as ``STEM.name.ext``
    folders: Mapping[str, str] = field(default_factory=dict)

    @property
    def elsewhere_only(self) -> dict[str, str]:
        """Those that are not the source itself."""
        return {name: folder for name, folder in self.folders.items() if folder != BESIDE}

    @property
    def beside_images(self) -> frozenset[str]:
        """The names whose files lie beside the images."""
        names = self.folders.keys() - self.elsewhere_only.keys()
        return frozenset(name.removesuffix("?") for name in names)

    def beside(self, tree: Tree, folder: str) -> dict[str, dict[str, str]]:
        """For each stem in `folder`: extension -> path of what the parallel folders have for it."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for written, parallel in self.elsewhere_only.items():
            name = written.removesuffix("?")
            inside = os.path.join(parallel, folder)
            for file in _files(tree, inside):
                stem, ext = os.path.splitext(file)
                ext = ext[1:].lower()
                member = name if ext == name else f"{name}.{ext}"
                found[stem][member] = os.path.join(inside, file)
        return found

    def missing(self, members: Mapping[str, str]) -> str | None:
        """The name of a parallel folder that has nothing among an image's members, and must."""
        given = {ext.split(".")[0] for ext in members}
        required = (name for name in self.folders if not name.endswith("?"))
        return next((name for name in required if name not in given), None)

    def elsewhere(self, tree: Tree, without_images: Container[str]) -> Iterator[Skipped]:
        """The files of the parallel folders that lie where the source has no images."""
        for parallel in self.elsewhere_only.values():
            for item in tree.files_below(parallel):
                if isinstance(item, Skipped):
                    yield item
                    continue
                folder, files = item
                inside = os.path.relpath(folder, parallel)
                if inside in without_images or not tree.has_folder(inside):
                    yield from (unused(f"{folder}/{file}") for file in files)


_CLASS_NAMES = "classes.txt"  # LabelImg and others write it beside their label files


def unused(path: str) -> Skipped:
    """A parallel folder's file that belongs to no image."""
    if path.endswith(".cache"):  # ultralytics leaves train.cache beside its labels
        return Skipped(path, "it is another program's cache", ignored=True)
    if os.path.basename(path) == _CLASS_NAMES:
        return Skipped(path, "it names the classes and belongs to no image", ignored=True)
    return skipped(path, "the source has no image of this path")


def _files(tree: Tree, folder: str) -> list[str]:
    try:
        return [name for name in tree.names(folder) if not is_litter(name)]
    except OSError as error:
        if not tells_of_file(error):
            raise
        return []  # the images then lack what should be there, and are named for it
