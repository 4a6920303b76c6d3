"""Boxes, polygons, points and masks lie over their object, whatever packing does to the pixels.

Objects are drawn in white. What is delivered is measured in pixels, and compared with the fields.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

import packer
import reader

SIZE = 96, 72  # width and height, as stored
OBJECT = (24, 12, 60, 30)  # left, top, right and bottom there
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
Corners = tuple[float, float, float, float]
Files = Mapping[str, bytes]


class Drawn(NamedTuple):
    """An image with an object, and an annotation of it."""

    image: bytes
    size: tuple[int, int]  # width and height that the annotation has
    box: Corners
    mask: bytes


def turned(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """Return the pixels upright."""
    pixels = pixels.swapaxes(0, 1) if orientation >= 5 else pixels
    flips = {2: (1, -1), 3: (-1, -1), 4: (-1, 1), 6: (1, -1), 7: (-1, -1), 8: (-1, 1)}
    down, across = flips.get(orientation, (1, 1))
    return pixels[::down, ::across]


def seen(pixels: np.ndarray) -> Corners:
    rows, columns = np.nonzero(pixels if pixels.ndim == 2 else pixels.max(axis=-1) > 127)
    found = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    return tuple(map(float, found))  # type: ignore[return-value]


def png(pixels: np.ndarray, orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x112] = orientation
    options = {} if orientation == 1 else {"exif": exif}
    Image.fromarray(np.ascontiguousarray(pixels)).save(file := io.BytesIO(), "PNG", **options)
    return file.getvalue()


def drawn(orientation: int, *, is_upright: bool) -> Drawn:
    pixels = np.zeros((*SIZE[::-1], 3), np.uint8)
    left, top, right, bottom = OBJECT
    pixels[top:bottom, left:right] = 255
    shown = turned(pixels, orientation) if is_upright else pixels
    height, width = shown.shape[:2]
    mask = png(shown[..., 0] // 255)
    return Drawn(png(pixels, orientation), (width, height), seen(shown), mask)


def shape(box: Corners) -> dict[str, Any]:
    """Return an object's box, outline and key points, as COCO has them."""
    left, top, right, bottom = box
    return {
        "bbox": [left, top, right - left, bottom - top],
        "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
        "keypoints": [left, top, 2, right, bottom, 1],
    }


def delivered(dataset: Path, *fields: Any, **options: Any) -> dict[str, Any]:
    """Return the values of the fields by key."""
    names = ("key", "image", *fields)
    with reader.Loader(
        str(dataset), batch_size=1, drop_last=False, workers=0, fields=names, **options
    ) as loader:
        return {
            batch[0][0]: [np.asarray(batch[1][0]).transpose(1, 2, 0), *(b[0] for b in batch[2:])]
            for batch in loader
        }


def assert_near(found: Any, wanted: Corners, name: str) -> None:
    assert np.abs(np.asarray(found, float).ravel() - wanted).max() <= 1.01, (name, found, wanted)


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


def coco(one: Drawn, name: str) -> Files:
    width, height = one.size
    image = {"id": 1, "file_name": name, "width": width, "height": height}
    thing = {"id": 1, "image_id": 1, "category_id": 1, "area": 1, "iscrowd": 0, **shape(one.box)}
    content = {
        "images": [image],
        "annotations": [thing],
        "categories": [{"id": 1, "name": "thing"}],
    }
    return {"_annotations.coco.json": json.dumps(content).encode()}


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
    f.__name__: f for f in (coco, voc, table, labelme, label_studio, cvat, fiftyone)
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
        report = packer.pack(src, dst, jobs=1, progress=False, **POLICIES[policy])
        assert not [remark for remark in report.remarks if "width and height" in remark]
        [(image, boxes)] = delivered(dst, reader.Boxes("json", out="xyxy")).values()
        assert_near(boxes["boxes"], seen(image), kind)
