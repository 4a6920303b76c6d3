"""Rules about boxes and masks, on numbers alone."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from packer.inspect.report.annotations import Reading
from packer.inspect.report.findings import Finding
from packer.inspect.report.look import Looked
from packer.inspect.report.objects import object_findings

COUNT = 80
NOTHING = Looked(
    numbers=np.arange(COUNT),
    spread=np.full(COUNT, 50.0),
    tint=np.full(COUNT, 50.0),
    cut_off=np.zeros(COUNT),
    hash=np.arange(COUNT, dtype=np.uint64),
    mirrored=np.arange(COUNT, dtype=np.uint64),
    tiny=np.zeros((COUNT, 256), np.uint8),
    boxes=np.zeros((0, 4)),
    box_sample=np.zeros(0, np.int64),
    box_label=np.zeros(0, np.int64),
)


def found(
    looked: Looked, classes: tuple[str, ...] = (), val: Sequence[int] = ()
) -> dict[str, Finding]:
    """Findings of samples of the split train, but for those of `val`."""
    sides, split = np.full(COUNT, 100), np.zeros(COUNT, np.int64)
    split[list(val)] = 1
    table: Any = SimpleNamespace(width=sides, height=sides, classes=classes, has_labels=False)
    table.split, table.splits, table.frames = split, ("train", "val"), {}
    findings = object_findings(table, looked, Reading("json", "xywh"))
    return {finding.kind: finding for finding in findings}


def with_boxes(*boxes: list[float], label: int = 0) -> Looked:
    count = len(boxes)
    return replace(
        NOTHING, boxes=np.array(boxes), box_sample=np.arange(count), box_label=np.full(count, label)
    )


def with_masks(*others: int) -> Looked:
    """Masks of the values 0 to 3 and void, the last of which have a value more, one each."""
    held = np.zeros((COUNT, 256), np.bool_)
    held[:, [0, 1, 2, 3, 255]] = True
    for row, value in enumerate(others, COUNT - len(others)):
        held[row, value] = True
    return replace(NOTHING, values={"mask.png": (held, np.arange(COUNT))})


def test_sound_boxes_and_masks_are_no_findings() -> None:
    assert found(with_boxes([0, 0, 1, 1], [0.2, 0.2, 0.5, 1.01]), ("a",)) == {}
    assert found(with_masks()) == {}
    assert found(with_masks(), ("a", "b", "c")) == {}


def test_boxes_beyond_and_empty_ones_are_told_apart() -> None:
    looked = with_boxes([0.1, 0.1, 0.9, 0.9], [0.5, 0.5, 1.1, 0.9], [0.5, 0.5, 0.505, 0.9])
    kinds = found(looked, ("a",))
    assert kinds["boxes_outside"].samples == [1]
    assert kinds["empty_boxes"].samples == [2]


def test_boxes_of_a_class_without_a_name_are_found() -> None:
    assert found(with_boxes([0, 0, 1, 1], label=2), ("a", "b"))["unknown_box_class"].count == 1


def test_boxes_of_smaller_images_are_found_by_where_none_lies() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 0.3, (60, 2))
    boxes = np.hstack([low, low + 0.1]).tolist()
    assert "boxes_in_corner" in found(with_boxes(*boxes), ("a",))
    assert "boxes_in_corner" not in found(with_boxes(*boxes, [0.8, 0.8, 0.9, 0.9]), ("a",))


def test_boxes_of_smaller_images_are_found_in_one_split_too() -> None:
    rng = np.random.default_rng(0)
    low = np.vstack([rng.uniform(0, 0.3, (60, 2)), rng.uniform(0, 0.9, (20, 2))])
    boxes = with_boxes(*np.hstack([low, low + 0.1]).tolist())
    assert "boxes_in_corner" not in found(boxes, ("a",))
    finding = found(boxes, ("a",), range(60))["boxes_in_corner"]
    assert finding.sentence.startswith("In 60 boxes in val, no corner is beyond 40% of the width")
    assert "2.5 times as large they would fill it" in finding.sentence
    assert finding.weight == "wrong"
    assert finding.count == 60


def test_boxes_in_the_middle_are_not_those_of_smaller_images() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(0.3, 0.5, (60, 2))
    assert "boxes_in_corner" not in found(with_boxes(*np.hstack([low, low + 0.2]).tolist()), ("a",))


def test_a_finding_has_all_samples_and_shows_some() -> None:
    finding = found(with_boxes(*[[0.5, 0.5, 1.1, 0.9]] * 30), ("a",))["boxes_outside"]
    assert finding.samples == list(range(30))
    assert finding.shown == [list(range(12))]


def test_mask_values_beyond_the_classes_are_found() -> None:
    finding = found(with_masks(4, 90), ("a", "b", "c"))["mask_beyond"]
    assert finding.samples == [78, 79]
    assert finding.sentence.endswith(": 4, 90.")


def test_mask_values_that_no_other_has_are_found_where_no_class_is_named() -> None:
    assert found(with_masks(40, 41))["rare_mask_values"].samples == [78, 79]


def test_captions_without_a_character_are_found() -> None:
    looked = replace(NOTHING, captions=np.array([[3, 0], [4, 20]]))
    assert found(looked)["empty_captions"].samples == [3]
