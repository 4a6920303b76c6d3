"""Boxes over an image: carried through its transforms, and never misread or dropped in silence."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write, epoch_of
from made_images import encode
from PIL import Image

from reader import Boxes, CenterCrop, Loader, RandomHorizontalFlip, Resize
from reader.errors import ArgumentError
from reader.format import BoxEncoding, Manifest

HEIGHT, WIDTH = 40, 80
YOLO = Boxes("txt", format="cxcywh", normalized=True)
LABELLED = Boxes("json", labels="labels")


@pytest.fixture
def write(write_samples: Write) -> Write:
    """`write(txt=[b"...", None])`: a sample for each content of the member; None: without it."""
    image = encode(Image.new("RGB", (WIDTH, HEIGHT)), "PNG")

    def make(**members: Sequence[bytes | None]) -> Path:
        ((ext, contents),) = members.items()
        return write_samples(
            {
                f"s{n}": {"png": image} | ({} if content is None else {ext: content})
                for n, content in enumerate(contents)
            }
        )

    return make


def boxes_of(dataset: Path, field: Boxes, **options: Any) -> list[Any]:
    return [boxes for (batch,) in epoch_of(dataset, fields=(field,), **options) for boxes in batch]


def in_json(*boxes: Sequence[float], **others: Any) -> bytes:
    return json.dumps({"boxes": boxes, **others}).encode()


def test_yolos_lines_are_read_as_pixels_of_the_output_with_their_classes(write: Write) -> None:
    lines = b"\xef\xbb\xbf3 0.25 0.5 0.25 0.5\r\n\n0 0.5 0.75 1 0.5\n"
    (plain,) = boxes_of(write(txt=[lines]), YOLO)
    assert plain["boxes"].tolist() == [[20, 20, 20, 20], [40, 30, 80, 20]]
    assert plain["labels"].tolist() == [3, 0]
    (flipped,) = boxes_of(
        write(txt=[lines]), YOLO, transforms=[Resize((80, 80)), RandomHorizontalFlip(1.0)]
    )
    assert flipped["boxes"].tolist() == [[60, 40, 20, 40], [40, 60, 80, 40]]


def test_background_has_no_boxes_with_an_empty_file_or_none(write: Write) -> None:
    field = Boxes("txt?", format="cxcywh", normalized=True)
    one, empty, none = boxes_of(write(txt=[b"1 0.5 0.5 0.5 0.5", b"", None]), field)
    assert one["boxes"].tolist() == [[40, 20, 40, 20]]
    for boxes in (empty, none):
        assert (boxes["boxes"].shape, boxes["boxes"].dtype) == ((0, 4), torch.float32)
        assert (boxes["labels"].shape, boxes["labels"].dtype) == ((0,), torch.int64)


def test_boxes_may_lie_in_a_list_of_objects(write: Write) -> None:
    objects = [{"bbox": [5, 5, 9, 9], "category_id": 3}, {"bbox": [1, 2, 3, 4], "category_id": 0}]
    dataset = write(json=[json.dumps(objects).encode(), b"[]"])
    some, none = boxes_of(dataset, Boxes("json", path="*.bbox", labels="*.category_id"))
    assert some["boxes"].tolist() == [[5, 5, 9, 9], [1, 2, 3, 4]]
    assert some["labels"].tolist() == [3, 0]
    assert (none["boxes"].shape, none["labels"].shape) == ((0, 4), (0,))


def test_boxes_of_a_pixel_or_none_at_the_corner_are_no_fractions(write: Write) -> None:
    found = boxes_of(write(json=[in_json([0, 0, 1, 1])]), Boxes("json"))
    assert found[0]["boxes"].tolist() == [[0, 0, 1, 1]]


def test_boxes_that_are_too_small_or_outside_are_counted_and_told_once(write: Write) -> None:
    tiny, outside, sound = [5, 5, 5.5, 9], [90, 5, 99, 9], [10, 10, 20, 20]
    dataset = write(json=[in_json(tiny, sound), in_json(sound), in_json(outside, tiny)])
    with Loader(dataset, fields=(Boxes("json"),), batch_size=3, workers=0) as loader:
        with pytest.warns(
            UserWarning, match="3 boxes were dropped so far: a side was below min_size= .* outside"
        ):
            ((boxes,),) = loader
        assert [found["kept"].tolist() for found in boxes] == [[1], [0], []]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(list(loader)) == 1
        assert loader.statistics().dropped_boxes == 6


def test_boxes_that_a_crop_cuts_off_are_no_loss(write: Write) -> None:
    content = in_json([0, 0, 30, 10], [0, 30, 30.5, 40], [35, 15, 45, 25], [45, -5, 60, 20])
    dataset = write(json=[content])
    options: dict[str, Any] = {"fields": (Boxes("json"),), "workers": 0}
    with Loader(dataset, transforms=[CenterCrop(20)], **options) as loader:
        (((boxes,),),) = loader
        assert boxes["kept"].tolist() == [2, 3]
        assert boxes["boxes"].tolist() == [[5, 5, 15, 15], [15, 0, 20, 10]]  # inside of the crop
        assert loader.statistics().dropped_boxes == 0
    with Loader(dataset, transforms=[CenterCrop(20), Resize(1)], views=2, **options) as loader:
        with pytest.warns(UserWarning, match="8 boxes were dropped so far"):
            list(loader)  # at that scale every box is too small, in both views
        assert loader.statistics().dropped_boxes == 8


def recorded(dataset: Path, **boxes: BoxEncoding) -> Path:
    """The dataset, with what dataset.json records of its boxes."""
    (dataset / "dataset.json").write_text(replace(Manifest.load(dataset), boxes=boxes).dump())
    return dataset


COCO = BoxEncoding("xywh", labels="classes")


@pytest.mark.parametrize(
    "field",
    [Boxes("json"), Boxes("json", format="xywh", normalized=False), Boxes("json", path="boxes")],
    ids=str,
)
def test_boxes_are_read_as_dataset_json_records_them(write: Write, field: Boxes) -> None:
    dataset = recorded(write(json=[in_json([30, 20, 9, 8], classes=[5])]), json=COCO)
    (found,) = boxes_of(dataset, field)
    assert found["boxes"].tolist() == [[30, 20, 9, 8]]
    assert found["labels"].tolist() == [5]


def test_lines_of_yolo_need_no_arguments_where_they_are_recorded(write: Write) -> None:
    lines = [b"3 0.25 0.5 0.25 0.5", None]
    one = recorded(write(txt=lines), txt=BoxEncoding("cxcywh", normalized=True))
    first, second = boxes_of(one, Boxes("txt?"))
    assert first["boxes"].tolist() == [[20, 20, 20, 20]]
    assert first["labels"].tolist() == [3]
    assert second["boxes"].shape == (0, 4)


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        (Boxes("json", format="xyxy"), "format='xyxy' contradicts .* records format='xywh'"),
        (Boxes("json?", normalized=True), "normalized=True contradicts .* normalized=False"),
    ],
    ids=str,
)
def test_what_contradicts_the_record_is_refused_with_both(
    write: Write, field: Boxes, sentence: str
) -> None:
    dataset = recorded(write(json=[in_json([30, 20, 9, 8], classes=[5])]), json=COCO)
    with pytest.raises(ArgumentError, match=sentence):
        Loader(dataset, fields=(field,))


def test_the_record_says_nothing_of_another_path_or_of_what_a_function_makes(write: Write) -> None:
    def corners(_: bytes) -> dict[str, Any]:
        return {"boxes": [[1, 2, 9, 8]]}

    content = in_json([30, 20, 9, 8], classes=[5], seen=[[1, 2, 9, 8]])
    dataset = recorded(write(json=[content]), json=COCO)
    for field in (Boxes("json", path="seen"), Boxes("json", decode=corners)):
        (found,) = boxes_of(dataset, field)
        assert found["boxes"].tolist() == [[1, 2, 9, 8]]
        assert "labels" not in found


def test_a_scale_that_is_not_recorded_is_the_arguments(write: Write) -> None:
    half = BoxEncoding("xyxy", normalized=None)
    dataset = recorded(write(json=[in_json([0, 0, 0.5, 0.5])]), json=half)
    (found,) = boxes_of(dataset, Boxes("json", normalized=True))
    assert found["boxes"].tolist() == [[0, 0, WIDTH / 2, HEIGHT / 2]]


def test_a_format_of_a_later_packer_is_named(write: Write) -> None:
    dataset = recorded(write(json=[in_json([0, 0, 9, 9])]), json=BoxEncoding("zigzag"))
    with pytest.raises(ArgumentError, match=r"zigzag.*format is one of xyxy, xywh, cxcywh"):
        Loader(dataset, fields=(Boxes("json"),))


@pytest.mark.parametrize("format", ["xyxy", "xywh", "cxcywh"])
def test_boxes_and_fractions_arrive_in_the_format_that_is_asked_for(
    write: Write, format: str
) -> None:
    given = {"xyxy": [30, 20, 40, 28], "xywh": [30, 20, 10, 8], "cxcywh": [35, 24, 10, 8]}
    fractions = np.divide([given[format]], [WIDTH, HEIGHT] * 2).tolist()
    dataset = write(json=[in_json(given[format], fractions=fractions)])
    for out, expected in given.items():
        (found,) = boxes_of(dataset, Boxes("json", format=format, out=out))
        assert found["boxes"].tolist() == [expected]
        of_fractions = Boxes("json", format=format, out=out, path="fractions", normalized=True)
        (found,) = boxes_of(dataset, of_fractions)
        assert found["boxes"].tolist() == [pytest.approx(expected)]
    drawn = []
    for field in (Boxes("json", format=format, out="xyxy"), Boxes("json", format=format)):
        with Loader(dataset, fields=("image", field), workers=0) as loader:
            drawn.append(loader.preview().png())
    assert drawn[0] == drawn[1]


def test_a_box_of_which_a_crop_leaves_less_than_min_visible_is_dropped_with_its_label(
    write: Write,
) -> None:
    # The crop shows x from 20 to 60: a tenth, a fifth, half, all of what the image has of them.
    boxes = [[11, 5, 21, 15], [12, 5, 22, 15], [55, 5, 65, 15], [30, -5, 40, 5], [0, 0, 9, 9]]
    dataset = write(json=[in_json(*boxes, classes=[3, 4, 5, 6, 7])])
    for share, kept in ((0.0, [0, 1, 2, 3]), (0.2, [1, 2, 3]), (0.5, [2, 3]), (1, [3])):
        field = Boxes("json", labels="classes", min_visible=share)
        (found,) = boxes_of(dataset, field, transforms=[CenterCrop(40), Resize(97)])
        assert found["kept"].tolist() == kept
        assert found["labels"].tolist() == [3 + at for at in kept]
        assert len(found["boxes"]) == len(kept)
    with Loader(dataset, fields=(Boxes("json", min_visible=1),), workers=0) as loader:
        (((whole,),),) = loader
    assert whole["kept"].tolist() == [0, 1, 2, 3, 4]
    assert loader.statistics().dropped_boxes == 0
