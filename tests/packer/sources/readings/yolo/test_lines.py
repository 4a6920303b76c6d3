import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import BadImage
from packer.sources.readings.yolo.lines import BOX, OUTLINE, POSE, kind_of
from reader import Boxes

NUMBERS = st.one_of(
    st.floats(-0.6, 1.6).map(repr), st.integers(-1, 90).map(str), st.sampled_from(["nan", "x", ""])
)
LINES = st.lists(st.lists(NUMBERS, min_size=4, max_size=9).map(" ".join), max_size=4)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ""),
        ("\ufeff0 0.5 0.5 1 1\r\n\r\n", BOX),
        ("3.0 0.5 0.5 1e-1 1", BOX),
        ("0 0.95 0.5 0.3 1.0001", BOX),  # reaches beyond the edge, and is rounded
        ("0 0.5 0.5 1.2 0.1", BOX),  # as a tile of a larger image has them
        ("0 -0.1 0 1 0 1 1", OUTLINE),
        ("0 0.5 0.5 0.4 0.4 0.4 0.4 2 0.6 0.6 1", POSE),
        ("0 0.5 0.5 0.4 0.4 0.4 0.4 2.0 0 0 0.000000", POSE),
        ("0 0.1 0.1 0.9 0.1 0.9 0.9 1 0.9 0.1 0", OUTLINE),  # a corner far from such a box
        ("0 0 0 1 0 1 1", OUTLINE),
        ("0 0.5 0.5 1 1\n0 0 0 1 0 1 1", OUTLINE),
        ("0 0 0 1 0 1 1\n0 0.5 0.5 1 1", OUTLINE),
    ],
)
def test_a_label_file_is_known_by_its_lines(text: str, kind: str) -> None:
    assert kind_of(text.encode()) == kind


def test_key_points_are_known_by_their_number_alone() -> None:
    line = b"0 0.5 0.5 1 1 0.5 0.5 2 0.1 0.1 0"
    assert kind_of(line, keypoints=6) == POSE
    with pytest.raises(BadImage, match="line 1: 5 numbers"):
        kind_of(b"0 0.5 0.5 1 1", keypoints=6)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0.5 0.5 1 1\n0 0.5 0.5 1", "^line 2: 4 numbers; a box has 5"),
        ("0 0.5 0.5 1 1 0.9", "6 numbers"),
        ("80 0.5 0.5 1 1", r"^line 1: class 80 of 80 \(classes are numbered from 0\)$"),
        ("-1 0.5 0.5 1 1", "class -1, which is not a class number"),
        ("0.5 0.5 0.5 1 1", "class 0.5, which is not a class number"),
        ("nan 0.5 0.5 1 1", "class nan, which is not a class number"),
        ("cat 0.5 0.5 1 1", "not numbers: 'cat 0.5 0.5 1 1'"),
        ("0 320 240 20 20", "not fractions from 0 to 1"),
        ("0 0.5 0.5 nan 1", "a number that is not finite: '0 0.5 0.5 nan 1'"),
        ("0 0.5 0.5 2.2 0.1", "line 1: not fractions from 0 to 1: '0 0.5 0.5 2.2 0.1'"),
        ("0 -1.1 0 1 0 1 1", "not fractions"),
        ("0 0.5 0.5 -0.1 1", "a box of negative size"),
    ],
)
def test_a_line_of_another_kind_is_named(text: str, reason: str) -> None:
    with pytest.raises(BadImage, match=reason):
        kind_of(text.encode(), classes=80)


def test_all_lines_of_a_file_that_are_wrong_are_named_at_once_or_counted() -> None:
    wrong = [f"{label} 0.5 0.5 1 1" for label in (7, 8, 9, 10, 11)]
    lines = "\n".join(["0 0.5 0.5 1 1", *wrong]).encode()
    with pytest.raises(BadImage, match=r"^line 2: class 7 .* line 4: class 9 .*; and 2 more$"):
        kind_of(lines, classes=3)


def test_bytes_that_are_not_text_are_refused() -> None:
    with pytest.raises(BadImage, match="not text"):
        kind_of(b"\xff\xfe")


@given(LINES)
def test_what_is_taken_for_boxes_is_what_the_reader_reads_as_boxes(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    with contextlib.suppress(BadImage):
        if kind_of(data) == BOX:
            found = Boxes("txt").parse_lines(data)
            assert (
                len(found["boxes"]) == len(found["labels"]) == sum(map(bool, map(str.split, lines)))
            )
            assert all(math.isfinite(number) for box in found["boxes"] for number in box)
