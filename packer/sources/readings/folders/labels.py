"""Labels in a folder beside that of their images, as YOLO and VOC have them: refused, not lost."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from packer.sources.trees.names import splits_of
from packer.sources.trees.outright import by_templates, literal, paired
from packer.sources.trees.shape import IMAGES, OfOthers, Shape, inside, masks, plain
from packer.words import choices

_LABELS = frozenset({"labels", "annotations", "annotation", "annots", "xmls", "bboxes", "label2"})
_TEXTS = (".txt", ".xml", ".json")


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
