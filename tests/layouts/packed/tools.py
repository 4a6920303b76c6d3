"""What annotation tools export: CVAT, Label Studio, LabelMe, VIA, VoTT and others."""

import csv
import io
import json
from typing import Any
from zipfile import ZipFile

from layouts.images import SIDE, picture
from layouts.row import Layout
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


def _pets(folder: str = "", ending: str = ".jpg") -> dict[str, Any]:
    return {f"{folder}{name}{ending}": labelled(kind) for name, kind in PETS.items()}


def _csv(rows: list[list[Any]], **how: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", **how).writerows(rows)
    return text.getvalue()


# CVAT

_CVAT = "https://docs.cvat.ai/docs/dataset_management/formats/format-cvat/"


def _cvat(bodies: dict[str, str], extra: str = "") -> str:
    entries = "".join(
        f'  <image id="{number}" name="{name}"{extra} width="{SIDE}" height="{SIDE}">\n'
        f"{body}  </image>\n"
        for number, (name, body) in enumerate(bodies.items())
    )
    labels = "".join(f"<label><name>{name}</name></label>" for name in CLASSES)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n'
        f"  <meta><task><id>7</id><name>street</name><size>{len(bodies)}</size>"
        f"<mode>annotation</mode><labels>{labels}</labels></task></meta>\n{entries}</annotations>\n"
    )


def _cvat_boxes(name: str) -> str:
    return "".join(
        f'    <box label="{one.name}" source="manual" occluded="0" xtl="{one.x}.00" '
        f'ytl="{one.y}.00" xbr="{one.right}.00" ybr="{one.bottom}.00" z_order="0">\n    </box>\n'
        for one in STREET[name]
    )


_add(
    "cvat: images 1.1, task with boxes",
    _CVAT,
    images("images/") | {"annotations.xml": _cvat({f"{n}.jpg": _cvat_boxes(n) for n in STREET})},
    truths("images/"),
)
_add(
    "cvat: images 1.1, xml beside images",
    _CVAT,
    images() | {"annotations.xml": _cvat({f"{n}.jpg": _cvat_boxes(n) for n in STREET})},
    truths(),
)
_add(
    "cvat: images 1.1, project with subsets",
    _CVAT,
    {f"images/{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {
        "annotations.xml": '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n'
        "  <version>1.1</version>\n  <meta><project><name>street</name></project></meta>\n"
        + "".join(
            f'  <image id="{i}" name="{n}.jpg" subset="{split_of(n)}" task_id="1" width="16" '
            f'height="16">\n{_cvat_boxes(n)}  </image>\n'
            for i, n in enumerate(STREET)
        )
        + "</annotations>\n"
    },
    {f"images/{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "cvat: images 1.1, tags",
    _CVAT,
    images("images/", names=PETS)
    | {
        "annotations.xml": _cvat(
            {
                f"{name}.jpg": f'    <tag label="{kind}" source="manual">\n    </tag>\n'
                for name, kind in PETS.items()
            }
        )
    },
    _pets("images/"),
)
_add(
    "cvat: images 1.1, polygons and an empty image",
    _CVAT,
    images("images/")
    | {"images/street_09.jpg": ""}
    | {
        "annotations.xml": _cvat(
            {
                f"{name}.jpg": "".join(
                    f'    <polygon label="{one.name}" source="manual" occluded="0" points="'
                    + ";".join(f"{x}.50,{y}.25" for x, y in corners(one))
                    + '" z_order="0">\n    </polygon>\n'
                    for one in STREET.get(name, ())
                )
                for name in [*STREET, "street_09"]
            }
        )
    },
    {
        f"images/{name}.jpg": plain(
            "", *(one.name for one in things), *(f"{one.x}.5" for one in things)
        )
        for name, things in STREET.items()
    }
    | {"images/street_09.jpg": plain()},
)
_add(
    "cvat: video 1.1, tracks",
    _CVAT,
    {f"images/frame_{n:06}.png": "" for n in range(6)}
    | {
        "annotations.xml": '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n'
        "  <version>1.1</version>\n  <meta><task><mode>interpolation</mode></task></meta>\n"
        '  <track id="0" label="car" source="manual">\n'
        + "".join(
            f'    <box frame="{n}" outside="{int(n == 5)}" occluded="0" keyframe="1" '
            f'xtl="{n}.25" ytl="2.00" xbr="{n + 6}.25" ybr="9.00" z_order="0"></box>\n'
            for n in range(6)
        )
        + "  </track>\n</annotations>\n"
    },
    {
        f"images/frame_{n:06}.png": plain("", *(("car", f"{n}.25") if n < 5 else ()))
        for n in range(6)
    },
)


def _zip(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text or picture(path))
    return content.getvalue()


_add(
    "cvat: images 1.1, zip as downloaded",
    _CVAT,
    {
        "task_street_annotations.zip": _zip(
            {"annotations.xml": _cvat({f"{n}.jpg": _cvat_boxes(n) for n in STREET})}
            | images("images/")
        )
    },
    truths("images/"),
    src="task_street_annotations.zip",
)

# Label Studio

_STUDIO = "https://labelstud.io/guide/export"


def _studio(name: str, path: str, number: int) -> dict[str, Any]:
    result = [
        {
            "original_width": SIDE,
            "original_height": SIDE,
            "image_rotation": 0,
            "value": {
                "x": per(one.x) * 100,
                "y": per(one.y) * 100,
                "width": per(one.w) * 100,
                "height": per(one.h) * 100,
                "rotation": 0,
                "rectanglelabels": [one.name],
            },
            "id": f"r{number}{at}",
            "from_name": "label",
            "to_name": "image",
            "type": "rectanglelabels",
            "origin": "manual",
        }
        for at, one in enumerate(STREET[name])
    ]
    return {
        "id": number,
        "annotations": [
            {
                "id": number + 50,
                "completed_by": 1,
                "result": result,
                "was_cancelled": False,
                "ground_truth": False,
                "lead_time": 3.1,
            }
        ],
        "file_upload": path.rsplit("/", 1)[-1],
        "data": {"image": path},
        "meta": {},
        "project": 2,
    }


def _choice(path: str, kind: str, number: int) -> dict[str, Any]:
    value = {"value": {"choices": [kind]}, "from_name": "choice", "to_name": "image"}
    return {
        "id": number,
        "annotations": [{"id": number, "result": [value | {"type": "choices"}]}],
        "data": {"image": path},
    }


_add(
    "label studio: JSON, uploads",
    _STUDIO,
    {f"images/{i:08x}-{n}.jpg": "" for i, n in enumerate(STREET, 4711)}
    | {
        "project-2-at-2024-01-01-10-00-1a2b3c4d.json": dumps(
            [_studio(n, f"/data/upload/2/{i:08x}-{n}.jpg", i) for i, n in enumerate(STREET, 4711)]
        )
    },
    {f"images/{i:08x}-{n}.jpg": seen(n) for i, n in enumerate(STREET, 4711)},
)
_add(
    "label studio: JSON, local files",
    _STUDIO,
    images("images/")
    | {
        "project.json": dumps(
            [
                _studio(n, f"/data/local-files/?d=street/images/{n}.jpg", i)
                for i, n in enumerate(STREET)
            ]
        )
    },
    truths("images/"),
)
_add(
    "label studio: JSON, choices",
    _STUDIO,
    images("images/", names=PETS)
    | {
        "export.json": dumps(
            [
                _choice(f"/data/local-files/?d=images/{n}.jpg", kind, i)
                for i, (n, kind) in enumerate(PETS.items())
            ]
        )
    },
    _pets("images/"),
)
_add(
    "label studio: JSON_MIN, boxes",
    _STUDIO,
    images("images/")
    | {
        "min.json": dumps(
            [
                {
                    "image": f"/data/local-files/?d=images/{n}.jpg",
                    "id": i,
                    "label": [
                        one["value"] | {"original_width": SIDE, "original_height": SIDE}
                        for one in _studio(n, "", i)["annotations"][0]["result"]
                    ],
                    "annotator": 1,
                    "annotation_id": i,
                }
                for i, n in enumerate(STREET)
            ]
        )
    },
    truths("images/"),
)
_add(
    "label studio: JSON_MIN, choices",
    _STUDIO,
    images("images/", names=PETS)
    | {
        "min.json": dumps(
            [
                {"image": f"/data/upload/1/{n}.jpg", "id": i, "choice": kind, "annotator": 1}
                for i, (n, kind) in enumerate(PETS.items())
            ]
        )
    },
    _pets("images/"),
)
_add(
    "label studio: CSV, choices",
    _STUDIO,
    images("images/", names=PETS)
    | {
        "export.csv": "annotation_id,annotator,choice,created_at,id,image,lead_time,updated_at\n"
        + "".join(
            f"{i},1,{kind},2024-01-01T10:00:00Z,{i},/data/upload/1/{n}.jpg,2.5,2024-01-01T10:00:00Z\n"
            for i, (n, kind) in enumerate(PETS.items())
        )
    },
    _pets("images/"),
)
_add(
    "label studio: CSV, boxes",
    _STUDIO,
    images("images/")
    | {
        "export.csv": _csv(
            [["annotation_id", "annotator", "id", "image", "label", "lead_time"]]
            + [
                [
                    i,
                    1,
                    i,
                    f"/data/upload/1/{n}.jpg",
                    json.dumps(
                        [one["value"] for one in _studio(n, "", i)["annotations"][0]["result"]]
                    ),
                    2.5,
                ]
                for i, n in enumerate(STREET)
            ]
        )
    },
    truths("images/"),
)

# LabelMe

_LABELME = "https://github.com/wkentaro/labelme"


def _labelme(name: str, path: str) -> str:
    shapes = [
        {
            "label": one.name,
            "points": [[one.x, one.y], [one.right, one.bottom]],
            "group_id": None,
            "description": "",
            "shape_type": "rectangle",
            "flags": {},
        }
        for one in STREET.get(name, ())
    ]
    found = {"version": "5.4.1", "flags": {}, "shapes": shapes, "imagePath": path}
    return dumps(found | {"imageData": None, "imageHeight": SIDE, "imageWidth": SIDE})


_add(
    "labelme: beside images",
    _LABELME,
    images() | {f"{n}.json": _labelme(n, f"{n}.jpg") for n in STREET},
    truths(),
)
_add(
    "labelme: some images unlabelled",
    _LABELME,
    images() | {f"{n}.json": _labelme(n, f"{n}.jpg") for n in list(STREET)[:5]},
    {f"{n}.jpg": seen(n) if i < 5 else plain() for i, n in enumerate(STREET)},
)
_add(
    "labelme: in a folder of their own",
    _LABELME,
    images("images/") | {f"labels/{n}.json": _labelme(n, f"../images/{n}.jpg") for n in STREET},
    truths("images/"),
)
_add(
    "labelme: flags as classes",
    f"{_LABELME}/tree/main/examples/classification",
    images("data/", names=PETS)
    | {
        f"data/{n}.json": dumps(
            json.loads(_labelme("", f"{n}.jpg"))
            | {"flags": {one: one == kind for one in ("bird", "cat", "dog")}}
        )
        for n, kind in PETS.items()
    },
    {f"data/{n}.jpg": labelled(kind) for n, kind in PETS.items()},
)

# VIA

_VIA = "https://www.robots.ox.ac.uk/~vgg/software/via/docs/face_track_annotation.html"


def _via() -> dict[str, Any]:
    return {
        f"{name}.jpg{700 + at}": {
            "filename": f"{name}.jpg",
            "size": 700 + at,
            "regions": [
                {
                    "shape_attributes": {
                        "name": "rect",
                        "x": one.x,
                        "y": one.y,
                        "width": one.w,
                        "height": one.h,
                    },
                    "region_attributes": {"type": one.name},
                }
                for one in things
            ],
            "file_attributes": {"caption": "", "public_domain": "no", "image_url": ""},
        }
        for at, (name, things) in enumerate(STREET.items())
    }


_add(
    "via: JSON",
    _VIA,
    images("images/") | {"via_export_json.json": json.dumps(_via())},
    truths("images/"),
)
_add(
    "via: JSON in each split",
    "https://github.com/matterport/Mask_RCNN/tree/master/samples/balloon",
    {f"{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {
        f"{split}/via_region_data.json": json.dumps(
            {k: v for k, v in _via().items() if split_of(v["filename"][:-4]) == split}
        )
        for split in ("train", "val")
    },
    {f"{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "via: project",
    _VIA,
    images()
    | {
        "via_project_1Jan2024.json": json.dumps(
            {
                "_via_settings": {"core": {"default_filepath": ""}, "project": {"name": "street"}},
                "_via_img_metadata": _via(),
                "_via_attributes": {"region": {"type": {"type": "dropdown"}}, "file": {}},
                "_via_data_format_version": "2.0.10",
                "_via_image_id_list": list(_via()),
            }
        )
    },
    truths(),
)
_add(
    "via: CSV",
    _VIA,
    images("images/")
    | {
        "via_export_csv.csv": _csv(
            [
                [
                    "filename",
                    "file_size",
                    "file_attributes",
                    "region_count",
                    "region_id",
                    "region_shape_attributes",
                    "region_attributes",
                ]
            ]
            + [
                [
                    entry["filename"],
                    entry["size"],
                    "{}",
                    len(entry["regions"]),
                    at,
                    json.dumps(region["shape_attributes"]),
                    json.dumps(region["region_attributes"]),
                ]
                for entry in _via().values()
                for at, region in enumerate(entry["regions"])
            ]
        )
    },
    truths("images/"),
)

# VoTT

_VOTT = "https://github.com/microsoft/VoTT"


def _vott() -> dict[str, Any]:
    assets = {}
    for number, (name, things) in enumerate(STREET.items()):
        regions = [
            {
                "id": f"r{number}",
                "type": "RECTANGLE",
                "tags": [one.name],
                "boundingBox": {"height": one.h, "width": one.w, "left": one.x, "top": one.y},
                "points": [{"x": x, "y": y} for x, y in corners(one)],
            }
            for one in things
        ]
        asset = {
            "format": "jpg",
            "id": f"{number:032x}",
            "name": f"{name}.jpg",
            "path": f"file:/home/me/street/{name}.jpg",
            "size": {"width": SIDE, "height": SIDE},
            "state": 2,
            "type": 1,
        }
        assets[asset["id"]] = {"asset": asset, "regions": regions, "version": "2.2.0"}
    return assets


_add(
    "vott: JSON export",
    _VOTT,
    images("vott-json-export/")
    | {
        "vott-json-export/street-export.json": dumps(
            {
                "name": "street",
                "tags": [{"name": name, "color": "#5db300"} for name in CLASSES],
                "id": "x1",
                "version": "2.2.0",
                "assets": _vott(),
            }
        )
    },
    truths("vott-json-export/"),
)
_add(
    "vott: asset files",
    _VOTT,
    images("source/")
    | {f"target/{key}-asset.json": dumps(value) for key, value in _vott().items()}
    | {"target/street.vott": dumps({"name": "street", "assets": {}})},
    truths("source/"),
)
_add(
    "vott: CSV export",
    _VOTT,
    images("vott-csv-export/")
    | {
        "vott-csv-export/street-export.csv": '"image","xmin","ymin","xmax","ymax","label"\n'
        + "".join(
            f'"{n}.jpg",{one.x},{one.y},{one.right},{one.bottom},"{one.name}"\n'
            for n, things in STREET.items()
            for one in things
        )
    },
    truths("vott-csv-export/"),
)

# Labelbox, Supervisely, Scale, Hasty, Dataloop, Kili, Encord, Prodigy, V7, SuperAnnotate, makesense

_LABELBOX = "https://docs.labelbox.com/reference/export-image-annotations"


def _labelbox(name: str, objects: Any, classifications: Any, split: str = "") -> dict[str, Any]:
    label = {
        "label_kind": "Default",
        "version": "1.0.0",
        "id": "cl1",
        "annotations": {
            "objects": objects,
            "classifications": classifications,
            "relationships": [],
        },
    }
    row = {
        "id": f"ck{name}",
        "external_id": f"{name}.jpg",
        "row_data": f"https://storage.labelbox.com/{name}.jpg?Expires=1",
    }
    if split:
        row["details"] = {"data_split": split}
    return {
        "data_row": row,
        "media_attributes": {"height": SIDE, "width": SIDE, "mime_type": "image/jpeg"},
        "projects": {"clproject": {"name": "street", "labels": [label]}},
    }


_add(
    "labelbox: NDJSON, boxes",
    _LABELBOX,
    images("images/")
    | {
        "export.ndjson": lines(
            _labelbox(
                name,
                [
                    {
                        "feature_id": f"f{at}",
                        "name": one.name,
                        "annotation_kind": "ImageBoundingBox",
                        "bounding_box": {
                            "top": float(one.y),
                            "left": float(one.x),
                            "height": float(one.h),
                            "width": float(one.w),
                        },
                    }
                    for at, one in enumerate(things)
                ],
                [],
            )
            for name, things in STREET.items()
        )
    },
    truths("images/"),
)
_add(
    "labelbox: NDJSON, radio answers",
    _LABELBOX,
    images("images/", names=PETS)
    | {
        "export.ndjson": lines(
            _labelbox(
                name, [], [{"name": "Which pet?", "radio_answer": {"name": kind, "value": kind}}]
            )
            for name, kind in PETS.items()
        )
    },
    _pets("images/"),
)

_SUPERVISELY = "https://docs.supervisely.com/customization-and-integration/00_ann_format_navi"


def _supervisely(name: str, tags: Any = (), things: Any = ()) -> str:
    objects = [
        {
            "id": at,
            "classId": one.number,
            "classTitle": one.name,
            "geometryType": "rectangle",
            "tags": [],
            "points": {"exterior": [[one.x, one.y], [one.right, one.bottom]], "interior": []},
        }
        for at, one in enumerate(things)
    ]
    found = {"description": "", "tags": [{"name": tag, "value": None} for tag in tags]}
    return dumps(found | {"size": {"height": SIDE, "width": SIDE}, "objects": objects})


_META = dumps(
    {
        "classes": [{"title": name, "shape": "rectangle", "color": "#0F138A"} for name in CLASSES],
        "tags": [],
        "projectType": "images",
    }
)
_add(
    "supervisely: project",
    _SUPERVISELY,
    {"street/meta.json": _META}
    | images("street/ds0/img/")
    | {f"street/ds0/ann/{n}.jpg.json": _supervisely(n, (), t) for n, t in STREET.items()},
    truths("street/ds0/img/"),
)
_add(
    "supervisely: datasets train and val",
    _SUPERVISELY,
    {"meta.json": _META}
    | {f"{split_of(n)}/img/{n}.jpg": "" for n in STREET}
    | {f"{split_of(n)}/ann/{n}.jpg.json": _supervisely(n, (), t) for n, t in STREET.items()},
    {f"{split_of(n)}/img/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "supervisely: tags of images",
    _SUPERVISELY,
    {"meta.json": dumps({"classes": [], "tags": [{"name": k} for k in ("bird", "cat", "dog")]})}
    | images("ds0/img/", names=PETS)
    | {f"ds0/ann/{n}.jpg.json": _supervisely(n, (kind,)) for n, kind in PETS.items()},
    {f"ds0/img/{n}.jpg": plain("", kind) for n, kind in PETS.items()},
)
_add(
    "scale: tasks",
    "https://scale.com/docs/api-reference/tasks",
    images("images/")
    | {
        "tasks.json": dumps(
            [
                {
                    "task_id": f"5f{name}",
                    "type": "imageannotation",
                    "status": "completed",
                    "params": {"attachment": f"https://example.com/street/{name}.jpg"},
                    "response": {
                        "annotations": [
                            {
                                "label": one.name,
                                "type": "box",
                                "left": one.x,
                                "top": one.y,
                                "width": one.w,
                                "height": one.h,
                                "uuid": f"u{at}",
                            }
                            for at, one in enumerate(things)
                        ]
                    },
                }
                for name, things in STREET.items()
            ]
        )
    },
    truths("images/"),
)
_add(
    "hasty: JSON 1.1",
    "https://hasty.gitbook.io/documentation/managing-datasets-and-images/export-formats",
    {f"{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {
        "street.json": dumps(
            {
                "project_name": "street",
                "create_date": "2023-01-01T10:00:00Z",
                "export_format_version": "1.1",
                "label_classes": [
                    {"class_name": name, "class_type": "object", "norder": float(at)}
                    for at, name in enumerate(CLASSES)
                ],
                "images": [
                    {
                        "image_id": f"i{name}",
                        "image_name": f"{name}.jpg",
                        "dataset_name": split_of(name),
                        "width": SIDE,
                        "height": SIDE,
                        "image_status": "DONE",
                        "labels": [
                            {
                                "id": f"l{at}",
                                "class_name": one.name,
                                "bbox": [one.x, one.y, one.right, one.bottom],
                                "polygon": None,
                                "mask": None,
                                "z_index": at,
                                "attributes": {},
                            }
                            for at, one in enumerate(things)
                        ],
                        "tags": [],
                    }
                    for name, things in STREET.items()
                ],
            }
        )
    },
    {f"{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)


def _dataloop(name: str, path: str) -> str:
    return dumps(
        {
            "id": f"60{name}",
            "datasetId": "60aa",
            "filename": path,
            "annotations": [
                {
                    "id": f"a{at}",
                    "type": "box",
                    "label": one.name,
                    "attributes": [],
                    "coordinates": [
                        {"x": one.x, "y": one.y, "z": 0},
                        {"x": one.right, "y": one.bottom, "z": 0},
                    ],
                    "metadata": {"system": {"status": None, "objectId": "1"}, "user": {}},
                }
                for at, one in enumerate(STREET[name])
            ],
            "annotationsCount": len(STREET[name]),
            "metadata": {"system": {"height": SIDE, "width": SIDE}},
        }
    )


_add(
    "dataloop: items and json",
    "https://developers.dataloop.ai/tutorials/data_management/upload_and_manage_annotations/chapter",
    images("items/street/")
    | {f"json/street/{n}.json": _dataloop(n, f"/street/{n}.jpg") for n in STREET},
    truths("items/street/"),
)


def _kili(number: int, name: str, job: Any) -> dict[str, Any]:
    return {
        "id": f"ck{number}",
        "externalId": name,
        "content": f"{name}.jpg",
        "jsonMetadata": {},
        "labels": [
            {
                "author": {"email": "a@example.com"},
                "labelType": "DEFAULT",
                "jsonResponse": {"JOB_0": job},
            }
        ],
    }


_KILI = "https://docs.kili-technology.com/docs/exporting-project-data"
_kili_boxes = [
    _kili(
        number,
        name,
        {
            "annotations": [
                {
                    "categories": [{"name": one.name.upper(), "confidence": 100}],
                    "type": "rectangle",
                    "mid": f"m{at}",
                    "boundingPoly": [
                        {
                            "normalizedVertices": [
                                {"x": per(x), "y": per(y)} for x, y in corners(one)
                            ]
                        }
                    ],
                }
                for at, one in enumerate(things)
            ]
        },
    )
    for number, (name, things) in enumerate(STREET.items())
]
_add(
    "kili: raw, one file",
    _KILI,
    images("images/") | {"data.json": dumps(_kili_boxes)},
    {
        f"images/{n}.jpg": plain("", *(t.name.upper() for t in things), str(per(things[0].x)))
        for n, things in STREET.items()
    },
)
_add(
    "kili: raw, a file for each asset",
    _KILI,
    images("images/") | {f"labels/{one['externalId']}.json": dumps(one) for one in _kili_boxes},
    {
        f"images/{n}.jpg": plain("", *(t.name.upper() for t in things), str(per(things[0].x)))
        for n, things in STREET.items()
    },
)
_add(
    "kili: raw, classes",
    _KILI,
    images("images/", names=PETS)
    | {
        "data.json": dumps(
            [
                _kili(i, n, {"categories": [{"name": kind.upper(), "confidence": 100}]})
                for i, (n, kind) in enumerate(PETS.items())
            ]
        )
    },
    {f"images/{n}.jpg": labelled(kind, kind.upper()) for n, kind in PETS.items()},
)
_add(
    "encord: JSON",
    "https://docs.encord.com/platform-documentation/Annotate/annotate-export/annotate-export-json",
    images("images/")
    | {
        "street.json": dumps(
            [
                {
                    "label_hash": f"h{name}",
                    "data_hash": f"d{name}",
                    "data_title": f"{name}.jpg",
                    "data_type": "image",
                    "dataset_title": "street",
                    "label_status": "LABELLED",
                    "data_units": {
                        f"d{name}": {
                            "data_title": f"{name}.jpg",
                            "data_hash": f"d{name}",
                            "data_type": "image/jpeg",
                            "width": SIDE,
                            "height": SIDE,
                            "labels": {
                                "objects": [
                                    {
                                        "name": one.name,
                                        "value": one.name,
                                        "shape": "bounding_box",
                                        "objectHash": f"o{at}",
                                        "boundingBox": {
                                            "x": per(one.x),
                                            "y": per(one.y),
                                            "w": per(one.w),
                                            "h": per(one.h),
                                        },
                                    }
                                    for at, one in enumerate(things)
                                ],
                                "classifications": [],
                            },
                        }
                    },
                    "object_answers": {},
                    "classification_answers": {},
                }
                for name, things in STREET.items()
            ]
        )
    },
    truths("images/"),
)

_PRODIGY = "https://prodi.gy/docs/computer-vision"
_add(
    "prodigy: spans",
    _PRODIGY,
    images("images/")
    | {
        "street.jsonl": lines(
            {
                "image": f"images/{name}.jpg",
                "text": name,
                "meta": {"file": f"{name}.jpg"},
                "_input_hash": 1,
                "width": SIDE,
                "height": SIDE,
                "spans": [
                    {
                        "id": f"s{at}",
                        "label": one.name,
                        "type": "rect",
                        "points": corners(one),
                        "x": one.x,
                        "y": one.y,
                        "width": one.w,
                        "height": one.h,
                    }
                    for at, one in enumerate(things)
                ],
                "answer": "accept",
            }
            for name, things in STREET.items()
        )
    },
    truths("images/"),
)
_add(
    "prodigy: a label accepted or rejected",
    _PRODIGY,
    images("images/", names=PETS)
    | {
        "pets.jsonl": lines(
            {
                "image": f"images/{name}.jpg",
                "label": "CAT",
                "_input_hash": 1,
                "answer": "accept" if kind == "cat" else "reject",
            }
            for name, kind in PETS.items()
        )
    },
    {
        f"images/{name}.jpg": labelled("CAT") if kind == "cat" else plain("", "reject")
        for name, kind in PETS.items()
    },
)
_add(
    "prodigy: choices",
    _PRODIGY,
    images("images/", names=PETS)
    | {
        "pets.jsonl": lines(
            {
                "image": f"images/{name}.jpg",
                "options": [{"id": one, "text": one.title()} for one in ("cat", "dog", "bird")],
                "accept": [kind],
                "answer": "accept",
            }
            for name, kind in PETS.items()
        )
    },
    _pets("images/"),
)
_add(
    "v7: darwin JSON 2.0",
    "https://docs.v7labs.com/reference/darwin-json",
    images("images/")
    | {
        f"releases/latest/annotations/{name}.json": dumps(
            {
                "version": "2.0",
                "item": {
                    "name": f"{name}.jpg",
                    "path": "/",
                    "slots": [{"type": "image", "slot_name": "0", "width": SIDE, "height": SIDE}],
                },
                "annotations": [
                    {
                        "bounding_box": {"h": one.h, "w": one.w, "x": one.x, "y": one.y},
                        "id": f"a{at}",
                        "name": one.name,
                        "slot_names": ["0"],
                    }
                    for at, one in enumerate(things)
                ],
            }
        )
        for name, things in STREET.items()
    },
    truths("images/"),
)
_add(
    "superannotate: objects beside images",
    "https://doc.superannotate.com/docs/vector-json",
    images()
    | {
        f"{name}.jpg___objects.json": dumps(
            {
                "metadata": {"name": f"{name}.jpg", "width": SIDE, "height": SIDE},
                "instances": [
                    {
                        "type": "bbox",
                        "className": one.name,
                        "points": {"x1": one.x, "x2": one.right, "y1": one.y, "y2": one.bottom},
                        "attributes": [],
                    }
                    for one in things
                ],
                "tags": [],
                "comments": [],
            }
        )
        for name, things in STREET.items()
    }
    | {"classes/classes.json": dumps([{"name": name, "color": "#fff"} for name in CLASSES])},
    truths(),
)
_add(
    "makesense: CSV without a header",
    "https://github.com/SkalskiP/make-sense",
    images("images/")
    | {
        "labels_street_2024-01-01.csv": "".join(
            f"{one.name},{one.x},{one.y},{one.w},{one.h},{name}.jpg,{SIDE},{SIDE}\n"
            for name, things in STREET.items()
            for one in things
        )
    },
    truths("images/"),
)
_add(
    "rectlabel: CSV with several labels",
    "https://rectlabel.com/help",
    images("images/", names=PETS)
    | {
        "annotations.csv": "path,label\n"
        + "".join(f"{n}.jpg,{kind}|indoor\n" for n, kind in PETS.items())
    },
    {f"images/{n}.jpg": several(kind, "indoor") for n, kind in PETS.items()},
)
