"""Boxes, polygons, points and masks lie over their object, whatever packing does to the pixels.

Objects are drawn in white. What is delivered is measured in pixels, and compared with the fields.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_objects import SIZE, Drawn, assert_near, coco, delivered, drawn, seen, shape

import packer
import reader

ORIENTATIONS = range(1, 9)
POLICIES: dict[str, dict[str, Any]] = {
    "as it is": {"png": "verbatim"},
    "quality": {"quality": 95, "jpeg": "verbatim"},
    "smaller": {"max_side": 48, "jpeg": "verbatim"},
    "to a portrait": {"raw": (60, 40)},
    "to a landscape": {"raw": (32, 64)},
}
TRANSFORMS = {
    "whole": [],
    "mirrored and cropped": [reader.CenterCrop((40, 36)), reader.RandomHorizontalFlip(p=1)],
}
Files = Mapping[str, bytes]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_field_lies_over_its_object(policy: str, tmp_path: Path) -> None:
    items = []
    for orientation in ORIENTATIONS:
        for is_upright in {False, orientation >= 5}:  # sizes tell no other two apart
            one = drawn(orientation, is_upright=is_upright)
            item = {"key": f"{orientation}{'u' * is_upright}", "image": one.image}
            given = {name: [value] for name, value in shape(one.box).items()}
            width, height = one.size
            content = {**given, "width": width, "height": height}
            items.append({**item, "mask.png": one.mask, "json": content})
    packer.pack(items, tmp_path / "shards", jobs=1, progress=False, **POLICIES[policy])
    fields = (
        reader.Boxes("json", path="bbox", format="xywh", out="xyxy"),
        reader.Polygons("json"),
        reader.Points("json", flip=()),
        reader.Mask("mask.png"),
    )
    for transforms in TRANSFORMS.values():
        found = delivered(tmp_path / "shards", *fields, transforms=transforms)
        assert len(found) == len(items)
        for key, (image, boxes, polygons, points, mask) in found.items():
            wanted = seen(image)
            assert_near(boxes["boxes"], wanted, key)
            outline = np.asarray(polygons["points"])
            assert_near([*outline.min(axis=0), *outline.max(axis=0)], wanted, key)
            assert_near(seen(np.asarray(mask).squeeze()), wanted, key)
            places = np.asarray(points["keypoints"])[0]
            inside = places[places[:, 2] > 0, :2]  # others are cut off
            corners = np.array([*np.meshgrid(wanted[::2], wanted[1::2])]).reshape(2, -1).T
            for place in inside:
                assert np.abs(corners - place).max(axis=1).min() <= 1.01, key


@pytest.mark.parametrize("policy", POLICIES)
def test_fractions_lie_over_their_object(policy: str, tmp_path: Path) -> None:
    items = []
    for orientation in ORIENTATIONS:
        upright, stored = drawn(orientation, is_upright=True), drawn(orientation, is_upright=False)
        (left, top, right, bottom), (width, height) = upright.box, upright.size
        row = (left + right) / 2 / width, (top + bottom) / 2 / height
        row += (right - left) / width, (bottom - top) / height
        boxes = [list(np.array(stored.box) / (SIZE * 2))]
        text = f"0 {' '.join(map(str, row))}\n"
        items.append({"image": upright.image, "txt": text, "json": {"boxes": boxes}})
    packer.pack(items, tmp_path / "shards", jobs=1, progress=False, **POLICIES[policy])
    yolo = reader.Boxes("txt", format="cxcywh", normalized=True, out="xyxy")
    for field in (yolo, reader.Boxes("json", normalized=True)):
        for key, (image, boxes) in delivered(tmp_path / "shards", field).items():
            assert_near(boxes["boxes"], seen(image), key)


def _coco(one: Drawn, name: str) -> Files:
    return {"_annotations.coco.json": coco({name: one})}


def voc(one: Drawn, name: str) -> Files:
    width, height = one.size
    corners = zip(("xmin", "ymin", "xmax", "ymax"), one.box, strict=True)
    box = "".join(f"<{corner}>{value:g}</{corner}>" for corner, value in corners)
    size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
    thing = f"<object><name>thing</name><bndbox>{box}</bndbox></object>"
    text = f"<annotation><filename>{name}</filename>{size}{thing}</annotation>"
    return {name.replace(".png", ".xml"): text.encode()}


def table(one: Drawn, name: str) -> Files:
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow(["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"])
    rows.writerow([name, *one.size, "thing", *map(int, one.box)])
    return {"_annotations.csv": file.getvalue().encode()}


def _line(one: Drawn, name: str, size: Mapping[str, Any]) -> Files:
    row = {"image": name, "boxes": [list(one.box)], "labels": ["thing"]}
    return {"labels.jsonl": json.dumps(row | size).encode() + b"\n"}


def size_of_lines(one: Drawn, name: str) -> Files:
    return _line(one, name, {"size": dict(zip(("width", "height"), one.size, strict=True))})


def short_names(one: Drawn, name: str) -> Files:
    return _line(one, name, {"img_width": one.size[0], "imgHeight": one.size[1]})


def sidecar(one: Drawn, name: str) -> Files:
    size = {"frame_width": one.size[0], "frame_height": one.size[1]}
    content = {"boxes": [list(one.box)], "metadata": size}
    return {name.replace(".png", ".json"): json.dumps(content).encode()}


def labelme(one: Drawn, name: str) -> Files:
    left, top, right, bottom = one.box
    points = [[left, top], [right, bottom]]
    thing = {"label": "thing", "points": points, "shape_type": "rectangle", "flags": {}}
    size = {"imageWidth": one.size[0], "imageHeight": one.size[1], "imageData": None}
    content = {"version": "5.4.1", "flags": {}, "shapes": [thing], "imagePath": f"../{name}"}
    return {f"labels/{name[:-4]}.json": json.dumps({**content, **size}).encode()}


def label_studio(one: Drawn, name: str) -> Files:
    (left, top, right, bottom), (width, height) = one.box, one.size
    value = {"x": left / width * 100, "y": top / height * 100, "rotation": 0}
    value |= {"width": (right - left) / width * 100, "height": (bottom - top) / height * 100}
    result = {"id": "r", "type": "rectanglelabels", "from_name": "label", "to_name": "image"}
    result |= {"original_width": width, "original_height": height, "image_rotation": 0}
    result["value"] = value | {"rectanglelabels": ["thing"]}
    task = {"id": 1, "data": {"image": name}, "annotations": [{"id": 1, "result": [result]}]}
    return {"project.json": json.dumps([task]).encode()}


def cvat(one: Drawn, name: str) -> Files:
    (width, height), corners = one.size, zip(("xtl", "ytl", "xbr", "ybr"), one.box, strict=True)
    box = " ".join(f'{corner}="{value:.2f}"' for corner, value in corners)
    thing = f'<box label="thing" occluded="0" {box} z_order="0"></box>'
    image = f'<image id="0" name="{name}" width="{width}" height="{height}">{thing}</image>'
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<annotations>{image}</annotations>'
    return {"annotations.xml": text.encode()}


def fiftyone(one: Drawn, name: str) -> Files:
    (left, top, right, bottom), (width, height) = one.box, one.size
    box = [left / width, top / height, (right - left) / width, (bottom - top) / height]
    detections = [{"_cls": "Detection", "label": "thing", "bounding_box": box}]
    sample = {"filepath": name, "_media_type": "image", "tags": []}
    sample["metadata"] = {"width": width, "height": height}
    sample["ground_truth"] = {"_cls": "Detections", "detections": detections}
    return {"samples.json": json.dumps({"samples": [sample]}).encode()}


FORMS: dict[str, Callable[[Drawn, str], Files]] = {
    f.__name__.strip("_"): f
    for f in (
        _coco,
        voc,
        table,
        size_of_lines,
        short_names,
        sidecar,
        labelme,
        label_studio,
        cvat,
        fiftyone,
    )
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", ["as it is", "smaller", "to a portrait"])
def test_the_size_in_an_annotation_tells_its_picture(
    form: str, policy: str, tmp_path: Path
) -> None:
    for kind, is_upright in (("upright", True), ("stored", False)):
        one, src = drawn(6, is_upright=is_upright), tmp_path / kind
        for name, data in {"a.png": one.image, **FORMS[form](one, "a.png")}.items():
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_bytes(data)
        dst = tmp_path / f"{kind} shards"
        how = {"box_format": "xyxy"} if form in ("size_of_lines", "short_names") else {}
        report = packer.pack(src, dst, jobs=1, progress=False, **how, **POLICIES[policy])
        assert not [remark for remark in report.remarks if "width and height" in remark]
        [(image, boxes)] = delivered(dst, reader.Boxes("json", out="xyxy")).values()
        assert_near(boxes["boxes"], seen(image), kind)
