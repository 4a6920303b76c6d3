"""Further formats in which CVAT and Roboflow export, and projects of Datumaro and RefCOCO."""

import hashlib
import pickle
import re
from typing import Any

from layouts.packed.detection import coco
from layouts.row import Layout
from layouts.scenes import CLASSES, PETS, STREET, Thing, images, per, seen, split_of
from layouts.words import box, labelled, plain

LAYOUTS: list[Layout] = []
_CVAT = "https://docs.cvat.ai/docs/dataset_management/formats/"
_ROBOFLOW = "https://roboflow.com/formats/"


def _add(name: str, source: str, files: Any, truth: Any, **more: Any) -> None:
    LAYOUTS.append(Layout(name, source, files, truth, **more))


def _seen(name: str, split: str = "") -> Any:
    things = STREET[name]
    boxes = (box(one.x, one.y, one.w, one.h) for one in things)
    return plain(split, *(one.name for one in things), *boxes)


def _yolo(one: Thing) -> str:
    middle = per(one.x + one.w / 2), per(one.y + one.h / 2)
    return f"{one.number} {middle[0]:.6f} {middle[1]:.6f} {per(one.w):.6f} {per(one.h):.6f}\n"


def _voc(name: str, file: str) -> str:
    objects = "".join(
        f"<object><name>{one.name}</name><truncated>0</truncated><occluded>0</occluded>"
        f"<difficult>0</difficult><bndbox><xmin>{one.x}.0</xmin><ymin>{one.y}.0</ymin>"
        f"<xmax>{one.right}.0</xmax><ymax>{one.bottom}.0</ymax></bndbox></object>"
        for one in STREET[name]
    )
    return (
        f"<annotation><folder></folder><filename>{file}</filename><source><database>x</database>"
        "</source><size><width>16</width><height>16</height><depth>3</depth></size>"
        f"<segmented>0</segmented>{objects}</annotation>"
    )


_LABELMAP = "# label:color_rgb:parts:actions\nbackground:0,0,0::\n" + "".join(
    f"{name}:{at * 60},0,128::\n" for at, name in enumerate(CLASSES, 1)
)

# CVAT

_add(
    "cvat: COCO 1.0",
    f"{_CVAT}format-coco/",
    images("images/default/") | {"annotations/instances_default.json": coco(STREET)},
    {f"images/default/{name}.jpg": seen(name) for name in STREET},
)
_add(
    "cvat: YOLO 1.1",
    f"{_CVAT}format-yolo/",
    images("obj_train_data/")
    | {f"obj_train_data/{n}.txt": "".join(map(_yolo, t)) for n, t in STREET.items()}
    | {
        "obj.names": "\n".join(CLASSES) + "\n",
        "obj.data": "classes = 3\ntrain = data/train.txt\nnames = data/obj.names\n",
        "train.txt": "".join(f"data/obj_train_data/{name}.jpg\n" for name in STREET),
    },
    {f"obj_train_data/{name}.jpg": _seen(name, "train") for name in STREET},
)
_add(
    "cvat: Ultralytics YOLO detection 1.0",
    f"{_CVAT}format-yolo-ultralytics/",
    images("images/train/")
    | {f"labels/train/{n}.txt": "".join(map(_yolo, t)) for n, t in STREET.items()}
    | {
        "data.yaml": "names:\n"
        + "".join(f"  {at}: {name}\n" for at, name in enumerate(CLASSES))
        + "path: .\ntrain: train.txt\n",
        "train.txt": "".join(f"data/images/train/{name}.jpg\n" for name in STREET),
    },
    {f"images/train/{name}.jpg": _seen(name, "train") for name in STREET},
)
_add(
    "cvat: VOC 1.1",
    f"{_CVAT}format-voc/",
    images("JPEGImages/")
    | {f"Annotations/{name}.xml": _voc(name, f"{name}.jpg") for name in STREET}
    | {"ImageSets/Main/default.txt": "".join(f"{name}\n" for name in STREET)}
    | {"labelmap.txt": _LABELMAP},
    {f"JPEGImages/{name}.jpg": _seen(name) for name in STREET},
)
_add(
    "cvat: Segmentation mask 1.1",
    f"{_CVAT}format-smask/",
    images("JPEGImages/")
    | images("SegmentationClass/", ".png")
    | images("SegmentationObject/", ".png")
    | {"ImageSets/Segmentation/default.txt": "".join(f"{name}\n" for name in STREET)}
    | {"labelmap.txt": _LABELMAP},
    {
        f"JPEGImages/{name}.jpg": plain(
            files=(f"SegmentationClass/{name}.png", f"SegmentationObject/{name}.png")
        )
        for name in STREET
    },
)
_add(
    "cvat: Segmentation mask 1.1 without images",
    f"{_CVAT}format-smask/",
    images("frames/")
    | images("task_7/SegmentationClass/", ".png")
    | {"task_7/ImageSets/Segmentation/default.txt": "".join(f"{name}\n" for name in STREET)}
    | {"task_7/labelmap.txt": _LABELMAP},
    {
        f"frames/{name}.jpg": plain(files=(f"task_7/SegmentationClass/{name}.png",))
        for name in STREET
    },
)
_add(
    "cvat: CamVid 1.0",
    f"{_CVAT}format-camvid/",
    images("default/", ".png")
    | images("defaultannot/", ".png")
    | {
        "default.txt": "".join(f"/default/{n}.png /defaultannot/{n}.png\n" for n in STREET),
        "label_colors.txt": "".join(f"{at} 0 0 {name}\n" for at, name in enumerate(CLASSES)),
    },
    {f"default/{name}.png": plain(files=(f"defaultannot/{name}.png",)) for name in STREET},
)
_add(
    "cvat: LabelMe 3.0",
    f"{_CVAT}format-labelme/",
    images("default/")
    | {
        f"default/{name}.xml": f"<annotation><filename>{name}.jpg</filename><folder></folder>"
        "<imagesize><nrows>16</nrows><ncols>16</ncols></imagesize>"
        + "".join(
            f"<object><name>{one.name}</name><deleted>0</deleted><type>bounding_box</type><polygon>"
            f"<pt><x>{one.x}.25</x><y>{one.y}</y></pt><pt><x>{one.right}</x><y>{one.y}</y></pt>"
            f"<pt><x>{one.right}</x><y>{one.bottom}</y></pt><pt><x>{one.x}</x><y>{one.bottom}</y>"
            "</pt></polygon></object>"
            for one in things
        )
        + "</annotation>"
        for name, things in STREET.items()
    },
    {
        f"default/{name}.jpg": plain("", *(t for o in things for t in (o.name, f"{o.x}.25")))
        for name, things in STREET.items()
    },
)
_add(
    "cvat: KITTI 1.0",
    f"{_CVAT}format-kitti/",
    images("default/image_2/", ".png")
    | {
        f"default/label_2/{name}.txt": "".join(
            f"{one.name} 0.0 0 -10 {one.x}.25 {one.y}.0 {one.right}.0 {one.bottom}.0 -1 -1 -1 "
            "-1000 -1000 -1000 -10\n"
            for one in things
        )
        for name, things in STREET.items()
    }
    | {"label_colors.txt": "0 0 0 background\n"},
    {
        f"default/image_2/{name}.png": plain(
            "", *(t for o in things for t in (o.name, f"{o.x}.25"))
        )
        for name, things in STREET.items()
    },
)
_add(
    "cvat: ImageNet 1.0 with lists",
    f"{_CVAT}format-imagenet/",
    {f"{kind}/{kind}_{name}.jpg": "" for name, kind in PETS.items()}
    | {"labels.txt": "bird\ncat\ndog\n"},
    {f"{kind}/{kind}_{name}.jpg": labelled(kind) for name, kind in PETS.items()},
)

# Roboflow


def _rf(name: str, ending: str = ".jpg") -> str:
    return f"{name}_jpg.rf.{hashlib.md5(name.encode()).hexdigest()}{ending}"


def _folder(name: str) -> str:
    return {"train": "train", "val": "valid"}[split_of(name)]


_BESIDE = {f"{_folder(n)}/{_rf(n)}": "" for n in STREET}
_BESIDE_TRUTH = {f"{_folder(n)}/{_rf(n)}": _seen(n, split_of(n)) for n in STREET}
_APART = {f"{_folder(n)}/images/{_rf(n)}": "" for n in STREET}
_YAML = (
    "train: ../train/images\nval: ../valid/images\ntest: ../test/images\n\nnc: 3\n"
    f"names: {list(CLASSES)!r}\n\nroboflow:\n  workspace: me\n  project: street\n  version: 1\n"
)
_add(
    "roboflow: coco",
    f"{_ROBOFLOW}coco-json",
    _BESIDE
    | {
        f"{folder}/_annotations.coco.json": re.sub(
            r'"(street_\d\d)\.jpg"',
            lambda found: f'"{_rf(found[1])}"',
            coco([n for n in STREET if _folder(n) == folder]),
        )
        for folder in ("train", "valid")
    },
    _BESIDE_TRUTH,
)
_add(
    "roboflow: pascal voc",
    f"{_ROBOFLOW}pascal-voc-xml",
    _BESIDE | {f"{_folder(n)}/{_rf(n, '.xml')}": _voc(n, _rf(n)) for n in STREET},
    _BESIDE_TRUTH,
)
_add(
    "roboflow: yolov8",
    f"{_ROBOFLOW}yolov8-pytorch-txt",
    _APART
    | {f"{_folder(n)}/labels/{_rf(n, '.txt')}": "".join(map(_yolo, t)) for n, t in STREET.items()}
    | {"data.yaml": _YAML, "README.roboflow.txt": "street - v1\n"},
    {f"{_folder(n)}/images/{_rf(n)}": _seen(n, split_of(n)) for n in STREET},
)
_add(
    "roboflow: yolov8 oriented boxes",
    f"{_ROBOFLOW}yolov8-obb",
    _APART
    | {
        f"{_folder(n)}/labels/{_rf(n, '.txt')}": "".join(
            f"{o.number} {per(o.x)} {per(o.y)} {per(o.right)} {per(o.y)} {per(o.right)} "
            f"{per(o.bottom)} {per(o.x)} {per(o.bottom)}\n"
            for o in things
        )
        for n, things in STREET.items()
    }
    | {"data.yaml": _YAML},
    {
        f"{_folder(n)}/images/{_rf(n)}": plain(
            split_of(n), *(t for o in things for t in (o.name, str(per(o.x)), str(per(o.bottom))))
        )
        for n, things in STREET.items()
    },
)

# Projects

_add(
    "datumaro: project with a source",
    "https://openvinotoolkit.github.io/datumaro/stable/docs/user-manual/how_to_use_datumaro.html",
    {
        ".datumaro/config.yml": "{}\n",
        ".datumaro/tree/config.yml": "sources:\n  source-1:\n    format: coco\n    url: ''\n",
        ".gitignore": ".datumaro/cache\n",
    }
    | images("source-1/images/train/")
    | {"source-1/annotations/instances_train.json": coco(STREET)},
    {f"source-1/images/train/{name}.jpg": seen(name, "train") for name in STREET},
)
_add(
    "refcoco: instances and a pickle",
    "https://github.com/lichengunc/refer",
    images("images/train2014/")
    | {
        "refcoco/instances.json": coco(STREET),
        "refcoco/refs(unc).p": pickle.dumps(
            [
                {"ref_id": at, "split": split_of(name), "sentences": [{"raw": f"thing {name}"}]}
                for at, name in enumerate(STREET)
            ],
            protocol=2,
        ),
    },
    {
        f"images/train2014/{name}.jpg": seen(name, split_of(name), f"thing {name}")
        for name in STREET
    },
)
