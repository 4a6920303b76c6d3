import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput

WriteFiles = Callable[..., Path]
Lay = Callable[..., Path]


@pytest.fixture
def lay_out(tmp_path: Path, jpegs: list[bytes], write_files: WriteFiles) -> Lay:
    """Write images by name, and files of JSON by content."""

    def write(images: str, **files: Any) -> Path:
        texts = {name.replace("__", "."): json.dumps(value) for name, value in files.items()}
        contents = dict.fromkeys(images.split(), jpegs[0])
        encoded = {name: text.encode() for name, text in texts.items()}
        return write_files(tmp_path / "src", contents | encoded)

    return write


def entry(image: str, *labels: str | None) -> dict[str, Any]:
    box = {"x": 3, "y": 5, "width": 4, "height": 6}
    found = [{"label": label, "coordinates": box} for label in labels]
    return {"image": image, "annotations": found}


def test_an_image_that_is_missing_is_named_as_the_file_names_it(lay_out: Lay, scan: Any) -> None:
    src = lay_out("1.jpg", a__json=[entry("1.jpg", "car"), entry("x/2.jpg", "car")])
    found = scan(src)
    assert [sample.key for sample in found.samples] == ["1"]
    assert found.skipped == {"a.json: x/2.jpg": "no image has that name"}


def test_a_name_in_another_folder_is_no_other_image(lay_out: Lay, scan: Any) -> None:
    src = lay_out("a/1.jpg 2.jpg", a__json=[entry("b/1.jpg", "car"), entry("2.jpg")])
    assert scan(src).skipped.keys() == {"a.json: b/1.jpg", "a/1.jpg"}


@pytest.mark.parametrize(
    "name",
    ["s3://bucket/x/a/1.jpg", "https://x.org/y/1.jpg?Expires=1", "/home/me/1.jpg", "a\\1.jpg"],
)
def test_an_address_leads_to_the_image_that_its_end_names(
    lay_out: Lay, scan: Any, name: str
) -> None:
    found = scan(lay_out("a/1.jpg a/2.jpg", a__json=[entry(name, "car"), entry("2.jpg")]))
    assert [sample.key for sample in found.samples] == ["a/1", "a/2"]
    assert not found.skipped


def test_a_name_of_two_images_is_that_of_the_files_split_or_refused(
    lay_out: Lay, scan: Any
) -> None:
    found = scan(lay_out("train/1.jpg val/1.jpg val/2.jpg", val__json=[entry("1.jpg", "car")]))
    assert [(one.key, one.split) for one in found.samples] == [
        ("val/1", "val"),
        ("train/1", "train"),
    ]
    assert found.skipped == {"val/2.jpg": "it is in no list"}


def test_a_second_record_of_an_image_is_rejected(lay_out: Lay, scan: Any) -> None:
    found = scan(lay_out("1.jpg", a__json=[entry("1.jpg", "car"), entry("1.jpg", "dog")]))
    assert found.skipped == {"a.json: 1.jpg": "an earlier record also names it"}


def test_an_object_without_a_class_among_others_is_rejected(lay_out: Lay, scan: Any) -> None:
    found = scan(lay_out("1.jpg 2.jpg", a__json=[entry("1.jpg", "car", None), entry("2.jpg")]))
    assert found.skipped == {"1.jpg": "1 of its 2 objects have no class, and the others have one"}


def test_annotations_of_several_people_are_rejected(lay_out: Lay, scan: Any) -> None:
    value = {"x": 1, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["car"]}
    work = {"result": [{"value": value, "from_name": "label"}]}
    tasks = [{"annotations": [work] * count, "data": {"image": f"{count}.jpg"}} for count in (1, 2)]
    skipped = scan(lay_out("1.jpg 2.jpg", a__json=tasks)).skipped
    (reason,) = (skipped[name] for name in skipped if name != "2.jpg")
    assert "2 people's annotations; export one of them" in reason


def test_text_without_an_image_is_named_and_ignored(lay_out: Lay, scan: Any) -> None:
    turns = [{"from": "gpt", "value": "x"}]
    records = [{"image": "1.jpg", "conversations": turns}, {"id": 7, "conversations": turns}]
    found = scan(lay_out("1.jpg", a__json=records))
    assert not found.skipped
    assert len(found.ignored) == 1


def test_files_of_two_forms_are_refused(lay_out: Lay, scan: Any) -> None:
    turns = [{"image": "1.jpg", "conversations": []}]
    src = lay_out("1.jpg", a__json=[entry("1.jpg", "car")], b__json=turns)
    with pytest.raises(UnusableInput, match=r"has Create ML.* and conversations.*a\.json, b\.json"):
        scan(src)


def test_a_file_is_packed_by_itself(lay_out: Lay, scan: Any) -> None:
    src = lay_out("1.jpg", a__json=[entry("1.jpg", "car")])
    assert [sample.key for sample in scan(src / "a.json").samples] == ["1"]


_TRACK = """<annotations><meta><task><size>{size}</size></task></meta>
<track id="0" label="car">{boxes}</track></annotations>"""
_BOX = '<box frame="{0}" outside="{1}" xtl="1.5" ytl="2" xbr="4" ybr="6"></box>'


def tracked(write_files: WriteFiles, folder: Path, image: bytes, text: str) -> Path:
    images = {f"images/frame_00000{number}.png": image for number in range(3)}
    return write_files(folder, images | {"annotations.xml": text.encode()})


def test_frames_of_a_video_have_the_boxes_of_its_tracks(
    tmp_path: Path, jpegs: list[bytes], write_files: WriteFiles, scan: Any, json_of: Any
) -> None:
    text = _TRACK.format(size=3, boxes=_BOX.format(0, 0) + _BOX.format(1, 1))
    found = scan(tracked(write_files, tmp_path / "src", jpegs[0], text))
    boxes = [json_of(found.source, sample)["boxes"] for sample in found.samples]
    assert boxes == [[[1.5, 2, 4, 6]], [], []]
    assert not found.skipped


@pytest.mark.parametrize(
    "text",
    [
        _TRACK.format(size=3, boxes=_BOX.format("x", 0)),
        _TRACK.format(size="many", boxes=_BOX.format(0, 0)),
        _TRACK.format(size=3, boxes="<box>"),
        "<!DOCTYPE a []>" + _TRACK.format(size=3, boxes=_BOX.format(0, 0)),
    ],
)
def test_tracks_that_are_damaged_are_refused(
    tmp_path: Path, jpegs: list[bytes], write_files: WriteFiles, scan: Any, text: str
) -> None:
    with pytest.raises(UnusableInput, match=r"annotations\.xml is no sound XML"):
        scan(tracked(write_files, tmp_path / "src", jpegs[0], text))


def test_label_studios_choices_and_texts_stay_with_their_box_or_their_image(
    lay_out: Lay, scan: Any
) -> None:
    place = {"x": 10, "y": 10, "width": 20, "height": 20}

    def result(region: str, name: str, kind: str, **value: Any) -> dict[str, Any]:
        return {"id": region, "from_name": name, "type": kind, "value": value}

    results = [
        result("1", "kind", "rectanglelabels", **place, rectanglelabels=["car"]),
        result("1", "hidden", "choices", **place, choices=["half"]),
        result("1", "plate", "textarea", **place, text=["B 1"]),
        result("2", "weather", "choices", choices=["sun"]),
        result("3", "note", "textarea", text=["at noon"]),
    ]
    task = {"data": {"image": "1.jpg"}, "annotations": [{"id": 5, "result": results}]}
    found = scan(lay_out("1.jpg", a__json=[task]))
    ((data, *_),) = [place for place in found.samples[0].places if isinstance(place, list)]
    read = json.loads(data)
    assert (read["boxes"], read["categories"]) == ([[0.1, 0.1, 0.2, 0.2]], [0])
    assert (read["hidden"], read["plate"], read["labels"]) == ([["half"]], [["B 1"]], [1])
    assert read["image"]["annotations"] == [{"id": 5, "result": results[3:]}]
