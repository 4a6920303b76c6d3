import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from layouts.row import Row
from layouts.scanned import ROWS, lay_out
from sampled import sampled

import packer
from packer.options.chosen import PackArguments, checked, options_of
from packer.options.declared import RunOptions


def test_what_is_given_of_a_run_is_in_the_one_object_that_is_passed_on() -> None:
    given: dict[str, Any] = {"classes": ("cat", "dog"), "on_error": "skip", "jobs": 3}
    given |= {"executor": "ray", "scratch": Path("scratch"), "append": True, "progress": False}
    options, how = options_of(None, {**given, "part": None, "quality": 5})
    assert options.quality == 5
    assert {name: getattr(how, name) for name in given} == given


def test_what_is_not_given_has_its_default() -> None:
    assert options_of(None, {"on_error": None, "jobs": None})[1] == RunOptions()
    assert RunOptions().jobs >= 1


REFUSED = [row for row in ROWS if isinstance(row.expected, str) and "pairs" not in row.options]


@pytest.mark.parametrize("row", sampled(REFUSED, every=3), ids=lambda row: row.name)
def test_each_call_that_a_refusal_proposes_can_be_made(row: Row, tmp_path: Path) -> None:
    src, dst = lay_out(row, tmp_path / "it's here"), tmp_path / "dst"
    depth = {"class_depth": "all"} if row.options.get("class_depth") == -1 else {}
    given: Any = {**row.options, **depth, "jobs": 1, "progress": False}
    with pytest.raises(packer.ShardfeedError) as refused:
        packer.pack(src, dst, **given)

    def call(src: str, dst: str, **arguments: Any) -> None:
        options = checked(arguments, PackArguments)
        assert options_of(Path(src), options)
        assert (dst, options["jobs"]) == (str(tmp_path / "dst"), 1)

    for line in str(refused.value).splitlines():
        if (found := re.search(r"packer\.pack\(\".*\)", line)) and '"FOLDER"' not in line:
            eval(found[0], {"packer": SimpleNamespace(pack=call)})
    assert not re.search(r"packer pack (?!--explain)", str(refused.value))
