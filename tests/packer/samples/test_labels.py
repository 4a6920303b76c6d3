"""Objects are checked once, and dataset.json records how their boxes are written."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from packing import pack, run_pack
from PIL import Image

import packer
from packer.errors import BadImage, UnusableInput
from packer.options.declared import PackOptions
from packer.samples.labels import Objects
from reader.format import BoxEncoding, Manifest

XYWH = BoxEncoding("xywh", labels="categories")
SAMPLE = {"image": np.zeros((8, 8, 3), np.uint8), "json": {"boxes": [[0, 0, 1, 1]]}}
Annotated = Callable[..., Path]


@pytest.fixture
def annotated(tmp_path: Path) -> Annotated:
    """`annotated("voc")`: images with a box each, with the annotations of a layout."""

    def make(kind: str, first: int = 0, count: int = 2) -> Path:
        root = tmp_path / f"{kind}{first}"
        (root / "images").mkdir(parents=True)
        names = [f"{first + number}" for number in range(count)]
        for number, name in enumerate(names):
            Image.new("RGB", (64, 48), (9 * number, 80, first)).save(root / f"images/{name}.jpg")
        if kind == "voc":
            (root / "annotations").mkdir()
            corners = "<xmin>1</xmin><ymin>2</ymin><xmax>31</xmax><ymax>22</ymax>"
            text = f"<object><name>cat</name><bndbox>{corners}</bndbox></object>"
            for name in names:
                path = root / "annotations" / f"{name}.xml"
                path.write_text(f"<annotation>{text}</annotation>")
        elif kind == "yolo":
            (root / "labels").mkdir()
            (root / "classes.txt").write_text("cat\n")
            (root / "labels" / f"{names[0]}.txt").write_text("0 0.25 0.25 0.5 0.5\n")
        else:
            rows = "".join(f"images/{name}.jpg,cat,1,2,31,22\n" for name in names)
            head = "image,class,xmin,ymin,xmax,ymax\n"
            (root / "list.csv").write_text(head + rows)
        return root

    return make


@pytest.mark.parametrize(
    ("box", "format", "fault"),
    [
        ([0, 0, 1], "xywh", "it has no box of four numbers"),
        ([0, 0, 1, "1"], "xywh", "no box of four numbers"),
        ([0, 0, 1, True], "xywh", "no box of four numbers"),
        ([0, 0, 1, float("nan")], "xyxy", "no box of four numbers"),
        ([0, 0, 1, 10**400], "xyxy", "no box of four numbers"),
        (None, "xyxy", "no box of four numbers: None"),
        ([5, 5, 4, 9], "xyxy", "ends before it begins, if it is xyxy"),
        ([5, 5, 4, -1], "xywh", "ends before it begins, if it is xywh"),
        ([5, 5, -4, 1], "cxcywh", "ends before it begins, if it is cxcywh"),
    ],
)
def test_what_is_no_box_of_its_format_is_refused(box: object, format: str, fault: str) -> None:
    with pytest.raises(BadImage, match=fault):
        Objects([[0, 0, 1, 1], box], format)


def test_several_faults_are_named_by_their_objects() -> None:
    with pytest.raises(BadImage, match=r"^a has no box of .*; c has no box of"):
        Objects([[], [0, 0, 1, 1], None], names=["a", "b", "c"])


def test_a_field_named_as_a_list_that_is_made_does_not_take_its_place() -> None:
    fields = {"boxes": ["x"], "categories": ["y"], "crowd": [0]}
    made = json.loads(Objects([[0, 0, 1, 1]], categories=[2], fields=fields).json())
    assert made == {"boxes": [[0, 0, 1, 1]], "categories": [2], "crowd": [0]}


@pytest.mark.parametrize(
    ("format", "box"),
    [("xywh", [10, 20, 6, 8]), ("xyxy", [10, 20, 16, 28]), ("cxcywh", [13, 24, 6, 8])],
)
def test_boxes_of_any_format_become_a_corner_and_sizes(format: str, box: list[float]) -> None:
    objects = Objects([box], format, ["cat"], {"crowd": [0]}, {"image": 7})
    made = {"image": 7, "boxes": [[10, 20, 6, 8]], "categories": [2], "crowd": [0]}
    assert json.loads(objects.numbered({"cat": 2}).as_xywh().json()) == made


@pytest.mark.parametrize(
    ("kind", "boxes", "field"),
    [
        ("voc", {"json": BoxEncoding("xyxy", labels="categories")}, "json"),
        ("yolo", {"txt": BoxEncoding("cxcywh", True, labels="labels")}, "txt?"),
        ("table", {"json": XYWH}, "json"),
    ],
)
def test_what_is_known_of_boxes_is_recorded_and_said(
    annotated: Annotated, dst: Path, kind: str, boxes: dict[str, BoxEncoding], field: str
) -> None:
    report = run_pack(annotated(kind), dst)
    assert Manifest.load(dst).boxes == boxes
    assert f'Its boxes are read by fields=("image", reader.Boxes("{field}")).' in report.remarks


def test_packing_a_dataset_again_keeps_the_record(annotated: Annotated, tmp_path: Path) -> None:
    images = annotated("table", count=12)
    run_pack(images, tmp_path / "once", split={"train": 0.5, "val": 0.5})
    run_pack(tmp_path / "once", tmp_path / "twice")
    assert Manifest.load(tmp_path / "twice").splits == ("train", "val")
    assert Manifest.load(tmp_path / "twice").boxes == {"json": XYWH}


def test_images_without_boxes_and_loops_record_nothing(source: Path, tmp_path: Path) -> None:
    run_pack(source, tmp_path / "images")
    with packer.Writer(tmp_path / "written", progress=False) as writer:
        writer.write(SAMPLE)
    for name in ("images", "written"):
        assert "boxes" not in json.loads((tmp_path / name / "dataset.json").read_text())


@pytest.mark.parametrize("in_turn", [False, True])
def test_of_pythons_items_the_format_that_is_given_is_recorded(dst: Path, in_turn: bool) -> None:
    items = iter([SAMPLE]) if in_turn else [SAMPLE]
    packer.pack(items, dst, box_format="xywh", progress=False)
    assert Manifest.load(dst).boxes == {"json": BoxEncoding("xywh", normalized=None)}


def append(src: Path, dst: Path) -> Manifest:
    pack(src, dst, PackOptions(), 1, append=True)
    return Manifest.load(dst)


def test_boxes_of_another_encoding_are_not_appended(annotated: Annotated, dst: Path) -> None:
    run_pack(annotated("table"), dst)
    assert append(annotated("table", 2), dst).boxes == {"json": XYWH}
    before = (dst / "dataset.json").read_bytes()
    sentence = r"records the boxes of \.json as .*xywh.* of the source are .*xyxy.* another"
    with pytest.raises(UnusableInput, match=sentence):
        append(annotated("voc", 4), dst)
    assert (dst / "dataset.json").read_bytes() == before
    both = {"json": XYWH, "txt": BoxEncoding("cxcywh", True, labels="labels")}
    assert append(annotated("yolo", 6), dst).boxes == both


def test_an_append_records_nothing_of_older_members(annotated: Annotated, dst: Path) -> None:
    with packer.Writer(dst, progress=False) as writer:
        writer.write(SAMPLE)
    content = replace(Manifest.load(dst), options=PackOptions().dump())  # as of a folder
    (dst / "dataset.json").write_text(content.dump())
    report = pack(annotated("table"), dst, PackOptions(), 1, append=True)
    assert Manifest.load(dst).boxes == {}
    assert not [told for told in report.remarks if "reader.Boxes" in told]


def test_items_of_another_encoding_are_refused_unread(annotated: Annotated, dst: Path) -> None:
    run_pack(annotated("table"), dst)
    items = iter(lambda: pytest.fail("an item was read"), None)
    with pytest.raises(UnusableInput, match="records the boxes of"):
        packer.pack(items, dst, box_format="xyxy", append=True, progress=False)
