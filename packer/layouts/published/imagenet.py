"""ImageNet (ILSVRC 2012) whose validation images lie in one folder, with what labels them.

The devkit of https://www.image-net.org/challenges/LSVRC/2012/ has the numbers of their classes in
``ILSVRC2012_validation_ground_truth.txt``, Kaggle's form of it
(https://www.kaggle.com/c/imagenet-object-localization-challenge) their names in
``LOC_val_solution.csv``. Boxes of ``Annotations`` become the member ``xml``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packer.errors import UnusableInput
from packer.layouts.arrays.matlab import read_matlab
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row, table_of
from packer.samples.records import Skipped
from packer.trees.shape import inside
from packer.trees.tree import Tree

_TRUTH, _META = "ILSVRC2012_validation_ground_truth.txt", "meta.mat"
_LOOKED_AT = 8  # names of images
_DEVKITS = ("ILSVRC2012_devkit_t12/data", "devkit/data", "data")
_OF_DEVKIT = {
    "train": ("train", "ILSVRC2012_img_train"),
    "val": ("val", "ILSVRC2012_img_val"),
    "test": ("test", "ILSVRC2012_img_test", "ILSVRC2012_img_test_v10102019"),
}
_KAGGLE, _BOXES = "ILSVRC/Data/CLS-LOC", "ILSVRC/Annotations/CLS-LOC"
_SOLUTION, _MAPPING = "LOC_val_solution.csv", "LOC_synset_mapping.txt"
_IGNORED = {
    "LOC_train_solution.csv": "its boxes are those of Annotations",
    "LOC_sample_submission.csv": "it is an example of a submission",
    "ILSVRC/ImageSets/": "its lists are those of the folders",
    "ILSVRC2012_devkit_t12.tar.gz": "its lists lie unpacked beside it",
    "ILSVRC2012_img_train.tar": "its images lie unpacked beside it",
    "ILSVRC2012_img_val.tar": "its images lie unpacked beside it",
    "ILSVRC2012_img_test_v10102019.tar": "its images lie unpacked beside it",
    "meta.bin": "it is torchvision's copy of the devkit's lists",
}


def recognise(place: Place) -> Reading | None:
    """Validation images in one folder, named as ILSVRC's, beside the devkit or the solution."""
    tree = place.tree
    if not tree:
        return None
    kaggle = {split: f"{_KAGGLE}/{split}" for split in _OF_DEVKIT}
    if tree.has(_SOLUTION) and _is_val(tree, kaggle["val"]):
        return by_lists(tree, "ImageNet as Kaggle has it", lambda: _of_kaggle(tree, kaggle))
    devkit = next(
        (f for f in _DEVKITS if tree.has(f"{f}/{_TRUTH}") and tree.has(f"{f}/{_META}")), ""
    )
    folders = {
        split: next(
            (name for name in names if tree.level(name).files or tree.level(name).folders), ""
        )
        for split, names in _OF_DEVKIT.items()
    }
    if not devkit or not _is_val(tree, folders["val"]):
        return None
    return by_lists(tree, "ImageNet with its devkit", lambda: _of_devkit(tree, folders, devkit))


def _is_val(tree: Tree, folder: str) -> bool:
    names = tree.images(folder)[:_LOOKED_AT] if folder else ()
    return bool(names) and all(name.startswith("ILSVRC2012_val_") for name in names)


def _of_kaggle(tree: Tree, folders: Mapping[str, str]) -> Lists:
    """With the names of the classes that the solution has."""
    solution = table_of(tree, _SOLUTION, ",")
    labels = {
        f"{name}.JPEG": text.split()[0] for name, text in solution.items() if name != "ImageId"
    }
    mapped = table_of(tree, _MAPPING) if tree.has(_MAPPING) else {}
    classes = tuple(sorted(mapped or set(labels.values())))
    return _ImageNet(classes, (_SOLUTION, _MAPPING), _IGNORED, folders, labels)


def _of_devkit(tree: Tree, folders: Mapping[str, str], devkit: str) -> Lists:
    """With the devkit's numbers and what they mean."""
    where, path = tree.root / devkit / _META, f"{devkit}/{_META}"
    synsets = read_matlab(tree, path).get("synsets")
    try:
        found = {int(s["ILSVRC2012_ID"].flat[0]): s for s in synsets or ()}
        names = {n: str(s["WNID"]) for n, s in found.items() if not s["num_children"].flat[0]}
    except (KeyError, AttributeError, TypeError, IndexError) as error:
        raise UnusableInput(f"{where} has no list of synsets.") from error
    labels = {}
    for number, text in enumerate(tree.lines(f"{devkit}/{_TRUTH}"), 1):
        if not text.isdecimal() or int(text) not in names:
            raise UnusableInput(
                f"{tree.root / devkit / _TRUTH}:{number} is the number of no class."
            )
        labels[f"ILSVRC2012_val_{number:08d}.JPEG"] = names[int(text)]
    classes, sources = tuple(sorted(names.values())), (f"{devkit}/{_TRUTH}", path)
    return _ImageNet(classes, sources, _IGNORED, folders, labels)


@dataclass(frozen=True)
class _ImageNet(Lists):
    """ImageNet.

    Attributes:
        folders: of each split, "" if it is not there.
        labels: class of each validation image by its name.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[type[Lists], tuple[object, ...]]:
        """What goes to a packing process: the rows are not asked for there."""
        return Lists, (self.classes,)

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Train by class, val with the labels of the list, test without."""
        for split, base in self.folders.items():
            level = tree.level(base) if base else None
            for folder in ("", *level.folders) if level else ():
                path = inside(base, folder)
                boxes = inside(f"{_BOXES}/{split}", folder)
                boxed = {name.rpartition(".")[0] for name in tree.names(boxes)}
                for image in tree.images(path):
                    stem = image.rpartition(".")[0]
                    label = folder or (self.labels.get(image) if split == "val" else None)
                    if split == "val" and label is None:
                        yield Skipped(f"{path}/{image}", "the list has no class for it")
                        continue
                    files = {"xml": f"{boxes}/{stem}.xml"} if stem in boxed else {}
                    yield Row(f"{path}/{image}", label, split, files)
