from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.sources.readings.exports.records import (
    of_cvat,
    of_json,
    of_tracks,
    of_wider,
    parse_cvat,
    parse_wider,
)


def written(folder: Path, name: str, text: str) -> Watched:
    path = folder / name
    path.write_bytes(text.encode())
    return Watched.of(path)


@pytest.mark.parametrize(
    ("name", "of", "text", "keys"),
    [
        ("a.json", "", '[{"n": 1}, {"n": "é"}]', ["", ""]),
        ("a.jsonl", "", '\ufeff{"n": 1}\n\n{"n": "é"}', ["", ""]),
        ("a.json", "items", '\ufeff{"x": {"y": 0}, "items": [{"n": 1}, {"n": "é"}]}', ["", ""]),
        ("a.json", "items", '{"items": {"a": {"n": 1}, "ü": {"n": "é"}}}', ["a", "ü"]),
        ("a.json", "*", '{"a": {"n": 1}, "ü": {"n": "é"}}', ["a", "ü"]),
        ("a.json", "file", '{"n": 1}', [""]),
    ],
)
def test_each_record_lies_where_it_is_said_to(
    tmp_path: Path, name: str, of: str, text: str, keys: list[str]
) -> None:
    file, others = written(tmp_path, name, text), dict[str, Any]()
    found = list(of_json(file, of, others))
    assert [key for key, _, _ in found] == keys
    for _, offset, data in found:
        assert file.read((offset, len(data))) == [data]
    assert others == ({"x": {"y": 0}} if '"x"' in text else {})


def test_images_of_cvat_are_found_by_their_places(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0"?><annotations><meta><image>no</image></meta><image name="a&gt;>.jpg"/>'
        '<!-- x --><image name="é.jpg"><box label="c" xtl="1" ytl="2.50" xbr="3" ybr="04"/>'
        '<skeleton label="s"><points label="p" points="1,2"/></skeleton></image>\n</annotations>'
    )
    file = written(tmp_path, "a.xml", text)
    found = list(of_cvat(file, "", {}))
    for _, offset, data in found:
        assert file.read((offset, len(data))) == [data]
    empty, full = (parse_cvat(data) for _, _, data in found)
    assert (empty["name"], empty["objects"]) == ("a>>.jpg", [])
    box, skeleton = full["objects"]
    assert (box["xtl"], box["ytl"], box["ybr"]) == (1, 2.5, "04")
    assert skeleton["parts"][0]["points"] == [[1.0, 2.0]]


@pytest.mark.parametrize("text", ["<!DOCTYPE a><a/>", "<annotations><image></annotations>"])
def test_xml_that_is_none_or_could_be_any_size_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableInput, match=r"document type|not valid XML"):
        list(of_cvat(written(tmp_path, "a.xml", text), "", {}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "none"])
def test_tracks_with_a_document_type_or_in_an_unknown_encoding_are_refused(
    tmp_path: Path, encoding: str
) -> None:
    if encoding == "none":
        data = b'<?xml version="1.0" encoding="none"?><annotations/>'
    else:
        data = '<!DOCTYPE a [<!ENTITY b "c">]><annotations>&b;</annotations>'.encode(encoding)
    path = tmp_path / "a.xml"
    path.write_bytes(data)
    with pytest.raises(UnusableInput, match="no sound XML of tracks"):
        list(of_tracks(Watched.of(path), "", {}))


def test_faces_are_counted(tmp_path: Path) -> None:
    line = "1 2 3 4 0 0 0 0 0 0 \n"
    file = written(tmp_path, "a.txt", f"a/1.jpg\n2\n{line}{line}b 2.jpg\n1\n{line}{line}")
    first, second = (data for _, _, data in of_wider(file, "", {}))
    assert [face["w"] for face in parse_wider(first)["faces"]] == [3, 3]
    with pytest.raises(ValueError, match="1 faces, and 2 lines"):
        parse_wider(second)
