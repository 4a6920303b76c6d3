import json
from pathlib import Path

import pytest
from PIL import Image

import packer
from packer.errors import pattern_of, summary


def test_a_few_files_are_named_each_with_its_reason() -> None:
    files = [("a", "it is empty"), ("b", "it is empty"), ("c", "it is not a file")]
    told = [f"rejected: {name}: {reason}" for name, reason in files]
    assert list(summary(files, "rejected: ")) == told


def test_many_files_of_one_reason_are_counted_with_ten_examples() -> None:
    files = [(f"{number}.txt", "it is empty") for number in range(3000)] + [("x", "it is odd")]
    assert list(summary(files, "rejected: ")) == [
        "rejected: 3000 files: it is empty",
        *(f"  {number}.txt" for number in range(10)),
        "  and 2990 more",
        "rejected: x: it is odd",
    ]


def test_names_and_numbers_do_not_tell_reasons_apart() -> None:
    files = [(f"{n}.txt", f"it belongs to '{n}.jpg', which has {n} bytes") for n in range(12)]
    lines = list(summary(files))
    assert lines[0] == "12 files: it belongs to ..., which has ... bytes"
    assert lines[1] == "  0.txt: it belongs to '0.jpg', which has 0 bytes"
    assert len(lines) == 12


def test_a_reason_is_one_whether_its_name_stands_in_quotes_or_not() -> None:
    names = ["'cat.jpg'", "cat 1.jpg", '"it\'s.jpg"', "it's.jpg"]
    reasons = {pattern_of(f"it belongs to {name}, which is rejected") for name in names}
    assert reasons == {"it belongs to ..., which is rejected"}


def test_names_and_reasons_that_are_long_are_named_without_their_middle() -> None:
    (line,) = summary([("a" * 10**6 + ".jpg", "its label is " + "b" * 10**6 + ": mend it")])
    assert len(line) < 2000
    assert "[... 1,000,004 characters ...]" in line
    assert line.endswith("mend it")


def test_an_error_of_python_quotes_no_value_whole(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "0.jpg")
    image = {"id": 0, "file_name": "x" * 10**6, "width": 8, "height": 8}
    (tmp_path / "a.json").write_text(
        json.dumps({"images": [image], "annotations": [], "categories": [{"id": 1, "name": "a"}]})
    )
    with pytest.raises(packer.ShardfeedError) as refused:
        packer.pack(tmp_path / "a.json", tmp_path / "shards", jobs=1)
    assert len(str(refused.value)) < 10_000
