"""COCO's layouts: its own, and those that tools export.

The format is cocodataset.org/#format-data.
"""

import json
from typing import Any

from layouts.row import Read, Row

CATEGORIES = [{"id": 18, "name": "dog"}, {"id": 17, "name": "cat"}]  # ids with gaps, as COCO's
BOX = [1.5, 2, 3, 4.25]


def annotations(*names: str, **lists: Any) -> str:
    """A file with an object in each image but the last: of category 18, then 17, ..."""
    images = [
        {"id": 10 + number, "file_name": name, "height": 16, "width": 16}
        for number, name in enumerate(names)
    ]
    objects = [
        {"id": number, "image_id": 10 + number, "category_id": 18 - number % 2}
        | {"bbox": BOX, "iscrowd": 0}
        for number in range(len(names) - 1)
    ]
    content = {"info": {}, "images": images, "annotations": objects, "categories": CATEGORIES}
    return json.dumps(content | lists)


DOG = {"boxes": [BOX], "categories": [1], "iscrowd": [0]}
NONE: dict[str, Any] = {"boxes": [], "categories": []}
NAMES = ("cat", "dog")


def read(splits: dict[str, str], **more: Any) -> Read:
    """Images without labels; the first one of each split has a dog."""
    return Read(dict.fromkeys(splits), splits, ("json",), classes=NAMES, **more)


TRAIN_VAL = {"train2017/1": "train", "train2017/2": "train", "val2017/3": "val"}

ROWS = [
    Row(
        "COCO as it is published",
        "train2017/1.jpg train2017/2.jpg val2017/3.jpg",
        read(TRAIN_VAL, json={"train2017/1": DOG, "train2017/2": NONE}, what="COCO annotations"),
        contents={
            "annotations/instances_train2017.json": annotations("1.jpg", "2.jpg"),
            "annotations/instances_val2017.json": annotations("3.jpg"),
        },
    ),
    # github.com/open-mmlab/mmyolo, docs.ultralytics.com/datasets/detect/coco: images/train2017
    Row(
        "COCO in images/train2017, with images for which there are no annotations",
        "images/train2017/1.jpg images/train2017/2.jpg images/val2017/3.jpg images/test2017/4.jpg",
        read(
            {f"images/{key}": split for key, split in TRAIN_VAL.items()},
            json={"images/train2017/1": DOG},
            ignored=frozenset({"images/test2017/"}),
        ),
        contents={
            "annotations/instances_train2017.json": annotations("1.jpg", "2.jpg"),
            "annotations/instances_val2017.json": annotations("3.jpg"),
        },
    ),
    # github.com/facebookresearch/detr, lyuwenyu/RT-DETR: custom data
    Row(
        "COCO in train, with annotations/train.json",
        "train/1.jpg train/2.jpg val/3.jpg",
        read({"train/1": "train", "train/2": "train", "val/3": "val"}, json={"train/1": DOG}),
        contents={
            "annotations/train.json": annotations("1.jpg", "2.jpg"),
            "annotations/val.json": annotations("3.jpg"),
        },
    ),
    # github.com/Megvii-BaseDetection/YOLOX/blob/main/docs/train_custom_data.md
    Row(
        "COCO, all images in one folder",
        "images/1.jpg images/2.jpg images/3.jpg",
        read({"images/1": "train", "images/2": "train", "images/3": "val"}, json={"images/1": DOG}),
        contents={
            "annotations/train.json": annotations("1.jpg", "2.jpg"),
            "annotations/val.json": annotations("3.jpg"),
        },
    ),
    Row(
        "COCO, with an image that no file lists, one that is missing and a note",
        "train/1.jpg train/2.jpg train/3.jpg train/notes.txt",
        read(
            {"train/1": "train", "train/2": "train"},
            ignored=frozenset({"train/notes.txt"}),
            rejected=frozenset({"train/3.jpg", "train.json: 4.jpg"}),
        ),
        contents={"annotations/train.json": annotations("1.jpg", "2.jpg", "4.jpg")},
    ),
    # docs.cvat.ai/docs/manual/advanced/formats/format-coco
    Row(
        "CVAT's COCO 1.0",
        "images/1.jpg images/2.jpg",
        Read(
            {"images/1": None, "images/2": None},
            members=("json",),
            classes=NAMES,
            json={"images/1": DOG},
        ),
        contents={"annotations/instances_default.json": annotations("1.jpg", "2.jpg")},
    ),
    # docs.voxel51.com/user_guide/export_datasets.html#cocodetectiondataset
    Row(
        "FiftyOne's data and labels.json",
        "data/1.jpg data/2.jpg",
        Read(
            {"data/1": None, "data/2": None},
            members=("json",),
            classes=NAMES,
            json={"data/1": DOG, "data/2": NONE},
        ),
        contents={"labels.json": annotations("1.jpg", "2.jpg")},
    ),
    # labelstud.io/guide/export: COCO
    Row(
        "Label Studio's result.json, which names images/...",
        "images/1.jpg images/2.jpg",
        Read(
            {"images/1": None, "images/2": None},
            members=("json",),
            classes=NAMES,
            json={"images/1": DOG},
        ),
        contents={"result.json": annotations("images/1.jpg", "images/2.jpg")},
    ),
    # docs.roboflow.com/datasets/dataset-versions/exporting-a-dataset, COCO JSON
    Row(
        "Roboflow's COCO",
        "train/1.jpg train/2.jpg valid/3.jpg test/4.jpg",
        Read(
            {"train/1": None, "train/2": None, "valid/3": None, "test/4": None},
            {"train/1": "train", "train/2": "train", "valid/3": "valid", "test/4": "test"},
            ("json",),
            frozenset({"README.dataset.txt", "README.roboflow.txt"}),
            classes=("dog", "cat"),
            json={"train/1": {"boxes": [BOX], "categories": [0]}},
        ),
        contents={
            f"{split}/_annotations.coco.json": annotations(
                *names,
                categories=[
                    {"id": 0, "name": "pets", "supercategory": "none"},
                    {"id": 18, "name": "dog", "supercategory": "pets"},
                    {"id": 19, "name": "cat", "supercategory": "pets"},
                ],
            )
            for split, names in {
                "train": ("1.jpg", "2.jpg"),
                "valid": ("3.jpg",),
                "test": ("4.jpg",),
            }.items()
        }
        | {"README.dataset.txt": "# pets", "README.roboflow.txt": "pets - v1"},
    ),
    # lvisdataset.org/dataset: coco_url and no file_name; val has images of train2017, too
    Row(
        "LVIS",
        "train2017/1.jpg train2017/2.jpg val2017/3.jpg",
        read(
            {"train2017/1": "train", "train2017/2": "val", "val2017/3": "val"},
            json={"train2017/1": NONE, "train2017/2": DOG},
        ),
        contents={
            f"annotations/lvis_v1_{split}.json": annotations(
                *map(str, range(len(names))),
                images=[
                    {"id": 10 + n, "coco_url": f"http://images.cocodataset.org/{name}"}
                    for n, name in enumerate(names)
                ],
            )
            for split, names in {
                "train": ["train2017/1.jpg"],
                "val": ["train2017/2.jpg", "val2017/3.jpg"],
            }.items()
        },
    ),
    # github.com/visipedia/inat_comp/tree/master/2021
    Row(
        "iNaturalist: categories and no boxes",
        "train/00017_Felis/1.jpg train/00018_Canis/2.jpg val/00017_Felis/3.jpg",
        Read(
            {"train/00017_Felis/1": "dog", "train/00018_Canis/2": "cat"}
            | {"val/00017_Felis/3": "dog"},
            {"train/00017_Felis/1": "train", "train/00018_Canis/2": "train"}
            | {"val/00017_Felis/3": "val"},
            ("json",),
        ),
        contents={
            f"{split}.json": annotations(
                *names,
                annotations=[
                    {"id": n, "image_id": 10 + n, "category_id": 18 - n} for n in range(len(names))
                ],
            )
            for split, names in {
                "train": ["train/00017_Felis/1.jpg", "train/00018_Canis/2.jpg"],
                "val": ["val/00017_Felis/3.jpg"],
            }.items()
        },
    ),
    Row(
        "COCO's key points alone",
        "val2017/1.jpg val2017/2.jpg",
        read(
            {"val2017/1": "val", "val2017/2": "val"},
            json={"val2017/1": {"boxes": [BOX], "keypoints": [[5, 6, 2]], "num_keypoints": [1]}},
        ),
        contents={
            "annotations/person_keypoints_val2017.json": annotations(
                "1.jpg",
                "2.jpg",
                annotations=[
                    {"id": 1, "image_id": 10, "category_id": 18, "bbox": BOX}
                    | {"keypoints": [5, 6, 2], "num_keypoints": 1}
                ],
            )
        },
    ),
    Row(
        "COCO's captions beside instances, and key points that are not taken",
        "val2017/1.jpg",
        read(
            {"val2017/1": "val"},
            json={"val2017/1": {"captions": ["A dog."], "boxes": []}},
            ignored=frozenset({"annotations/person_keypoints_val2017.json"}),
        ),
        contents={
            "annotations/instances_val2017.json": annotations("1.jpg"),
            "annotations/person_keypoints_val2017.json": annotations("1.jpg"),
            "annotations/captions_val2017.json": annotations(
                "1.jpg", annotations=[{"id": 1, "image_id": 10, "caption": "A dog."}]
            ),
        },
    ),
    # cocodataset.org/#format-data, 4. Panoptic Segmentation
    Row(
        "COCO's panoptic segments",
        "val2017/1.jpg annotations/panoptic_val2017/1.png",
        Read(
            {"val2017/1": None},
            {"val2017/1": "val"},
            ("json", "panoptic.png"),
            classes=NAMES,
            json={"val2017/1": {"boxes": [BOX], "categories": [0], "id": [3226956]}},
        ),
        contents={
            "annotations/panoptic_val2017.json": annotations(
                "1.jpg",
                annotations=[
                    {
                        "image_id": 10,
                        "file_name": "1.png",
                        "segments_info": [
                            {"id": 3226956, "category_id": 17, "bbox": BOX, "iscrowd": 0}
                        ],
                    }
                ],
            )
        },
    ),
    Row(
        "two files of annotations for one folder of images",
        "images/1.jpg images/2.jpg",
        r"old\.json and annotations/new\.json both have|new\.json and annotations/old\.json both",
        contents={
            "annotations/old.json": annotations("1.jpg", "2.jpg"),
            "annotations/new.json": annotations("1.jpg", "2.jpg"),
        },
    ),
    Row(
        "annotations whose images were not downloaded",
        "readme.jpg",
        "no annotation file has its images in this folder: .*train2017 with its images",
        contents={"annotations/instances_train2017.json": annotations("1.jpg", "2.jpg")},
    ),
    Row(
        "COCO with paths as Windows has them",
        "images/1.jpg images/2.jpg",
        Read(
            {"images/1": None, "images/2": None},
            members=("json",),
            classes=NAMES,
            json={"images/1": DOG},
        ),
        contents={"annotations.json": annotations("images\\1.jpg", "images\\2.jpg")},
    ),
]
