"""Objects of the samples, in the forms of those who annotate them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from made_images import write_files

from crossing.scenes import CLASSES, Corners, Picture, Scene, Thing

Files = dict[str, Any]


def name_of(scene: Scene, picture: Picture) -> str:
    return f"{scene.stem}.{picture.ext}"


def _size(scene: Scene, picture: Picture) -> tuple[int, int]:
    """Return the size that annotations state."""
    return scene.upright_size if picture.is_upright else scene.size


def _drawn(scene: Scene, points: Corners, picture: Picture) -> Corners:
    """Return points as annotations have them."""
    return scene.upright(points) if picture.is_upright else points


def _box(scene: Scene, thing: Thing, picture: Picture) -> list[float]:
    corners = _drawn(scene, thing.outline, picture)
    return [*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()]


def _xywh(scene: Scene, thing: Thing, picture: Picture) -> list[float]:
    x0, y0, x1, y1 = _box(scene, thing, picture)
    return [x0, y0, x1 - x0, y1 - y0]


def objects_of(scene: Scene, picture: Picture) -> dict[str, Any]:
    """Return the objects of a sample in JSON of one's own."""
    things = scene.things
    return {
        "boxes": [_box(scene, thing, picture) for thing in things],
        "labels": [thing.label for thing in things],
        "segmentation": [
            [_drawn(scene, thing.outline, picture).ravel().tolist()] for thing in things
        ],
        "keypoints": [
            [[*point, 2] for point in _drawn(scene, thing.points, picture).tolist()]
            for thing in things
        ],
        "number": scene.number,
    }


def _coco_file(scenes: Sequence[Scene], picture: Picture) -> str:
    images, annotations = [], []
    for scene in scenes:
        number, (width, height) = scene.number + 1, _size(scene, picture)
        if scene.stem != f"a{scene.number}":
            number += 100
        name = name_of(scene, picture)
        images.append({"id": number, "file_name": name, "width": width, "height": height})
        for thing in scene.things:
            points = _drawn(scene, thing.points, picture).tolist()
            box = _xywh(scene, thing, picture)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": 10 + thing.label,
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                    "segmentation": [_drawn(scene, thing.outline, picture).ravel().tolist()],
                    "keypoints": [value for x, y in points for value in (x, y, 2)],
                    "num_keypoints": 3,
                }
            )
    categories = [
        {"id": 10 + label, "name": name, "keypoints": ["top", "side", "below"], "skeleton": []}
        for label, name in enumerate(CLASSES)
    ]
    return json.dumps({"images": images, "annotations": annotations, "categories": categories})


def coco(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for split in ("train", "val"):
        own = [scene for scene in scenes if scene.split == split]
        files: Files = {f"{split}/{name_of(s, picture)}": s.encode(picture.kind) for s in own}
        files[f"annotations/instances_{split}.json"] = _coco_file(own, picture)
        write_files(root, files)
    return root


def coco_json(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    files: Files = {f"images/{name_of(s, picture)}": s.encode(picture.kind) for s in scenes}
    write_files(root, files | {"found.json": _coco_file(scenes, picture)})
    return root / "found.json"


def voc(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    files: Files = {}
    for scene in scenes:
        width, height = _size(scene, picture)
        text = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
        for thing in scene.things:
            ends = zip(("xmin", "ymin", "xmax", "ymax"), _box(scene, thing, picture), strict=True)
            bounds = "".join(f"<{end}>{number:.0f}</{end}>" for end, number in ends)
            name = f"<name>{CLASSES[thing.label]}</name>"
            text += f"<object>{name}<bndbox>{bounds}</bndbox></object>"
        name = name_of(scene, picture)
        files[f"JPEGImages/{name}"] = scene.encode(picture.kind)
        named = f"<annotation><filename>{name}</filename>{text}</annotation>"
        files[f"Annotations/{scene.stem}.xml"] = named
    for split in ("train", "val"):
        lines = [f"{scene.stem}\n" for scene in scenes if scene.split == split]
        files[f"ImageSets/Main/{split}.txt"] = "".join(lines)
    return write_files(root, files)


def _yolo_line(scene: Scene, thing: Thing, *, is_outline: bool) -> str:
    """Return a line of fractions, always of the upright picture."""
    corners = scene.upright(thing.outline) / scene.upright_size
    low, high = corners.min(axis=0), corners.max(axis=0)
    numbers = corners.ravel() if is_outline else [*(low + high) / 2, *high - low]
    return " ".join([str(thing.label), *(f"{number:.6f}" for number in numbers)]) + "\n"


def yolo(*, is_outline: bool) -> Callable[[Path, Sequence[Scene], Picture], Path]:
    def make(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
        names = ", ".join(CLASSES)
        files: Files = {
            "data.yaml": f"train: images/train\nval: images/val\nnc: 3\nnames: [{names}]\n"
        }
        for scene in scenes:
            lines = [_yolo_line(scene, thing, is_outline=is_outline) for thing in scene.things]
            files[f"images/{scene.split}/{name_of(scene, picture)}"] = scene.encode(picture.kind)
            files[f"labels/{scene.split}/{scene.stem}.txt"] = "".join(lines)
        return write_files(root, files)

    return make


def box_rows(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    lines = ["image,width,height,class,xmin,ymin,xmax,ymax"]
    for scene in scenes:
        name, (width, height) = name_of(scene, picture), _size(scene, picture)
        for thing in scene.things:
            box = ",".join(f"{number:.0f}" for number in _box(scene, thing, picture))
            lines.append(f"{name},{width},{height},{CLASSES[thing.label]},{box}")
        if not scene.things:
            lines.append(f"{name},{width},{height},,,,,")
    files: Files = {f"images/{name_of(s, picture)}": s.encode(picture.kind) for s in scenes}
    write_files(root, files | {"boxes.csv": "\n".join(lines) + "\n"})
    return root / "boxes.csv"


def metadata(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for split in ("train", "val"):
        lines, files = [], {}
        for scene in scenes:
            if scene.split == split:
                name = name_of(scene, picture)
                found = [_xywh(scene, thing, picture) for thing in scene.things]
                labels = [thing.label for thing in scene.things]
                objects = {"bbox": found, "category": labels}
                row = {"file_name": name, "objects": objects, "number": scene.number}
                lines.append(json.dumps(row))
                files[f"{split}/{name}"] = scene.encode(picture.kind)
        write_files(root, files | {f"{split}/metadata.jsonl": "\n".join(lines) + "\n"})
    return root


_HF_IMAGE = pa.struct({"bytes": pa.binary(), "path": pa.string()})


def parquet(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    """Write Hugging Face's files, whose features name the classes."""
    names = {"names": [*CLASSES], "_type": "ClassLabel"}
    features = {
        "image": {"_type": "Image"},
        "label": names,
        "objects": {"bbox": {}, "category": {"feature": names, "_type": "Sequence"}},
    }
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    for split in ("train", "val"):
        own = [scene for scene in scenes if scene.split == split]
        pictures = [{"bytes": s.encode(picture.kind), "path": name_of(s, picture)} for s in own]
        objects = [
            {
                "bbox": [_xywh(s, thing, picture) for thing in s.things],
                "category": [thing.label for thing in s.things],
            }
            for s in own
        ]
        kind = pa.struct(
            {"bbox": pa.list_(pa.list_(pa.float64())), "category": pa.list_(pa.int64())}
        )
        table = pa.table(
            {
                "image": pa.array(pictures, _HF_IMAGE),
                "label": [scene.label for scene in own],
                "number": [scene.number for scene in own],
                "caption": [scene.text for scene in own],
                "objects": pa.array(objects, kind),
            }
        ).replace_schema_metadata(told)
        (root / "data").mkdir(exist_ok=True, parents=True)
        pq.write_table(table, root / "data" / f"{split}-00000-of-00001.parquet")
    return root


def labelme(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for scene in scenes:
        width, height = _size(scene, picture)
        shapes = []
        for thing in scene.things:
            x0, y0, x1, y1 = _box(scene, thing, picture)
            points = [[x0, y0], [x1, y1]]
            shapes.append(
                {"label": CLASSES[thing.label], "points": points, "shape_type": "rectangle"}
            )
        name = name_of(scene, picture)
        said = {"version": "5.4.1", "flags": {}, "shapes": shapes, "imagePath": f"../images/{name}"}
        said |= {"imageData": None, "imageHeight": height, "imageWidth": width}
        files: Files = {f"images/{name}": scene.encode(picture.kind)}
        write_files(root, files | {f"found/{scene.stem}.json": json.dumps(said)})
    return root


def kitti(root: Path, scenes: Sequence[Scene], picture: Picture) -> Path:
    for scene in scenes:
        lines = ""
        for thing in scene.things:
            x0, y0, x1, y1 = _box(scene, thing, picture)
            box = f"{x0:.2f} {y0:.2f} {x1:.2f} {y1:.2f}"
            lines += f"{CLASSES[thing.label]} 0.00 0 -1.57 {box} 1.5 1.6 3.9 1.0 1.5 8.0 -1.5\n"
        files: Files = {f"training/image_2/{name_of(scene, picture)}": scene.encode(picture.kind)}
        write_files(root, files | {f"training/label_2/{scene.stem}.txt": lines})
    return root
