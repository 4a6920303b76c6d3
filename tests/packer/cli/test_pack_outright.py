"""The command that says outright how a source was read: it gives the very same shards."""

import json
import shlex
from pathlib import Path

import pytest
from called_packer import call_packer
from layouts.row import Read, Row
from layouts.scanned import ROWS, lay_out
from sampled import sampled

# Rows of folders of images, whose meaning a template says.
SAID = [row for row in ROWS if isinstance(row.expected, Read)]
FLAGS = {"kind": "--as", "class_depth": "--class-depth"}


def options_of(row: Row) -> list[str]:
    """The options of a row on a command line."""
    values = {**row.options}
    depth = {-1: "all"}.get(values.get("class_depth", 0), values.get("class_depth"))
    found = [word for name in values if name in FLAGS for word in (FLAGS[name], str(values[name]))]
    return [str(depth) if word == "-1" else word for word in found]


def tars(dst: Path) -> dict[str, bytes]:
    """The shards of a dataset."""
    return {str(path.relative_to(dst)): path.read_bytes() for path in dst.rglob("*.tar")}


@pytest.mark.parametrize("row", sampled(SAID, every=8), ids=lambda row: row.name)
def test_the_command_that_is_printed_gives_the_same_shards(row: Row, tmp_path: Path) -> None:
    if set(row.options) - set(FLAGS):
        pytest.skip("its options name what lies at a path")
    src = lay_out(row, tmp_path / "it's here")
    options = [*options_of(row), "--jobs", "1", "--on-error", "skip", "--json"]
    done = call_packer("pack", src, tmp_path / "a", *options)
    command = json.loads(done.stdout)["command"] if done.stdout else ""
    if not command:
        return
    assert " --as " not in command
    words = shlex.split(command)
    assert words[:2] == ["packer", "pack"]
    again = call_packer(*words[1:3], tmp_path / "b", *words[4:])
    assert again.returncode == done.returncode, again.stderr
    assert json.loads(again.stdout)["samples"] == json.loads(done.stdout)["samples"]
    assert tars(tmp_path / "b") == tars(tmp_path / "a") != {}
