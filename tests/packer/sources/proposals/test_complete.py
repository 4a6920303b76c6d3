"""The commands that a refusal prints pack all: each is run, and its dataset looked at."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from layouts.archives import image

from reader import Dataset

pytestmark = pytest.mark.usefixtures("in_process")

Write = Callable[[Path, Mapping[str, bytes]], Path]
Commands = Callable[[str, Mapping[str, str]], list[Path]]


@pytest.fixture
def datasets(tmp_path: Path, write_files: Write, run_packer: Callable[..., Any]) -> Commands:
    """`datasets(images, texts)`: what each command packs that the refusal of a source prints."""

    def pack(images: str, texts: Mapping[str, str]) -> list[Path]:
        files = {name: image(at) for at, name in enumerate(images.split())}
        src = write_files(tmp_path / "src", files | {n: t.encode() for n, t in texts.items()})
        refused = run_packer("pack", src, tmp_path / "dst", "--jobs", 1)
        commands = re.findall(r": packer (pack .*)", refused.stderr)
        found = []
        for at, line in enumerate(
            one for one in commands if "--labels" in one or "--member" in one
        ):
            words = shlex.split(line)
            words[2] = str(tmp_path / f"dst{at}")
            done = run_packer(*words)
            assert done.returncode == 0, done.stderr
            found.append(Path(words[2]))
        return found

    return pack


def test_texts_in_a_folder_of_their_own_are_members(datasets: Commands) -> None:
    (dst,) = datasets("img/a.jpg img/b.jpg", {"gt/gt_a.txt": "A,1", "gt/gt_b.txt": "B,2"})
    found = Dataset(dst)
    assert [found.read(n, "txt") for n in range(2)] in ([b"A,1", b"B,2"], [b"B,2", b"A,1"])


def test_a_list_of_some_images_leaves_the_others_to_train(datasets: Commands) -> None:
    names = " ".join(f"images/{n}.png masks/{n}.png" for n in "abcdef")
    found = datasets(names, {"valid.txt": "a.png\nb.png\n"})
    sizes = [{split: len(one) for split, one in _by_split(each).items()} for each in found]
    assert {"train": 4, "valid": 2} in sizes


def test_lists_of_columns_without_names_are_read_by_their_places(datasets: Commands) -> None:
    names = [f"img/{n:03}.jpg" for n in range(6)]
    lists = {
        "identity.txt": "".join(f"{n:03}.jpg {70 + n // 2}\n" for n in range(6)),
        "partition.txt": "".join(f"{n:03}.jpg {n % 3}\n" for n in range(6)),
        "boxes.txt": "6\nimage_id left top\n"
        + "".join(f"{n:03}.jpg {n} {9 * n}\n" for n in range(6)),
    }
    first, *_ = datasets(" ".join(names), lists)
    assert {split: len(one) for split, one in _by_split(first).items()} == {
        "train": 2,
        "val": 2,
        "test": 2,
    }
    of_train = _by_split(first)["train"]
    fields = {of_train.names[n]: json.loads(of_train.read(n, "json")) for n in range(2)}
    assert fields["003.jpg"] == {"left": "3", "top": "27"}


def test_several_lines_of_an_image_are_a_list(datasets: Commands) -> None:
    text = "a.jpg,1,2,car\na.jpg,3,4,bus\nb.jpg,5,6,car\nc.jpg,7,8,van\n"
    first, *_ = datasets("images/a.jpg images/b.jpg images/c.jpg", {"boxes.csv": text})
    found = Dataset(first)
    rows = [json.loads(found.read(n, "json"))["rows"] for n in range(3)]
    assert sorted(map(len, rows)) == [1, 1, 2]
    assert {tuple(row.values()) for some in rows for row in some} == {
        ("1", "2", "car"),
        ("3", "4", "bus"),
        ("5", "6", "car"),
        ("7", "8", "van"),
    }


def _by_split(dst: Path) -> dict[str, Dataset]:
    return {split: Dataset(dst, split=split) for split in Dataset(dst).splits}


def test_classes_without_names_are_kept(datasets: Commands) -> None:
    series = ("train-0", "train-1", "val-0")
    numbers = {f"{name}/{name[-1]}{name[0]}.cls": str(at) for at, name in enumerate(series)}
    images = " ".join(name.replace(".cls", ".jpg") for name in numbers)
    sizes = [len(Dataset(dst)) for dst in datasets(images, numbers)]
    assert sizes
    assert min(sizes) > 0
