"""Every kind of source that has a path: from disk, in archives and in a store."""

import io
import json
import pickle
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from layouts.huggingface import arrow
from layouts.row import Row
from layouts.scanned.torchvision import idx

from freezing.layouts import is_local, pack
from freezing.material import ARCHIVES, images, jpeg, npy, png, tar_of
from freezing.record import Case

MEMBERS = {"a/3.json": '{"n": 3}', "a/3.txt": "three", "a/3.mask.png": png(9), "a/notes.md": "x"}
MEMBERS |= {"b/1.npy": "not an array", "c/broken.jpg": "broken"}
FOLDER = "b/1.jpg b/2.png a/3.jpg a/4.ppm a/deep/5.png b/ä%.jpg c/.hidden.jpg c/6.ppm"
SPLITS = "train/a/1.jpg train/b/2.jpg train/a/3.png val/a/4.jpg val/b/5.jpg test/b/6.jpg"
DEEP = "x/a/1.jpg x/b/2.jpg y/a/3.jpg y/c/4.jpg y/c/5.jpg"
FLAT = {"1.cls": "2", "2.cls": "0", "3.json": "[1]", "4.txt": "ä"}
PHOTOS = "photos/1.jpg photos/2.jpg photos/deep/3.jpg photos/4.jpg"
PAIRED = images("masks/1.png masks/2.png masks/deep/3.png", first=20)
PAIRED |= {"texts/1.txt": b"one", "texts/4.txt": b"four"}

NAMES = [f"img/{number}.{'png' if number % 3 else 'jpg'}" for number in range(6)]
LISTED = " ".join(NAMES)


def _table(*lines: str, name: str = "list.csv") -> Mapping[str, str | bytes]:
    return {name: "\n".join(lines), "other.txt": "x"}


LABELS = _table(
    "path,label,age",
    *(f"{name},{'dog|cat' if n % 2 else 'cat'},{n}" for n, name in enumerate(NAMES)),
)
COLUMNS = _table(
    "picture;species;part",
    *(f"{name[4:]};kind{n % 2};{'train' if n else 'val'}" for n, name in enumerate(NAMES)),
)
ROLES = {"image_column": "picture", "label_column": "species", "split_column": "part"}
BOXES = _table(
    "image,x,y,w,h,label",
    *(f"{name},{box},cat" for name in NAMES for box in ("1,2,4,5", "0,0,3,3")),
)
ONE_BOX = _table("image,bbox,class", *(f'{name},"[1, 2, 14, 15]",cat' for name in NAMES))
LINES = (
    {"file_name": name, "label": ["cat", "dog"][n % 2], "split": "val" if n > 3 else "train"}
    | {"text": f"number {n}", "more": {"n": n}}
    for n, name in enumerate(NAMES)
)
JSONL = _table(*map(json.dumps, LINES), name="metadata.jsonl")
COUNTS = {"label": [n % 3 for n in range(6)], "weight": [n / 4 for n in range(6)]}


def _parquet(content: "pa.Table") -> bytes:
    data = io.BytesIO()
    pq.write_table(content, data)
    return data.getvalue()


NUMBERS = _parquet(pa.table({"image": NAMES, **COUNTS}))
CAT_AND_DOG = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}
STATE = json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None})


def _rows(first: int, count: int) -> "pa.Table":
    numbers = range(first, first + count)
    cells = [{"bytes": jpeg(n) if n % 2 else png(n), "path": f"{n}.jpg"} for n in numbers]
    told = {b"huggingface": json.dumps({"info": {"features": CAT_AND_DOG}}).encode()}
    columns = {"image": cells, "label": [n % 2 for n in numbers]}
    return pa.table(columns).replace_schema_metadata(told)


FILES = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")
PARQUET = {f"data/{name}.parquet": _parquet(_rows(4 * n, 4)) for n, name in enumerate(FILES)}
ARROW = {"data-00000-of-00001.arrow": arrow(_rows(0, 5)), "state.json": STATE}
ARROW |= {"dataset_info.json": json.dumps({"features": CAT_AND_DOG})}


def _coco(part: str, numbers: range) -> Mapping[str, str | bytes]:
    names = {n: f"{n:012d}.jpg" for n in numbers}
    boxes = [
        {"id": n * 10 + k, "image_id": n, "category_id": 7 + k, "bbox": [k, 1, 5.5, 6]}
        | {"area": 33, "iscrowd": 0, "segmentation": [[1, 1, 5, 1, 5, 5]]}
        for n in numbers
        for k in range(n % 3)
    ]
    content = {
        "info": {"year": 2017},
        "images": [
            {"id": n, "file_name": name, "width": 24, "height": 16} for n, name in names.items()
        ],
        "annotations": boxes,
        "categories": [{"id": 7, "name": "cat"}, {"id": 8, "name": "dog"}],
    }
    found = images(" ".join(f"{part}2017/{name}" for name in names.values()), numbers[0])
    return found | {f"annotations/instances_{part}2017.json": json.dumps(content).encode()}


COCO = {**_coco("train", range(1, 5)), **_coco("val", range(5, 7))}


def _voc(name: str, kind: str) -> str:
    return (
        f"<annotation><filename>{name}.jpg</filename><size><width>24</width><height>16</height>"
        f"<depth>3</depth></size><object><name>{kind}</name><difficult>0</difficult><bndbox>"
        "<xmin>2</xmin><ymin>3</ymin><xmax>12</xmax><ymax>14</ymax>"
        "</bndbox></object></annotation>"
    )


YEAR = [f"2012_{n:06d}" for n in range(5)]
VOC = {
    f"VOC2012/Annotations/{name}.xml": _voc(name, ("cat", "dog")[n % 2])
    for n, name in enumerate(YEAR)
}
VOC |= {
    f"VOC2012/ImageSets/Main/{part}.txt": "\n".join(names)
    for part, names in (("train", YEAR[:3]), ("val", YEAR[3:]))
}
TRAINED = [f"{'train' if n < 4 else 'val'}/{n}" for n in range(6)]
YOLO = {f"labels/{name}.txt": "0 0.5 0.5 0.25 0.5\n1 .1 .1 .1 .1\n" for name in TRAINED[1:]}
YOLO |= {"data.yaml": "path: .\ntrain: images/train\nval: images/val\nnames: [person, bike]\n"}

KINDS = [b"kind%d" % number for number in range(10)]
BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
CIFAR = {"batches.meta": pickle.dumps({b"label_names": KINDS}, 2)} | {
    name: pickle.dumps({b"data": npy(seed, 3, 3072), b"labels": [seed, 1, 9]}, 2)
    for seed, name in enumerate(BATCHES)
}
BINARY = {"batches.meta.txt": b"\n".join(KINDS)} | {
    f"{name}.bin": b"".join(bytes([n]) + npy(n, 3072).tobytes() for n in range(seed, seed + 3))
    for seed, name in enumerate(BATCHES)
}
IDX = {
    f"{name}-{what}-ubyte": idx(values)
    for name, n in (("train", 5), ("t10k", 3))
    for what, values in (("images-idx3", npy(n, n, 28, 28)), ("labels-idx1", npy(n, n) % 10))
}


def _shard(first: int) -> bytes:
    files: dict[str, bytes] = {}
    for n in range(first, first + 4):
        files |= {f"{n:05d}.jpg": jpeg(n), f"{n:05d}.cls": b"%d" % (n % 3)}
        files |= {f"{n:05d}.json": b'{"n": %d}' % n}
    return tar_of(files)


SHARDS = {f"{s}-{n:06d}.tar": _shard(4 * n) for n, s in enumerate(("train", "train", "val"))}
TARS = {f"n{c}.tar": tar_of(images(f"n{c}_1.jpg n{c}_2.jpg", c * 5)) for c in range(3)}


def _row(
    name: str, files: str, contents: Mapping[str, str | bytes] = {}, src: str = "", **options: Any
) -> Row:
    return Row(name, files, "", options, contents, src)


ROWS = [
    _row("folder", FOLDER, MEMBERS),
    _row("folder with splits", SPLITS),
    _row("folder, all levels", DEEP, class_depth="all"),
    _row("folder, two levels", DEEP, class_depth=2),
    _row("folder, one level", DEEP, class_depth=1),
    _row("flat", "1.jpg 2.jpg 3.png 4.ppm 5.png", FLAT),
    _row("flat, as such", SPLITS, kind="flat"),
    _row("pairs", PHOTOS, PAIRED, "photos", pairs={"mask?": "../masks", "text?": "../texts"}),
    _row("csv", LISTED, LABELS, "list.csv", label_separator="|"),
    _row("csv, one label", LISTED, LABELS, "list.csv", label_separator="none"),
    _row("csv in its folder", LISTED, LABELS, label_separator="|"),
    _row("csv, columns", LISTED, COLUMNS, "list.csv", **ROLES, root="img"),
    _row("csv, classes", LISTED, LABELS, "list.csv", classes=["dog", "cat", "dog|cat"]),
    _row("csv with boxes", LISTED, BOXES, "list.csv", box_format="xywh"),
    _row("csv with a column of boxes", LISTED, ONE_BOX, "list.csv", box_format="xyxy"),
    _row("jsonl", LISTED, JSONL, "metadata.jsonl"),
    _row("jsonl in its folder", LISTED, JSONL),
    _row("list in parquet", LISTED, {"list.parquet": NUMBERS}, "list.parquet"),
    _row("parquet", "", PARQUET),
    _row("parquet file", "", PARQUET, "data/train-00000-of-00002.parquet"),
    _row("arrow", "", ARROW),
    _row("coco", "", COCO),
    _row("coco file", "", COCO, "annotations/instances_train2017.json", root="../train2017"),
    _row("voc", " ".join(f"VOC2012/JPEGImages/{name}.jpg" for name in YEAR), VOC),
    _row("yolo", " ".join(f"images/{name}.jpg" for name in TRAINED), YOLO),
    _row("yolo file", " ".join(f"images/{name}.jpg" for name in TRAINED), YOLO, "data.yaml"),
    _row("cifar", "", CIFAR),
    _row("cifar, binary", "", BINARY),
    _row("idx", "", IDX),
    _row("webdataset", "", SHARDS),
    _row("webdataset tar", "", SHARDS, "train-000000.tar"),
    _row("tar of tars", "", {"train.tar": tar_of(TARS)}, "train.tar"),
]


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for row in ROWS:
        name = f"source/{row.name}"
        for ext in ("",) if row.src or is_local(row) else ("", *ARCHIVES):
            inside = f", in a {ext}" * bool(ext)
            found[name + inside] = partial(pack, row, ext, False)
            if not is_local(row):
                how = f"{inside} in a store" if ext else ", in a store"
                found[name + how] = partial(pack, row, ext, True)
    return found
