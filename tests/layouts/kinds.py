"""Every kind of source, each of any size in each direction in which it may be large."""

import io
import json
import pickle
import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from layouts.archives import image, tar, zipped
from layouts.matlab import mat
from layouts.row import Row

try:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from layouts.huggingface import arrow
except ImportError:
    pa = None

JPEG = image()
_BOX = "<xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax>"
_XML = f"<object><name>dog</name><bndbox>{_BOX}</bndbox></object>"


class Kind(NamedTuple):
    """A kind of source that grows in a direction.

    Attributes:
        make: its files for a size: path -> content; empty bytes stand for an image.
        src: what is packed, below the folder of the files.
        options: of `SourceOptions`.
        plan: of `PackOptions`.
    """

    source: str
    direction: str
    make: Callable[[int], Mapping[str, str | bytes]]
    src: str = ""
    options: Mapping[str, Any] = {}
    plan: Mapping[str, Any] = {}

    def row(self, n: int) -> Row:
        """Return the layout of a size."""
        contents = {name: content or JPEG for name, content in self.make(n).items()}
        return Row(f"{self.source}: {self.direction}", "", "", self.options, contents, self.src)


def _paths(n: int, *patterns: str) -> dict[str, bytes]:
    return {pattern.format(number): b"" for pattern in patterns for number in range(n)}


def _classes(n: int) -> dict[str, bytes]:
    return _paths(n, "class{:03}/1.jpg", "class{:03}/2.jpg")


def _files(n: int) -> dict[str, bytes]:
    return _paths(n, "cat/{:03}.jpg", "dog/{:03}.jpg")


def _csv(n: int, header: str, row: str) -> str:
    return "\n".join([header, *(row.format(number, number % 3) for number in range(n)), ""])


def _coco(n: int, objects: int = 1, categories: int = 2) -> str:
    content = {
        "images": [
            {"id": i, "file_name": f"{i:03}.jpg", "height": 12, "width": 16} for i in range(n)
        ],
        "annotations": [
            {"id": i, "image_id": i % n, "category_id": i % categories, "bbox": [1, 1, 2, 2]}
            for i in range(n * objects)
        ],
        "categories": [{"id": i, "name": f"class{i:03}"} for i in range(categories)],
    }
    return json.dumps(content)


def _voc(objects: int) -> str:
    size = "<size><width>16</width><height>12</height><depth>3</depth></size>"
    return f"<annotation><filename>x.jpg</filename>{size}{_XML * objects}</annotation>"


def _parquet(n: int, group: int = 1 << 20) -> bytes:
    file = io.BytesIO()
    labels = [number % 3 for number in range(n)]
    images = [{"bytes": image(number), "path": None} for number in range(n)]
    pq.write_table(pa.table({"image": images, "label": labels}), file, row_group_size=group)
    return file.getvalue()


def _arrow(n: int) -> dict[str, str | bytes]:
    table = pa.table({"image": [{"bytes": JPEG, "path": None}] * n, "label": [0] * n})
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    files = {"dataset_info.json": "{}", "state.json": json.dumps(state)}
    return files | {"data-00000-of-00001.arrow": arrow(table)}


def _flowers(n: int) -> dict[str, str | bytes]:
    splits = {"trnid": [1], "valid": [2], "tstid": list(range(3, n + 1))}
    labels = [1 + number % 3 for number in range(n)]
    lists = {"imagelabels.mat": mat(labels=labels), "setid.mat": mat(packed=False, **splits)}
    return lists | {f"jpg/image_{number + 1:05}.jpg": b"" for number in range(n)}


def _cifar(n: int) -> dict[str, bytes]:
    batch = {b"data": np.zeros((n, 3072), np.uint8), b"labels": [0] * n}
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    meta = {b"label_names": [b"%d" % number for number in range(10)]}
    files = {name: pickle.dumps(batch, 2) for name in names}
    return files | {"batches.meta": pickle.dumps(meta, 2)}


def _idx(n: int) -> dict[str, bytes]:
    def idx(array: np.ndarray) -> bytes:
        shape = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        return shape + array.tobytes()

    images, labels = np.zeros((n, 8, 8), np.uint8), np.zeros(n, np.uint8)
    names = {"images-idx3": idx(images), "labels-idx1": idx(labels)}
    splits = ("train", "t10k")
    return {f"{s}-{name}-ubyte": data for s in splits for name, data in names.items()}


def _numpy(n: int) -> dict[str, bytes]:
    arrays = {"x": np.zeros((n, 8, 8), np.uint8), "y": np.arange(n) % 10}
    files = {f"{name}.npy": io.BytesIO() for name in arrays}
    for name, array in arrays.items():
        np.save(files[f"{name}.npy"], array)
    return {name: file.getvalue() for name, file in files.items()}


_OPEN_BOX = "{:03},xclick,/m/{},1,0.1,0.5,0.2,0.6"
_TRACKED = '<box frame="{}" outside="0" xtl="1" ytl="1" xbr="5" ybr="5"></box>'.format
_GENOME = {"objects": [{"object_id": 1, "names": ["cat"], "x": 1, "y": 1, "w": 2, "h": 2}]}


def _shard(shard: int, samples: int) -> bytes:
    names = [f"{shard:03}_{number:04}" for number in range(samples)]
    files = {f"{name}.{ext}": data for name in names for ext, data in (("jpg", b""), ("cls", "1"))}
    return tar(files)


def _series(n: int, name: str = "a-{:06}.tar") -> dict[str, bytes]:
    return {name.format(number): _shard(number, 1) for number in range(n)}


def _yolo(n: int, lines: int = 1, classes: int = 2) -> dict[str, str | bytes]:
    names = "".join(f"class{number}\n" for number in range(classes))
    labels = {f"labels/{number:03}.txt": "0 0.5 0.5 0.2 0.2\n" * lines for number in range(n)}
    return {"classes.txt": names, **labels, **_paths(n, "images/{:03}.jpg")}


def _yolo_folders(n: int) -> dict[str, str | bytes]:
    folders = [f"images/a{number:03}" for number in range(n)]
    data = f"train: [{', '.join(folders)}]\nnames: [person]\n"
    labels = {f"labels/a{number:03}/1.txt": "0 0.5 0.5 0.2 0.2\n" for number in range(n)}
    return {"data.yaml": data, **labels, **_paths(n, "images/a{:03}/1.jpg", "images/b{:03}/1.jpg")}


def _with(files: Mapping[str, str | bytes], *names: str) -> dict[str, str | bytes]:
    return {**files, **dict.fromkeys(names, b"")}


_ONE_SHARD_EACH = {"shard_samples": 1}

KINDS = [
    Kind("class folders", "classes", _classes),
    Kind("class folders", "files a class", _files),
    Kind("class folders", "shards", _files, plan=_ONE_SHARD_EACH),
    Kind(
        "class folders",
        "folders in a class",
        lambda n: _paths(n, "cat/a{:03}/1.jpg", "cat/a{:03}/2.jpg"),
    ),
    Kind(
        "class folders",
        "classes of two levels",
        lambda n: _paths(n, "a{:03}/b/1.jpg", "a{:03}/c/1.jpg"),
        options={"class_depth": 2},
    ),
    Kind("templates", "classes", _classes, options={"images": ("{label}/{key}",)}),
    Kind(
        "templates",
        "images with masks and lists",
        lambda n: {
            **_paths(n, "img/{:03}.jpg", "masks/{:03}.png"),
            "of.txt": "\n".join(f"{i} {i:03}" for i in range(n)),
            "labels.txt": "\n".join(f"{i} {i % 3}" for i in range(n)),
        },
        options={
            "images": ("img/{key}",),
            "members": {"mask": "masks/{key}"},
            "labels": ("of.txt: {id} {key}", "labels.txt: {id} {label}"),
        },
    ),
    Kind(
        "templates",
        "folders of images of one name, and a list",
        lambda n: {
            **_paths(n, "img/{:03}/1.jpg"),
            "l.txt": "\n".join(f"{i:03}/1.jpg {i % 3}" for i in range(n)),
        },
        options={"images": ("img/{key}",), "labels": ("l.txt: {key} {label}",)},
    ),
    Kind(
        "templates",
        "folders of masks",
        lambda n: _paths(n, "{:03}/img/1.jpg", "{:03}/masks/1.jpg"),
        options={"images": ("{label}/img/{key}",), "members": {"mask": "{label}/masks/{key}"}},
    ),
    Kind(
        "class folders",
        "classes of all levels",
        lambda n: _paths(n, "a{:03}/1.jpg", "a{:03}/c/1.jpg"),
        options={"class_depth": -1},
    ),
    Kind(
        "class folders",
        "classes of each split",
        lambda n: _paths(n, "train/class{:03}/1.jpg", "val/class{:03}/1.jpg"),
    ),
    Kind(
        "class folders",
        "classes without images",
        lambda n: _with(_paths(n, "class{:03}/.DS_Store"), "cat/1.jpg", "dog/1.jpg"),
    ),
    Kind(
        "class folders",
        "folders of other things",
        lambda n: _with(_paths(n, "logs{:03}/1.log", "logs{:03}/2.log"), "cat/1.jpg", "dog/1.jpg"),
    ),
    Kind(
        "class folders",
        "hidden folders",
        lambda n: _with(_paths(n, ".h{:03}/1.jpg"), "a/1.jpg", "b/1.jpg"),
    ),
    Kind(
        "class folders",
        "files beside the classes",
        lambda n: _with(_paths(n, "{:03}.jpg", "notes{:03}.txt"), "cat/1.jpg", "dog/1.jpg"),
    ),
    Kind(
        "class folders",
        "files of images",
        lambda n: _with(
            _paths(n, "cat/{:03}.jpg", "cat/{:03}.json", "cat/{:03}.seg.png"), "dog/1.jpg"
        ),
    ),
    Kind(
        "class folders",
        "names that end as those of masks",
        lambda n: _paths(n, "a{:03}_seg/1.jpg"),
        options={"kind": "folder"},
    ),
    Kind(
        "class folders",
        "folders that only describe",
        lambda n: _paths(n, "a{:03}/1.jpg", "a{:03}/labels/1.txt"),
    ),
    Kind("images alone", "files", lambda n: _paths(n, "{:03}.jpg")),
    Kind("images alone", "folders", _classes, options={"kind": "flat"}),
    Kind("images alone", "repeats", lambda n: _paths(n, "{:03}.jpg"), plan={"dedupe": True}),
    Kind("images and masks", "files", lambda n: _paths(n, "images/{:03}.jpg", "masks/{:03}.png")),
    Kind(
        "images and masks",
        "folders",
        lambda n: _paths(
            n, *(f"{top}{{:03}}/{k}.png" for top in ("images/", "masks/") for k in "12")
        ),
    ),
    Kind(
        "images and masks",
        "pairs of folders",
        lambda n: _paths(n, "a{:03}/images/1.jpg", "a{:03}/masks/1.png"),
        options={"kind": "pairs", "class_depth": 1},
    ),
    Kind(
        "images and masks",
        "pairs of folders in one",
        lambda n: _paths(n, "a{:03}_images/1.jpg", "a{:03}_masks/1.png"),
        options={"kind": "pairs", "class_depth": 1},
    ),
    Kind(
        "pairs",
        "files",
        lambda n: _paths(n, "a/{:03}.jpg", "b/{:03}.png"),
        "a",
        {"pairs": {"mask": "../b"}},
    ),
    Kind(
        "pairs",
        "folders",
        lambda n: _paths(n, "a/{:03}/1.jpg", "b/{:03}/1.png"),
        "a",
        {"pairs": {"mask": "../b"}},
    ),
    Kind("zip", "classes", lambda n: {"a.zip": zipped(_classes(n))}, "a.zip"),
    Kind("zip", "files a class", lambda n: {"a.zip": zipped(_files(n))}, "a.zip"),
    Kind(
        "zip",
        "folders of labels",
        lambda n: {
            "a.zip": zipped(
                dict.fromkeys(_paths(n, "a{:03}/images/1.jpg"), JPEG)
                | dict.fromkeys(_paths(n, "a{:03}/labels/note.txt"), "x")
            )
        },
        "a.zip",
        {"class_depth": 1},
    ),
    Kind("tar", "classes", lambda n: {"a.tar": tar(_classes(n))}, "a.tar"),
    Kind("tar", "files a class", lambda n: {"a.tar": tar(_files(n))}, "a.tar"),
    Kind(
        "tar",
        "files of one name",
        lambda n: {
            "a.tar": tar(_paths(n, *(f"{top}c{{:03}}/{k}.jpg" for top in ("", "./") for k in "12")))
        },
        "a.tar",
    ),
    Kind(
        "tar of tars",
        "tars",
        lambda n: {
            "a.tar": tar({f"c{i:03}.tar": tar({"1.jpg": b"", "2.jpg": b""}) for i in range(n)})
        },
        "a.tar",
    ),
    Kind(
        "tar of tars",
        "files a tar",
        lambda n: {"a.tar": tar({"c.tar": tar(_paths(n, "{:03}.jpg"))})},
        "a.tar",
        options={"kind": "folder"},
    ),
    Kind(
        "CSV",
        "rows",
        lambda n: {"list.csv": _csv(n, "file,label", "{:03}.jpg,c{}"), **_paths(n, "{:03}.jpg")},
    ),
    Kind(
        "CSV",
        "classes",
        lambda n: {"list.csv": _csv(n, "file,label", "{0:03}.jpg,c{0}"), **_paths(n, "{:03}.jpg")},
    ),
    Kind(
        "CSV",
        "rows of one image",
        lambda n: {
            "list.csv": _csv(n, "file,xmin,ymin,xmax,ymax,class", "1.jpg,1,1,5,5,c{1}"),
            "1.jpg": b"",
        },
    ),
    Kind(
        "CSV",
        "images in folders",
        lambda n: {
            "list.csv": _csv(n, "file,label", "a{:03}/1.jpg,c{}"),
            **_paths(n, "a{:03}/1.jpg"),
        },
    ),
    Kind(
        "CSV",
        "files that no row names",
        lambda n: (
            _with(_paths(n, "notes{:03}.txt", "b/{:03}.txt"), "1.jpg")
            | {"list.csv": "file,label\n1.jpg,cat\n"}
        ),
    ),
    Kind(
        "CSV",
        "tables",
        lambda n: (
            {f"a{i:03}/metadata.csv": "file_name,label\n1.jpg,cat\n" for i in range(n)}
            | _paths(n, "a{:03}/1.jpg")
        ),
    ),
    Kind(
        "CSV",
        "columns",
        lambda n: {
            "list.csv": "file," + ",".join(f"c{i}" for i in range(n)) + "\n1.jpg" + ",1" * n + "\n",
            "1.jpg": b"",
        },
    ),
    Kind(
        "CSV",
        "labels of one image",
        lambda n: {
            "list.csv": "file,labels\n1.jpg," + "|".join(f"c{i}" for i in range(n)) + "\n",
            "1.jpg": b"",
        },
        options={"label_separator": "|"},
    ),
    Kind(
        "JSONL",
        "rows",
        lambda n: {
            "list.jsonl": "".join(
                f'{{"file": "{i:03}.jpg", "label": "c{i % 3}"}}\n' for i in range(n)
            ),
            **_paths(n, "{:03}.jpg"),
        },
    ),
    Kind(
        "COCO", "images", lambda n: {"annotations.json": _coco(n), **_paths(n, "images/{:03}.jpg")}
    ),
    Kind(
        "COCO",
        "objects of one image",
        lambda n: {"annotations.json": _coco(1, n), **_paths(1, "images/{:03}.jpg")},
    ),
    Kind(
        "COCO",
        "classes",
        lambda n: {"annotations.json": _coco(n, 1, n), **_paths(n, "images/{:03}.jpg")},
    ),
    Kind(
        "COCO",
        "folders without annotations",
        lambda n: {
            "annotations.json": _coco(1),
            **_paths(n, "images/{:03}.jpg", "more/{:03}/1.jpg"),
        },
    ),
    Kind(
        "VOC",
        "images",
        lambda n: (
            {f"Annotations/{i:03}.xml": _voc(1) for i in range(n)}
            | _paths(n, "JPEGImages/{:03}.jpg")
        ),
    ),
    Kind(
        "VOC",
        "objects of one image",
        lambda n: {"Annotations/1.xml": _voc(n), "JPEGImages/1.jpg": b""},
    ),
    Kind("YOLO", "images", _yolo),
    Kind("YOLO", "lines of one image", lambda n: _yolo(2, n)),
    Kind("YOLO", "classes", lambda n: _yolo(2, 1, n)),
    Kind("YOLO", "folders of a split", _yolo_folders),
    Kind("MATLAB's lists", "images", _flowers),
    Kind("CIFAR", "images", _cifar),
    Kind("IDX", "images", _idx),
    Kind("NumPy's arrays", "images", _numpy),
    Kind(
        "Open Images",
        "images",
        lambda n: {
            "train-annotations-bbox.csv": _csv(
                n, "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax", _OPEN_BOX
            ),
            "train-annotations-human-imagelabels.csv": _csv(
                n, "ImageID,Source,LabelName,Confidence", "{:03},verification,/m/{},1"
            ),
            "class-descriptions-boxable.csv": _csv(n, "/m/x,X", "/m/{0},class{0}"),
            **_paths(n, "train/{:03}.jpg"),
        },
    ),
    Kind(
        "CVAT for videos",
        "frames",
        lambda n: {
            "annotations.xml": f'<annotations><track label="car">{"".join(map(_TRACKED, range(n)))}'
            "</track></annotations>",
            **_paths(n, "images/frame_{:06}.jpg"),
        },
    ),
    Kind(
        "Visual Genome",
        "images",
        lambda n: {
            "objects.json": json.dumps([_GENOME | {"image_id": i} for i in range(n)]),
            "region_descriptions.json": json.dumps(
                [{"id": i, "regions": [{"region_id": i, "phrase": "sky"}]} for i in range(n)]
            ),
            **_paths(n, "VG_100K/{}.jpg"),
        },
    ),
    Kind("WebDataset", "shards", _series),
    Kind(
        "WebDataset",
        "shards of each split",
        lambda n: _series(n, "train/{:06}.tar") | _series(n, "val/{:06}.tar"),
    ),
    Kind(
        "WebDataset",
        "samples a shard",
        lambda n: {"a-000.tar": _shard(0, n), "a-001.tar": _shard(1, n)},
    ),
    Kind(
        "WebDataset",
        "members of a sample",
        lambda n: {"a.tar": tar({"1.jpg": b"", **{f"1.m{i:03}": "x" for i in range(n)}})},
        "a.tar",
    ),
]
if pa is not None:
    KINDS += [
        Kind("Parquet", "rows", lambda n: {"a.parquet": _parquet(n)}),
        Kind("Parquet", "groups of rows", lambda n: {"a.parquet": _parquet(n, 1)}),
        Kind(
            "Parquet",
            "files",
            lambda n: {f"data/train-{i:05}-of-{n:05}.parquet": _parquet(1) for i in range(n)},
        ),
        Kind("Arrow", "rows", _arrow),
    ]
