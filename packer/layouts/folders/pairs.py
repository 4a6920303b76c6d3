"""Parallel folders: files elsewhere that belong to the images of the same path (masks, texts).

Labels in such folders, as YOLO and VOC have them, are never lost: without `Pairs` they are refused.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packer.samples.records import Skipped
from packer.trees.names import splits_of
from packer.trees.outright import by_templates, literal, paired
from packer.trees.shape import IMAGES, OfOthers, Shape, inside, masks, plain
from packer.trees.tree import Tree
from packer.trees.walk import skipped
from packer.words import choices

BESIDE = "."  # the folder of files that are beside their images
_CLASS_NAMES = "classes.txt"  # LabelImg and others write it beside their label files
_LABELS = frozenset({"labels", "annotations", "annotation", "annots", "xmls", "bboxes", "label2"})
_TEXTS = (".txt", ".xml", ".json")


@dataclass(frozen=True)
class Pairs:
    """Folders that run parallel to a source: name -> folder, relative to the source.

    The file at the path of an image, but for its extension, is the image's member ``name.ext``
    (``name``, if that is the extension). With ``?`` behind the name, an image may lack it. The
    source itself, ".", has it beside the image, as ``STEM.name.ext``.
    """

    folders: Mapping[str, str] = field(default_factory=dict)

    @property
    def elsewhere_only(self) -> dict[str, str]:
        """Those that are not the source itself."""
        return {name: folder for name, folder in self.folders.items() if folder != BESIDE}

    @property
    def beside_images(self) -> frozenset[str]:
        """The names whose files are beside the images."""
        names = self.folders.keys() - self.elsewhere_only.keys()
        return frozenset(name.removesuffix("?") for name in names)

    def parallel(self, tree: Tree, folder: str) -> dict[str, dict[str, str]]:
        """For each stem in `folder`: extension -> path of what the parallel folders have for it."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for written, parallel in self.elsewhere_only.items():
            name = written.removesuffix("?")
            path = os.path.join(parallel, folder)
            # The images lack what an unreadable folder should have, and are named for it.
            for file in tree.readable_names(path) or []:
                stem, ext = os.path.splitext(file)
                ext = ext[1:].lower()
                member = name if ext == name else f"{name}.{ext}"
                found[stem][member] = os.path.join(path, file)
        return found

    def missing(self, members: Mapping[str, str]) -> str | None:
        """The name of a parallel folder that has nothing among an image's members, and must."""
        given = {ext.split(".")[0] for ext in members}
        required = (name for name in self.folders if not name.endswith("?"))
        return next((name for name in required if name not in given), None)

    def elsewhere(self, tree: Tree, without_images: Container[str]) -> Iterator[Skipped]:
        """Yield the files of the parallel folders at paths `without_images` in the source."""
        for parallel in self.elsewhere_only.values():
            for item in tree.files_below(parallel):
                if isinstance(item, Skipped):
                    yield item
                    continue
                folder, files = item
                path = os.path.relpath(folder, parallel)
                if path in without_images or not tree.has_folder(path):
                    yield from (unused(f"{folder}/{file}") for file in files)


def unused(path: str) -> Skipped:
    """Return a parallel folder's file that belongs to no image."""
    if path.endswith(".cache"):  # ultralytics leaves train.cache beside its labels
        return Skipped(path, "it is another program's cache", ignored=True)
    if os.path.basename(path) == _CLASS_NAMES:
        return Skipped(path, "it lists the classes, and belongs to no image", ignored=True)
    return skipped(path, "the source has no image of this path")


def _stems(files: Iterable[str]) -> set[str]:
    return {os.path.splitext(file)[0] for file in files}


def _images_of(shape: Shape, stems: set[str], names: Callable[[str], Iterable[str]]) -> str | None:
    """Return the folder named as one of images that has an image for each of these stems."""
    folders = (path for path in sorted(shape.images) if plain(path.rpartition("/")[2]) in IMAGES)
    return next((path for path in folders if stems <= _stems(names(path))), None)


def refuse_labels(shape: Shape, where: Path, names: Callable[[str], Iterable[str]]) -> None:
    """Raise where a folder has a text for an image in another one, which would be ignored.

    `names` gives the names of the files in a folder and below it.
    """
    for path in sorted(shape.images):
        above, _, name = path.rpartition("/")
        if plain(name) not in _LABELS or shape.below(path):
            continue
        if not (siblings := shape.with_images(above)):
            continue
        texts = [os.path.splitext(file) for file in names(path) if file.endswith(_TEXTS)]
        siblings.sort(key=lambda sibling: plain(sibling) not in IMAGES)
        images = inside(above, siblings[0])
        stems = _stems(names(images)) if texts else set()
        if found := next((ext[1:] for stem, ext in texts if stem in stems), None):
            if images in dict(masks(shape)) and (
                own := _images_of(shape, stems.intersection(stem for stem, _ in texts), names)
            ):
                members = {
                    "mask?": f"{literal(images)}/{{key}}",
                    f"{found}?": f"{literal(path)}/{{key}}",
                }
                all_three = {
                    "They belong to these": by_templates([f"{literal(own)}/{{key}}"], members)
                }
                raise OfOthers(
                    f"{where}: {images} has masks of the images in {own}, and {path} has labels of "
                    f"them. Choose:{choices(where, all_three)}"
                )
            both = [(images, path)]
            for other in shape.images:
                sibling = inside(other.rpartition("/")[0], siblings[0])
                if plain(other.rpartition("/")[2]) == plain(name) and shape.below(sibling):
                    both.append((sibling, other))
            readings = paired(shape, both, found, "label file", splits_of)
            some = {meaning: one for meaning, one in readings.items() if "Some" in meaning}
            alone = {f"Pack the images without {path}": ("--as", "folder")}
            raise OfOthers(
                f"{where}: {path} has labels of the images in {images}, one file for each "
                f"image. Choose:{choices(where, some)}{choices(where / images, alone)}"
            )
