"""VOC, as host.robots.ox.ac.uk/pascal/VOC/voc2012 has it, and what others write in its form."""

from collections.abc import Mapping
from typing import Any

from layouts.row import Read, Row


def xml(*objects: tuple[str, tuple[float, ...]], more: str = "") -> str:
    """An annotation of VOC's form."""
    found = "".join(
        f"<object><name>{name}</name><pose>Left</pose><truncated>1</truncated>"
        f"<difficult>0</difficult><bndbox><xmin>{box[0]}</xmin><ymin>{box[1]}</ymin>"
        f"<xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox>{more}</object>"
        for name, box in objects
    )
    return (
        "<annotation><folder>VOC2012</folder><filename>1.jpg</filename>"
        f"<size><width>16</width><height>16</height><depth>3</depth></size>{found}</annotation>"
    )


DOG = xml(("dog", (1, 2, 16, 12)))
BOTH = xml(("person", (3, 1, 9, 16)), ("cat", (5.5, 2, 7, 3)))
DOG_JSON = {"boxes": [[1, 2, 16, 12]], "categories": [1], "difficult": [0], "truncated": [1]}
BOTH_JSON = {"boxes": [[3, 1, 9, 16], [5.5, 2, 7, 3]], "categories": [2, 0]}
NAMES = ("cat", "dog", "person")


def read(splits: dict[str, str], members: Any = ("json",), **more: Any) -> Read:
    more.setdefault("classes", NAMES)
    named = {key: split for key, split in splits.items() if split}
    return Read(dict.fromkeys(splits), named, members, **more)


def year(*splits: str, root: str = "") -> Mapping[str, str]:
    """Annotations of three images, and the lists of splits."""
    lists = {"train": "1\n", "val": "2\n", "trainval": "1\n2\n", "test": "3\n"}
    found = {f"ImageSets/Main/{split}.txt": lists[split] for split in splits}
    found |= {"ImageSets/Main/dog_train.txt": "1  1\n", "Annotations/1.xml": DOG}
    found |= {"Annotations/2.xml": BOTH, "Annotations/3.xml": xml()}
    return {f"{root}{name}": text for name, text in found.items()}


IMAGES = "JPEGImages/1.jpg JPEGImages/2.jpg JPEGImages/3.jpg"
KEYS = ("JPEGImages/1", "JPEGImages/2", "JPEGImages/3")
TRAIN_VAL = dict(zip(KEYS, ("train", "val"), strict=False))
JSON = {KEYS[0]: DOG_JSON, KEYS[1]: BOTH_JSON}

ROWS = [
    Row(
        "VOC2012 without test, with masks of some",
        f"{IMAGES} SegmentationClass/1.png SegmentationObject/1.png",
        read(
            TRAIN_VAL,
            {KEYS[0]: ("json", "mask.png", "instances.png"), KEYS[1]: ("json",)},
            json=JSON,
            ignored=frozenset({"ImageSets/", KEYS[2] + ".jpg", "Annotations/3.xml"}),
            what="VOC, the lists of Main",
        ),
        contents=year("train", "val", "trainval"),
    ),
    Row(
        "VOC2007 with its test",
        IMAGES,
        read(
            TRAIN_VAL | {KEYS[2]: "test"},
            json=JSON | {KEYS[2]: {"boxes": [], "categories": []}},
            ignored=frozenset({"ImageSets/"}),
        ),
        contents=year("train", "val", "trainval", "test"),
    ),
    Row(
        "VOC with trainval and test alone",
        IMAGES,
        read(
            dict(zip(KEYS, ("trainval", "trainval", "test"), strict=True)),
            ignored=frozenset({"ImageSets/"}),
        ),
        contents=year("trainval", "test"),
    ),
    Row(
        "VOCdevkit with one year, as the archive unpacks",
        f"VOCdevkit/VOC2012/{IMAGES.replace(' ', ' VOCdevkit/VOC2012/')}",
        read(TRAIN_VAL | {KEYS[2]: "test"}, ignored=frozenset({"ImageSets/"})),
        contents=year("train", "val", "test", root="VOCdevkit/VOC2012/"),
    ),
    Row(
        "VOCdevkit with VOC2007 and VOC2012",
        f"VOC2007/{IMAGES.replace(' ', ' VOC2007/')} VOC2012/{IMAGES.replace(' ', ' VOC2012/')} "
        "results/VOC2007/Main/readme.txt",
        read(
            {f"VOC2007/{key}": split for key, split in (TRAIN_VAL | {KEYS[2]: "test"}).items()}
            | {f"VOC2012/{key}": split for key, split in TRAIN_VAL.items()},
            ignored=frozenset(
                {"VOC2007/ImageSets/", "VOC2012/ImageSets/", "results/VOC2007/Main/readme.txt"}
                | {f"VOC2012/{KEYS[2]}.jpg", "VOC2012/Annotations/3.xml"}
            ),
        ),
        contents=year("train", "val", "trainval", "test", root="VOC2007/")
        | dict(year("train", "val", root="VOC2012/")),
    ),
    Row(
        "VOC's segmentation",
        f"{IMAGES} SegmentationClass/1.png SegmentationClass/2.png",
        read(
            {KEYS[0]: "val", KEYS[1]: "train"},
            ("json", "mask.png"),
            ignored=frozenset({"ImageSets/", KEYS[2] + ".jpg", "Annotations/3.xml"}),
            what="VOC, the lists of Segmentation",
        ),
        contents=dict(year("train", "val"))
        | {"ImageSets/Segmentation/train.txt": "2\n", "ImageSets/Segmentation/val.txt": "1\n"},
        src="ImageSets/Segmentation",
    ),
    Row(
        "VOC without lists, an annotation without an image and a broken one",
        "JPEGImages/1.jpg JPEGImages/2.jpg JPEGImages/4.jpg",
        read(
            {KEYS[0]: "", "JPEGImages/4": ""},
            {KEYS[0]: ("json",), "JPEGImages/4": ()},
            classes=("dog",),
            rejected=frozenset({"JPEGImages/2.jpg", "Annotations/2.xml", "Annotations/3.xml"}),
        ),
        contents={
            "Annotations/1.xml": DOG,
            "Annotations/2.xml": DOG[:-5],
            "Annotations/3.xml": DOG,
        },
    ),
    # github.com/HumanSignal/labelImg
    Row(
        "labelImg's XML beside the images",
        "1.jpg 2.jpg",
        read({"1": "", "2": ""}, {"1": ("json",), "2": ()}, classes=("dog",), what="VOC's form"),
        contents={"1.xml": DOG},
    ),
    # docs.roboflow.com/datasets/dataset-versions/exporting-a-dataset: Pascal VOC XML
    Row(
        "Roboflow's VOC, with outlines",
        "train/1.jpg valid/2.jpg",
        read(
            {"train/1": "train", "valid/2": "valid"},
            json={"train/1": {"segmentation": [[[1, 2, 3, 4, 5.5, 6]]], "boxes": [[1, 2, 16, 12]]}},
            classes=("cat", "dog", "person"),
            ignored=frozenset({"README.roboflow.txt"}),
        ),
        contents={
            "train/1.xml": xml(
                ("dog", (1, 2, 16, 12)),
                more="<polygon><x1>1</x1><y1>2</y1><x2>3</x2><y2>4</y2><x3>5.5</x3><y3>6</y3>"
                "</polygon>",
            ),
            "valid/2.xml": BOTH,
            "README.roboflow.txt": "x",
        },
    ),
    # kaggle.com/datasets/andrewmvd/face-mask-detection
    Row(
        "images and annotations, as Kaggle's face masks",
        "images/1.png images/2.png",
        read({"images/1": "", "images/2": ""}, json={"images/1": DOG_JSON}),
        contents={"annotations/1.xml": DOG, "annotations/2.xml": BOTH},
    ),
    Row(
        "images and annotations in splits",
        "train/images/1.jpg val/images/2.jpg",
        read({"train/images/1": "train", "val/images/2": "val"}),
        contents={"train/annotations/1.xml": DOG, "val/annotations/2.xml": BOTH},
    ),
    Row(
        "splits in images and annotations",
        "images/train/1.jpg images/val/2.jpg",
        read({"images/train/1": "train", "images/val/2": "val"}),
        contents={"annotations/train/1.xml": DOG, "annotations/val/2.xml": BOTH},
    ),
]
