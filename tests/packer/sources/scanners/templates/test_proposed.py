"""What reads a file that names images: the command of the refusal, run as it is printed."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from layouts.archives import image

from packer.sources.scanners.templates.proposed import proposed
from reader import Dataset

pytestmark = pytest.mark.usefixtures("in_process")

RunPacker = Callable[..., Any]
Write = Callable[..., Path]
LABELS = {f"images/{number:03}.jpg": "cat" if number % 3 else "dog" for number in range(6)}
NAMES = {path.rpartition("/")[2]: label for path, label in LABELS.items()}
ITEMS = [{"file": name, "class": label, "score": 0.5} for name, label in NAMES.items()]


def table(sign: str, of: dict[str, str] = NAMES, head: str = "") -> str:
    return head + "".join(f"{name}{sign}{label}\n" for name, label in of.items())


LISTS = {
    "list.txt": table(" ", LABELS),
    "names.txt": table("\t"),
    "labels first.txt": "".join(f"{label} /{path}\n" for path, label in LABELS.items()),
    "head.txt": table(";", head="photo;breed\n"),
    "utf-16.txt": table(",").encode("utf-16"),
    "dict.json": json.dumps(NAMES),
    "objects.json": json.dumps(ITEMS),
    "of_objects.json": json.dumps({item["file"]: {"label": item["class"]} for item in ITEMS}),
    "numbered.json": json.dumps({str(number): item for number, item in enumerate(ITEMS)}),
    "inside.json": json.dumps({"version": 1, "items": ITEMS}),
    "deep.json": json.dumps([{"data": {"image": n}, "label": v} for n, v in NAMES.items()]),
    "lines.manifest": "".join(f"{json.dumps(item)}\n" for item in ITEMS),
    "some.json": json.dumps([*ITEMS[1:], {**ITEMS[0], "caption": "a dog"}]),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_read_at_once_or_by_the_command_that_a_refusal_proposes(
    name: str, tmp_path: Path, write_files: Write, run_packer: RunPacker
) -> None:
    content = LISTS[name]
    files = {path: image(number) for number, path in enumerate(LABELS)}
    data = content.encode() if isinstance(content, str) else content
    src, dst = write_files(tmp_path / "src", {**files, name: data}), tmp_path / "dst"
    done = run_packer("pack", src, dst, "--jobs", 1)
    if done.returncode:
        command = re.search(r"To read it \(.*?\), type: packer (.*)", done.stderr)
        assert command, done.stderr
        done = run_packer(*shlex.split(command[1]))
    assert done.returncode == 0, done.stderr
    found = Dataset(dst)
    classes = [found.classes[label] for label in found.targets]
    assert dict(zip(found.names, classes, strict=True)) == {
        path.rpartition("/")[2]: label for path, label in LABELS.items()
    }


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"items": ITEMS, "categories": [{"id": 1, "name": "cat"}]}),
        json.dumps([{"file": name, "a.b": 1} for name in NAMES]),
        json.dumps({name: [label] for name, label in NAMES.items()}),
        json.dumps("text"),
        "{",
    ],
)
def test_nothing_is_proposed_where_something_would_be_lost(content: str) -> None:
    assert proposed("list.json", content, NAMES.__contains__) is None


def test_several_records_of_an_image_are_its_rows_and_equal_ones_are_one() -> None:
    once = proposed("list.json", json.dumps(ITEMS), NAMES.__contains__)
    assert proposed("list.json", json.dumps([*ITEMS, ITEMS[0]]), NAMES.__contains__) == once
    twice = json.dumps([*ITEMS, ITEMS[0] | {"score": 0.1}])
    form = "list.json: {key+:file} {class_:class} {score:score}"
    assert proposed("list.json", twice, NAMES.__contains__) == form


def test_a_list_named_as_a_split_gives_the_split() -> None:
    found = proposed("lists/val.txt", "000.jpg\n001.jpg\n", NAMES.__contains__)
    assert found == "lists/val.txt: {key} {split=val}"
    assert proposed("lists/some.txt", "000.jpg\n001.jpg\n", NAMES.__contains__) is None
