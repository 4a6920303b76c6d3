"""What services hand out: Roboflow, SageMaker, Rekognition, Google, Azure, FiftyOne, Datumaro."""

import hashlib
import json
from typing import Any

from layouts.images import SIDE
from layouts.row import Layout, Truth
from layouts.scenes import (
    CLASSES,
    PETS,
    STREET,
    corners,
    dumps,
    images,
    lines,
    per,
    seen,
    split_of,
    truths,
)
from layouts.words import labelled, plain, several

LAYOUTS: list[Layout] = []


def _add(name: str, source: str, files: Any, truth: Any, **more: Any) -> None:
    LAYOUTS.append(Layout(name, source, files, truth, **more))


def _pets(folder: str = "", split: str = "") -> dict[str, Truth]:
    return {f"{folder}{name}.jpg": labelled(kind, split=split) for name, kind in PETS.items()}


# Roboflow

_ROBOFLOW = "https://roboflow.com/formats/"
_NOTES = {
    "README.dataset.txt": "# street > 2024-01-01\nhttps://universe.roboflow.com/me/street\n",
    "README.roboflow.txt": "\nstreet - v1\n==============================\n",
}


def _rf(name: str) -> str:
    return f"{name}_jpg.rf.{hashlib.md5(name.encode()).hexdigest()}.jpg"


def _folder(name: str) -> str:
    return {"train": "train", "val": "valid"}[split_of(name)]


_RF_IMAGES = {f"{_folder(n)}/{_rf(n)}": "" for n in STREET}
_RF_TRUTH = {f"{_folder(n)}/{_rf(n)}": seen(n, split_of(n)) for n in STREET}
_RF_PETS = {f"{_folder(n)}/{_rf(n)}": "" for n in PETS}


def _by_folder(line: Any, names: Any = STREET) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"train": [], "valid": []}
    for name in names:
        found[_folder(name)] += line(name)
    return found


_add(
    "roboflow: createml",
    f"{_ROBOFLOW}createml-json",
    _NOTES
    | _RF_IMAGES
    | {
        f"{folder}/_annotations.createml.json": dumps(entries)
        for folder, entries in _by_folder(
            lambda name: [
                {
                    "image": _rf(name),
                    "annotations": [
                        {
                            "label": one.name,
                            "coordinates": {
                                "x": one.x + one.w / 2,
                                "y": one.y + one.h / 2,
                                "width": one.w,
                                "height": one.h,
                            },
                        }
                        for one in STREET[name]
                    ],
                }
            ]
        ).items()
    },
    _RF_TRUTH,
)
_add(
    "createml: annotations.json beside images",
    "https://developer.apple.com/documentation/createml/building-an-object-detector-data-source",
    images()
    | {
        "annotations.json": dumps(
            [
                {
                    "imagefilename": f"{name}.jpg",
                    "annotation": [
                        {
                            "label": one.name,
                            "coordinates": {
                                "x": one.x + one.w / 2,
                                "y": one.y + one.h / 2,
                                "width": one.w,
                                "height": one.h,
                            },
                        }
                        for one in things
                    ],
                }
                for name, things in STREET.items()
            ]
        )
    },
    truths(),
)
_add(
    "roboflow: multiclass csv",
    f"{_ROBOFLOW}multiclass-classification-csv",
    _NOTES
    | _RF_PETS
    | {
        f"{folder}/_classes.csv": "filename, bird, cat, dog, indoor\n" + "".join(rows)
        for folder, rows in _by_folder(
            lambda name: [
                f"{_rf(name)}, "
                + ", ".join(str(int(PETS[name] == one)) for one in ("bird", "cat", "dog"))
                + ", 1\n"
            ],
            PETS,
        ).items()
    },
    {
        f"{_folder(n)}/{_rf(n)}": several(kind, "indoor", split=split_of(n))
        for n, kind in PETS.items()
    },
)
_add(
    "roboflow: folders of classes",
    f"{_ROBOFLOW}folder",
    _NOTES | {f"{_folder(n)}/{kind}/{_rf(n)}": "" for n, kind in PETS.items()},
    {f"{_folder(n)}/{k}/{_rf(n)}": labelled(k, split=split_of(n)) for n, k in PETS.items()},
)
_add(
    "roboflow: tensorflow csv",
    f"{_ROBOFLOW}tensorflow-object-detection-csv",
    _NOTES
    | _RF_IMAGES
    | {
        f"{folder}/_annotations.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
        + "".join(rows)
        for folder, rows in _by_folder(
            lambda name: [
                f"{_rf(name)},16,16,{one.name},{one.x},{one.y},{one.right},{one.bottom}\n"
                for one in STREET[name]
            ]
        ).items()
    },
    _RF_TRUTH,
)
_add(
    "roboflow: keras retinanet csv",
    f"{_ROBOFLOW}retinanet-keras-csv",
    _NOTES
    | _RF_IMAGES
    | {
        f"{folder}/_annotations.csv": "".join(rows)
        for folder, rows in _by_folder(
            lambda name: [
                f"{_rf(name)},{one.x},{one.y},{one.right},{one.bottom},{one.name}\n"
                for one in STREET[name]
            ]
        ).items()
    }
    | {
        f"{folder}/_classes.csv": "".join(f"{one},{at}\n" for at, one in enumerate(CLASSES))
        for folder in ("train", "valid")
    },
    _RF_TRUTH,
)
_add(
    "roboflow: yolo keras txt",
    f"{_ROBOFLOW}yolov3-keras-txt",
    _NOTES
    | _RF_IMAGES
    | {
        f"{folder}/_annotations.txt": "".join(rows)
        for folder, rows in _by_folder(
            lambda name: [
                " ".join(
                    [_rf(name)]
                    + [
                        f"{one.x},{one.y},{one.right},{one.bottom},{one.number}"
                        for one in STREET[name]
                    ]
                )
                + "\n"
            ]
        ).items()
    }
    | {f"{folder}/_classes.txt": "\n".join(CLASSES) + "\n" for folder in ("train", "valid")},
    _RF_TRUTH,
)
_add(
    "roboflow: darknet",
    f"{_ROBOFLOW}yolo-darknet-txt",
    _NOTES
    | _RF_IMAGES
    | {
        f"{_folder(n)}/{_rf(n)[:-4]}.txt": "".join(
            f"{o.number} {per(o.x + o.w / 2)} {per(o.y + o.h / 2)} {per(o.w)} {per(o.h)}\n"
            for o in things
        )
        for n, things in STREET.items()
    }
    | {f"{folder}/_darknet.labels": "\n".join(CLASSES) + "\n" for folder in ("train", "valid")},
    _RF_TRUTH,
)
_add(
    "roboflow: semantic masks",
    f"{_ROBOFLOW}png-mask-semantic",
    _NOTES
    | _RF_IMAGES
    | {f"{_folder(n)}/{_rf(n)[:-4]}_mask.png": "" for n in STREET}
    | {
        f"{folder}/_classes.csv": "Pixel Value, Class\n0, background\n1, car\n2, person\n3, bike\n"
        for folder in ("train", "valid")
    },
    {
        f"{_folder(n)}/{_rf(n)}": plain(
            split_of(n), files=(f"{_folder(n)}/{_rf(n)[:-4]}_mask.png",)
        )
        for n in STREET
    },
)
_add(
    "roboflow: paligemma jsonl",
    f"{_ROBOFLOW}paligemma-jsonl",
    _NOTES
    | {f"dataset/{_rf(n)}": "" for n in STREET}
    | {
        f"dataset/_annotations.{folder}.jsonl": lines(entries)
        for folder, entries in _by_folder(
            lambda name: [
                {
                    "image": _rf(name),
                    "prefix": "detect car ; person",
                    "suffix": f"<loc0{name[-2:]}1><loc0100><loc0500> {STREET[name][0].name}",
                }
            ]
        ).items()
    },
    {
        f"dataset/{_rf(n)}": plain(split_of(n), f"<loc0{n[-2:]}1>", "detect car ; person")
        for n in STREET
    },
)

# SageMaker and Rekognition

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/sms-data-output.html"


def _truth_boxes(name: str) -> dict[str, Any]:
    return {
        "source-ref": f"s3://my-bucket/street/images/{name}.jpg",
        "street": {
            "image_size": [{"width": SIDE, "height": SIDE, "depth": 3}],
            "annotations": [
                {
                    "class_id": one.number,
                    "top": one.y,
                    "left": one.x,
                    "height": one.h,
                    "width": one.w,
                }
                for one in STREET[name]
            ],
        },
        "street-metadata": {
            "objects": [{"confidence": 0.9} for _ in STREET[name]],
            "class-map": {str(at): one for at, one in enumerate(CLASSES)},
            "type": "groundtruth/object-detection",
            "human-annotated": "yes",
            "creation-date": "2024-01-01T10:00:00.000000",
            "job-name": "labeling-job/street",
        },
    }


def _truth_class(name: str, prefix: str = "s3://my-bucket/pets/images/") -> dict[str, Any]:
    kind = PETS[name]
    return {
        "source-ref": f"{prefix}{name}.jpg",
        "pets": ("bird", "cat", "dog").index(kind),
        "pets-metadata": {
            "class-name": kind,
            "confidence": 0.95,
            "type": "groundtruth/image-classification",
            "job-name": "labeling-job/pets",
            "human-annotated": "yes",
            "creation-date": "2024-01-01T10:00:00",
        },
    }


_add(
    "sagemaker: output.manifest, boxes",
    _SAGEMAKER,
    images("images/") | {"manifests/output/output.manifest": lines(map(_truth_boxes, STREET))},
    truths("images/"),
)
_add(
    "sagemaker: output.manifest, classes",
    _SAGEMAKER,
    images("images/", names=PETS) | {"output.manifest": lines(map(_truth_class, PETS))},
    _pets("images/"),
)
_add(
    "sagemaker: manifest packed itself",
    _SAGEMAKER,
    images("images/", names=PETS) | {"output.manifest": lines(map(_truth_class, PETS))},
    _pets("images/"),
    src="output.manifest",
)
_add(
    "rekognition: train and test manifests",
    "https://docs.aws.amazon.com/rekognition/latest/customlabels-dg/md-create-manifest-file.html",
    images("images/", names=PETS)
    | {
        "train.manifest": lines(_truth_class(n) for n in PETS if split_of(n) == "train"),
        "test.manifest": lines(_truth_class(n) for n in PETS if split_of(n) != "train"),
    },
    {
        f"images/{n}.jpg": labelled(k, split="train" if split_of(n) == "train" else "test")
        for n, k in PETS.items()
    },
)

# Google

_VERTEX = "https://cloud.google.com/vertex-ai/docs/image-data/"
_USE = {"train": "TRAIN", "val": "VALIDATION"}
_add(
    "automl: classification csv",
    f"{_VERTEX}classification/prepare-data",
    images("images/", names=PETS)
    | {
        "import.csv": "".join(
            f"{_USE[split_of(n)]},gs://my-bucket/pets/images/{n}.jpg,{kind}\n"
            for n, kind in PETS.items()
        )
    },
    {f"images/{n}.jpg": labelled(kind, split=split_of(n)) for n, kind in PETS.items()},
)
_add(
    "automl: several labels csv",
    f"{_VERTEX}classification/prepare-data",
    images("images/", names=PETS)
    | {
        "import.csv": "".join(
            f"gs://my-bucket/pets/images/{n}.jpg,{kind}{',indoor' if kind == 'cat' else ''}\n"
            for n, kind in PETS.items()
        )
    },
    {
        f"images/{n}.jpg": several(kind, "indoor") if kind == "cat" else several(kind)
        for n, kind in PETS.items()
    },
)
_add(
    "automl: object detection csv",
    f"{_VERTEX}object-detection/prepare-data",
    images("images/")
    | {
        "import.csv": "".join(
            f"{_USE[split_of(n)]},gs://my-bucket/street/images/{n}.jpg,{one.name},{per(one.x)},"
            f"{per(one.y)},,,{per(one.right)},{per(one.bottom)},,\n"
            for n, things in STREET.items()
            for one in things
        )
    },
    truths("images/", split=True),
)
_add(
    "vertex: classification jsonl",
    f"{_VERTEX}classification/prepare-data",
    images("images/", names=PETS)
    | {
        "import.jsonl": lines(
            {
                "imageGcsUri": f"gs://my-bucket/pets/images/{n}.jpg",
                "classificationAnnotation": {"displayName": kind},
                "dataItemResourceLabels": {
                    "aiplatform.googleapis.com/ml_use": {"train": "training", "val": "validation"}[
                        split_of(n)
                    ]
                },
            }
            for n, kind in PETS.items()
        )
    },
    {f"images/{n}.jpg": labelled(kind, split=split_of(n)) for n, kind in PETS.items()},
)
_add(
    "vertex: object detection jsonl",
    f"{_VERTEX}object-detection/prepare-data",
    images("images/")
    | {
        "import.jsonl": lines(
            {
                "imageGcsUri": f"gs://my-bucket/street/images/{n}.jpg",
                "boundingBoxAnnotations": [
                    {
                        "displayName": one.name,
                        "xMin": per(one.x),
                        "yMin": per(one.y),
                        "xMax": per(one.right),
                        "yMax": per(one.bottom),
                    }
                    for one in things
                ],
            }
            for n, things in STREET.items()
        )
    },
    truths("images/"),
)

# Azure

_AZURE = "https://learn.microsoft.com/en-us/azure/machine-learning/"
_STORE = (
    "azureml://subscriptions/x/resourcegroups/y/workspaces/z/datastores/workspaceblobstore/paths"
)
_add(
    "azure: jsonl, classes",
    f"{_AZURE}reference-automl-images-schema",
    images("images/", names=PETS)
    | {
        "pets.jsonl": lines(
            {
                "image_url": f"{_STORE}/images/{n}.jpg",
                "image_details": {"format": "jpg", "width": SIDE, "height": SIDE},
                "label": kind,
            }
            for n, kind in PETS.items()
        )
    },
    _pets("images/"),
)
_add(
    "azure: jsonl, several classes",
    f"{_AZURE}reference-automl-images-schema",
    images("images/", names=PETS)
    | {
        "pets.jsonl": lines(
            {"image_url": f"{_STORE}/images/{n}.jpg", "label": [kind, "indoor"]}
            for n, kind in PETS.items()
        )
    },
    {f"images/{n}.jpg": several(kind, "indoor") for n, kind in PETS.items()},
)
_add(
    "azure: jsonl, boxes",
    f"{_AZURE}reference-automl-images-schema",
    images("images/")
    | {
        f"{split}_annotations.jsonl": lines(
            {
                "image_url": f"{_STORE}/images/{n}.jpg",
                "image_details": {"format": "jpg", "width": SIDE, "height": SIDE},
                "label": [
                    {
                        "label": one.name,
                        "topX": per(one.x),
                        "topY": per(one.y),
                        "bottomX": per(one.right),
                        "bottomY": per(one.bottom),
                        "isCrowd": 0,
                    }
                    for one in things
                ],
            }
            for n, things in STREET.items()
            if split_of(n)[:5] == split[:5].replace("valid", "val")
        )
        for split in ("train", "validation")
    },
    truths("images/", split=True),
)
_add(
    "azure: COCO of Vision Studio",
    "https://learn.microsoft.com/en-us/azure/ai-services/computer-vision/concept-model-customization",
    images("images/", names=PETS)
    | {
        "train_coco.json": dumps(
            {
                "images": [
                    {
                        "id": at,
                        "width": SIDE,
                        "height": SIDE,
                        "file_name": f"images/{n}.jpg",
                        "absolute_url": f"https://store.blob.core.windows.net/pets/images/{n}.jpg",
                    }
                    for at, n in enumerate(PETS, 1)
                ],
                "annotations": [
                    {
                        "id": at,
                        "image_id": at,
                        "category_id": ("bird", "cat", "dog").index(kind) + 1,
                    }
                    for at, kind in enumerate(PETS.values(), 1)
                ],
                "categories": [
                    {"id": at, "name": kind} for at, kind in enumerate(("bird", "cat", "dog"), 1)
                ],
            }
        )
    },
    _pets("images/", split="train"),
)

# FiftyOne

_FIFTYONE = "https://docs.voxel51.com/user_guide/export_datasets.html"
_add(
    "fiftyone: image classification",
    _FIFTYONE,
    images("data/", names=PETS)
    | {
        "labels.json": dumps(
            {
                "classes": ["bird", "cat", "dog"],
                "labels": {n: ("bird", "cat", "dog").index(kind) for n, kind in PETS.items()},
            }
        )
    },
    _pets("data/"),
)
_add(
    "fiftyone: image classification without classes",
    _FIFTYONE,
    images("data/", names=PETS) | {"labels.json": dumps({"classes": None, "labels": PETS})},
    _pets("data/"),
)
_add(
    "fiftyone: image classification, several",
    _FIFTYONE,
    images("data/", names=PETS)
    | {
        "labels.json": dumps(
            {"classes": None, "labels": {n: [kind, "indoor"] for n, kind in PETS.items()}}
        )
    },
    {f"data/{n}.jpg": several(kind, "indoor") for n, kind in PETS.items()},
)
_add(
    "fiftyone: image detection",
    _FIFTYONE,
    images("data/")
    | {
        "labels.json": dumps(
            {
                "classes": list(CLASSES),
                "labels": {
                    n: [
                        {
                            "label": one.number,
                            "bounding_box": [per(one.x), per(one.y), per(one.w), per(one.h)],
                            "attributes": {},
                        }
                        for one in things
                    ]
                    for n, things in STREET.items()
                },
            }
        )
    },
    truths("data/"),
)


def _fiftyone(entries: dict[str, Any]) -> dict[str, str]:
    samples = [
        {
            "_id": {"$oid": f"{at:024x}"},
            "filepath": path,
            "tags": [],
            "metadata": None,
            "_media_type": "image",
            "ground_truth": label,
        }
        for at, (path, label) in enumerate(entries.items())
    ]
    return {
        "samples.json": json.dumps({"samples": samples}),
        "metadata.json": json.dumps(
            {
                "name": "street",
                "version": "0.24.0",
                "media_type": "image",
                "sample_fields": [
                    {"name": "filepath", "ftype": "fiftyone.core.fields.StringField"}
                ],
                "classes": {},
                "default_classes": [],
            }
        ),
    }


_add(
    "fiftyone: FiftyOneDataset, classes",
    _FIFTYONE,
    images("data/", names=PETS)
    | _fiftyone(
        {
            f"data/{n}.jpg": {"_cls": "Classification", "tags": [], "label": kind}
            for n, kind in PETS.items()
        }
    ),
    {f"data/{n}.jpg": labelled(kind) for n, kind in PETS.items()},
)
_add(
    "fiftyone: FiftyOneDataset, boxes",
    _FIFTYONE,
    images("data/")
    | _fiftyone(
        {
            f"data/{n}.jpg": {
                "_cls": "Detections",
                "detections": [
                    {
                        "_cls": "Detection",
                        "label": one.name,
                        "bounding_box": [per(one.x), per(one.y), per(one.w), per(one.h)],
                        "attributes": {},
                    }
                    for one in things
                ],
            }
            for n, things in STREET.items()
        }
    ),
    truths("data/"),
)
_add(
    "fiftyone: segmentation directory",
    _FIFTYONE,
    images("data/") | images("labels/", ".png"),
    {f"data/{n}.jpg": plain(files=(f"labels/{n}.png",)) for n in STREET},
)
_add(
    "fiftyone: kitti detection",
    _FIFTYONE,
    images("data/", ".png")
    | {
        f"labels/{n}.txt": "".join(
            f"{one.name} 0 0 0 {one.x} {one.y} {one.right} {one.bottom} 0 0 0 0 0 0 0\n"
            for one in things
        )
        for n, things in STREET.items()
    },
    {
        f"data/{n}.png": plain("", *(f"{t.name} 0 0 0 {t.x} {t.y} {t.right}" for t in things))
        for n, things in STREET.items()
    },
)
_add(
    "fiftyone: csv",
    _FIFTYONE,
    images("data/", names=PETS)
    | {
        "labels.csv": "filepath,tags,weather.label\n"
        + "".join(f'data/{n}.jpg,"day,wet",{kind}\n' for n, kind in PETS.items())
    },
    {f"data/{n}.jpg": labelled(kind, holds=("day,wet",)) for n, kind in PETS.items()},
)

# Datumaro

_DATUMARO = (
    "https://openvinotoolkit.github.io/datumaro/stable/docs/data-formats/formats/datumaro.html"
)


def _datumaro(names: Any, annotations: Any, folder: str = "") -> str:
    return json.dumps(
        {
            "dm_format_version": "1.0",
            "media_type": 2,
            "infos": {},
            "categories": {
                "label": {
                    "labels": [
                        {"name": name, "parent": "", "attributes": []}
                        for name in (*CLASSES, "bird", "cat", "dog")
                    ],
                    "attributes": [],
                }
            },
            "items": [
                {
                    "id": name,
                    "annotations": annotations(name),
                    "attr": {"frame": at},
                    "image": {"path": f"{folder}{name}.jpg", "size": [SIDE, SIDE]},
                }
                for at, name in enumerate(names)
            ],
        }
    )


def _datumaro_boxes(name: str) -> list[dict[str, Any]]:
    return [
        {
            "id": at,
            "type": "bbox",
            "attributes": {"occluded": False},
            "group": 0,
            "label_id": one.number,
            "z_order": 0,
            "bbox": [float(one.x), float(one.y), float(one.w), float(one.h)],
        }
        for at, one in enumerate(STREET[name])
    ]


_add(
    "datumaro: one subset",
    _DATUMARO,
    images("images/default/") | {"annotations/default.json": _datumaro(STREET, _datumaro_boxes)},
    {f"images/default/{n}.jpg": seen(n) for n in STREET},
)
_add(
    "datumaro: subsets",
    _DATUMARO,
    {f"images/{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {
        f"annotations/{split}.json": _datumaro(
            [n for n in STREET if split_of(n) == split], _datumaro_boxes
        )
        for split in ("train", "val")
    },
    {f"images/{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "datumaro: labels",
    _DATUMARO,
    {f"images/{split_of(n)}/{n}.jpg": "" for n in PETS}
    | {
        f"annotations/{split}.json": _datumaro(
            [n for n in PETS if split_of(n) == split],
            lambda name: [
                {
                    "id": 0,
                    "type": "label",
                    "attributes": {},
                    "group": 0,
                    "label_id": 3 + ("bird", "cat", "dog").index(PETS[name]),
                }
            ],
        )
        for split in ("train", "val")
    },
    {f"images/{split_of(n)}/{n}.jpg": labelled(k, split=split_of(n)) for n, k in PETS.items()},
)
_add(
    "datumaro: polygons",
    _DATUMARO,
    images("images/train/")
    | {
        "annotations/train.json": _datumaro(
            STREET,
            lambda name: [
                {
                    "id": at,
                    "type": "polygon",
                    "attributes": {},
                    "group": at,
                    "label_id": one.number,
                    "points": [value + 0.5 for point in corners(one) for value in point],
                    "z_order": 0,
                }
                for at, one in enumerate(STREET[name])
            ],
        )
    },
    {
        f"images/train/{n}.jpg": plain("train", *(f"{one.x}.5" for one in things))
        for n, things in STREET.items()
    },
)
