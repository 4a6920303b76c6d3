"""Texts that annotate the images are read where nothing contradicts, or asked about."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from reader import Dataset, SampleError

Write = Callable[[Path, Mapping[str, bytes]], Path]
STEMS = [f"pic_{number:04}" for number in range(1, 7)]
NAMES = [f"{stem}.jpg" for stem in STEMS]
LABELS = ["cat", "dog", "cat", "bird", "dog", "cat"]
PAIRS = list(zip(NAMES, LABELS, strict=True))
OF_STEMS = list(zip(STEMS, LABELS, strict=True))
IN_FOLDERS = [f"{label}/{name}" for name, label in PAIRS]


def lines(form: str, pairs: list[tuple[str, str]] = PAIRS) -> str:
    return "".join(form.format(*pair) + "\n" for pair in pairs)


def json_of(found: Dataset, number: int) -> Any:
    return json.loads(found.read(number, "json"))


class Packer:
    """Packs images with texts beside them."""

    def __init__(
        self, tmp_path: Path, jpegs: list[bytes], write_files: Write, run_packer: Callable[..., Any]
    ) -> None:
        self._dst, self._run, self._jpegs = tmp_path / "dst", run_packer, jpegs
        self._src, self._write = tmp_path / "src", write_files

    def pack(self, images: list[str], texts: Mapping[str, str | bytes]) -> Any:
        """Return the run."""
        files = {name: self._jpegs[n % len(self._jpegs)] for n, name in enumerate(images)}
        encoded = {n: t.encode() if isinstance(t, str) else t for n, t in texts.items()}
        src = self._write(self._src, files | encoded)
        return self._run("pack", src, self._dst, "--jobs", 1)

    def read(self, images: list[str], texts: Mapping[str, str | bytes]) -> Dataset:
        """Return the dataset that is packed without a question."""
        done = self.pack(images, texts)
        assert done.returncode == 0, done.stderr
        return Dataset(self._dst)

    def by_command(self, images: list[str], texts: Mapping[str, str | bytes]) -> Dataset:
        """Return the dataset of the first command that a refusal prints."""
        refused = self.pack(images, texts)
        assert refused.returncode == 2, refused.stdout
        command = re.search(r"To read (?:it|them).*, type: packer (.*)", refused.stderr)
        assert command, refused.stderr
        done = self._run(*shlex.split(command[1]))
        assert done.returncode == 0, done.stderr
        return Dataset(self._dst)


@pytest.fixture
def packer(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, run_packer: Callable[..., Any]
) -> Packer:
    return Packer(tmp_path, jpegs, write_files, run_packer)


def labels(found: Dataset) -> list[str]:
    return [found.classes[found.targets[n]] for n in in_order(found)]


def in_order(found: Dataset) -> list[int]:
    return sorted(range(len(found)), key=found.names.__getitem__)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metadata.json", json.dumps(dict(PAIRS))),
        ("metadata.json", json.dumps(dict(OF_STEMS))),
        ("metadata.txt", lines("{0} {1}")),
        ("metadata.yaml", lines("{0}: {1}", OF_STEMS)),
        ("labels.out", lines("{0},{1}", OF_STEMS)),
        ("labels.toml", lines('"{0}" = "{1}"')),
    ],
)
def test_no_file_is_excused_by_its_name(name: str, text: str, packer: Packer) -> None:
    assert labels(packer.read([f"images/{n}" for n in NAMES], {name: text})) == LABELS


@pytest.mark.parametrize("form", ["{}", "{}.0", "{:03}"])
def test_numbers_match_with_other_padding(form: str, packer: Packer) -> None:
    rows = "".join(f"{form.format(n)},{label}\n" for n, label in enumerate(LABELS, 1))
    images = [f"images/{n:06}.jpg" for n in range(1, 7)]
    assert labels(packer.read(images, {"labels.csv": f"id,label\n{rows}"})) == LABELS


def test_names_match_without_what_all_share(packer: Packer) -> None:
    images = [f"images/{stem}_downsampled.jpg" for stem in STEMS]
    text = "image,target\n" + lines("{0},{1}", OF_STEMS)
    assert labels(packer.read(images, {"truth.csv": text})) == LABELS


def test_columns_are_kept_beside_the_classes_of_folders(packer: Packer) -> None:
    text = json.dumps([{"file": name, "width": n} for n, name in enumerate(IN_FOLDERS)])
    found = packer.read(IN_FOLDERS, {"metadata.json": text})
    assert labels(found) == sorted(LABELS)
    widths = [json_of(found, n)["width"] for n in in_order(found)]
    assert widths == sorted(range(6), key=IN_FOLDERS.__getitem__)


def test_lists_that_divide_the_images_are_splits(packer: Packer, tmp_path: Path) -> None:
    lists = {"train": NAMES[:3], "val": NAMES[3:5], "holdout": NAMES[5:]}
    texts = {f"{name}.txt": "\n".join(few) for name, few in lists.items()}
    packer.read(IN_FOLDERS, texts)
    assert {name: len(Dataset(tmp_path / "dst", split=name)) for name in lists} == {
        "train": 3,
        "val": 2,
        "holdout": 1,
    }


def test_tables_that_are_named_after_splits_give_them(packer: Packer, tmp_path: Path) -> None:
    rows = [{"file": name, "label": label} for name, label in PAIRS]
    parts = {"train": rows[:4], "validation": rows[4:]}
    texts = {f"v2-{name}.json": json.dumps(part) for name, part in parts.items()}
    packer.read([f"images/{name}" for name in NAMES], texts)
    sizes = [len(Dataset(tmp_path / "dst", split=split)) for split in ("train", "validation")]
    assert sizes == [4, 2]


def test_a_list_that_repeats_those_of_the_splits_is_not_read(
    packer: Packer, tmp_path: Path
) -> None:
    numbers = {label: number for number, label in enumerate(sorted({*LABELS}), 1)}
    own = [f"{name} {numbers[name[:-13]]}\n" for name in IN_FOLDERS]
    parts = {"train": own[:4], "crossval": own[4:], "test": own}
    texts = {f"lists/{part}_kfold.txt": "".join(rows) for part, rows in parts.items()}
    assert labels(packer.read(IN_FOLDERS, texts)) == sorted(LABELS)
    sizes = [len(Dataset(tmp_path / "dst", split=split)) for split in ("train", "val")]
    assert sizes == [4, 2]


def test_numbers_of_the_classes_of_folders_become_none(packer: Packer) -> None:
    numbers = {label: number for number, label in enumerate(sorted({*LABELS}))}
    images = [f"train/{name}" for name in IN_FOLDERS] + ["val/1.jpg", "val/2.jpg"]
    texts = {
        "lists/train.txt": "".join(f"{name} {numbers[name[:-13]]}\n" for name in IN_FOLDERS),
        "lists/val.txt": "1.jpg 1\n2.jpg 0\n",
    }
    found = packer.by_command(images, texts)
    assert labels(found) == [*sorted(LABELS), "cat", "bird"]


def test_a_split_may_be_the_folder_of_a_list(packer: Packer, tmp_path: Path) -> None:
    parts = {"train": PAIRS[:4], "val": PAIRS[4:]}
    texts = {f"meta/{name}/labels.txt": lines("{0},{1}", some) for name, some in parts.items()}
    assert labels(packer.by_command([f"data/{name}" for name in NAMES], texts)) == LABELS
    sizes = [len(Dataset(tmp_path / "dst", split=split)) for split in parts]
    assert sizes == [4, 2]


def test_comments_above_a_list_are_no_lines(packer: Packer) -> None:
    text = f"#--- list ---#\n#\n# name and class\n{lines('{0} {1}')}"
    assert labels(packer.read([f"images/{name}" for name in NAMES], {"list.txt": text})) == LABELS


def test_lists_of_other_names_are_asked_about(packer: Packer) -> None:
    kinds = {"cat": NAMES[:3], "dog": NAMES[3:]}
    texts = {f"{name}.txt": "\n".join(few) for name, few in kinds.items()}
    assert labels(packer.by_command(NAMES, texts)) == ["cat"] * 3 + ["dog"] * 3


@pytest.mark.parametrize("form", ["{:03}", "p{:03}"])
def test_a_table_of_folders_is_kept_with_their_images(form: str, packer: Packer) -> None:
    images = [f"images/{form.format(n)}/{k}.jpg" for n in range(3) for k in range(2)]
    ids = [n if form == "{:03}" else form.format(n) for n in range(3)]
    rows = "".join(f"{one},{40 + n},{'ab'[n % 2]}\n" for n, one in enumerate(ids))
    found = packer.read(images, {"patients.csv": f"patient,age,sex\n{rows}"})
    assert [json_of(found, n)["age"] for n in in_order(found)] == [
        "40",
        "40",
        "41",
        "41",
        "42",
        "42",
    ]


@pytest.mark.parametrize("text", ["cat,3\ndog,2\nbird,1\n", "cat 0\ndog 1\nbird 2\n"])
def test_a_table_of_classes_says_nothing_of_the_images(text: str, packer: Packer) -> None:
    found = packer.read(IN_FOLDERS, {"classes.csv": text})
    assert labels(found) == sorted(LABELS)
    with pytest.raises(SampleError):
        json_of(found, 0)


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        ("poses.txt", "".join(f"{n}.5 1 2 3\n" for n in range(6)), "value"),
        ("captions.txt", "".join(f"a {'big ' * n}dog, here\n" for n in range(6)), "caption"),
        ("steering.csv", "angle,speed\n" + "".join(f"{n}.5,7\n" for n in range(6)), "angle"),
        ("vectors.json", json.dumps([[n + 0.5, 1] for n in range(6)]), "value"),
    ],
)
def test_values_in_order_belong_to_the_images_by_a_command(
    name: str, text: str, field: str, packer: Packer
) -> None:
    found = packer.by_command([f"images/{n}" for n in NAMES], {name: text})
    values = [str(json_of(found, n)[field]) for n in in_order(found)]
    written = [text.find(value) for value in values]
    assert min(written) >= 0
    assert field == "caption" or written == sorted(set(written))


def test_values_in_order_of_each_folder_belong_to_its_images(packer: Packer) -> None:
    images = [f"{video}/img/{n}.jpg" for video in ("car", "dog") for n in range(1, 12)]
    texts = {
        f"{video}/groundtruth.txt": "".join(f"{n},{first},3,4\n" for n in range(1, 12))
        for first, video in enumerate(("car", "dog"))
    }
    found = packer.by_command(images, texts)
    boxes = {found.names[n]: json_of(found, n)["value"] for n in range(len(found))}
    assert boxes["dog/img/10.jpg"] == "10,1,3,4"


def test_a_text_beside_parquet_is_not_ignored(
    packer: Packer, jpegs: list[bytes], tmp_path: Path
) -> None:
    held = BytesIO()
    images = [{"bytes": jpegs[0], "path": name} for name in NAMES]
    parquet.write_table(pa.table({"image": images}), held)
    texts = {"train.parquet": held.getvalue(), "boxes.txt": lines("{0} 1 2 3 4")}
    refused = packer.pack([], texts)
    assert refused.returncode == 2
    assert "boxes.txt names 6 of the 6 images" in refused.stderr
