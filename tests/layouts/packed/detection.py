"""Datasets of objects, traffic and aerial images, as their publishers lay them out."""

import re
from typing import Any

from layouts.images import SIDE
from layouts.row import Layout, Truth
from layouts.scenes import (
    CLASSES,
    STREET,
    Thing,
    corners,
    dumps,
    images,
    lines,
    per,
    seen,
    split_of,
)
from layouts.words import OR, box, labelled, plain, several

LAYOUTS: list[Layout] = []
SPLITS = ("train", "val")


def _add(name: str, source: str, files: Any, truth: Any, **more: Any) -> None:
    LAYOUTS.append(Layout(name, source, files, truth, **more))


def _of(split: str) -> list[str]:
    return [name for name in STREET if split_of(name) == split]


def _numbers(one: Thing, *further: str) -> tuple[str, ...]:
    return one.name, str(one.x), str(one.y), *further


def coco(names: Any, file_name: str = "{}.jpg", **of_image: str) -> str:
    """Return a COCO annotation file for these streets."""
    ids = {name: int(name[-2:]) * 10 for name in names}
    found = []
    for name, number in ids.items():
        for at, one in enumerate(STREET[name]):
            found.append(
                {
                    "id": number * 10 + at,
                    "image_id": number,
                    "category_id": one.number + 1,
                    "bbox": [one.x, one.y, one.w, one.h],
                    "area": one.w * one.h,
                    "iscrowd": 0,
                    "segmentation": [[v for point in corners(one) for v in point]],
                }
            )
    listed = []
    for name, number in ids.items():
        entry: dict[str, Any] = {"id": number, "height": SIDE, "width": SIDE}
        if file_name:
            entry["file_name"] = file_name.format(name)
        listed.append(entry | {key: value.format(name) for key, value in of_image.items()})
    categories = [{"id": at, "name": name} for at, name in enumerate(CLASSES, 1)]
    return dumps({"info": {}, "images": listed, "annotations": found, "categories": categories})


# BDD100K

_BDD = "https://doc.bdd100k.com/format.html"


def _bdd(name: str) -> dict[str, Any]:
    return {
        "name": f"{name}.jpg",
        "attributes": {"weather": "clear", "scene": "city street", "timeofday": "daytime"},
        "timestamp": 10000,
        "labels": [
            {
                "id": str(at),
                "category": one.name,
                "attributes": {"occluded": False, "truncated": False, "trafficLightColor": "NA"},
                "box2d": {"x1": one.x, "y1": one.y, "x2": one.right, "y2": one.bottom},
            }
            for at, one in enumerate(STREET[name])
        ],
    }


_BDD_IMAGES = {f"bdd100k/images/100k/{split_of(n)}/{n}.jpg": "" for n in STREET}
_BDD_TRUTH = {f"bdd100k/images/100k/{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET}
_add(
    "bdd100k: det_20",
    _BDD,
    _BDD_IMAGES
    | {f"bdd100k/labels/det_20/det_{s}.json": dumps([_bdd(n) for n in _of(s)]) for s in SPLITS},
    _BDD_TRUTH,
)
_add(
    "bdd100k: labels of 2018",
    _BDD,
    _BDD_IMAGES
    | {"bdd100k/images/100k/test/street_09.jpg": ""}
    | {
        f"bdd100k/labels/bdd100k_labels_images_{s}.json": dumps([_bdd(n) for n in _of(s)])
        for s in SPLITS
    },
    _BDD_TRUTH | {"bdd100k/images/100k/test/street_09.jpg": plain("test")},
)
_add(
    "bdd100k: a file for each image",
    _BDD,
    _BDD_IMAGES
    | {
        f"bdd100k/labels/100k/{split_of(n)}/{n}.json": dumps(
            {"name": n, "frames": [{"timestamp": 10000, "objects": _bdd(n)["labels"]}]}
        )
        for n in STREET
    },
    _BDD_TRUTH,
)
_add(
    "bdd100k: semantic masks",
    _BDD,
    {f"bdd100k/images/10k/{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {f"bdd100k/labels/sem_seg/masks/{split_of(n)}/{n}.png": "" for n in STREET}
    | {f"bdd100k/labels/sem_seg/colormaps/{split_of(n)}/{n}.png": "" for n in STREET},
    {
        f"bdd100k/images/10k/{split_of(n)}/{n}.jpg": plain(
            split_of(n), files=(f"bdd100k/labels/sem_seg/masks/{split_of(n)}/{n}.png",)
        )
        for n in STREET
    },
)

# Visual Genome

_add(
    "visual genome: objects and regions",
    "https://huggingface.co/datasets/ranjaykrishna/visual_genome",
    {f"VG_100K/{at}.jpg": "" for at in range(1, 5)}
    | {f"VG_100K_2/{at}.jpg": "" for at in range(5, 9)}
    | {
        "image_data.json": dumps(
            [
                {
                    "image_id": at,
                    "width": SIDE,
                    "height": SIDE,
                    "url": f"https://cs.stanford.edu/VG_100K{'_2' * (at > 4)}/{at}.jpg",
                    "coco_id": None,
                    "flickr_id": None,
                }
                for at in range(1, 9)
            ]
        ),
        "objects.json": dumps(
            [
                {
                    "image_id": at,
                    "objects": [
                        {
                            "object_id": 1000 + at,
                            "names": [one.name],
                            "synsets": [f"{one.name}.n.01"],
                            "x": one.x,
                            "y": one.y,
                            "w": one.w,
                            "h": one.h,
                        }
                        for one in things
                    ],
                }
                for at, things in enumerate(STREET.values(), 1)
            ]
        ),
        "region_descriptions.json": dumps(
            [
                {
                    "id": at,
                    "regions": [
                        {
                            "region_id": 2000 + at,
                            "image_id": at,
                            "phrase": f"a street seen {at} times",
                            "x": 1,
                            "y": 1,
                            "width": 9,
                            "height": 9,
                        }
                    ],
                }
                for at in range(1, 9)
            ]
        ),
    },
    {
        f"VG_100K{'_2' * (at > 4)}/{at}.jpg": plain(
            "", f"a street seen {at} times", *(text for one in things for text in _numbers(one))
        )
        for at, things in enumerate(STREET.values(), 1)
    },
)

# WIDER FACE

_EVENTS = ("0--Parade", "1--Handshaking")


def _wider(name: str) -> str:
    return f"{_EVENTS[int(name[-2:]) % 2]}/{name}.jpg"


def _faces(name: str) -> str:
    things = STREET[name]
    return f"{_wider(name)}\n{len(things)}\n" + "".join(
        f"{one.x} {one.y} {one.w} {one.h} 0 0 0 0 0 0 \n" for one in things
    )


_add(
    "wider face",
    "https://www.tensorflow.org/datasets/catalog/wider_face",
    {f"WIDER_{split_of(n)}/images/{_wider(n)}": "" for n in STREET}
    | {"WIDER_test/images/0--Parade/0_Parade_1.jpg": ""}
    | {f"wider_face_split/wider_face_{s}_bbx_gt.txt": "".join(map(_faces, _of(s))) for s in SPLITS}
    | {
        "wider_face_split/wider_face_test_filelist.txt": "0--Parade/0_Parade_1.jpg\n",
        "wider_face_split/readme.txt": "The format of txt ground truth.\n",
    },
    {
        f"WIDER_{split_of(n)}/images/{_wider(n)}": labelled(
            "",
            _wider(n).split("/")[0],
            split=split_of(n),
            holds=tuple(text for one in things for text in _numbers(one)[1:]),
        )
        for n, things in STREET.items()
    }
    | {"WIDER_test/images/0--Parade/0_Parade_1.jpg": labelled("", "0--Parade", split="test")},
)

# CrowdHuman


def _odgt(name: str) -> dict[str, Any]:
    return {
        "ID": f"2732,{name}",
        "gtboxes": [
            {
                "tag": "person",
                "hbox": [one.x, one.y, 2, 2],
                "head_attr": {"ignore": 0, "occ": 0, "unsure": 0},
                "fbox": [one.x, one.y, one.w, one.h],
                "vbox": [one.x, one.y, one.w, one.h - 1],
                "extra": {"box_id": at, "occ": 0},
            }
            for at, one in enumerate(STREET[name])
        ],
    }


_add(
    "crowdhuman",
    "https://www.crowdhuman.org/download.html",
    {f"Images/2732,{n}.jpg": "" for n in STREET}
    | {f"annotation_{s}.odgt": lines(map(_odgt, _of(s))) for s in SPLITS},
    {
        f"Images/2732,{n}.jpg": plain(
            split_of(n), "person", *(text for one in things for text in _numbers(one)[1:])
        )
        for n, things in STREET.items()
    },
)
_add(
    "crowdhuman: folders of its zips",
    "https://www.crowdhuman.org/download.html",
    {f"CrowdHuman_{split_of(n)}/Images/2732,{n}.jpg": "" for n in STREET}
    | {f"annotation_{s}.odgt": lines(map(_odgt, _of(s))) for s in SPLITS},
    {
        f"CrowdHuman_{split_of(n)}/Images/2732,{n}.jpg": plain(
            split_of(n), "person", *(text for one in things for text in _numbers(one)[1:])
        )
        for n, things in STREET.items()
    },
)

# MOT17

_add(
    "mot17",
    "https://motchallenge.net/data/MOT17/",
    {f"MOT17/train/MOT17-02-FRCNN/img1/{at:06}.jpg": "" for at in range(1, 5)}
    | {f"MOT17/train/MOT17-04-FRCNN/img1/{at:06}.jpg": "" for at in range(1, 5)}
    | {f"MOT17/test/MOT17-01-FRCNN/img1/{at:06}.jpg": "" for at in range(1, 3)}
    | {
        f"MOT17/train/{name}/gt/gt.txt": "".join(
            f"{at},1,{first + at},4,5,6,1,1,0.86\n" for at in range(1, 5)
        )
        for name, first in (("MOT17-02-FRCNN", 1), ("MOT17-04-FRCNN", 6))
    }
    | {
        f"MOT17/{name}/seqinfo.ini": "[Sequence]\nname=x\nimDir=img1\nframeRate=30\nseqLength=4\n"
        for name in ("train/MOT17-02-FRCNN", "train/MOT17-04-FRCNN", "test/MOT17-01-FRCNN")
    }
    | {
        f"MOT17/{name}/det/det.txt": "1,-1,1.5,4,5,6,0.9\n2,-1,2.5,4,5,6,0.9\n"
        for name in ("train/MOT17-02-FRCNN", "train/MOT17-04-FRCNN", "test/MOT17-01-FRCNN")
    },
    {
        f"MOT17/train/{name}/img1/{at:06}.jpg": plain("train", str(first + at), "0.86")
        for name, first in (("MOT17-02-FRCNN", 1), ("MOT17-04-FRCNN", 6))
        for at in range(1, 5)
    }
    | {f"MOT17/test/MOT17-01-FRCNN/img1/{at:06}.jpg": plain("test") for at in range(1, 3)},
)

# xView

_add(
    "xview",
    "http://xviewdataset.org/",
    {f"train_images/{at}.tif": "" for at in range(1, 9)}
    | {
        "xView_train.geojson": dumps(
            {
                "type": "FeatureCollection",
                "features": [
                    {
                        "type": "Feature",
                        "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [0, 1]]]},
                        "properties": {
                            "bounds_imcoords": f"{one.x},{one.y},{one.right},{one.bottom}",
                            "image_id": f"{at}.tif",
                            "type_id": 70 + one.number,
                            "feature_id": at,
                        },
                    }
                    for at, things in enumerate(STREET.values(), 1)
                    for one in things
                ],
            }
        )
    },
    {
        f"train_images/{at}.tif": plain(
            "train", *(text for o in things for text in (str(70 + o.number), str(o.x), str(o.y)))
        )
        for at, things in enumerate(STREET.values(), 1)
    },
)

# Open Images

_OPEN = "https://storage.googleapis.com/openimages/web/download_v7.html"
_MIDS = dict(zip(CLASSES, ("/m/0k4j", "/m/01g317", "/m/0199g"), strict=True))
_DESCRIBED = "".join(f"{mid},{name.title()}\n" for name, mid in _MIDS.items())


def _hex(name: str) -> str:
    return f"{int(name[-2:]) * 2654435761:016x}"


_OPEN_BOXES = {
    f"{folder}-annotations-bbox.csv": "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,"
    "IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
    + "".join(
        f"{_hex(n)},xclick,{_MIDS[one.name]},1,{per(one.x)},{per(one.right)},{per(one.y)},"
        f"{per(one.bottom)},0,0,0,0,0\n"
        for n in _of(split)
        for one in STREET[n]
    )
    for split, folder in (("train", "oidv6-train"), ("val", "validation"))
}
_OPEN_FOLDER = {"train": "train", "val": "validation"}
_OPEN_IMAGES = {f"{_OPEN_FOLDER[split_of(n)]}/{_hex(n)}.jpg": "" for n in STREET}


def _class(name: str) -> str:
    return f"{_MIDS[name]}{OR}{name.title()}"


def _in_open(name: str) -> Truth:
    found = [text for one in STREET[name] for text in (_class(one.name), str(per(one.x)))]
    boxes = [box(one.x, one.y, one.w, one.h) for one in STREET[name]]
    return plain(split_of(name), *found, *boxes)


_add(
    "open images: boxes",
    _OPEN,
    _OPEN_IMAGES | _OPEN_BOXES | {"class-descriptions-boxable.csv": _DESCRIBED},
    {f"{_OPEN_FOLDER[split_of(n)]}/{_hex(n)}.jpg": _in_open(n) for n in STREET},
)
_add(
    "open images: boxes, tables in a folder",
    _OPEN,
    _OPEN_IMAGES
    | {f"annotations/{path}": text for path, text in _OPEN_BOXES.items()}
    | {"metadata/class-descriptions-boxable.csv": _DESCRIBED},
    {f"{_OPEN_FOLDER[split_of(n)]}/{_hex(n)}.jpg": _in_open(n) for n in STREET},
)
_add(
    "open images: labels verified by people",
    _OPEN,
    _OPEN_IMAGES
    | {
        f"{folder}-annotations-human-imagelabels.csv": "ImageID,Source,LabelName,Confidence\n"
        + "".join(
            f"{_hex(n)},verification,{mid},{int(name in [one.name for one in STREET[n]])}\n"
            for n in _of(split)
            for name, mid in _MIDS.items()
        )
        for split, folder in (("train", "oidv6-train"), ("val", "validation"))
    }
    | {"oidv6-class-descriptions.csv": "LabelName,DisplayName\n" + _DESCRIBED},
    {
        f"{_OPEN_FOLDER[split_of(n)]}/{_hex(n)}.jpg": several(
            *(_class(one.name) for one in things), split=split_of(n)
        )
        for n, things in STREET.items()
    },
)

# Files in COCO's form

_COCO_SPLIT = {"train": "train2017", "val": "val2017"}
_add(
    "lvis: v1",
    "https://www.lvisdataset.org/dataset",
    {f"{_COCO_SPLIT[split_of(n)]}/{n}.jpg": "" for n in STREET}
    | {
        f"lvis_v1_{s}.json": coco(
            _of(s),
            "",
            coco_url=f"http://images.cocodataset.org/{_COCO_SPLIT[s]}/{{}}.jpg",
            flickr_url="http://farm9.staticflickr.com/{}_z.jpg",
        )
        for s in SPLITS
    },
    {f"{_COCO_SPLIT[split_of(n)]}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "objects365: v2",
    "https://www.objects365.org/download.html",
    {f"{split_of(n)}/images/v1/patch{int(n[-1]) % 2}/{n}.jpg": "" for n in STREET}
    | {
        f"zhiyuan_objv2_{s}.json": re.sub(
            r'"street_0(\d)\.jpg"',
            lambda found: f'"images/v1/patch{int(found[1]) % 2}/{found[0][1:]}',
            coco(_of(s)),
        )
        for s in SPLITS
    },
    {
        f"{split_of(n)}/images/v1/patch{int(n[-1]) % 2}/{n}.jpg": seen(n, split_of(n))
        for n in STREET
    },
)
_add(
    "publaynet",
    "https://github.com/ibm-aur-nlp/PubLayNet",
    {f"publaynet/{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {f"publaynet/{s}.json": coco(_of(s)) for s in SPLITS}
    | {"publaynet/README.txt": "PubLayNet\n", "publaynet/LICENSE.txt": "CDLA\n"},
    {f"publaynet/{split_of(n)}/{n}.jpg": seen(n, split_of(n)) for n in STREET},
)
_add(
    "doclaynet: core",
    "https://github.com/DS4SD/DocLayNet",
    {f"DocLayNet_core/PNG/{n}.png": "" for n in STREET}
    | {
        f"DocLayNet_core/COCO/{s}.json": coco(_of(s), "{}.png", doc_category="manuals")
        for s in SPLITS
    },
    {f"DocLayNet_core/PNG/{n}.png": seen(n, split_of(n)) for n in STREET},
)
_add(
    "doclaynet: core with extra files",
    "https://github.com/DS4SD/DocLayNet",
    {f"PNG/{n}.png": "" for n in STREET}
    | {f"COCO/{s}.json": coco(_of(s), "{}.png") for s in SPLITS}
    | {
        f"JSON/{n}.json": dumps({"metadata": {"page_no": 1}, "cells": [{"text": f"word {n}"}]})
        for n in STREET
    },
    {f"PNG/{n}.png": seen(n, split_of(n)) for n in STREET},
)

# Aerial

_VISDRONE = "https://github.com/VisDrone/VisDrone-Dataset"
_add(
    "visdrone: detection",
    _VISDRONE,
    {f"VisDrone2019-DET-{split_of(n)}/images/{n}.jpg": "" for n in STREET}
    | {
        f"VisDrone2019-DET-{split_of(n)}/annotations/{n}.txt": "".join(
            f"{one.x},{one.y},{one.w},{one.h},1,{one.number + 1},0,0\n" for one in things
        )
        for n, things in STREET.items()
    },
    {
        f"VisDrone2019-DET-{split_of(n)}/images/{n}.jpg": plain(
            split_of(n), *(text for one in things for text in _numbers(one)[1:])
        )
        for n, things in STREET.items()
    },
)


def _dota(name: str) -> str:
    return "imagesource:GoogleEarth\ngsd:0.146343590398\n" + "".join(
        " ".join(f"{float(v)}" for point in corners(one) for v in point) + f" {one.name} 0\n"
        for one in STREET[name]
    )


_DOTA = "https://captain-whu.github.io/DOTA/dataset.html"
_add(
    "dota: labelTxt",
    _DOTA,
    {f"{split_of(n)}/images/{n}.png": "" for n in STREET}
    | {f"{split_of(n)}/labelTxt/{n}.txt": _dota(n) for n in STREET},
    {
        f"{split_of(n)}/images/{n}.png": plain(
            split_of(n), *(text for one in things for text in (one.name, f"{one.x}.0"))
        )
        for n, things in STREET.items()
    },
)
_add(
    "dota: labelTxt-v1.0 and a test set",
    _DOTA,
    {f"DOTA/{split_of(n)}/images/{n}.png": "" for n in STREET}
    | {f"DOTA/{split_of(n)}/labelTxt-v1.0/{n}.txt": _dota(n) for n in STREET}
    | {"DOTA/test/images/P0006.png": "", "DOTA/test/images/P0009.png": ""},
    {
        f"DOTA/{split_of(n)}/images/{n}.png": plain(
            split_of(n), *(text for one in things for text in (one.name, f"{one.x}.0"))
        )
        for n, things in STREET.items()
    }
    | {f"DOTA/test/images/P000{at}.png": plain("test") for at in (6, 9)},
)

# Traffic

_add(
    "ua-detrac",
    "https://detrac-db.rit.albany.edu/download",
    {
        f"Insight-MVT_Annotation_Train/MVI_2001{s}/img{at:05}.jpg": ""
        for s in (1, 2)
        for at in range(1, 5)
    }
    | {
        f"DETRAC-Train-Annotations-XML/MVI_2001{s}.xml": '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<sequence name="MVI_2001{s}">\n  <sequence_attribute camera_state="unstable"/>\n'
        + "".join(
            f'  <frame density="1" num="{at}"><target_list><target id="1"><box left="{s}.{at}5" '
            f'top="2.5" width="6.5" height="5.5"/><attribute vehicle_type="van"/></target>'
            "</target_list></frame>\n"
            for at in range(1, 5)
        )
        + "</sequence>\n"
        for s in (1, 2)
    },
    {
        f"Insight-MVT_Annotation_Train/MVI_2001{s}/img{at:05}.jpg": plain(
            "train", f"{s}.{at}5", "van"
        )
        for s in (1, 2)
        for at in range(1, 5)
    },
)
_add(
    "sku-110k",
    "https://github.com/eg4000/SKU110K_CVPR19",
    {f"SKU110K_fixed/images/{split_of(n)}_{n[-1]}.jpg": "" for n in STREET}
    | {
        f"SKU110K_fixed/annotations/annotations_{s}.csv": "".join(
            f"{s}_{n[-1]}.jpg,{one.x},{one.y},{one.right},{one.bottom},object,16,16\n"
            for n in _of(s)
            for one in STREET[n]
        )
        for s in SPLITS
    },
    {
        f"SKU110K_fixed/images/{split_of(n)}_{n[-1]}.jpg": plain(
            split_of(n),
            "object",
            *(box(one.x, one.y, one.w, one.h) for one in things),
            *(text for one in things for text in _numbers(one)[1:]),
        )
        for n, things in STREET.items()
    },
)
_add(
    "gtsdb",
    "https://benchmark.ini.rub.de/gtsdb_dataset.html",
    {f"FullIJCNN2013/{at:05}.ppm": "" for at in range(8)}
    | {f"FullIJCNN2013/{kind:02}/{at:05}.ppm": "" for kind in range(3) for at in range(2)}
    | {
        "FullIJCNN2013/gt.txt": "".join(
            f"{at:05}.ppm;{one.x};{one.y};{one.right};{one.bottom};{one.number}\n"
            for at, things in enumerate(STREET.values())
            for one in things
        ),
        "FullIJCNN2013/ReadMe.txt": "German Traffic Sign Detection Benchmark\n",
    },
    {
        f"FullIJCNN2013/{at:05}.ppm": plain(
            "", *(text for o in things for text in (str(o.number), str(o.x), str(o.right)))
        )
        for at, things in enumerate(STREET.values())
    },
)
_add(
    "tt100k",
    "https://cg.cs.tsinghua.edu.cn/traffic-sign/",
    {f"data/{split_of(n).replace('val', 'test')}/{int(n[-1])}.jpg": "" for n in STREET}
    | {"data/other/77.jpg": ""}
    | {
        "data/annotations.json": dumps(
            {
                "types": list(CLASSES),
                "imgs": {
                    str(int(n[-1])): {
                        "path": f"{split_of(n).replace('val', 'test')}/{int(n[-1])}.jpg",
                        "id": int(n[-1]),
                        "objects": [
                            {
                                "category": one.name,
                                "bbox": {
                                    "xmin": one.x + 0.25,
                                    "ymin": one.y,
                                    "xmax": one.right,
                                    "ymax": one.bottom,
                                },
                            }
                            for one in things
                        ],
                    }
                    for n, things in STREET.items()
                }
                | {"77": {"path": "other/77.jpg", "id": 77, "objects": []}},
            }
        )
    },
    {
        f"data/{split_of(n).replace('val', 'test')}/{int(n[-1])}.jpg": plain(
            split_of(n).replace("val", "test"),
            *(text for one in things for text in (one.name, f"{one.x}.25")),
        )
        for n, things in STREET.items()
    }
    | {"data/other/77.jpg": plain("other")},
)
_KITTI = "https://www.cvlibs.net/datasets/kitti/eval_object.php?obj_benchmark=2d"


def _kitti(name: str) -> str:
    return "".join(
        f"{one.name.title()} 0.00 0 -1.57 {one.x}.25 {one.y}.50 {one.right}.00 {one.bottom}.00 "
        "1.65 1.67 3.64 -0.65 1.71 46.70 -1.59\n"
        for one in STREET[name]
    )


_add(
    "kitti: object, all its archives",
    _KITTI,
    {f"training/image_2/{int(n[-1]):06}.png": "" for n in STREET}
    | {f"training/label_2/{int(n[-1]):06}.txt": _kitti(n) for n in STREET}
    | {f"training/calib/{int(n[-1]):06}.txt": "P0: 7.2e+02 0 6.0e+02 0\n" for n in STREET}
    | {f"testing/image_2/{at:06}.png": "" for at in range(3)}
    | {f"testing/calib/{at:06}.txt": "P0: 7.2e+02 0 6.0e+02 0\n" for at in range(3)},
    {
        f"training/image_2/{int(n[-1]):06}.png": plain(
            "train", *(text for one in things for text in (one.name.title(), f"{one.x}.25"))
        )
        for n, things in STREET.items()
    }
    | {f"testing/image_2/{at:06}.png": plain("test") for at in range(3)},
)
_add(
    "kitti: object, below torchvision's root",
    "https://pytorch.org/vision/stable/generated/torchvision.datasets.Kitti.html",
    {f"Kitti/raw/training/image_2/{int(n[-1]):06}.png": "" for n in STREET}
    | {f"Kitti/raw/training/label_2/{int(n[-1]):06}.txt": _kitti(n) for n in STREET},
    {
        f"Kitti/raw/training/image_2/{int(n[-1]):06}.png": plain(
            "train", *(text for one in things for text in (one.name.title(), f"{one.x}.25"))
        )
        for n, things in STREET.items()
    },
)

# Cityscapes and Mapillary Vistas

_CITY = "https://github.com/mcordts/cityscapesScripts"


def _city(name: str) -> str:
    return f"{split_of(name)}/aachen/aachen_0000{name[-2:]}_000019"


_add(
    "cityscapes: fine",
    _CITY,
    {f"leftImg8bit/{_city(n)}_leftImg8bit.png": "" for n in STREET}
    | {
        f"gtFine/{_city(n)}_gtFine_{kind}.png": ""
        for n in STREET
        for kind in ("labelIds", "instanceIds", "color")
    }
    | {
        f"gtFine/{_city(n)}_gtFine_polygons.json": dumps({"imgHeight": 16, "objects": []})
        for n in STREET
    },
    {
        f"leftImg8bit/{_city(n)}_leftImg8bit.png": plain(
            split_of(n), files=(f"gtFine/{_city(n)}_gtFine_labelIds.png",)
        )
        for n in STREET
    },
)
_add(
    "cityscapes: coarse",
    _CITY,
    {
        f"leftImg8bit/{_city(n)}_leftImg8bit.png".replace("train/", "train_extra/"): ""
        for n in STREET
    }
    | {
        f"gtCoarse/{_city(n)}_gtCoarse_{kind}.png".replace("train/", "train_extra/"): ""
        for n in STREET
        for kind in ("labelIds", "instanceIds", "color")
    },
    {
        f"leftImg8bit/{_city(n)}_leftImg8bit.png".replace("train/", "train_extra/"): plain(
            split_of(n).replace("train", "train_extra"),
            files=(f"gtCoarse/{_city(n)}_gtCoarse_labelIds.png".replace("train/", "train_extra/"),),
        )
        for n in STREET
    },
)
_VISTAS = "https://www.mapillary.com/dataset/vistas"
_VISTAS_FOLDER = {"train": "training", "val": "validation"}
for _version, _extra in (("", ("instances",)), ("v1.2/", ("instances", "panoptic"))):
    _add(
        f"mapillary vistas: {'1.0' if not _version else '2.0'}",
        _VISTAS,
        {f"{_VISTAS_FOLDER[split_of(n)]}/images/{n}.jpg": "" for n in STREET}
        | {
            f"{_VISTAS_FOLDER[split_of(n)]}/{_version}{kind}/{n}.png": ""
            for n in STREET
            for kind in ("labels", *_extra)
        }
        | {"testing/images/street_09.jpg": "", "testing/images/street_10.jpg": ""}
        | {"config_v1.2.json" if _version else "config.json": dumps({"labels": []})},
        {
            f"{_VISTAS_FOLDER[split_of(n)]}/images/{n}.jpg": plain(
                split_of(n), files=(f"{_VISTAS_FOLDER[split_of(n)]}/{_version}labels/{n}.png",)
            )
            for n in STREET
        }
        | {f"testing/images/street_{at}.jpg": plain("test") for at in ("09", "10")},
    )

# nuImages


def _token(kind: str, at: int) -> str:
    return f"{kind}{at:028x}"


_add(
    "nuimages",
    "https://www.nuscenes.org/nuimages",
    {f"samples/CAM_FRONT/{n}.jpg": "" for n in STREET}
    | {f"sweeps/CAM_FRONT/{n}_before.jpg": "" for n in list(STREET)[:3]}
    | {
        "v1.0-train/category.json": dumps(
            [
                {"token": _token("cat", at), "name": f"vehicle.{name}", "description": ""}
                for at, name in enumerate(CLASSES)
            ]
        ),
        "v1.0-train/sample_data.json": dumps(
            [
                {
                    "token": _token("dat", at),
                    "sample_token": _token("sam", at),
                    "filename": f"samples/CAM_FRONT/{n}.jpg",
                    "fileformat": "jpg",
                    "width": SIDE,
                    "height": SIDE,
                    "timestamp": at,
                    "is_key_frame": True,
                }
                for at, n in enumerate(STREET)
            ]
            + [
                {
                    "token": _token("dax", at),
                    "sample_token": _token("sam", at),
                    "filename": f"sweeps/CAM_FRONT/{n}_before.jpg",
                    "fileformat": "jpg",
                    "width": SIDE,
                    "height": SIDE,
                    "timestamp": at,
                    "is_key_frame": False,
                }
                for at, n in enumerate(list(STREET)[:3])
            ]
        ),
        "v1.0-train/sample.json": dumps(
            [{"token": _token("sam", at), "key_camera_token": _token("dat", at)} for at in range(8)]
        ),
        "v1.0-train/object_ann.json": dumps(
            [
                {
                    "token": _token("ob" + str(k), at),
                    "category_token": _token("cat", one.number),
                    "bbox": [one.x, one.y, one.right, one.bottom],
                    "sample_data_token": _token("dat", at),
                    "attribute_tokens": [],
                    "mask": None,
                }
                for at, things in enumerate(STREET.values())
                for k, one in enumerate(things)
            ]
        ),
    },
    {
        f"samples/CAM_FRONT/{n}.jpg": plain(
            "train",
            *(f"vehicle.{one.name}" for one in things),
            *(text for one in things for text in _numbers(one)[1:]),
        )
        for n, things in STREET.items()
    }
    | {f"sweeps/CAM_FRONT/{n}_before.jpg": plain("train") for n in list(STREET)[:3]},
)
_add(
    "street: images alone, in one folder",
    "https://github.com/opencv/cvat",
    images("frames/"),
    {f"frames/{n}.jpg": plain() for n in STREET},
)
