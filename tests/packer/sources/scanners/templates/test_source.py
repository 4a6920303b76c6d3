"""Images at templates: as folders give them, with members, and with lists."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts.archives import image

import packer
from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.readings.detect import read

pytestmark = pytest.mark.usefixtures("in_process")

Write = Callable[..., Path]
Scan = Callable[..., Any]
FilesOf = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def tars(tmp_path: Path, files_of: FilesOf) -> Callable[..., dict[str, bytes]]:
    """`tars(src, **options)`: what packing writes, but for dataset.json."""

    def pack(src: Path, name: str = "dst", **options: Any) -> dict[str, bytes]:
        dst = tmp_path / f"{name}-{len(list(tmp_path.iterdir()))}"
        packer.pack(src, dst, progress=False, jobs=1, **options)
        return {n: d for n, d in files_of(dst).items() if n != "dataset.json"}

    return pack


TREES = [
    ("cat/1.jpg cat/a/2.jpg cat/a-b/4.jpg dog/1.jpg", "{label}/{key}", {}),
    ("cat/1.jpg cat/1.json cat/1.mask.png dog/x.jpg dog/x.png README.md", "{label}/{key}", {}),
    ("cat/1.jpg cat/1.right.png dog/2.jpg dog/2.right.png", "{label}/{key}", {}),
    ("train/cat/1.jpg train/dog/2.jpg val/cat/3.jpg", "{split}/{label}/{key}", {}),
    ("Training/b/1.jpg Training/a/2.jpg Testing/b/3.jpg", "{split}/{label}/{key}", {}),
    ("seg_train/b/1.jpg seg_test/a/2.jpg", "{split}/{label}/{key}", {}),
    ("data/train/b/1.jpg data/val/a/2.jpg LICENSE", "data/{split}/{label}/{key}", {}),
    ("train/n01/images/1.JPEG train/n02/images/2.JPEG val/n01/3.jpg", "{split}/{label}/{key}", {}),
    ("1.jpg 2.jpg 2.json", "{key}", {}),
    ("one/1.jpg two/2.jpg two/a/3.jpg 0.jpg", "{key}", {"kind": "flat"}),
    ("a/b/1.jpg a/c/2.jpg a/b-c/3.jpg b/a/x/4.jpg", "{label:2}/{key}", {"class_depth": 2}),
    ("a/b/1.jpg a/c/d/2.jpg b/a/4.jpg b/5.jpg", "{label:all}/{key}", {"class_depth": "all"}),
]


@pytest.mark.parametrize(("names", "template", "options"), TREES)
def test_the_bytes_are_those_of_the_folders(
    names: str,
    template: str,
    options: dict[str, Any],
    tmp_path: Path,
    jpegs: list[bytes],
    write_files: Write,
    tars: Callable[..., dict[str, bytes]],
) -> None:
    files = {
        name: jpegs[at % 8] if name.lower().endswith(("g", "gif")) else b"{}"
        for at, name in enumerate(names.split())
    }
    src = write_files(tmp_path / "src", files)
    assert tars(src, images=template) == tars(src, **options)
    with zipfile.ZipFile(tmp_path / "src.zip", "w") as archive:
        for name in sorted(files):
            archive.write(src / name, name)
    assert tars(tmp_path / "src.zip", images=template) == tars(src, images=template)


@settings(max_examples=25, deadline=None)
@given(
    files=st.lists(
        st.tuples(st.sampled_from(["b", "a", "a b", "a-"]), st.sampled_from(["1", "x/2", "x y/1"])),
        min_size=1,
        unique=True,
    )
)
def test_samples_come_in_the_order_of_the_folders(
    files: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
    write_files: Write,
    scan: Scan,
) -> None:
    names = {f"{folder}/{name}.jpg": image() for folder, name in files} | {"z/0.jpg": image()}
    src = write_files(tmp_path_factory.mktemp("src"), names)
    options = SourceOptions(images=("{label}/{key}",))
    found, usual = scan(src, options=options), scan(src, options=SourceOptions(kind="folder"))
    assert found.samples == usual.samples
    assert found.source.classes == usual.source.classes


def test_another_order_of_classes_needs_no_further_look_at_the_files(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write
) -> None:
    src = write_files(tmp_path / "src", make_jpegs("a/1.jpg", "b/2.jpg"))
    for options in (SourceOptions(), SourceOptions(images=("{label}/{key}.jpg",))):
        reading = read(src, options)
        assert reading.open(None).classes == ("a", "b")
        src = src.rename(tmp_path / "moved")
        assert reading.open(["b", "a"]).classes == ("b", "a")
        src = src.rename(tmp_path / "src")


def test_other_fields_go_into_the_json(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, run_packer: Any
) -> None:
    src = write_files(tmp_path / "src", make_jpegs("fog/3/cat/1.jpg", "snow/1/dog/1.jpg"))
    template = "{corruption}/{severity}/{label}/{key}"
    done = packer.pack(src, tmp_path / "dst", images=template, progress=False, jobs=1)
    assert done.classes == 2
    run_packer("extract", tmp_path / "dst", tmp_path / "out")
    (path,) = (tmp_path / "out").rglob("fog/**/*.json")
    assert json.loads(path.read_text()) == {"corruption": "fog", "severity": "3"}


def test_a_folder_beside_the_source_may_hold_members(
    tmp_path: Path,
    make_jpegs: Callable[..., Any],
    write_files: Write,
    tars: Callable[..., dict[str, bytes]],
) -> None:
    write_files(
        tmp_path, make_jpegs("src/a/1.png", "src/b/2.png", "masks/a/1.png", "masks/b/2.png")
    )
    src = tmp_path / "src"
    by_template = tars(src, images="{label}/{key}", members={"mask": "../masks/{label}/{key}"})
    assert by_template == tars(src, images="{label}/{key}", members={"mask": "../masks/{path}"})
    assert by_template == tars(src, pairs={"mask": tmp_path / "masks"})


def test_the_path_of_an_image_begins_in_the_folder_of_all(
    tmp_path: Path,
    make_jpegs: Callable[..., Any],
    write_files: Write,
    tars: Callable[..., dict[str, bytes]],
) -> None:
    """A folder whose name has a star is named outright, and its images have a member elsewhere."""
    src = write_files(
        tmp_path / "src", make_jpegs("i*/a/1.png", "i*/b/2.png", "m/a/1.png", "m/b/2.png")
    )
    by_path = tars(src, images="i[*]/{label}/{key}", members={"mask": "m/{path}"})
    assert by_path == tars(src, images="i[*]/{label}/{key}", members={"mask": "m/{label}/{key}"})


def test_the_command_takes_them_several_times(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, run_packer: Any
) -> None:
    files = make_jpegs("i/a.png", "m/a.png") | {"l.txt": b"a cat", "s.txt": b"a val"}
    src = write_files(tmp_path / "src", files)
    lists = ["--labels", "l.txt: {key} {label}", "--labels", "s.txt: {key} {split}"]
    images = ["--images", "j/{key}", "--images", "i/{key}", "--member", "mask=m/{key}.png"]
    done = run_packer("pack", src, tmp_path / "dst", *images, *lists, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["splits"] == {"val": 1}
    options = json.loads((tmp_path / "dst/dataset.json").read_text())["options"]
    assert options["source"]["members"] == {"mask": "m/{key}.png"}
    again = run_packer("pack", src, tmp_path / "dst", *images, *lists, "--json")
    assert json.loads(again.stdout)["shards_written"] == 0
    repaired = run_packer("repair", tmp_path / "dst", "--from", src)
    assert repaired.returncode == 0, repaired.stderr
    assert os.listdir(tmp_path / "dst")


def test_python_names_the_argument(tmp_path: Path, write_files: Write) -> None:
    src = write_files(tmp_path / "src", {"a.jpg": b"x"})
    with pytest.raises(UnusableInput, match=r"images= '\{label', character 1"):
        packer.pack(src, tmp_path / "dst", images="{label", progress=False)
