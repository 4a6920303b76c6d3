"""Objects outside of their image: one rule for all forms of annotations."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from packing import pack
from PIL import Image

import packer
import reader
from packer.errors import Rejected
from packer.options.declared import PackOptions

WIDTH, HEIGHT = 64, 48
Box = tuple[float, float, float, float]  # corners in pixels
SOUND: Box = (8, 6, 24, 18)
CASES: dict[str, tuple[Box, str]] = {
    "it reaches outside": ((-8, 12, 16, 60), ""),
    "it is beside the image": ((64, 12, 80, 36), "does not touch its image"),
    "it is above the image": ((8, -24, 16, -12), "does not touch its image"),
    "it has no area": ((16, 12, 16, 36), "has no area"),
    "it repeats another": (SOUND, "repeats"),
}


def yolo(root: Path, boxes: Sequence[Box]) -> str:
    lines = ""
    for left, top, right, bottom in boxes:
        x, y = (left + right) / 2 / WIDTH, (top + bottom) / 2 / HEIGHT
        lines += f"0 {x} {y} {(right - left) / WIDTH} {(bottom - top) / HEIGHT}\n"
    (root / "images" / "a.txt").write_text(lines)
    (root / "images").rename(root / "obj_train_data")
    (root / "obj.names").write_text("cat\n")
    (root / "train.txt").write_text("obj_train_data/a.png\n")
    (root / "obj.data").write_text("train = train.txt\nnames = obj.names\n")
    return "obj_train_data/a.txt: line 2"


def outlines(root: Path, boxes: Sequence[Box]) -> str:
    lines = ""
    for a, b, c, d in boxes:
        corners = [a / WIDTH, b / HEIGHT, c / WIDTH, b / HEIGHT, c / WIDTH, d / HEIGHT]
        lines += f"0 {' '.join(map(str, corners))}\n"
    (root / "labels").mkdir()
    (root / "labels" / "a.txt").write_text(lines)
    return "labels/a.txt: line 2"


def voc(root: Path, boxes: Sequence[Box]) -> str:
    objects = ""
    for box in boxes:
        corners = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
        bounds = "".join(f"<{name}>{number}</{name}>" for name, number in corners)
        objects += f"<object><name>cat</name><bndbox>{bounds}</bndbox></object>"
    size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height></size>"
    (root / "annotations").mkdir()
    path = root / "annotations" / "a.xml"
    path.write_text(f"<annotation>{size}{objects}</annotation>")
    return "annotations/a.xml: object 1 (cat)"


def coco(root: Path, boxes: Sequence[Box]) -> str:
    images = [{"id": 1, "file_name": "a.png", "width": WIDTH, "height": HEIGHT}]
    annotations = [
        {"id": n, "image_id": 1, "category_id": 5, "bbox": [a, b, c - a, d - b]}
        for n, (a, b, c, d) in enumerate(boxes, 10)
    ]
    content = {"images": images, "annotations": annotations}
    content["categories"] = [{"id": 5, "name": "cat"}]
    (root / "annotations.json").write_text(json.dumps(content))
    return "a.png: annotation 11"


def cvat(root: Path, boxes: Sequence[Box]) -> str:
    names = ("xtl", "ytl", "xbr", "ybr")
    objects = ""
    for box in boxes:
        corners = " ".join(f'{n}="{at}"' for n, at in zip(names, box, strict=True))
        objects += f'<box label="cat" {corners}/>'
    image = f'<image id="0" name="a.png" width="{WIDTH}" height="{HEIGHT}">{objects}</image>'
    (root / "annotations.xml").write_text(f"<annotations>{image}</annotations>")
    return "a.png: object 1"


def label_studio(root: Path, boxes: Sequence[Box]) -> str:
    result = []
    for a, b, c, d in boxes:
        value = {"x": a / WIDTH * 100, "y": b / HEIGHT * 100, "rectanglelabels": ["cat"]}
        value |= {"width": (c - a) / WIDTH * 100, "height": (d - b) / HEIGHT * 100}
        result.append({"from_name": "label", "type": "rectanglelabels", "value": value})
    task = {"id": 1, "data": {"image": "/data/upload/a.png"}, "annotations": [{"result": result}]}
    (root / "export.json").write_text(json.dumps([task]))
    return "a.png: object 1"


def table(root: Path, boxes: Sequence[Box]) -> str:
    rows = "".join(f"images/a.png,cat,{WIDTH},{HEIGHT},{a},{b},{c},{d}\n" for a, b, c, d in boxes)
    (root / "boxes.csv").write_text(f"image,class,width,height,xmin,ymin,xmax,ymax\n{rows}")
    return "a.png: boxes.csv:3"


def fractions(root: Path, boxes: Sequence[Box]) -> str:
    lines = ""
    for a, b, c, d in boxes:
        lines += f"images/a.png,cat,{a / WIDTH},{b / HEIGHT},{c / WIDTH},{d / HEIGHT}\n"
    (root / "boxes.csv").write_text(f"image,class,xmin,ymin,xmax,ymax\n{lines}")
    return "a.png: boxes.csv:3"


def kitti(root: Path, boxes: Sequence[Box]) -> str:
    lines = ""
    for box in boxes:
        lines += f"Car 0 0 0 {' '.join(map(str, box))} 1 1 1 1 1 1 1\n"
    (root / "training/label_2").mkdir(parents=True)
    (root / "training/label_2/a.txt").write_text(lines)
    (root / "images").rename(root / "training/image_2")
    return "training/label_2/a.txt: line 2"


FORMS = [yolo, outlines, voc, coco, cvat, label_studio, table, fractions, kitti]
WITHOUT_SIZE = {kitti}  # what lies to the right of an image or below it is then not seen


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_an_object_is_kept_and_counted_or_it_alone_is_left_out_and_named(
    tmp_path: Path, form: Callable[[Path, Sequence[Box]], str], case: str
) -> None:
    box, reason = CASES[case]
    source = tmp_path / "src"
    (source / "images").mkdir(parents=True)
    Image.new("RGB", (WIDTH, HEIGHT), (9, 80, 200)).save(source / "images/a.png")
    place = form(source, [SOUND, box, (4, 3, 12, 9)])
    if form in WITHOUT_SIZE and box[0] >= WIDTH:
        reason = ""
    if reason:
        with pytest.raises(Rejected) as refused:
            pack(source, tmp_path / "refused", PackOptions())
        ((where, why),) = refused.value.files
        assert where.endswith(place)
        assert reason in why
    report = packer.pack(source, tmp_path / "dst", on_error="skip")
    assert [name.endswith(place) for name, _ in report.rejected] == [True] * bool(reason)
    outside = "1 object of 1 image reaches outside of it; the reader clips what it reads."
    is_counted = case == "it reaches outside"
    assert (outside in report.remarks) == is_counted
    data = reader.Dataset(tmp_path / "dst")
    if form in (yolo, outlines):
        count = len(data.read(0, "txt").splitlines())
    else:
        found = json.loads(data.read(0, "json"))
        count = len(found["boxes"])
        assert len(found.get("categories", found["boxes"])) == count
    assert count == (2 if reason else 3)
