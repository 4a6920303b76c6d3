"""Boxes, points and polygons that would be misread are refused, by the sample's name."""

from typing import Any

import pytest
from delivered import Write, only

from reader import Boxes, Points, Polygons, SampleError

YOLO = Boxes("txt", format="cxcywh", normalized=True)
LABELLED = Boxes("json", labels="labels")
BOX = [[0, 0, 9, 9]]
POINT = [[1, 2, 2]]


@pytest.mark.parametrize(
    ("field", "content", "reason"),
    [
        (Boxes("txt"), b"0 0.5 0.5 0.2 0.2", r'normalized=True\), and format="cxcywh" for YOLO'),
        (Boxes("txt", format="cxcywh"), b"0 0.5 0.5 0.2 0.2", r"normalized=True\)\)"),
        (YOLO, b"0 40 20 10 10", "reach to 40, but normalized=True is for fractions"),
        (YOLO, b"0 -3 0.5 0.1 0.1", "reach to -3"),
        (YOLO, b"0 0.5 0.5 0.2 0.2 0.9", "line 1 has 6 numbers; a box has five"),
        (YOLO, b"\n0 0 0 1 0 1 1", "line 2 has 7 numbers \\(an outline"),
        (YOLO, b"a dog on a sofa", "line 1 is not a list of numbers: 'a dog on a sofa'"),
        (YOLO, b"0.5 0.5 0.5 0.2 0.2", "its 'labels' is not a list of integers"),
        (YOLO, b"0 nan 0.5 0.2 0.2", "numbers that are not finite"),
        (YOLO, b"0 0.5 0.5 -0.2 0.2", "box 0 ends before it begins"),
        (Boxes("json"), {"boxes": [[9, 9, 20, 20], [30, 20, 9, 9]]}, "box 1 ends .*format='xyxy'"),
        (Boxes("json"), {"boxes": [[0, 0, 0.5, 1]]}, "are between 0 and 1"),
        (Boxes("json", path="box"), {"boxes": BOX}, "nothing at 'box'"),
        (Boxes("json"), {"boxes": [[0, 1], [2]]}, "its 'boxes' is not a list of rows of four"),
        (LABELLED, {"boxes": BOX, "labels": []}, "0 labels for 1 boxes"),
        (LABELLED, {"boxes": BOX, "labels": [1.5]}, "not a list of integers"),
        (LABELLED, {"boxes": BOX, "labels": ["a"]}, "not a list of integers"),
        (Boxes("json", labels="c"), {"boxes": BOX, "labels": [1]}, "it has boxes, labels"),
        (Points("json"), {"boxes": BOX}, "nothing at 'keypoints'; it has boxes"),
        (Points("json"), {"keypoints": [[1, 2]]}, "x, y and a visibility .* format='xyv' right"),
        (Points("json"), {"keypoints": [[[1, 2], [3, 4], [5, 6]]]}, "format='xyv' right"),
        (Points("json", format="xy"), {"keypoints": POINT}, "list of x and y"),
        (Points("json"), {"keypoints": ["a b c"]}, "format='xyv' right"),
        (Points("json"), {"keypoints": [*POINT, [1, 2, 2, 3, 4, 2]]}, "have 1, 2 points"),
        (Points("json", names=["a", "b"]), {"keypoints": POINT}, "have 1 points; names= .* for 2"),
        (Points("json", flip=[(3, 4)]), {"keypoints": POINT}, "have 1 points; .* are for 5"),
        (Points("json"), {"keypoints": [[0.5, 0.2, 2]]}, r"give Points\(\.\.\., normalized=True\)"),
        (Points("json", normalized=True), {"keypoints": [[5, 0.2, 2]]}, "its points reach to 5"),
        (Points("json", labels="c"), {"keypoints": POINT, "c": [1, 2]}, "2 c for 1 points"),
        (Points("json"), b'{"keypoints": [[NaN, 1, 2]]}', "its points have .* are not finite"),
        (Polygons("json"), {"boxes": BOX}, "nothing at 'segmentation'; it has boxes"),
        (Polygons("json"), {"segmentation": [[[1, 2, 3]]]}, "no list of x and y"),
        (Polygons("json"), {"segmentation": ["abc"]}, "no list of x and y"),
        (Polygons("json"), {"segmentation": [{"x": 1}]}, "no list of x and y"),
        (Polygons("json", format="cxcywhr"), {"segmentation": [[1, 2, 3]]}, "no list of five"),
        (Polygons("json"), {"segmentation": [[0, 0, 0.5, 0, 1, 1]]}, r"give Polygons\(\.\.\., nor"),
        (Polygons("json", labels="c"), {"segmentation": [[]], "c": []}, "0 c for 1 polygons"),
        (Polygons("txt"), b"0 0.5 0.5 0.1 0.1", "line 1 has 5 numbers; a line of an outline"),
        (Polygons("txt"), b"1 0 0 1 0 1 1 0", "line 1 has 8 numbers; a line of an outline"),
    ],
)
def test_what_would_be_misread_is_refused_by_name(
    write_over: Write, field: Any, content: Any, reason: str
) -> None:
    dataset = write_over((40, 80), content, ext=field.member)
    with pytest.raises(SampleError, match=rf"sample 's0' .*{reason}"):
        only(dataset, fields=(field,))
