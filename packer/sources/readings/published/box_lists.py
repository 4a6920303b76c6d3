"""Publishers' lists in text or CSV that give the box of each image."""

import json
from collections.abc import Iterator

from packer.samples.records import Facts, Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.text_lists import ONE_BOX, one_box, records, rows_of, table_of
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import by_lists, published
from packer.sources.trees.tree import Tree

_SPLITS = ("train", "val", "test")
_VARIANTS = {split: f"images_variant_{split}.txt" for split in _SPLITS}
_CUB = ("images.txt", "classes.txt", "image_class_labels.txt", "train_test_split.txt")


@published("FGVC-Aircraft with its official lists", "images/*", "variants.txt", *_VARIANTS.values())
def aircraft(tree: Tree) -> Lists:
    """FGVC-Aircraft: ``images`` beside a list of variants for each split.

    As ``data`` of https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/ has it. The variant is the
    class; its family and manufacturer, and the box, become ``json``.
    """
    boxes, levels = "images_box.txt", ("family", "manufacturer")
    further = {level: [f"images_{level}_{split}.txt" for split in _SPLITS] for level in levels}
    box_of = table_of(tree, boxes)
    names_of = {
        level: {name: text for path in paths for name, text in table_of(tree, path).items()}
        for level, paths in further.items()
    }

    def row(split: str, name: str, variant: str) -> Row:
        fields = {level: of[name] for level, of in names_of.items() if name in of}
        box = box_of.get(name)
        data = one_box(box.split(), boxes, fields) if box else json.dumps(fields).encode()
        return Row(f"images/{name}.jpg", variant, split, {"json": data})

    copies = [f"images_{level}_trainval.txt" for level in ("variant", *levels)]
    others = [f"images_{split}.txt" for split in (*_SPLITS, "trainval")]
    return Lists(
        rows_of(tree, _VARIANTS, 2, row),
        tuple(tree.lines("variants.txt")),
        (*further["family"], *further["manufacturer"], boxes),
        dict.fromkeys(copies, "its lines are those of train and val")
        | dict.fromkeys(others, "the lists of variants name the same images"),
        facts=ONE_BOX if tree.has(boxes) else Facts(),
    )


@published("CUB's lists of images, labels and splits", *_CUB, "images/*/")
def cub(tree: Tree) -> Lists:
    """CUB-200-2011 and NABirds: ``images.txt`` with an id of each image, and a list for each thing.

    The lists are those of https://www.vision.caltech.edu/datasets/cub_200_2011/ and
    https://dl.allaboutbirds.org/nabirds: class, split and box of each id. The box becomes ``json``,
    a mask of ``segmentations`` the member ``mask.png``; parts and attributes are named and ignored.
    """
    images, *further = _CUB
    names, label_of, is_train = (table_of(tree, path) for path in further)
    boxes = "bounding_boxes.txt"
    box_of, used = table_of(tree, boxes), set(label_of.values())
    names = {number: name for number, name in names.items() if number in used}
    if len(set(names.values())) < len(names):  # of NABirds' some are called the same
        names = {number: f"{number} {name}" for number, name in names.items()}

    def row(_: str, number: str, path: str) -> Row | Skipped:
        if number not in label_of or number not in is_train:
            return Skipped(f"images/{path}", f"a list has no line for its id, {number}")
        mask = f"segmentations/{path.rpartition('.')[0]}.png"
        members: dict[str, str | bytes] = {"mask.png": mask} if tree.has(mask) else {}
        if box := box_of.get(number):
            members["json"] = one_box(box.split(), boxes, format="xywh")
        label, split = label_of[number], "train" if is_train[number] == "1" else "test"
        return Row(f"images/{path}", names.get(label, label), split, members)

    ignored = {
        "parts/": "the places of an image's parts are not packed",
        "attributes/": "the attributes of an image are not packed",
    }
    rows, facts = rows_of(tree, {"": images}, 2, row), ONE_BOX if box_of else Facts()
    return Lists(rows, tuple(names.values()), (boxes,), ignored, facts=facts)


def gtsrb(candidate: Candidate) -> Interpretation | None:
    """GTSRB, the German traffic signs: ``Final_Training`` and ``Final_Test`` with semicolon lists.

    As https://benchmark.ini.rub.de/gtsrb_dataset.html has it. The box of a sign becomes ``json``;
    the labels of the test images are in ``GT-final_test.csv``, an archive of its own.
    """
    train, test, truth = "Final_Training/Images", "Final_Test/Images", "GT-final_test.csv"
    unlabelled = f"{test}/GT-final_test.test.csv"
    folders = candidate.tree.level(train).folders if candidate.tree else ()
    if not folders:
        return None
    of_train = [f"{train}/{name}/GT-{name}.csv" for name in folders]

    def lists(tree: Tree) -> Lists:
        of_test = [truth, f"Final_Test/{truth}", f"{test}/{truth}", unlabelled]
        paths = [*filter(tree.has, of_train), *list(filter(tree.has, of_test))[:1]]

        def rows() -> Iterator[Row | Skipped]:
            for path in paths:
                folder = path.rpartition("/")[0]
                is_train = folder.startswith(train)
                for record in records(tree, path, 7, ";"):
                    if isinstance(record, Skipped):
                        yield record
                        continue
                    name, *numbers = record
                    bottom, _, number = numbers[-1].partition(";")
                    if name == "Filename":
                        continue
                    label = folder.rpartition("/")[2] if is_train else number and number.zfill(5)
                    yield Row(
                        f"{folder if is_train else test}/{name}",
                        label or None,
                        "train" if is_train else "test",
                        {"json": one_box((*numbers[2:5], bottom), path)},
                    )

        reason = "its boxes are those of GT-final_test.csv, where that is there"
        return Lists(rows, folders, tuple(paths), {unlabelled: reason}, facts=ONE_BOX)

    return by_lists(candidate, "GTSRB with its official lists", of_train[:1], lists)


@published(
    "Tiny-ImageNet with its lists",
    "wnids.txt",
    "val/val_annotations.txt",
    "train/*/",
    "val/images/*",
)
def tiny_imagenet(tree: Tree) -> Lists:
    """Tiny-ImageNet: ``train`` by class folders with boxes, ``val`` and ``test`` with lists.

    As http://cs231n.stanford.edu/tiny-imagenet-200.zip unpacks. The label of a validation image
    comes from ``val/val_annotations.txt``; the box of an image becomes its ``json``. ``test`` has
    no labels.
    """
    val, names = "val/val_annotations.txt", tree.level("train").folders
    boxes = {name: f"train/{name}/{name}_boxes.txt" for name in names}

    def of_val(split: str, name: str, label: str, *box: str) -> Row:
        return Row(f"val/images/{name}", label, split, {"json": one_box(box, val)})

    def rows() -> Iterator[Row | Skipped]:
        for name, path in boxes.items():
            box_of = table_of(tree, path)
            for image in tree.images(f"train/{name}/images"):
                box = box_of.get(image)
                members = {"json": one_box(box.split(), path)} if box else {}
                yield Row(f"train/{name}/images/{image}", name, "train", members)
        yield from rows_of(tree, {"val": val}, 6, of_val)()
        for image in tree.images("test/images"):
            yield Row(f"test/images/{image}", None, "test")

    return Lists(rows, tuple(sorted(tree.lines("wnids.txt"))), tuple(boxes.values()), facts=ONE_BOX)
