"""Every kind of source that has a path: from disk, in archives and in a store."""

import json
import pickle
from functools import partial

import pyarrow as pa
from layouts.huggingface import CAT_AND_DOG, STATE, arrow, parquet, table
from layouts.torchvision import idx

from freezing.layouts import Kind, pack
from freezing.material import ARCHIVES, Files, images, jpeg, npy, png, tar_of
from freezing.record import Case


def _folder() -> Files:
    found = images("b/1.jpg b/2.png a/3.jpg a/4.ppm a/deep/5.png b/ä%.jpg c/.hidden.jpg c/6.ppm")
    found |= {"a/3.json": b'{"n": 3}', "a/3.txt": b"three", "a/3.mask.png": png(9)}
    return found | {"a/notes.md": b"x", "b/1.npy": b"not an array", "c/broken.jpg": b"broken"}


def _splits() -> Files:
    return images("train/a/1.jpg train/b/2.jpg train/a/3.png val/a/4.jpg val/b/5.jpg test/b/6.jpg")


def _deep() -> Files:
    return images("x/a/1.jpg x/b/2.jpg y/a/3.jpg y/c/4.jpg y/c/5.jpg")


def _flat() -> Files:
    found = images("1.jpg 2.jpg 3.png 4.ppm 5.png")
    return found | {"1.cls": b"2", "2.cls": b"0", "3.json": b"[1]", "4.txt": "ä".encode()}


def _pairs() -> Files:
    found = images("photos/1.jpg photos/2.jpg photos/deep/3.jpg photos/4.jpg")
    found |= images("masks/1.png masks/2.png masks/deep/3.png", first=20)
    return found | {"texts/1.txt": b"one", "texts/4.txt": b"four"}


NAMES = [f"img/{number}.{'png' if number % 3 else 'jpg'}" for number in range(6)]


def _csv(*lines: str, name: str = "list.csv") -> Files:
    return images(" ".join(NAMES)) | {name: "\n".join(lines).encode(), "other.txt": b"x"}


def _labels() -> Files:
    rows = (f"{name},{'dog|cat' if n % 2 else 'cat'},{n}" for n, name in enumerate(NAMES))
    return _csv("path,label,age", *rows)


def _columns() -> Files:
    rows = (f"{name[4:]};kind{n % 2};{'train' if n else 'val'}" for n, name in enumerate(NAMES))
    return _csv("picture;species;part", *rows)


def _boxes() -> Files:
    rows = (f"{name},{box},cat" for name in NAMES for box in ("1,2,4,5", "0,0,3,3"))
    return _csv("image,x,y,w,h,label", *rows)


def _one_box() -> Files:
    return _csv("image,bbox,class", *(f'{name},"[1, 2, 14, 15]",cat' for name in NAMES))


def _jsonl() -> Files:
    rows = (
        {"file_name": name, "label": ["cat", "dog"][n % 2], "split": "val" if n > 3 else "train"}
        | {"text": f"number {n}", "more": {"n": n}}
        for n, name in enumerate(NAMES)
    )
    return _csv(*map(json.dumps, rows), name="metadata.jsonl")


def _list_in_parquet() -> Files:
    numbers = {"label": [n % 3 for n in range(6)], "weight": [n / 4 for n in range(6)]}
    listed = parquet(pa.table({"image": NAMES, **numbers}))
    return images(" ".join(NAMES)) | {"list.parquet": listed}


def _rows(first: int, count: int) -> "pa.Table":
    numbers = range(first, first + count)
    cells = [{"bytes": jpeg(n) if n % 2 else png(n), "path": f"{n}.jpg"} for n in numbers]
    return table({"image": cells, "label": [n % 2 for n in numbers]}, CAT_AND_DOG)


def _parquet() -> Files:
    names = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")
    return {f"data/{n}.parquet": parquet(_rows(4 * i, 4)) for i, n in enumerate(names)}


def _arrow() -> Files:
    info = json.dumps({"features": CAT_AND_DOG}).encode()
    data = {"data-00000-of-00001.arrow": arrow(_rows(0, 5))}
    return data | {"state.json": STATE.encode(), "dataset_info.json": info}


def _coco() -> Files:
    found: dict[str, bytes] = {}
    for part, numbers in (("train", range(1, 5)), ("val", range(5, 7))):
        names = {n: f"{n:012d}.jpg" for n in numbers}
        found |= images(" ".join(f"{part}2017/{name}" for name in names.values()), numbers[0])
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
        found[f"annotations/instances_{part}2017.json"] = json.dumps(content).encode()
    return found


def _voc() -> Files:
    names = [f"2012_{n:06d}" for n in range(5)]
    found = images(" ".join(f"VOC2012/JPEGImages/{name}.jpg" for name in names))
    for number, name in enumerate(names):
        box = "<xmin>2</xmin><ymin>3</ymin><xmax>12</xmax><ymax>14</ymax>"
        kind = ("cat", "dog")[number % 2]
        found[f"VOC2012/Annotations/{name}.xml"] = (
            f"<annotation><filename>{name}.jpg</filename><size><width>24</width><height>16</height>"
            f"<depth>3</depth></size><object><name>{kind}</name><difficult>0</difficult><bndbox>"
            f"{box}</bndbox></object></annotation>"
        ).encode()
    for part, listed in (("train", names[:3]), ("val", names[3:])):
        found[f"VOC2012/ImageSets/Main/{part}.txt"] = "\n".join(listed).encode()
    return found


def _yolo() -> Files:
    names = [f"{'train' if n < 4 else 'val'}/{n}" for n in range(6)]
    found = images(" ".join(f"images/{name}.jpg" for name in names))
    found |= {f"labels/{n}.txt": b"0 0.5 0.5 0.25 0.5\n1 .1 .1 .1 .1\n" for n in names[1:]}
    text = "path: .\ntrain: images/train\nval: images/val\nnames: [person, bike]\n"
    return found | {"data.yaml": text.encode()}


BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def _cifar() -> Files:
    names = [b"kind%d" % number for number in range(10)]
    found = {"batches.meta": pickle.dumps({b"label_names": names}, 2)}
    for seed, name in enumerate(BATCHES):
        content = {b"data": npy(seed, 3, 3072), b"labels": [seed, 1, 9]}
        found[name] = pickle.dumps(content, 2)
    return found


def _cifar_binary() -> Files:
    found = {"batches.meta.txt": b"\n".join(b"kind%d" % number for number in range(10))}
    for seed, name in enumerate(BATCHES):
        rows = [bytes([seed + n]) + npy(seed + n, 3072).tobytes() for n in range(3)]
        found[f"{name}.bin"] = b"".join(rows)
    return found


def _idx() -> Files:
    found = {}
    for name, rows in (("train", 5), ("t10k", 3)):
        found[f"{name}-images-idx3-ubyte"] = idx(npy(rows, rows, 28, 28))
        found[f"{name}-labels-idx1-ubyte"] = idx(npy(rows, rows) % 10)
    return found


def _shard(first: int) -> bytes:
    files: dict[str, bytes] = {}
    for n in range(first, first + 4):
        files |= {f"{n:05d}.jpg": jpeg(n), f"{n:05d}.cls": b"%d" % (n % 3)}
        files |= {f"{n:05d}.json": b'{"n": %d}' % n}
    return tar_of(files)


def _webdataset() -> Files:
    return {
        f"{part}-{n:06d}.tar": _shard(4 * n) for n, part in enumerate(("train", "train", "val"))
    }


def _tar_of_tars() -> Files:
    inner = {f"n{c}.tar": tar_of(images(f"n{c}_1.jpg n{c}_2.jpg", c * 5)) for c in range(3)}
    return {"train.tar": tar_of(inner)}


COLUMNS = {"image_column": "picture", "label_column": "species", "split_column": "part"}
COLUMNS |= {"root": "img"}
KINDS = {
    "folder": Kind(_folder),
    "folder with splits": Kind(_splits),
    "folder, all levels": Kind(_deep, options={"class_depth": "all"}),
    "folder, two levels": Kind(_deep, options={"class_depth": 2}),
    "folder, one level": Kind(_deep, options={"class_depth": 1}),
    "flat": Kind(_flat),
    "flat, as such": Kind(_splits, options={"kind": "flat"}),
    "pairs": Kind(_pairs, "photos", {"pairs": {"mask?": "../masks", "text?": "../texts"}}),
    "csv": Kind(_labels, "list.csv", {"label_separator": "|"}),
    "csv, one label": Kind(_labels, "list.csv", {"label_separator": "none"}),
    "csv in its folder": Kind(_labels, options={"label_separator": "|"}),
    "csv, columns": Kind(_columns, "list.csv", COLUMNS),
    "csv, classes": Kind(_labels, "list.csv", {"classes": ["dog", "cat", "dog|cat"]}),
    "csv with boxes": Kind(_boxes, "list.csv", {"box_format": "xywh"}),
    "csv with a column of boxes": Kind(_one_box, "list.csv", {"box_format": "xyxy"}),
    "jsonl": Kind(_jsonl, "metadata.jsonl"),
    "jsonl in its folder": Kind(_jsonl),
    "list in parquet": Kind(_list_in_parquet, "list.parquet"),
    "parquet": Kind(_parquet),
    "parquet file": Kind(_parquet, "data/train-00000-of-00002.parquet"),
    "arrow": Kind(_arrow),
    "coco": Kind(_coco),
    "coco file": Kind(_coco, "annotations/instances_train2017.json", {"root": "../train2017"}),
    "voc": Kind(_voc),
    "yolo": Kind(_yolo),
    "yolo file": Kind(_yolo, "data.yaml"),
    "cifar": Kind(_cifar),
    "cifar, binary": Kind(_cifar_binary),
    "idx": Kind(_idx),
    "webdataset": Kind(_webdataset),
    "webdataset tar": Kind(_webdataset, "train-000000.tar"),
    "tar of tars": Kind(_tar_of_tars, "train.tar"),
}


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name, kind in KINDS.items():
        found[f"source/{name}"] = partial(pack, kind, "", False)
        if kind.is_local:
            continue
        found[f"source/{name}, in a store"] = partial(pack, kind, "", True)
        for ext in () if kind.src else ARCHIVES:  # otherwise its archive is another kind
            found[f"source/{name}, in a {ext}"] = partial(pack, kind, ext, False)
            found[f"source/{name}, in a {ext} in a store"] = partial(pack, kind, ext, True)
    return found
