"""The colours of classes in masks: the files that list them, in dataset.json and beside it."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from row_files import rows_of

from reader import ArgumentError, Mask
from reader.format import FormatError, Manifest, MaskColors

COLORS = ((0, 0, 0), (128, 0, 0), (0, 128, 64))
NAMES = ("void", "road", "tall tree")


@pytest.mark.parametrize("text", [*chain(*rows_of(__file__, "color_files.rows"))])
def test_files_list_colours_with_names_in_either_order(tmp_path: Path, text: str) -> None:
    (tmp_path / "colors.txt").write_text(eval(text), encoding="utf-8")
    assert Mask("mask.png", colors=tmp_path / "colors.txt").parsed == MaskColors(COLORS, NAMES)


@pytest.mark.parametrize("text", ["0 0 0\n128 0 0\n0 128 64\n", "r,g,b\n0,0,0\n128,0,0\n0,128,64"])
def test_colours_need_no_names(tmp_path: Path, text: str) -> None:
    (tmp_path / "colors.txt").write_text(text)
    assert Mask("mask.png", colors=str(tmp_path / "colors.txt")).parsed == MaskColors(COLORS)


@pytest.mark.parametrize(("data", "reason"), rows_of(__file__, "mask_colors.rows"))
def test_a_file_that_lists_no_colours_is_refused_with_the_reason(
    tmp_path: Path, data: str, reason: str
) -> None:
    (tmp_path / "class_dict.csv").write_bytes(eval(data))
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
