"""Publishers' lists in text or CSV that give the box of each image."""

import json
from collections.abc import Iterator

from packer.layouts.interpretation import Candidate, Interpretation
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note, by_lists, records, rows_of, table_of
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_SPLITS = ("train", "val", "test")
_LOOKED_AT = 100  # lines of a list of classes


def aircraft(candidate: Candidate) -> Interpretation | None:
    """FGVC-Aircraft: ``images`` beside a list of variants for each split.

    As ``data`` of https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/ has it. The variant is the
    class; its family and manufacturer, and the box, become ``json``.
    """
    boxes, levels = "images_box.txt", ("variant", "family", "manufacturer")
    lists = {level: [f"images_{level}_{split}.txt" for split in _SPLITS] for level in levels}

    def rows(tree: Tree) -> Iterator[Row | Skipped]:
        box_of = table_of(tree, boxes)
        for number, split in enumerate(_SPLITS):
            more = {level: table_of(tree, lists[level][number]) for level in levels[1:]}
            for record in records(tree, lists["variant"][number], 2):
                if isinstance(record, Skipped):
                    yield record
                    continue
                name, variant = record
                fields = {level: of[name] for level, of in more.items() if name in of}
                box = box_of.get(name)
                note = box_note(box.split(), boxes, fields) if box else json.dumps(fields)
                yield Row(f"images/{name}.jpg", variant, split, note=note)

    return by_lists(
        candidate,
        "FGVC-Aircraft with its official lists",
        ("images/*", "variants.txt", *lists["variant"]),
        lambda tree: Lists(
            rows,
            tuple(tree.lines("variants.txt")),
            (*lists["family"], *lists["manufacturer"], boxes),
            {
                f"images_{level}_trainval.txt": "its lines are those of train and val"
                for level in levels
            }
            | {
                f"images_{split}.txt": "the lists of variants name the same images"
                for split in (*_SPLITS, "trainval")
            },
            boxes=ONE_BOX if tree.has(boxes) else {},
        ),
    )


def cub(candidate: Candidate) -> Interpretation | None:
    """CUB-200-2011 and NABirds: ``images.txt`` with an id of each image, and a list for each thing.

    The lists are those of https://www.vision.caltech.edu/datasets/cub_200_2011/ and
    https://dl.allaboutbirds.org/nabirds: class, split and box of each id. The box becomes ``json``,
    a mask of ``segmentations`` the member ``mask.png``; parts and attributes are named and ignored.
    """
    splits, boxes = "train_test_split.txt", "bounding_boxes.txt"
    images, classes, labels = "images.txt", "classes.txt", "image_class_labels.txt"

    def lists(tree: Tree) -> Lists:
        label_of = table_of(tree, labels)
        used = set(label_of.values())
        names = {number: name for number, name in table_of(tree, classes).items() if number in used}
        if len(set(names.values())) < len(names):  # of NABirds' some are called the same
            names = {number: f"{number} {name}" for number, name in names.items()}

        def rows(tree: Tree) -> Iterator[Row | Skipped]:
            is_train, box_of = table_of(tree, splits), table_of(tree, boxes)
            has_masks = bool(tree.level("segmentations").folders)

            def row(number: str, path: str) -> Row | Skipped:
                if number not in label_of or number not in is_train:
                    return Skipped(f"images/{path}", f"a list has no line for its id, {number}")
                box, label = box_of.get(number), label_of[number]
                mask = f"segmentations/{path.rpartition('.')[0]}.png"
                return Row(
                    f"images/{path}",
                    names.get(label, label),
                    "train" if is_train[number] == "1" else "test",
                    {"mask.png": mask} if has_masks and tree.has(mask) else {},
                    box_note(box.split(), boxes, format="xywh") if box else None,
                )

            return rows_of(tree, images, 2, row)

        ignored = {
            "parts/": "the places of an image's parts are not packed",
            "attributes/": "the attributes of an image are not packed",
        }
        encodings = ONE_BOX if tree.has(boxes) else {}
        return Lists(rows, tuple(names.values()), (boxes,), ignored, boxes=encodings)

    needs = (images, classes, labels, splits, "images/*/")
    return by_lists(candidate, "CUB's lists of images, labels and splits", needs, lists)


def gtsrb(candidate: Candidate) -> Interpretation | None:
    """GTSRB, the German traffic signs: ``Final_Training`` and ``Final_Test`` with semicolon lists.

    As https://benchmark.ini.rub.de/gtsrb_dataset.html has it. The box of a sign becomes ``json``;
    the labels of the test images lie in ``GT-final_test.csv``, an archive of its own.
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

        def rows(tree: Tree) -> Iterator[Row | Skipped]:
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
                        note=box_note((*numbers[2:5], bottom), path),
                    )

        reason = "its boxes are those of GT-final_test.csv, where that is there"
        ignored = {} if unlabelled in paths else {unlabelled: reason}
        return Lists(rows, folders, tuple(paths), ignored, boxes=ONE_BOX)

    return by_lists(candidate, "GTSRB with its official lists", of_train[:1], lists)


def tiny_imagenet(candidate: Candidate) -> Interpretation | None:
    """Tiny-ImageNet: ``train`` by class folders with boxes, ``val`` and ``test`` with lists.

    As http://cs231n.stanford.edu/tiny-imagenet-200.zip unpacks. The label of a validation image
    comes from ``val/val_annotations.txt``; the box of an image becomes its ``json``. ``test`` has
    no labels.
    """
    val = "val/val_annotations.txt"

    def boxes(name: str) -> str:
        return f"train/{name}/{name}_boxes.txt"

    def of_val(name: str, label: str, *box: str) -> Row:
        return Row(f"val/images/{name}", label, "val", note=box_note(box, val))

    def rows(tree: Tree) -> Iterator[Row | Skipped]:
        for name in tree.level("train").folders:
            folder, path = f"train/{name}/images", boxes(name)
            notes = {}
            for record in records(tree, path, 5) if tree.has(path) else ():
                if isinstance(record, Skipped):
                    yield record
                else:
                    notes[record[0]] = box_note(record[1:], path)
            for image in tree.images(folder):
                yield Row(f"{folder}/{image}", name, "train", note=notes.get(image))
        yield from rows_of(tree, val, 6, of_val)
        for image in tree.images("test/images"):
            yield Row(f"test/images/{image}", None, "test")

    return by_lists(
        candidate,
        "Tiny-ImageNet with its lists",
        ("wnids.txt", val, "train/*/", "val/images/*"),
        lambda tree: Lists(
            rows,
            tuple(sorted(tree.lines("wnids.txt"))),
            tuple(map(boxes, tree.level("train").folders)),
            boxes=ONE_BOX,
        ),
    )
