"""Publishers' lists in MATLAB's files, and those of ImageNet's devkit."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.text_lists import ONE_BOX, one_box, table_of
from packer.sources.scanners.arrays.matlab import read_matlab
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import by_lists, published
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

_CARS = ("devkit/cars_meta.mat", "devkit/cars_train_annos.mat")
_TRUTH, _META = "ILSVRC2012_validation_ground_truth.txt", "meta.mat"
_LOOKED_AT = 8  # names of images
_DEVKITS = ("ILSVRC2012_devkit_t12/data", "devkit/data", "data")
_FOLDERS_OF = {
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
    "ILSVRC2012_devkit_t12.tar.gz": "its lists are unpacked beside it",
    "meta.bin": "it is torchvision's copy of the devkit's lists",
} | dict.fromkeys(
    (f"ILSVRC2012_img_{name}.tar" for name in ("train", "val", "test_v10102019")),
    "its images are unpacked beside it",
)


@published("Oxford 102 Flowers with its lists", "imagelabels.mat", "setid.mat", "jpg/*")
def flowers102(tree: Tree) -> Lists:
    """Oxford 102 Flowers: ``jpg`` beside ``imagelabels.mat`` and ``setid.mat``.

    As https://www.robots.ox.ac.uk/~vgg/data/flowers/102/ has it. The classes are the numbers of the
    lists, 1 to 102, of which no names are published.
    """

    def numbers(path: str, name: str) -> list[int]:
        found = read_matlab(tree, path).get(name)
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "iuf":
            raise UnusableInput(f"{tree.root / path} has no numbers {name!r}.")
        return found.ravel().astype(np.int64).tolist()

    labels = numbers("imagelabels.mat", "labels")

    def rows() -> Iterator[Row]:
        for split, name in (("train", "trnid"), ("val", "valid"), ("test", "tstid")):
            for number in numbers("setid.mat", name):
                if not 0 < number <= len(labels):
                    where = tree.root / "setid.mat"
                    raise UnusableInput(f"{where}: there is no label for {number}.")
                yield Row(f"jpg/image_{number:05d}.jpg", str(labels[number - 1]), split)

    return Lists(rows, tuple(map(str, sorted(set(labels)))))


@published("Stanford Cars with its devkit", *_CARS, "cars_train/*")
def stanford_cars(tree: Tree) -> Lists:
    """Stanford Cars: ``cars_train`` and ``cars_test`` beside a devkit of MATLAB lists.

    As https://ai.stanford.edu/~jkrause/cars/car_dataset.html had it, and as torchvision lays it
    out. The box of a car becomes ``json``; the labels of the test images are in
    ``cars_test_annos_withlabels.mat``.
    """
    (meta, train), test = _CARS, "cars_test_annos"
    tests = (f"{test}_withlabels.mat", f"devkit/{test}_withlabels.mat", f"devkit/{test}.mat")
    names, best = _texts(tree, meta, "class_names"), list(filter(tree.has, tests))[:1]

    def rows() -> Iterator[Row]:
        for path in (train, *best):
            split = "train" if path == train else "test"
            found = read_matlab(tree, path).get("annotations")
            try:
                for item in found or ():
                    sides = [str(item[f"bbox_{s}"].flat[0]) for s in ("x1", "y1", "x2", "y2")]
                    number = int(item["class"].flat[0]) if "class" in item else 0
                    label = names[number - 1] if number else None
                    box = {"json": one_box(sides, path)}
                    yield Row(f"cars_{split}/{item['fname']}", label, split, box)
            except (KeyError, AttributeError, TypeError, IndexError) as error:
                raise UnusableInput(f"{tree.root / path} is not a list of cars.") from error

    ignored = dict.fromkeys(tests, "another list has more")
    return Lists(rows, tuple(names), tuple(best), ignored, facts=ONE_BOX)


@published("Stanford Dogs with its lists", "train_list.mat", "test_list.mat", "Images/*/")
def stanford_dogs(tree: Tree) -> Lists:
    """Stanford Dogs: ``Images`` by class, ``Annotation`` beside, MATLAB lists of train and test.

    As http://vision.stanford.edu/aditya86/ImageNetDogs/ has it. An annotation, XML as VOC's,
    becomes the member ``xml``.
    """

    def rows() -> Iterator[Row]:
        for split in ("train", "test"):
            for name in _texts(tree, f"{split}_list.mat", "file_list"):
                xml = f"Annotation/{name.rpartition('.')[0]}"
                files = {"xml": xml} if tree.has(xml) else {}
                yield Row(f"Images/{name}", name.partition("/")[0], split, files)

    ignored = {"file_list.mat": "its lines are those of train and test"}
    return Lists(rows, tree.level("Images").folders, ignored=ignored)


def _texts(tree: Tree, path: str, name: str) -> list[str]:
    found = read_matlab(tree, path).get(name)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise UnusableInput(f"{tree.root / path} has no list of texts {name!r}.")
    return found


def imagenet(candidate: Candidate) -> Interpretation | None:
    """ImageNet (ILSVRC 2012) whose validation images are in one folder, with what labels them.

    The devkit of https://www.image-net.org/challenges/LSVRC/2012/ has the numbers of their classes
    in ``ILSVRC2012_validation_ground_truth.txt``, Kaggle's form of it
    (https://www.kaggle.com/c/imagenet-object-localization-challenge) their names in
    ``LOC_val_solution.csv``. Boxes of ``Annotations`` become the member ``xml``.
    """
    tree = candidate.tree
    if not tree:
        return None
    kaggle = {split: f"{_KAGGLE}/{split}" for split in _FOLDERS_OF}
    if tree.has(_SOLUTION) and _is_val(tree, kaggle["val"]):
        lists = partial(_of_kaggle, folders=kaggle)
        return by_lists(candidate, "ImageNet as Kaggle has it", (_SOLUTION,), lists)
    folders = {
        split: next((f for f in names if tree.level(f).files or tree.level(f).folders), "")
        for split, names in _FOLDERS_OF.items()
    }
    found = ((f"{devkit}/{_TRUTH}", f"{devkit}/{_META}") for devkit in _DEVKITS)
    devkit = next((files for files in found if all(map(tree.has, files))), None)
    if not devkit or not _is_val(tree, folders["val"]):
        return None
    lists = partial(_of_devkit, folders=folders, truth=devkit[0], meta=devkit[1])
    return by_lists(candidate, "ImageNet with its devkit", devkit, lists)


def _is_val(tree: Tree, folder: str) -> bool:
    names = tree.images(folder)[:_LOOKED_AT] if folder else ()
    return bool(names) and all(name.startswith("ILSVRC2012_val_") for name in names)


def _of_kaggle(tree: Tree, folders: Mapping[str, str]) -> Lists:
    solution = table_of(tree, _SOLUTION, ",")
    labels = {
        f"{name}.JPEG": text.split()[0] for name, text in solution.items() if name != "ImageId"
    }
    classes = tuple(sorted(table_of(tree, _MAPPING) or set(labels.values())))
    return Lists(partial(_rows, tree, folders, labels), classes, (_MAPPING,), _IGNORED)


def _of_devkit(tree: Tree, folders: Mapping[str, str], truth: str, meta: str) -> Lists:
    synsets = read_matlab(tree, meta).get("synsets")
    try:
        found = {int(s["ILSVRC2012_ID"].flat[0]): s for s in synsets or ()}
        names = {n: str(s["WNID"]) for n, s in found.items() if not s["num_children"].flat[0]}
    except (KeyError, AttributeError, TypeError, IndexError) as error:
        raise UnusableInput(f"{tree.root / meta} has no list of synsets.") from error
    labels = {}
    for number, text in enumerate(tree.lines(truth), 1):
        if not text.isdecimal() or int(text) not in names:
            raise UnusableInput(f"{tree.root / truth}:{number} is not the number of a class.")
        labels[f"ILSVRC2012_val_{number:08d}.JPEG"] = names[int(text)]
    return Lists(partial(_rows, tree, folders, labels), tuple(sorted(names.values())), (), _IGNORED)


def _rows(
    tree: Tree, folders: Mapping[str, str], label_of: Mapping[str, str]
) -> Iterator[Row | Skipped]:
    """Train by class, val with the labels of the list, test without."""
    for split, base in folders.items():
        for folder in ("", *tree.level(base).folders) if base else ():
            path, boxes = inside(base, folder), inside(f"{_BOXES}/{split}", folder)
            boxed = {name.rpartition(".")[0] for name in tree.names(boxes)}
            for image in tree.images(path):
                stem = image.rpartition(".")[0]
                label = folder or (label_of.get(image) if split == "val" else None)
                if split == "val" and label is None:
                    yield Skipped(f"{path}/{image}", "it has no class in the list")
                    continue
                files = {"xml": f"{boxes}/{stem}.xml"} if stem in boxed else {}
                yield Row(f"{path}/{image}", label, split, files)
