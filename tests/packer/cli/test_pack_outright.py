"""The command that says outright how a source was read: it gives the very same shards."""

import json
import re
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


@pytest.mark.parametrize("row", sampled(SAID, every=4), ids=lambda row: row.name)
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


REFUSED = [row for row in ROWS if isinstance(row.expected, str)]
PROPOSED = re.compile(r"^.*?(packer pack .*)$", re.MULTILINE)


@pytest.mark.parametrize("row", sampled(REFUSED, every=3), ids=lambda row: row.name)
def test_each_command_that_a_refusal_proposes_is_accepted(row: Row, tmp_path: Path) -> None:
    if set(row.options) - set(FLAGS):
        pytest.skip("its options name what lies at a path")
    src, dst = lay_out(row, tmp_path / "it's here"), tmp_path / "dst"
    done = call_packer("pack", src, dst, *options_of(row))
    assert done.returncode == 2
    proposed = [(command, done.stderr) for command in PROPOSED.findall(done.stderr)]
    for number, (command, refusal) in enumerate(proposed):
        to = f"{tmp_path}/{number}"
        words = shlex.split(command.replace(shlex.quote(str(dst)), to))
        again = call_packer(*words[1:], "--on-error", "skip", "--jobs", "1")
        assert refusal.split(". ")[0] not in again.stderr
        if again.returncode == 2:  # for another reason, whose advice holds
            further = PROPOSED.findall(again.stderr.replace(" --on-error skip --jobs 1", ""))
            assert further, again.stderr
            proposed += [(one.replace(to, str(tmp_path / "dst")), again.stderr) for one in further]
        else:
            assert again.returncode == 0 or "rejected" in again.stderr, again.stderr
