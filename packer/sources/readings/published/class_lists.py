"""Publishers' lists in text or CSV that give the class, or the attributes, of each image."""

import json
from collections.abc import Iterator
from itertools import islice

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.text_lists import records, rows_of, table_of
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import by_lists, published
from packer.sources.trees.tree import Tree

_SPLITS = ("train", "val", "test")
_LOOKED_AT = 100  # lines of a list of classes
_CELEBA = ("img_align_celeba/img_align_celeba", "img_align_celeba")
_DTD = {split: f"labels/{split}1.txt" for split in _SPLITS}
_FOOD = {split: f"meta/{split}.txt" for split in ("train", "test")}
_PETS = {split: f"annotations/{split}.txt" for split in ("trainval", "test")}
_PLACES = {  # split -> its list, and where its images may lie
    "train": (
        "places365_train_standard.txt",
        ("data_256_standard", "data_large_standard", "data_256"),
    ),
    "val": ("places365_val.txt", ("val_256", "val_large")),
}
_ANOTHER_FORM = "it has the same lists in another form"


@published(
    "CelebA with its lists",
    " | ".join(f"{folder}/*" for folder in _CELEBA),
    "list_attr_celeba.txt | list_attr_celeba.csv",
    "list_eval_partition.txt | list_eval_partition.csv",
)
def celeba(tree: Tree) -> Lists:
    """CelebA: ``img_align_celeba`` beside lists of forty attributes, identities and splits.

    As https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html has it, or with CSV lists, as
    https://www.kaggle.com/datasets/jessicali9530/celeba-dataset has it. There are no classes:
    attributes (1 or 0 by name) and the identity become ``json``.
    """
    folder = next(folder for folder in _CELEBA if tree.level(folder).images)
    ext = ".txt" if tree.has("list_attr_celeba.txt") else ".csv"
    attributes, partition = f"list_attr_celeba{ext}", f"list_eval_partition{ext}"
    identities, separator = "identity_CelebA.txt", "," if ext == ".csv" else None
    head = (line for line in tree.lines(attributes) if not line.isdecimal())
    names = [name for name in next(head, "").split(separator) if name != "image_id"]

    def rows() -> Iterator[Row | Skipped]:
        number_of = table_of(tree, partition, separator)
        identity_of = table_of(tree, identities)
        splits = dict(zip("012", _SPLITS, strict=True))
        for line in tree.lines(attributes):
            name, *values = line.split(separator)
            if not values or name == "image_id" or values == names[1:]:
                continue  # how many there are, and the names
            path, split = f"{folder}/{name}", splits.get(number_of.get(name, ""))
            if not split:
                yield Skipped(path, f"{partition} has no split for it")
            elif len(values) != len(names) or not {"1", "0", "-1"}.issuperset(values):
                reason = f"its line has no 1 or -1 for each of {len(names)} attributes"
                yield Skipped(path, reason, damaged=True)
            else:
                found = {n: int(v == "1") for n, v in zip(names, values, strict=True)}
                fields: dict[str, object] = {"attributes": found}
                if identity := identity_of.get(name):
                    fields["identity"] = int(identity) if identity.isdecimal() else identity
                yield Row(path, None, split, {"json": json.dumps(fields).encode()})

    further = ("list_bbox_celeba", "list_landmarks_celeba", "list_landmarks_align_celeba")
    ignored = {f"{name}{ext}": "its data about images is not packed" for name in further}
    return Lists(rows, (), (attributes, partition, identities), ignored)


@published("DTD with the first of its ten divisions", *_DTD.values(), "images/*/")
def dtd(tree: Tree) -> Lists:
    """DTD, the describable textures: class folders, and ten divisions into train, val and test.

    As https://www.robots.ox.ac.uk/~vgg/data/dtd/ has it. The first division is taken, as
    torchvision does; the others are named and ignored.
    """
    further = [f"labels/{split}{number}.txt" for split in _SPLITS for number in range(2, 11)]
    ignored = dict.fromkeys(further, "it is another division of the same images")
    ignored["labels/labels_joint_anno.txt"] = "the further textures of an image are not packed"
    ignored["imdb/"] = _ANOTHER_FORM

    def row(split: str, line: str) -> Row:
        return Row(f"images/{line}", line.partition("/")[0], split)

    return Lists(rows_of(tree, _DTD, 1, row), tree.level("images").folders, ignored=ignored)


@published("Food-101 with its official lists", "images/*/", "meta/classes.txt", *_FOOD.values())
def food101(tree: Tree) -> Lists:
    """Food-101: ``images/CLASS/ID.jpg``, and in ``meta`` the official train and test lists.

    As https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101 has it. Classes and splits are
    those of the lists.
    """
    ignored = {f"meta/{split}.json": _ANOTHER_FORM for split in _FOOD}

    def row(split: str, line: str) -> Row:
        return Row(f"images/{line}.jpg", line.partition("/")[0], split)

    return Lists(
        rows_of(tree, _FOOD, 1, row), tuple(tree.lines("meta/classes.txt")), ignored=ignored
    )


@published(
    "Oxford-IIIT Pet with its official lists",
    *_PETS.values(),
    "images/*",
    "annotations/trimaps/*",
)
def oxford_pet(tree: Tree) -> Lists:
    """Oxford-IIIT Pet: ``images`` beside ``annotations`` with official lists, trimaps and heads.

    As https://www.robots.ox.ac.uk/~vgg/data/pets/ has it. The breed is the class; a trimap becomes
    the member ``mask.png``, the box of the head, which some have, the member ``xml``.
    """

    def breed(name: str) -> str:
        return name.rpartition("_")[0]

    def row(split: str, name: str, *_: str) -> Row:
        xml = f"annotations/xmls/{name}.xml"
        files = {"mask.png": f"annotations/trimaps/{name}.png"}
        files |= {"xml": xml} if tree.has(xml) else {}
        return Row(f"images/{name}.jpg", breed(name), split, files)

    found = [record for path in _PETS.values() for record in records(tree, path, 4)]
    class_of = {r[1].zfill(9): breed(r[0]) for r in found if not isinstance(r, Skipped)}
    strays = [f"images/{name}" for name in tree.level("images").examples.get(".mat", ())]
    return Lists(
        rows_of(tree, _PETS, 4, row),
        tuple(class_of[number] for number in sorted(class_of)),
        ignored={"annotations/list.txt": "its lines are those of trainval and test"}
        | dict.fromkeys(strays, "it is not part of the official lists"),
        leftover_reason="it is not in the official lists",
    )


def places365(candidate: Candidate) -> Interpretation | None:
    """Places365: folders of one or two levels below a letter, and lists with each image's number.

    As torchvision and http://places2.csail.mit.edu/download.html have it:
    ``categories_places365.txt`` names the classes, ``places365_val.txt`` labels ``val_256``.
    """
    tree, categories = candidate.tree, "categories_places365.txt"
    if not tree or not tree.has(categories):
        return None
    paths, folder_of = {}, {}
    for split, (path, folders) in _PLACES.items():
        existing = (f for f in folders if tree.level(f).folders or tree.level(f).images)
        if tree.has(path) and (folder := next(existing, None)):
            paths[split], folder_of[split] = path, folder

    def lists(tree: Tree) -> Lists:
        order = {}
        for name, number in table_of(tree, categories).items():
            if not number.isdecimal():
                raise UnusableInput(f"{tree.root / categories}: {name!r} has no number.")
            order[int(number)] = name.strip("/")
        classes = tuple(order[number] for number in sorted(order))

        def row(split: str, name: str, number: str) -> Row:
            is_known = number.isdecimal() and int(number) < len(classes)
            label = classes[int(number)] if is_known else number
            return Row(f"{folder_of[split]}/{name.strip('/')}", label, split)

        return Lists(rows_of(tree, paths, 2, row), classes, tuple(paths.values()))

    what = "Places365 with its official lists"
    return by_lists(candidate, what, (categories,), lists) if paths else None


def sun397(candidate: Candidate) -> Interpretation | None:
    """SUN397: folders of one or two levels below a letter, and ``ClassName.txt`` that lists them.

    As https://vision.princeton.edu/projects/2010/SUN/ has it. A class is the folder that its line
    names.
    """
    tree, names = candidate.tree, "ClassName.txt"
    if not tree or not tree.has(names):
        return None
    some = list(islice(tree.lines(names), _LOOKED_AT))
    if not all(line.startswith("/") for line in some):
        return None
    if not any(tree.level(line.strip("/")).images for line in some):
        return None

    def lists(tree: Tree) -> Lists:
        classes = tuple(line.strip("/") for line in tree.lines(names))
        return Lists(
            lambda: (Row(f"{name}/{one}", name) for name in classes for one in tree.images(name)),
            classes,
        )

    return by_lists(candidate, "SUN397 with its list of classes", (names,), lists)
