"""Annotations of objects in files of their own: COCO's, KITTI's, VOC's and YOLO's."""

import math
import os
import re
from collections.abc import Iterator
from functools import partial

from packer.errors import BadImage, UnusableInput
from packer.samples.labels import Objects
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.coco.folders import files_in
from packer.sources.readings.coco.source import open_file, open_folder
from packer.sources.readings.exports.known import form_of
from packer.sources.readings.voc import (
    MASKS,
    Part,
    has_annotations,
    open_objects,
    open_parts,
    rows_of_parts,
)
from packer.sources.readings.yolo.find import DATA_FILES, by_data_file, by_folders
from packer.sources.scanners.rows.lists import Lists
from packer.sources.scanners.rows.source import RowSource
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import IMAGES, inside, plain
from packer.sources.trees.tree import Tree, aside
from packer.words import choices, command, listed


def coco(candidate: Candidate) -> Interpretation | None:
    """COCO's annotation files, or the folders that hold them and their images.

    The format is that of https://cocodataset.org/#format-data. The files are in ``annotations``, in
    the folder itself (FiftyOne, Label Studio), or among the images of each split (Roboflow). Boxes,
    categories, outlines, key points and captions become each sample's ``json``, the pictures of
    panoptic segments its ``panoptic.png``; where a category is all that there is, as iNaturalist
    has it, it is the class.
    """
    path, tree = candidate.path, candidate.tree
    if tree:
        if not (files := files_in(tree)):
            return None
        what = f"COCO annotations ({listed([*dict.fromkeys(map(os.path.basename, files))])})"
        return Interpretation("coco", what, partial(open_folder, tree, files), columns=True)
    if candidate.suffix != ".json" or form_of(FolderTree(path.parent), path.name):
        return None
    opening = partial(open_file, path, candidate.options)
    return Interpretation("coco", "a COCO annotation file", opening, columns=True)


_KITTI_MASKS = {"mask.png": "semantic", "instances.png": "instance"}
_COLUMNS = {"truncated": 1, "occluded": 2, "alpha": 3, "rotation_y": 14, "score": 15}
_VECTORS = {"dimensions": slice(8, 11), "location": slice(11, 14)}


def kitti(candidate: Candidate) -> Interpretation | None:
    """KITTI: ``training/image_2`` with boxes of ``label_2``, or the masks of ``semantic``.

    As https://www.cvlibs.net/datasets/kitti/eval_object.php and eval_semantics.php have it. The
    lines of ``label_2`` become each sample's ``json``: ``boxes`` (left, top, right and bottom in
    pixels), ``categories`` (``DontCare`` is one), and the other columns by their names. The masks
    are ``mask.png`` and ``instances.png``. The files of other tasks are refused, with the command
    to use.
    """
    tree = candidate.tree
    if not tree or candidate.options.kind not in (None, "pairs"):
        return None
    if not tree.level("training/image_2").images:
        return None
    training = tree.level("training").folders
    if "label_2" not in training and "semantic" not in training:
        where = candidate.path / "training"
        images, further = where / "image_2", [name for name in training if name != "image_2"]
        readings = {
            f"With the files of {name}": ("--pair", f"{name}?={where / name}")
            for name in further[:1]
        }
        raise UnusableInput(
            f"{candidate.path} has the layout of KITTI, without training/label_2 or "
            "training/semantic. Choose:\n  The images alone: ",
            command(images),
            choices(images, readings),
        )
    what = "KITTI's objects" if "label_2" in training else "KITTI's semantic masks"
    used = ("image_2", *_KITTI_MASKS.values())
    folders = [f"{name}/{folder}" for name in ("training", "testing") for folder in used]
    reason = f"it is not of {what}"
    ignored = aside(tree, folders, reason, lambda path: "/" in path)
    others = [  # without images, such as calib and velodyne
        inside(folder, name)
        for folder in ("training", "testing")
        for name in tree.level(folder).folders
        if name != "label_2" and not tree.level(inside(folder, name)).images
    ]
    ignored |= {inside(folder, name): reason for folder in others for name in tree.names(folder)}
    parts = []
    for folder, split in (("training", "train"), ("testing", "test")):
        masks = {ext: f"{folder}/{name}" for ext, name in _KITTI_MASKS.items()}
        parts.append(Part(split, f"{folder}/image_2", f"{folder}/label_2", masks=masks))
    lists = Lists(partial(rows_of_parts, tree, parts, ".txt"), ignored=ignored)
    opening = partial(open_objects, tree, lists, _kitti_objects)
    if "label_2" not in training:
        return Interpretation("pairs", what, lambda _: RowSource.open(tree, lists))
    return Interpretation("pairs", what, opening)


def _kitti_objects(data: bytes) -> Objects:
    """Return the objects of a label file, with the names of their kinds; raises BadImage."""
    kinds, rows, names = [], [], []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            numbers = [float(word) for word in words[1:]]
        except ValueError:
            numbers = []
        if len(words) not in (15, 16) or not all(map(math.isfinite, numbers)) or not numbers:
            raise BadImage(f"line {number} is not a type and 14 numbers")
        kinds.append(words[0])
        rows.append([math.nan, *numbers])  # as the columns are counted
        names.append(f"line {number}")
    columns = {n: at for n, at in _COLUMNS.items() if all(len(row) > at for row in rows)}
    fields = {name: [row[at] for row in rows] for name, at in (columns | _VECTORS).items()}
    return Objects([row[4:8] for row in rows], "xyxy", kinds, fields, names=names)


def voc(candidate: Candidate) -> Interpretation | None:
    """VOC: ``JPEGImages``, ``Annotations``, ``ImageSets``, masks; one year or several in VOCdevkit.

    As http://host.robots.ox.ac.uk/pascal/VOC/voc2012/ has it. The splits are those of
    ``ImageSets/Main``; to take those of the segmentation, pack ``ImageSets/Segmentation``. The
    boxes become each sample's ``json`` as the XML has them (VOC counts pixels from 1), masks the
    members ``mask.png`` and ``instances.png``.
    """
    tree, above = candidate.tree, candidate.path.parent
    if not tree:
        return None
    is_task = above.name == "ImageSets" and tree.has("train.txt")
    if is_task and (above.parent / "JPEGImages").is_dir():
        return _of_years(FolderTree(above.parent), [""], candidate.path.name)
    if _is_year(tree, ""):
        return _of_years(tree, [""])
    folders = tree.level().folders
    years = [name for name in folders if len(folders) > 1 and _is_year(tree, name)]
    return _of_years(tree, years) if years else None


def _is_year(tree: Tree, folder: str) -> bool:
    if "JPEGImages" not in tree.level(folder).folders:
        return False
    if not tree.level(inside(folder, "JPEGImages")).images:
        return False
    masks = tree.level(inside(folder, MASKS["mask.png"])).images
    return bool(masks) or has_annotations(tree, inside(folder, "Annotations"))


def _of_years(tree: Tree, years: list[str], task: str = "") -> Interpretation:
    """Return the folders `years` with the lists of a task, "" for the usual one."""
    tasks = tree.level(inside(years[0], "ImageSets")).folders
    usual = (name for name in ("Main", "Segmentation", "Layout") if name in tasks)
    task = task or next(usual, "")
    lists = {year: _lists(tree, inside(year, f"ImageSets/{task}")) for year in years if task}
    is_divided = all({"train", "val"} <= of_year.keys() for of_year in lists.values())
    is_joined = all("trainval" in of_year for of_year in lists.values())
    less = {"train", "val"} if is_joined and not is_divided else {"trainval"}
    parts = []
    for year in years:
        of_year = lists.get(year, {})
        masks = {ext: inside(year, folder) for ext, folder in MASKS.items()}
        part = partial(
            Part,
            images=inside(year, "JPEGImages"),
            annotations=inside(year, "Annotations"),
            masks=masks,
        )
        splits = sorted(of_year.keys() - less or of_year.keys())
        parts += [part(name, lists=of_year[name]) for name in splits] or [part("")]
    reason = f"the lists of {task} define the splits"
    ignored = {f"{inside(year, 'ImageSets')}/": reason for year in years}
    has_lists = any(part.lists for part in parts)
    leftover_reason = f"it is in no list of ImageSets/{task}" if has_lists else ""
    what = f"VOC, the lists of {task}" if task else "VOC without lists"
    return Interpretation("voc", what, partial(open_parts, tree, parts, ignored, leftover_reason))


def _lists(tree: Tree, folder: str) -> dict[str, tuple[str, ...]]:
    """Return the lists of each split: ``train.txt``, or those of classes, ``cow_train.txt``."""
    found = list(filter(None, map(_LIST.fullmatch, tree.names(folder))))
    whole = [match for match in found if not match["of"]]
    lists: dict[str, tuple[str, ...]] = {}
    for match in whole or found:
        lists[match["split"]] = (*lists.get(match["split"], ()), inside(folder, match[0]))
    return lists


_LIST = re.compile(r"(?P<of>.+_)?(?P<split>train|val|trainval|test)\.txt")
_XML = frozenset({"annotations", "annotation", "annots", "xmls", "xml", "labels", "bboxes"})


def voc_xml(candidate: Candidate) -> Interpretation | None:
    """Images with an XML file in VOC's form for each, beside them or in a folder of annotations.

    https://github.com/HumanSignal/labelImg writes them beside the images, Roboflow (Pascal VOC XML)
    in a folder for each split, and many of Kaggle's datasets have ``images`` and ``annotations``.
    Boxes become each sample's ``json``, as the XML has them.
    """
    tree = candidate.tree
    if not tree or candidate.options.pairs:
        return None
    if "JPEGImages" in tree.level().folders:  # which VOC has
        return None
    parts = [part for part in _xml_parts(tree) if has_annotations(tree, part.annotations)]
    if not any(tree.level(part.images).images for part in parts):
        return None
    what = "images with annotations in VOC's form (XML)"
    return Interpretation("voc", what, partial(open_parts, tree, parts, {}, ""))


def _xml_parts(tree: Tree) -> Iterator[Part]:
    """Yield the folders that may have images and XML, in this folder."""
    splits = splits_of(tree.level().folders)
    for name, split in ({"": ""} | splits).items():
        yield Part(split, name, name)
        below = tree.level(name).folders
        for images in (folder for folder in below if plain(folder) in IMAGES):
            for xml in (folder for folder in below if plain(folder) in _XML):
                folders = inside(name, images), inside(name, xml)
                yield Part(split, *folders)
                for again, inner in splits_of(tree.level(folders[0]).folders).items():
                    yield Part(inner, inside(folders[0], again), inside(folders[1], again))


def yolo(candidate: Candidate) -> Interpretation | None:
    """YOLO: images and label files with the fractions of boxes, outlines or poses.

    https://docs.ultralytics.com/datasets/detect/ describes ``data.yaml``, and ``labels`` beside
    ``images``; darknet's ``obj.data`` is that of https://github.com/AlexeyAB/darknet, and Roboflow
    exports both. Label files are the member ``txt``, unchanged; the names of the classes go into
    the dataset.
    """
    path, tree, options = candidate.path, candidate.tree, candidate.options
    if options.kind not in (None, "yolo"):
        return None
    if tree is None:
        if candidate.suffix not in DATA_FILES:
            return None
        found = by_data_file(FolderTree(path.parent), path.name)
    else:
        files = [
            inside(folder, name)
            for folder in ("", "data")
            for ext in DATA_FILES
            for name in tree.level(folder).examples.get(ext, ())
        ]
        described = [found for file in files if (found := by_data_file(tree, file))]
        if len(described) > 1:
            raise UnusableInput(
                f"{path}: several data files of YOLO locate the images: {', '.join(files)}. Pack "
                "one of them: ",
                command(path / files[0]),
            )
        found = described[0] if described else None if options.pairs else by_folders(tree)
    return found
