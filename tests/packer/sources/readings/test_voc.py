import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import BadImage
from packer.sources.readings.voc import parsed

OBJECT = (
    "<object><name>{name}</name><bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax>"
    "<ymax>{3}</ymax></bndbox>{more}</object>"
)


def annotation(*objects: str) -> bytes:
    return f"<annotation><filename>1.jpg</filename>{''.join(objects)}</annotation>".encode()


def an_object(*box: object, name: str = "dog", more: str = "") -> str:
    return OBJECT.format(*box, name=name, more=more)


NUMBERS = st.one_of(st.integers(-5, 5000), st.floats(-5, 5000))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=3))
def test_boxes_are_the_numbers_of_the_file(corners: list[tuple[float, ...]]) -> None:
    boxes = [
        [
            *map(min, zip(box[:2], box[2:], strict=True)),
            *map(max, zip(box[:2], box[2:], strict=True)),
        ]
        for box in corners
    ]
    found = parsed(annotation(*(an_object(*box) for box in boxes))).numbered({"dog": 4})
    assert found.boxes == boxes
    assert found.categories == [4] * len(boxes)


def test_what_else_is_said_of_an_object_is_a_list_too() -> None:
    part = "<part><name>head</name><bndbox><xmin>9</xmin></bndbox></part>"
    first = an_object(1, 2, 3, 4, more=f"<difficult>1</difficult><pose>Left</pose>{part}")
    second = an_object(5, 6, 7, 8, name="cat", more="<occluded>0</occluded>")
    found = parsed(annotation(first, second)).numbered({"dog": 1, "cat": 0})
    assert json.loads(found.json()) == {
        "boxes": [[1, 2, 3, 4], [5, 6, 7, 8]],
        "categories": [1, 0],
        "difficult": [1, None],
        "pose": ["Left", None],
        "part": [{"name": "head", "bndbox": {"xmin": "9"}}, None],
        "occluded": [None, 0],
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not valid XML"),
        (b"<annotation>", "not valid XML"),
        (b"\xff\xfe<", "not valid XML"),
        (b"<html></html>", "starts with <html>"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><annotation/>', "document type"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><annotation/>'.encode("utf-16"), "document type"),
        (b'<?xml version="1.0" encoding="none"?><annotation/>', "not valid XML"),
        (b"<annotation><object/></annotation>", "object 0 has no name"),
        (b"<annotation><object><name>a</name></object></annotation>", "no bndbox"),
        (annotation(an_object(1, 2, 3, "")), "ymax is no number"),
        (annotation(an_object(1, 2, 3, "nan")), "ymax is no number"),
        (annotation(an_object(1, 2, 3, 4), an_object(9, 2, 3, 4)), "object 1 .*ends before"),
        (b"<annotation>" + b" " * (16 << 20), "more than 16777216 bytes"),
    ],
)
def test_what_is_no_annotation_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(BadImage, match=reason):
        parsed(data)
