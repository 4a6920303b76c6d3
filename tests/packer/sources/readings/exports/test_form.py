from typing import Any

import pytest

from packer.errors import BadImage
from packer.sources.readings.exports.form import Form, dig, without

FORM = Form("forms", "a", "name | id", "things.*", "kind", "box: x y w h", names="names.*")


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ("a.b", [1]),
        ("c.*.d", [2, 3]),
        ("c.1.d", [3]),
        ("a.*", [1]),
        ("x | a.b", [1]),
        ("x", []),
        ("a.b.c", []),
        ("", []),
    ],
)
def test_a_path_leads_to_what_the_first_alternative_has(paths: str, found: list[Any]) -> None:
    value = {"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}]}
    assert list(dig(value, paths)) == found


def test_what_a_path_leads_to_is_left_out_and_all_else_kept() -> None:
    value = {"a": [{"b": [1], "c": 2}, {"c": 3}], "d": 4}
    assert without(value, ["a", "*", "b", "*"]) == {"a": [{"c": 2}, {"c": 3}], "d": 4}
    assert without(value, ["a", "*"]) == {"d": 4}
    assert without(value, ["x"]) == value


def test_an_object_keeps_all_fields_but_its_box_and_class() -> None:
    data = b'{"id": 7, "things": [{"kind": 1, "box": {"x": 1, "y": 2, "w": 3, "h": 4}, "z": 5}]}'
    found = FORM.describe(data, "", "a.json", {"names": ["cat", "dog"]})
    (thing,) = found.objects
    assert (found.image, thing.label, thing.box) == ("7", "dog", [1, 2, 3, 4])
    assert thing.fields == {"kind": 1, "z": 5}
    assert found.rest == {"id": 7}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"[1]", "not a record"),
        (b"{", "cannot be read"),
        (b"[" * 10**6, "cannot be read"),
        (b'{"x": 1}', "names no image"),
        (b'{"id": 1, "things": [2]}', "an object that is not valid"),
        (b'{"id": 1, "things": [{"kind": 9}]}', "its class is 9, and there are 1"),
    ],
)
def test_a_record_that_is_none_is_a_bad_image(data: bytes, fault: str) -> None:
    with pytest.raises(BadImage, match=fault):
        FORM.describe(data, "", "a.json", {"names": ["cat"]})
