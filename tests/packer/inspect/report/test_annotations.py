"""Boxes, outlines and captions of members."""

import json

import numpy as np
import pytest

from packer.inspect.report.annotations import Reading, annotated


@pytest.mark.parametrize(
    "member",
    [("json", b'{"boxes": [[1, 2, 3, 4]], "caption": "a dog"}'), ("txt", b"3 0.5 0.5 0.2 0.2\n")],
)
def test_boxes_of_which_nothing_is_recorded_are_not_guessed(member: tuple[str, bytes]) -> None:
    with pytest.raises(ValueError, match="does not record their format: pass --box-format"):
        annotated([member], Reading())


def test_boxes_become_corners_with_labels_and_outlines() -> None:
    content = {
        "boxes": [[10, 20, 30, 40]],
        "categories": [2],
        "segmentation": [[[1, 2, 3, 4, 5, 6]]],
    }
    found = annotated([("json", json.dumps(content).encode())], Reading("json", "xywh"))
    assert found.boxes.tolist() == [[10, 20, 40, 60]]
    assert found.labels.tolist() == [2]
    assert found.outlines[0].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_lines_of_boxes_and_outlines_are_fractions_of_the_upright_image() -> None:
    lines = b"1 0.5 0.5 0.2 0.4\n0 0.1 0.1 0.3 0.1 0.3 0.6\n"
    found = annotated([("txt", lines)], Reading("txt", "cxcywh", True))
    assert found.ext == "txt"
    assert np.allclose(found.boxes, [[0.4, 0.3, 0.6, 0.7], [0.1, 0.1, 0.3, 0.6]])
    assert found.labels.tolist() == [1, 0]


def test_captions_are_texts_and_those_of_json() -> None:
    members = [("txt", b"a dog"), ("json", b'{"captions": ["a cat", "two cats"]}')]
    assert annotated(members, Reading()).captions == ["a dog", "a cat", "two cats"]


@pytest.mark.parametrize("content", [b"{", b'{"boxes": [[1, 2]]}', b'{"boxes": [[1, 2, 3, NaN]]}'])
def test_what_are_no_boxes_is_said(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        annotated([("json", content)], Reading("json", "xywh"))
