"""Sources of the same samples in the forms of their publishers and tools."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from made_images import npy, write_files

from crossing.annotations import (
    Files,
    box_rows,
    coco,
    coco_json,
    kitti,
    labelme,
    metadata,
    name_of,
    objects_of,
    parquet,
    voc,
    yolo,
)
from crossing.scenes import CLASSES, PICTURES, Picture, Scene, encoded

Place = Path | Callable[[], Any]  # what is packed: a path, or what makes a Python dataset


@dataclass(frozen=True)
class Source:
    """A form of a source.

    Attributes:
        make: writes the samples' files below a folder; gives what to pack.
        holds: what it gives, and the member that has it ("" for the index).
        pictures: those that it can have.
        said: options that say outright what packing finds by itself, given the folder.
        needed: options without which it cannot be packed, given the folder.
        kind: as `packer pack --as` names it.
        is_one_size: whether all its pictures are as large.
        is_numbered: whether it numbers its classes, and has no names of them.
        how: "folder", "file" or "archive"; or how Python passes it: "map", "stream" or "writer".
    """

    make: Callable[[Path, Sequence[Scene], Picture], Place]
    holds: Mapping[str, str]
    kind: str | None = None
    pictures: Sequence[str] = tuple(PICTURES)
    said: Callable[[Path], Mapping[str, Any]] = lambda root: {}
    needed: Callable[[Path], Mapping[str, Any]] = lambda root: {}
    is_one_size: bool = False
    is_numbered: bool = False
    how: str = "folder"
    boxes: Mapping[str, Any] = field(default_factory=dict)  # what Boxes() needs to be told
    polygons: Mapping[str, Any] = field(default_factory=dict)
    points: Mapping[str, Any] = field(default_factory=dict)


_STORED = tuple(name for name, picture in PICTURES.items() if not picture.is_upright)
_PLAIN = ("png", "thin", "jpg", "webp", "palette", "bare")  # without EXIF


def _folders(at: str) -> Callable[[Path, Sequence[Scene], Picture], Path]:
    def make(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
        for scene in scenes:
            folder = at.format(split=scene.split, label=CLASSES[scene.label])
            write_files(root, {f"{folder}/{name_of(scene, picture)}": scene.encode(picture.kind)})
        return root

    return make


def _captions(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for scene in scenes:
        files = {f"{scene.stem}.{picture.ext}": scene.encode(picture.kind)}
        write_files(root, files | {f"{scene.stem}.txt": scene.text})
    return root


def _table(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    lines = ["file,label,split,number,caption"]
    for s in scenes:
        name = name_of(s, picture)
        lines.append(f"{name},{CLASSES[s.label]},{s.split},{s.number},{s.text}")
    files: Files = {f"pictures/{name_of(s, picture)}": s.encode(picture.kind) for s in scenes}
    write_files(root, files | {"labels.csv": "\n".join(lines) + "\n"})
    return root / "labels.csv"


def _masks(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for scene in scenes:
        drawn = scene.mask if scene.data is None else np.zeros((4, 4), np.uint8)
        if picture.is_upright:
            drawn = _turned(drawn, scene.orientation)
        name = f"images/{name_of(scene, picture)}"
        masks = {f"masks/{scene.stem}.png": encoded(drawn, "png")}
        write_files(root, {name: scene.encode(picture.kind)} | masks)
    return root


def _turned(drawn: Any, orientation: int) -> Any:
    """Return an array as its orientation shows it."""
    drawn = drawn.T if orientation >= 5 else drawn
    is_mirrored = orientation in (2, 3, 6, 7)
    is_flipped = orientation in (3, 4, 7, 8)
    return drawn[:: -1 if is_flipped else 1, :: -1 if is_mirrored else 1]


def _pairs(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for scene in scenes:
        name, data = name_of(scene, picture), scene.encode(picture.kind)
        write_files(root, {f"left/{name}": data, f"right/{name}": data})
    return root / "left"


def _tars(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for split in ("train", "val"):
        with tarfile.open(root / f"{split}-000000.tar", "w") as archive:
            for scene in scenes:
                if scene.split == split:
                    members = {
                        picture.ext: scene.encode(picture.kind),
                        "cls": str(scene.label).encode(),
                        "json": json.dumps(objects_of(scene, picture)).encode(),
                    }
                    if scene.has_bands:
                        members["npy"] = npy(scene.bands)
                    for ext, data in members.items():
                        info = tarfile.TarInfo(f"{scene.stem}.{ext}")
                        info.size = len(data)
                        archive.addfile(info, io.BytesIO(data))
    return root


def _zip(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(root / "pictures.zip", "w") as archive:
        for s in scenes:
            name = f"{s.split}/{CLASSES[s.label]}/{name_of(s, picture)}"
            archive.writestr(name, s.encode(picture.kind))
    return root / "pictures.zip"


def _tar_gz(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    with tarfile.open(root / "pictures.tar.gz", "w:gz") as archive:
        for s in scenes:
            info = tarfile.TarInfo(f"{CLASSES[s.label]}/{name_of(s, picture)}")
            data = s.encode(picture.kind)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return root / "pictures.tar.gz"


def _npz(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for split in ("train", "val"):
        own = [scene for scene in scenes if scene.split == split]
        arrays[f"{split}_images"] = np.stack([scene.pixels for scene in own])
        arrays[f"{split}_labels"] = np.array([[scene.label] for scene in own], np.uint8)
    np.savez(root / "pictures.npz", **arrays)
    return root / "pictures.npz"


def _item(scene: Scene, picture: Picture) -> dict[str, Any]:
    damaged = scene.data is not None
    bands = {"npy": scene.bands} if scene.has_bands else {}
    return {
        "image": scene.encode(picture.kind),
        "label": CLASSES[scene.label],
        "key": scene.stem,
        "json": objects_of(scene, picture),
        "txt": scene.text,
        "mask.png": np.zeros((4, 4), np.uint8) if damaged else scene.mask,
    } | bands


def _map(root: Path, scenes: Sequence[Scene], picture: Picture) -> Callable[[], Any]:
    return lambda: [_item(scene, picture) for scene in scenes]


def _splits(root: Path, scenes: Sequence[Scene], picture: Picture) -> Callable[[], Any]:
    return lambda: {
        split: [_item(scene, picture) for scene in scenes if scene.split == split]
        for split in ("train", "val")
    }


def _stream(root: Path, scenes: Sequence[Scene], picture: Picture) -> Callable[[], Any]:
    def items() -> Iterator[dict[str, Any]]:
        for scene in scenes:
            yield _item(scene, picture) | {"split": scene.split}

    return items


_OF_JSON = {"boxes": "json", "polygons": "json", "points": "json", "json": "json"}
_NUMBERED = {"json": "json", "number": "number"}
_OF_PYTHON = {
    "label": "",
    **_OF_JSON,
    **_NUMBERED,
    "text": "txt",
    "mask": "mask.png",
    "bands": "npy",
}
_OWN: dict[str, Any] = {
    "boxes": {"format": "xyxy", "labels": "labels"},
    "polygons": {"labels": "labels"},
    "points": {"labels": "labels"},
}
_FOLDERS = {"label": ""}
_SPLITS = {"split": ""}

SOURCES: dict[str, Source] = {
    "classes": Source(_folders("{label}"), _FOLDERS, "folder", (*_PLAIN[:-1], "exif")),
    "folders": Source(
        _folders("{split}/{label}"),
        {**_FOLDERS, "split": ""},
        *("folder", (*_PLAIN[:-1], "exif")),
        said=lambda root: {"images": ("{split}/{label}/{key}",)},
    ),
    "deep": Source(
        _folders("pictures/of/{label}"),
        _FOLDERS,
        *("folder", (*_PLAIN[:-1], "exif")),
        said=lambda root: {"class_depth": 3},
        needed=lambda root: {"images": ("pictures/of/{label}/{key}",)},
    ),
    "captions": Source(
        _captions,
        {"text": "txt"},
        *("flat", (*_PLAIN[:-1], "exif")),
        said=lambda root: {"images": ("{key}",), "members": {"txt": "{key}.txt"}},
    ),
    "coco": Source(coco, {**_SPLITS, **_OF_JSON, "number": "image.id"}, "coco"),
    "coco_json": Source(
        coco_json,
        {**_OF_JSON, "number": "image.id"},
        "coco",
        how="file",
        needed=lambda root: {"root": root / "images"},
    ),
    "voc": Source(voc, {**_SPLITS, "boxes": "json", "json": "json"}, "voc"),
    "yolo": Source(yolo(is_outline=False), {**_SPLITS, "boxes": "txt"}, "yolo"),
    "outlines": Source(yolo(is_outline=True), {**_SPLITS, "polygons": "txt"}, "yolo"),
    "box_rows": Source(
        box_rows,
        {"boxes": "json", "json": "json"},
        "table",
        how="file",
        said=lambda root: {
            "root": root / "images",
            "image_column": "image",
            "label_column": "class",
            "box_format": "xyxy",
        },
        needed=lambda root: {"root": root / "images"},
    ),
    "table": Source(
        _table,
        {**_FOLDERS, "split": "", **_NUMBERED, "text": "json.caption"},
        *("table", (*_PLAIN[:-1], "exif")),
        how="file",
        said=lambda root: {
            "image_column": "file",
            "label_column": "label",
            "split_column": "split",
            "label_separator": "none",
        },
        needed=lambda root: {"root": root / "pictures"},
    ),
    "metadata": Source(
        metadata,
        {**_SPLITS, "boxes": "json", "json": "json"},
        *(None, _STORED),
        is_numbered=True,
    ),
    "parquet": Source(
        parquet,
        {"label": "", "split": "", "boxes": "json", **_NUMBERED, "text": "json.caption"},
        *("hf", _STORED),
        boxes={"path": "objects.bbox", "labels": "objects.category", "format": "xywh"},
    ),
    "masks": Source(
        _masks,
        {"mask": "mask.png"},
        None,
        said=lambda root: {
            "images": ("images/{key}",),
            "members": {"mask.png": "masks/{key}.png"},
        },
    ),
    "pairs": Source(
        _pairs,
        {"right": "right"},
        *(None, (*_PLAIN[:-1], "exif")),
        needed=lambda root: {"pairs": {"right": root / "right"}},
    ),
    "tars": Source(
        _tars,
        {"label": "", "split": "", **_OF_JSON, **_NUMBERED, "bands": "npy"},
        *("webdataset", _STORED),
        is_numbered=True,
        **_OWN,
    ),
    "zip": Source(
        *(_zip, {**_FOLDERS, "split": ""}, "folder", (*_PLAIN[:-1], "exif")), how="archive"
    ),
    "tar_gz": Source(*(_tar_gz, _FOLDERS, "folder", (*_PLAIN[:-1], "exif")), how="archive"),
    "npz": Source(
        _npz,
        {"label": "", "split": ""},
        "arrays",
        ("png",),
        is_one_size=True,
        is_numbered=True,
        how="archive",
    ),
    "labelme": Source(labelme, {"boxes": "json", "json": "json"}),
    "kitti": Source(kitti, {"boxes": "json", "json": "json"}, None, _STORED),
    "map": Source(
        *(_map, _OF_PYTHON, None, _STORED),
        **{"how": "map", **_OWN},
    ),
    "splits": Source(
        *(_splits, {**_OF_PYTHON, "split": ""}, None, _STORED),
        **{"how": "map", **_OWN},
    ),
    "stream": Source(
        *(_stream, {**_OF_PYTHON, "split": ""}, None, _STORED),
        **{"how": "stream", **_OWN},
    ),
    "writer": Source(
        *(_stream, {**_OF_PYTHON, "split": ""}, None, _STORED),
        **{"how": "writer", **_OWN},
    ),
}
