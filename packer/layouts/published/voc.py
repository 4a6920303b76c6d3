"""VOC: ``JPEGImages``, ``Annotations``, ``ImageSets`` and masks; one year, or several in VOCdevkit.

As http://host.robots.ox.ac.uk/pascal/VOC/voc2012/ has it. The splits are those of
``ImageSets/Main``; to take those of the segmentation, pack ``ImageSets/Segmentation``. The boxes
become each sample's ``json`` as the XML has them (VOC counts pixels from 1), masks the members
``mask.png`` and ``instances.png``.
"""

from dataclasses import replace
from functools import partial

from packer.layouts.interpretation import Place, Reading
from packer.layouts.voc import MASKS, Part, Voc, has_annotations
from packer.trees.folder import FolderTree
from packer.trees.shape import inside
from packer.trees.tree import Tree

_IMAGES, _XML, _SETS = "JPEGImages", "Annotations", "ImageSets"
_TASKS = ("Main", "Segmentation", "Layout")
_SPLITS = ("train", "val", "trainval", "test")


def recognise(place: Place) -> Reading | None:
    """``JPEGImages`` beside annotations or masks, here or in several folders; or a set of lists."""
    tree = place.tree
    if not tree:
        return None
    above = place.path.parent
    if above.name == _SETS and tree.has("train.txt") and (above.parent / _IMAGES).is_dir():
        return _reading(FolderTree(above.parent), [""], place.path.name)
    if _is_year(tree, ""):
        return _reading(tree, [""])
    folders = tree.level().folders
    years = [name for name in folders if len(folders) > 1 and _is_year(tree, name)]
    return _reading(tree, years) if years else None


def _is_year(tree: Tree, folder: str) -> bool:
    if _IMAGES not in tree.level(folder).folders or not tree.level(inside(folder, _IMAGES)).images:
        return False
    masks = tree.level(inside(folder, MASKS["mask.png"])).images
    return bool(masks) or has_annotations(tree, inside(folder, _XML))


def _reading(tree: Tree, years: list[str], task: str = "") -> Reading:
    """The reading of the folders `years` with the lists of a task; "": of the usual one."""
    tasks = [name for name in _TASKS if name in tree.level(inside(years[0], _SETS)).folders]
    task = task or next(iter(tasks), "")
    lists = {
        year: {
            split: path
            for split in _SPLITS
            if task and tree.has(path := inside(year, f"{_SETS}/{task}/{split}.txt"))
        }
        for year in years
    }
    is_divided = all({"train", "val"} <= of_year.keys() for of_year in lists.values())
    less = {"trainval"} if is_divided else {"train", "val"}
    parts = []
    for year, of_year in lists.items():
        part = Part(
            "",
            inside(year, _IMAGES),
            inside(year, _XML),
            masks={ext: inside(year, folder) for ext, folder in MASKS.items()},
        )
        splits = of_year.keys() - less or of_year.keys()
        parts += [replace(part, split=name, list=of_year[name]) for name in sorted(splits)]
        if not of_year:
            parts.append(part)
    voc = Voc(
        ignored={
            f"{inside(year, _SETS)}/": f"the lists of {task} tell the splits" for year in years
        },
        unlisted=f"no list in {_SETS}/{task} names it" if any(part.list for part in parts) else "",
        parts=tuple(parts),
    )
    what = f"VOC, the lists of {task}" if task else "VOC without lists"
    return Reading("voc", what, partial(voc.open, tree))
