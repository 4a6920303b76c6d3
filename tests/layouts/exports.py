"""What annotation tools, services and benchmarks write; each row says who documents it."""

import json
from typing import Any

from layouts.row import Read, Row

_BOX = {"boxes": [[1, 2, 4, 6]], "categories": [0]}
_XYXY = {"boxes": [[1, 2, 5, 8]], "categories": [0]}
_PART = {"boxes": [[0.25, 0.5, 0.5, 0.25]], "categories": [0]}
_CORNERS = {"left": 1, "top": 2, "width": 4, "height": 6}


def _row(
    name: str,
    files: str,
    file: str,
    content: Any,
    expected: dict[str, dict[str, Any]],
    *,
    splits: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    classes: tuple[str, ...] = ("car",),
    what: str = "",
    more: dict[str, str] | None = None,
) -> Row:
    """Return a row whose one file has `content`; a list is one of lines if the file is no JSON."""
    if not isinstance(content, str):
        is_lines = not file.endswith(".json")
        content = (
            "".join(f"{json.dumps(one)}\n" for one in content) if is_lines else json.dumps(content)
        )
    keys = [path.rsplit(".", 1)[0] for path in files.split()]
    return Row(
        name,
        files,
        Read(
            dict.fromkeys(keys) | (labels or {}),
            splits or {},
            members={key: ("json",) if key in expected else () for key in keys},
            json=expected,
            classes=classes,
            what=what,
        ),
        contents={file: content} | (more or {}),
    )


_CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version>
<image id="0" name="im1.jpg" subset="Train" width="8" height="8">
  <box label="car" occluded="1" xtl="1.00" ytl="2" xbr="5" ybr="8" z_order="0">
    <attribute name="plate">no</attribute></box>
  <polygon label="car" points="1.5,2;3,4;5,6"></polygon>
  <tag label="night"></tag>
</image><image id="1" name="im2.jpg" subset="val" width="8" height="8"/></annotations>"""
_STUDIO = {
    "value": {"x": 25.0, "y": 50, "width": 50, "height": 25, "rectanglelabels": ["car"]},
    "from_name": "label",
    "type": "rectanglelabels",
    "original_width": 8,
}


def _task(image: str, *results: Any) -> dict[str, Any]:
    cancelled = {"id": 8, "was_cancelled": True, "result": [_STUDIO]}
    whole = {"id": 9, "was_cancelled": False, "result": results}
    return {"id": 1, "annotations": [cancelled, whole], "data": {"image": image}}


def _via(name: str, *shapes: Any) -> dict[str, Any]:
    regions = [{"shape_attributes": one, "region_attributes": {"kind": "car"}} for one in shapes]
    return {"filename": name, "size": 9, "regions": regions, "file_attributes": {}}


_RECT = {"name": "rect", "x": 1, "y": 2, "width": 4, "height": 6}
_POLYGON = {"name": "polygon", "all_points_x": [1, 2, 3], "all_points_y": [4, 5, 6]}
_VERTICES = [{"x": x, "y": y} for x, y in ((0.25, 0.5), (0.75, 0.5), (0.75, 0.75), (0.25, 0.75))]
_LABELME = {
    "flags": {},
    "shapes": [{"label": "car", "points": [[5, 2], [1, 8]], "shape_type": "rectangle"}],
    "imagePath": "../images/im1.jpg",
    "imageData": "AAAA",
    "imageHeight": 8,
}
_TURNS = [{"from": "human", "value": "<image>\nWhat?"}, {"from": "gpt", "value": "A car."}]

ROWS = [
    # docs.cvat.ai/docs/dataset_management/formats/format-cvat
    _row(
        "CVAT for images: boxes, a polygon, a tag, subsets",
        "images/Train/im1.jpg images/val/im2.jpg",
        "annotations.xml",
        _CVAT,
        {
            "images/Train/im1": {
                "boxes": [[1.0, 2, 5, 8]],
                "categories": [0],
                "labels": [1],
                "attributes": [{"plate": "no"}],
                "occluded": [1],
                "shapes": [
                    {
                        "type": "polygon",
                        "points": [[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]],
                        "attributes": {},
                        "category": 0,
                    }
                ],
            },
            "images/val/im2": {"boxes": [], "categories": []},
        },
        splits={"images/Train/im1": "train", "images/val/im2": "val"},
        classes=("car", "night"),
        what="CVAT",
    ),
    # labelstud.io/guide/export: JSON; an upload has a prefix, a local file a query
    _row(
        "Label Studio: boxes",
        "images/im1.jpg images/ab12cd34-2.jpg",
        "project-1-at-2024-01-01.json",
        [
            _task("/data/local-files/?d=x/images/im1.jpg", _STUDIO),
            _task("/data/upload/1/ab12cd34-2.jpg"),
        ],
        {"images/im1": _PART, "images/ab12cd34-2": {"boxes": [], "categories": []}},
        what="Label Studio",
    ),
    _row(
        "Label Studio: uploads that were downloaded without their prefix",
        "images/im1.jpg images/im2.jpg",
        "export.json",
        [_task(f"/data/upload/1/ab12cd34-im{number}.jpg", _STUDIO) for number in (1, 2)],
        {"images/im1": _PART, "images/im2": _PART},
    ),
    _row(
        "Label Studio: choices, in JSON_MIN",
        "images/im1.jpg images/im2.jpg",
        "min.json",
        [
            {
                "image": f"/data/upload/1/im{number}.jpg",
                "id": number,
                "choice": kind,
                "annotator": 1,
            }
            for number, kind in ((1, "cat"), (2, "dog"))
        ],
        {"images/im1": {}, "images/im2": {}},
        labels={"images/im1": "cat", "images/im2": "dog"},
        classes=("cat", "dog"),
    ),
    # robots.ox.ac.uk/~vgg/software/via: "Annotations > Export (as json)", and a project
    _row(
        "VIA: a rectangle and a polygon",
        "im1.jpg im2.jpg",
        "via_region_data.json",
        {"im1.jpg9": _via("im1.jpg", _RECT, _POLYGON), "im2.jpg9": _via("im2.jpg")},
        {
            "im1": _BOX
            | {
                "shapes": [
                    {
                        "shape_attributes": _POLYGON,
                        "region_attributes": {"kind": "car"},
                        "category": 0,
                    }
                ]
            },
            "im2": {"boxes": []},
        },
    ),
    _row(
        "VIA: a project with polygons only",
        "im1.jpg",
        "via_project.json",
        {"_via_settings": {}, "_via_img_metadata": {"im1.jpg9": _via("im1.jpg", _POLYGON)}},
        {"im1": {"categories": [0], "shape_attributes": [_POLYGON]}},
    ),
    # github.com/microsoft/VoTT
    _row(
        "VoTT",
        "vott-json-export/im1.jpg",
        "vott-json-export/street-export.json",
        {
            "name": "street",
            "assets": {
                "im1": {
                    "asset": {"name": "im1.jpg", "path": "file:/home/me/im1.jpg"},
                    "regions": [{"tags": ["car"], "boundingBox": _CORNERS}],
                }
            },
        },
        {"vott-json-export/im1": _BOX},
    ),
    # github.com/wkentaro/labelme
    _row(
        "LabelMe: files in a folder of their own",
        "images/im1.jpg",
        "labels/im1.json",
        _LABELME,
        {"images/im1": _XYXY},
    ),
    # docs.supervisely.com/customization-and-integration/00_ann_format_navi
    _row(
        "Supervisely",
        "ds0/img/im1.jpg",
        "ds0/ann/im1.jpg.json",
        {
            "tags": [],
            "size": {"height": 8, "width": 8},
            "objects": [
                {
                    "classTitle": "car",
                    "geometryType": "rectangle",
                    "points": {"exterior": [[1, 2], [5, 8]], "interior": []},
                }
            ],
        },
        {"ds0/img/im1": _XYXY},
    ),
    # docs.v7labs.com/reference/darwin-json
    _row(
        "V7",
        "images/im1.jpg",
        "releases/latest/annotations/im1.json",
        {
            "version": "2.0",
            "item": {"name": "im1.jpg", "slots": []},
            "annotations": [{"name": "car", "bounding_box": {"x": 1, "y": 2, "w": 4, "h": 6}}],
        },
        {"images/im1": _BOX},
    ),
    # docs.labelbox.com/reference/export-image-annotations
    _row(
        "Labelbox",
        "images/im1.jpg",
        "export.ndjson",
        [
            {
                "data_row": {"external_id": "im1.jpg", "details": {"data_split": "TRAINING"}},
                "media_attributes": {"height": 8},
                "projects": {
                    "p": {
                        "labels": [
                            {
                                "annotations": {
                                    "objects": [{"name": "car", "bounding_box": _CORNERS}],
                                    "classifications": [],
                                }
                            }
                        ]
                    }
                },
            }
        ],
        {"images/im1": _BOX},
        splits={"images/im1": "train"},
    ),
    # scale.com/docs/api-reference/tasks
    _row(
        "Scale",
        "images/im1.jpg",
        "tasks.json",
        [
            {
                "task_id": "5f",
                "params": {"attachment": "https://example.com/x/im1.jpg?Expires=1"},
                "response": {"annotations": [{"label": "car", "uuid": "u", **_CORNERS}]},
            }
        ],
        {"images/im1": _BOX | {"uuid": ["u"]}},
    ),
    # hasty.gitbook.io/documentation
    _row(
        "Hasty",
        "a/im1.jpg",
        "street.json",
        {
            "export_format_version": "1.1",
            "images": [
                {
                    "image_name": "im1.jpg",
                    "dataset_name": "a",
                    "labels": [{"class_name": "car", "bbox": [1, 2, 5, 8]}],
                }
            ],
        },
        {"a/im1": _XYXY},
    ),
    # docs.encord.com: Export JSON
    _row(
        "Encord",
        "images/im1.jpg",
        "street.json",
        [
            {
                "label_hash": "h",
                "data_title": "im1.jpg",
                "data_units": {
                    "d": {
                        "labels": {
                            "objects": [
                                {
                                    "name": "car",
                                    "boundingBox": {"x": 0.25, "y": 0.5, "w": 0.5, "h": 0.25},
                                }
                            ]
                        }
                    }
                },
            }
        ],
        {"images/im1": _PART},
    ),
    # docs.kili-technology.com/docs/exporting-project-data
    _row(
        "Kili",
        "images/im1.jpg",
        "data.json",
        [
            {
                "externalId": "im1",
                "content": "im1.jpg",
                "labels": [
                    {
                        "jsonResponse": {
                            "JOB_0": {
                                "annotations": [
                                    {
                                        "categories": [{"name": "car", "confidence": 90}],
                                        "type": "rectangle",
                                        "boundingPoly": [{"normalizedVertices": _VERTICES}],
                                    }
                                ]
                            }
                        }
                    }
                ],
            }
        ],
        {
            "images/im1": {
                "boxes": [[0.25, 0.5, 0.75, 0.75]],
                "object_categories": [[{"name": "car", "confidence": 90}]],
            }
        },
    ),
    # developer.apple.com/documentation/createml/building-an-object-detector-data-source
    _row(
        "Create ML",
        "im1.jpg im2.jpg",
        "annotations.json",
        [
            {
                "imagefilename": "im1.jpg",
                "annotation": [
                    {"label": "car", "coordinates": {"x": 3, "y": 5, "width": 4, "height": 6}}
                ],
            },
            {"imagefilename": "im2.jpg", "annotation": []},
        ],
        {"im1": {"boxes": [[3, 5, 4, 6]], "categories": [0]}, "im2": {"boxes": []}},
    ),
    # openvinotoolkit.github.io/datumaro: datumaro format; the names of all classes keep their order
    _row(
        "Datumaro",
        "images/train/im1.jpg",
        "annotations/train.json",
        {
            "infos": {},
            "categories": {"label": {"labels": [{"name": "dog"}, {"name": "car"}]}},
            "items": [
                {
                    "id": "im1",
                    "annotations": [
                        {"type": "bbox", "label_id": 1, "bbox": [1, 2, 4, 6], "group": 3}
                    ],
                    "image": {"path": "im1.jpg"},
                }
            ],
        },
        {"images/train/im1": {"boxes": [[1, 2, 4, 6]], "categories": [1], "group": [3]}},
        splits={"images/train/im1": "train"},
        classes=("dog", "car"),
    ),
    # docs.voxel51.com/user_guide/export_datasets.html: FiftyOneImageClassificationDataset
    _row(
        "FiftyOne: classes",
        "data/im1.jpg data/im2.jpg",
        "labels.json",
        {"classes": ["dog", "cat"], "labels": {"im1": 1, "im2": 0}},
        {},
        labels={"data/im1": "cat", "data/im2": "dog"},
        classes=("dog", "cat"),
    ),
    _row(
        "FiftyOne: several classes",
        "data/im1.jpg",
        "labels.json",
        {"classes": None, "labels": {"im1": ["dog", "cat"]}},
        {"data/im1": {"labels": [1, 0]}},
        classes=("cat", "dog"),
    ),
    _row(
        "FiftyOne: a dataset",
        "data/im1.jpg",
        "samples.json",
        {
            "samples": [
                {
                    "filepath": "data/im1.jpg",
                    "_media_type": "image",
                    "truth": {
                        "detections": [{"label": "car", "bounding_box": [0.25, 0.5, 0.5, 0.25]}]
                    },
                }
            ]
        },
        {"data/im1": _PART},
    ),
    # docs.aws.amazon.com/sagemaker/latest/dg/sms-data-output.html
    _row(
        "SageMaker Ground Truth",
        "images/im1.jpg",
        "output.manifest",
        [
            {
                "source-ref": "s3://bucket/street/images/im1.jpg",
                "street": {"annotations": [{"class_id": 0, **_CORNERS}]},
                "street-metadata": {"objects": [{"confidence": 0.5}], "class-map": {"0": "car"}},
            }
        ],
        {"images/im1": _BOX | {"confidence": [0.5]}},
    ),
    # cloud.google.com/vertex-ai/docs/image-data
    _row(
        "Vertex AI",
        "images/im1.jpg",
        "import.jsonl",
        [
            {
                "imageGcsUri": "gs://bucket/images/im1.jpg",
                "boundingBoxAnnotations": [
                    {"displayName": "car", "xMin": 0.25, "yMin": 0.5, "xMax": 0.75, "yMax": 0.75}
                ],
                "dataItemResourceLabels": {"aiplatform.googleapis.com/ml_use": "training"},
            }
        ],
        {"images/im1": {"boxes": [[0.25, 0.5, 0.75, 0.75]], "categories": [0]}},
        splits={"images/im1": "train"},
    ),
    # learn.microsoft.com/en-us/azure/machine-learning/reference-automl-images-schema
    _row(
        "Azure's AutoML",
        "images/im1.jpg images/im2.jpg",
        "train.jsonl",
        [
            {"image_url": f"azureml://x/paths/images/im{number}.jpg", "label": kind}
            for number, kind in ((1, "cat"), (2, "dog"))
        ],
        {"images/im1": {}, "images/im2": {}},
        splits=dict.fromkeys(("images/im1", "images/im2"), "train"),
        labels={"images/im1": "cat", "images/im2": "dog"},
        classes=("cat", "dog"),
    ),
    # roboflow.com/formats/yolov3-keras-txt
    _row(
        "Roboflow's lines for YOLO in Keras",
        "train/im1_of_2.jpg",
        "train/_annotations.txt",
        "im1_of_2.jpg 1,2,5,8,0\n",
        {"train/im1_of_2": _XYXY},
        splits={"train/im1_of_2": "train"},
        more={"train/_classes.txt": "car\n"},
    ),
    # doc.bdd100k.com/format.html; test has no labels
    _row(
        "BDD100K",
        "images/100k/train/im1.jpg images/100k/val/im2.jpg images/100k/test/im3.jpg",
        "labels/det_20/det_train.json",
        [
            {
                "name": "im1.jpg",
                "labels": [{"category": "car", "box2d": {"x1": 1, "y1": 2, "x2": 5, "y2": 8}}],
            }
        ],
        {"images/100k/train/im1": _XYXY, "images/100k/val/im2": {"boxes": []}},
        splits={f"images/100k/{key}": key[:-4] for key in ("train/im1", "val/im2", "test/im3")},
        more={
            "labels/det_20/det_val.json": json.dumps(
                [{"name": "im2.jpg", "labels": [], "category": None, "box2d": None}]
            )
        },
    ),
    # crowdhuman.org/download.html
    _row(
        "CrowdHuman",
        "Images/273,im1.jpg",
        "annotation_val.odgt",
        [
            {
                "ID": "273,im1",
                "gtboxes": [{"tag": "car", "fbox": [1, 2, 4, 6], "vbox": [1, 2, 3, 3]}],
            }
        ],
        {"Images/273,im1": _BOX | {"vbox": [[1, 2, 3, 3]]}},
        splits={"Images/273,im1": "val"},
    ),
    # shuoyang1213.me/WIDERFACE: readme.txt; an image without faces has a line of zeros
    _row(
        "WIDER FACE",
        "WIDER_train/images/0--Parade/im1.jpg WIDER_train/images/0--Parade/im2.jpg",
        "wider_face_split/wider_face_train_bbx_gt.txt",
        "0--Parade/im1.jpg\n1\n1 2 4 6 2 0 0 0 1 0 \n0--Parade/im2.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n",
        {
            "WIDER_train/images/0--Parade/im1": {"boxes": [[1, 2, 4, 6]], "blur": [2]},
            "WIDER_train/images/0--Parade/im2": {"boxes": []},
        },
        splits=dict.fromkeys(
            ("WIDER_train/images/0--Parade/im1", "WIDER_train/images/0--Parade/im2"), "train"
        ),
        classes=(),
    ),
    # hockenmaier.cs.illinois.edu/Framing_Image_Description/KCCA.html
    _row(
        "Flickr8k: captions, and lists of splits",
        "Flicker8k_Dataset/im1.jpg Flicker8k_Dataset/im2.jpg",
        "Flickr8k.token.txt",
        "im1.jpg#0\tA dog .\nim1.jpg#1\tA brown dog .\nim2.jpg#0\tA cat .\n",
        {
            "Flicker8k_Dataset/im1": {"caption": ["A dog .", "A brown dog ."]},
            "Flicker8k_Dataset/im2": {"caption": ["A cat ."]},
        },
        splits={"Flicker8k_Dataset/im1": "train", "Flicker8k_Dataset/im2": "dev"},
        classes=(),
        more={"Flickr_8k.trainImages.txt": "im1.jpg\n", "Flickr_8k.devImages.txt": "im2.jpg\n"},
    ),
    # kaggle.com/datasets/hsankesara/flickr-image-dataset, adityajn105/flickr8k
    _row(
        "Flickr30k: captions between bars",
        "flickr30k_images/im1.jpg",
        "results.csv",
        "image_name| comment_number| comment\nim1.jpg| 0| A dog, brown .\nim1.jpg| 1| A dog .\n",
        {"flickr30k_images/im1": {"caption": ["A dog, brown .", "A dog ."]}},
        classes=(),
    ),
    _row(
        "Flickr8k: captions.txt",
        "Images/im1.jpg",
        "captions.txt",
        'image,caption\nim1.jpg,"A dog, brown ."\nim1.jpg,A dog .\n',
        {"Images/im1": {"caption": ["A dog, brown .", "A dog ."]}},
        classes=(),
    ),
    # cs.stanford.edu/people/karpathy/deepimagesent
    _row(
        "Karpathy's splits",
        "images/im1.jpg images/im2.jpg",
        "dataset_flickr30k.json",
        {
            "images": [
                {
                    "sentids": [number],
                    "sentences": [{"raw": f"A dog {number} ."}],
                    "split": split,
                    "filename": f"im{number}.jpg",
                }
                for number, split in ((1, "train"), (2, "restval"))
            ]
        },
        {"images/im1": {"caption": ["A dog 1 ."]}, "images/im2": {"caption": ["A dog 2 ."]}},
        splits={"images/im1": "train", "images/im2": "restval"},
        classes=(),
    ),
    # huggingface.co/datasets/liuhaotian/LLaVA-Instruct-150K: an image may have several records
    _row(
        "LLaVA",
        "coco/im1.jpg gqa/im2.jpg",
        "llava.json",
        [
            {"id": "a", "image": "coco/im1.jpg", "conversations": _TURNS},
            {"id": "b", "image": "gqa/im2.jpg", "conversations": _TURNS},
            {"id": "c", "image": "coco/im1.jpg", "conversations": []},
        ],
        {
            "coco/im1": {
                "records": [
                    {"id": "a", "image": "coco/im1.jpg", "conversations": _TURNS},
                    {"id": "c", "image": "coco/im1.jpg", "conversations": []},
                ]
            },
            "gqa/im2": {"records": [{"id": "b", "image": "gqa/im2.jpg", "conversations": _TURNS}]},
        },
        classes=(),
    ),
    # guillaumejaume.github.io/FUNSD
    _row(
        "FUNSD",
        "training_data/images/im1.png",
        "training_data/annotations/im1.json",
        {"form": [{"box": [1, 2, 5, 8], "text": "x", "label": "car", "words": [], "linking": []}]},
        {"training_data/images/im1": _XYXY | {"text": ["x"]}},
    ),
]
