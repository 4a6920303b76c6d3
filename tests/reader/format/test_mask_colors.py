"""The colours of classes in masks: the files that list them, in dataset.json and beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from reader import ArgumentError, Mask
from reader.format import FormatError, Manifest, MaskColors

COLORS = ((0, 0, 0), (128, 0, 0), (0, 128, 64))
NAMES = ("void", "road", "tall tree")


@pytest.mark.parametrize(
    "text",
    [
        "name,r,g,b\nvoid,0,0,0\nroad,128,0,0\ntall tree,0,128,64\n",
        "\ufeffname, r, g, b\r\nvoid, 0, 0, 0\r\nroad,128, 0, 0\r\ntall tree,0,128,64\r\n",
        "r;g;b;class\n0;0;0;void\n128;0;0;road\n0;128;64;tall tree\n",
        "id,name,Red,Green,Blue\n2,tall tree,0,128,64\n0,void,0,0,0\n1,road,128,0,0\n",
        "0 0 0\tvoid\n128 0 0\t\troad\n0 128 64 \ttall tree\n",
        "void 0 0 0\nroad 128 0 0\n\ntall tree 0 128 64\n",
        "void,0,0,0\nroad,128,0,0\ntall tree,0,128,64",
        "# label:color_rgb:parts:actions\nvoid:0,0,0::\nroad:128,0,0::\ntall tree:0,128,64::\n",
    ],
)
def test_files_list_colours_with_names_in_either_order(tmp_path: Path, text: str) -> None:
    (tmp_path / "colors.txt").write_text(text, encoding="utf-8")
    assert Mask("mask.png", colors=tmp_path / "colors.txt").parsed == MaskColors(COLORS, NAMES)


@pytest.mark.parametrize("text", ["0 0 0\n128 0 0\n0 128 64\n", "r,g,b\n0,0,0\n128,0,0\n0,128,64"])
def test_colours_need_no_names(tmp_path: Path, text: str) -> None:
    (tmp_path / "colors.txt").write_text(text)
    assert Mask("mask.png", colors=str(tmp_path / "colors.txt")).parsed == MaskColors(COLORS)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "0 colours"),
        (b"# none\n\n", "0 colours"),
        (b"name,r,g,b\n", "0 colours"),
        (b"name,r,g,b\na,1,2,3\nb,1,2,3\n", r"\(1, 2, 3\) is that of several classes: 'a' and 'b'"),
        (b"a 1 2 256\n", r"\(1, 2, 256\) is not a colour .* from 0 to 255"),
        (b"name,r,g,b\na,1,2,300\n", "from 0 to 255"),
        (b"name,r,g,b\na,1,2,-3\n", "not a whole number"),
        (b"name,r,g,b\na,1,2\n", "has not 4 values"),
        (b"name,r,g,b\na,1,2,0.5\n", "not a whole number"),
        (b"0 1 2 3\n1 4 5 6\n", "first line such as name,r,g,b"),
        (b"7 1 2 3 road\n", "first line such as name,r,g,b"),
        (b"id,r,g,b\n0,1,2,3\n7,4,5,6\n", "does not count the classes from 0"),
        (b"hello\n", "'hello' is not a name and a colour"),
        (b"\xff\xfe\x00", "utf-8"),
        (b"a 1 2 3\n" * 9000, "more than 65536 bytes"),
        (b"".join(b"%d %d 0 c%d\n" % (n, n % 7, n) for n in range(256)) + b"0 0 9 x", "1 to 256"),
    ],
)
def test_a_file_that_lists_no_colours_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "class_dict.csv").write_bytes(data)
    with pytest.raises(ArgumentError, match=rf": .*{reason}"):
        Mask("mask.png", colors=tmp_path / "class_dict.csv")


def test_dataset_json_keeps_colours_and_has_none_without(tmp_path: Path) -> None:
    found = {"mask.png": MaskColors(COLORS, NAMES)}
    manifest = Manifest("0", {}, "", (), ("mask.png",), (), mask_colors=found)
    (tmp_path / "dataset.json").write_text(manifest.dump())
    assert Manifest.load(tmp_path).mask_colors == found
    assert "mask_colors" not in json.loads(Manifest("0", {}, "", (), (), ()).dump())


@pytest.mark.parametrize(
    "colors", [[], [[1, 2]], [[1, 2, 256]], [[1, 2, 3], [1, 2, 3]], 7, ["abc"]]
)
def test_a_dataset_json_with_wrong_colours_is_damaged(tmp_path: Path, colors: Any) -> None:
    from reader.format.manifest import own_checksum

    content = json.loads(Manifest("0", {}, "", (), ("mask.png",), ()).dump())
    del content["checksum"]
    content["mask_colors"] = {"mask.png": {"colors": colors, "names": []}}
    content["checksum"] = own_checksum(content)
    (tmp_path / "dataset.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match="damaged"):
        Manifest.load(tmp_path)
