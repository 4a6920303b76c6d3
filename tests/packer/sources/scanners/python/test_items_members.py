"""What belongs to an image: members by their names and kinds, the rest in the sample's JSON."""

import datetime
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from packer.errors import BadImage
from packer.images.encode import png
from packer.sources.scanners.python.items import members_of
from reader.format.members import DECODERS

MASK = Image.fromarray(np.arange(20, dtype=np.uint8).reshape(4, 5))
IMAGE = Image.new("RGB", MASK.size)


def test_a_name_that_says_its_kind_is_the_members() -> None:
    members = members_of(
        {
            "caption.txt": "café",
            "json": {"a": 1},
            "flow.npy": np.ones((2, 2), np.float32),
            "mask.png": MASK,
            "seg.png": np.asarray(MASK),
            "coarse.cls": 3,
            "exr": b"data",
        },
        IMAGE,
    )
    assert members["caption.txt"].decode() == "café"
    assert json.loads(members["json"]) == {"a": 1}
    assert np.array_equal(DECODERS["npy"](members["flow.npy"]), np.ones((2, 2)))
    assert members["mask.png"] == members["seg.png"] == png(MASK)
    assert (members["coarse.cls"], members["exr"]) == (b"3", b"data")


def test_other_arrays_and_images_are_members_of_their_kind() -> None:
    members = members_of(
        {"Depth Map": np.ones(3), "second": MASK, "third": {"bytes": png(MASK), "path": None}},
        IMAGE,
    )
    assert list(members) == ["depth_map.npy", "second.png", "third.png"]


@pytest.mark.parametrize("image", [IMAGE, png(IMAGE)], ids=["pixels", "bytes"])
def test_an_array_that_may_be_a_mask_is_stored_as_its_name_says_and_never_as_a_guess(
    image: bytes | Image.Image,
) -> None:
    numbers = np.asarray(MASK)
    assert list(members_of({"mask.png": numbers, "mask.npy": numbers}, image)) == [
        "mask.png",
        "mask.npy",
    ]
    for array in (numbers, numbers > 3, numbers.astype(np.int64), numbers.T):
        with pytest.raises(BadImage, match=r'"mask.png" in uint8 it is cropped .*"mask.npy" it is'):
            members_of({"mask": array}, image)
    others = {"boxes": np.ones((2, 4), np.int64), "depth": np.ones((4, 5), np.float32)}
    assert list(members_of(others, image)) == ["boxes.npy", "depth.npy"]
    assert list(members_of({"mask": numbers}, b"not an image")) == ["mask.npy"]


def test_what_json_has_is_gathered_under_its_names() -> None:
    fields = {
        *(("text", "a cat"), ("n", np.int64(3)), ("x", float("nan")), ("none", None)),
        *(("flag", True), ("when", datetime.date(2026, 1, 2))),
    }
    members = members_of({**dict(fields), "boxes": [[1, 2.5]], "json": {"id": 7}}, IMAGE)
    assert list(members) == ["json"]
    assert json.loads(members["json"]) == {
        "text": "a cat",
        "n": 3,
        "x": None,
        "none": None,
        "flag": True,
        "when": "2026-01-02",
        "boxes": [[1, 2.5]],
        "id": 7,
    }


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"tags": {"a", "b"}}, "'tags' is a set, which JSON has not: give text, a number"),
        ({"json": {"deep": [{1, 2}]}}, "'deep[0]' is a set"),
        ({"a": [np.zeros(2)]}, "'a[0]' is an array of float64 (2,)"),
        ({"c": 1j}, "'c' is a complex"),
        ({"o": np.array([None])}, "'o' is an array of objects"),
        ({"Mask.png": b""}, "use lower-case letters"),
        ({"mask.png": np.zeros((4, 5), bool)}, "asked for: give array.astype(np.uint8), if"),
        ({"mask.jpg": MASK}, "name it as a .png, which loses nothing"),
        ({"json": {"a": 1}, "a": 2}, "two of its fields would be 'a'"),
        ({"json": [1], "a": 2}, "two of its fields would be 'json'"),
        ({"x": np.ones(1), "x.npy": np.ones(1)}, "two of its fields would be 'x.npy'"),
        ({"cls": b"3"}, "its field 'cls' is the class number: call it 'label'"),
        ({3: "x"}, "the name of a field is an int"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, dict) else value,
)
def test_what_cannot_be_stored_is_named_with_the_way_to_do_it(
    fields: dict[Any, Any], told: str
) -> None:
    with pytest.raises(BadImage) as error:
        members_of(fields, IMAGE)
    assert told in str(error.value)
