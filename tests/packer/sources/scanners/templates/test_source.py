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


def test_a_path_in_a_list_without_keys_is_refused(
    tmp_path: Path, write_files: Write, scan: Scan
) -> None:
    table = {"x.csv": b"file,w\na/2.jpg,2\na/1.jpg,1\n"}
    src = write_files(tmp_path, {f"a/{n}.jpg": image() for n in "12"} | table)
    options = SourceOptions(images=("{label}/{key}",), labels=("x.csv: {path:file} {w}",))
    with pytest.raises(UnusableInput, match=r"\{path\} does not name images in lists"):
        scan(src, options=options)


def test_classes_may_be_in_another_order(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("a/1.jpg", "b/2.jpg"))
    found = scan(src, ["c", "b", "a"], SourceOptions(images=("{label}/{key}",)))
    assert found.labels == {"a/1": 2, "b/2": 1}


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


def test_the_first_template_that_fits_counts_and_an_image_that_none_fits_is_rejected(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("train/a/1.jpg", "test/2.jpg", "x/y/z/3.jpg", "4.jpg"))
    templates = "train/{label}/{key}", "{split=test}test/{key}"
    found = scan(src, options=SourceOptions(images=templates))
    assert {s.key: (s.label, s.split) for s in found.samples} == {
        "train/a/1": (0, ""),
        "test/2": (-1, "test"),
    }
    assert found.skipped == dict.fromkeys(
        ["x/y/z/3.jpg", "4.jpg"], "no template of --images matches it"
    )


def test_a_split_that_is_no_name_is_rejected(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("fold 1/1.jpg", "fold2/2.jpg"))
    found = scan(src, options=SourceOptions(images=("{split}/{key}",)))
    assert [sample.split for sample in found.samples] == ["fold2"]
    assert "'fold 1', is no name of letters" in found.skipped["fold 1/1.jpg"]


def test_two_splits_of_one_usual_name_keep_theirs(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("test1/1.jpg", "test2/2.jpg", "train/3.jpg"))
    found = scan(src, options=SourceOptions(images=("{split}/{key}",)))
    assert [sample.split for sample in found.samples] == ["test1", "test2", "train"]


MEMBERS = [
    (
        "{label}/images/{key}.png",
        {"mask.png": "{label}/masks/{key}.png"},
        "a/images/1.png a/masks/1.png",
    ),
    ("images/{key}", {"mask": "masks/{key}"}, "images/1.png masks/1.png"),
    ("{key}.png", {"mask": "{key}_mask.png"}, "1.png 1_mask.png"),
    ("{key}", {"mask": "{key}_mask"}, "1.png 1_mask.png"),
    ("{id}_{key}.png", {"mask.png": "masks/{id}.png"}, "7_a.png masks/7.png"),
]


@pytest.mark.parametrize(("images", "members", "names"), MEMBERS)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_member_is_the_file_at_the_filled_path(
    images: str,
    members: dict[str, str],
    names: str,
    zipped: bool,
    tmp_path: Path,
    make_jpegs: Callable[..., Any],
    write_files: Write,
    scan: Scan,
) -> None:
    files = make_jpegs(*names.split())
    src = write_files(tmp_path / "src", files)
    if zipped:
        src = tmp_path / "src.zip"
        with zipfile.ZipFile(src, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    found = scan(src, options=SourceOptions(images=(images,), members=members))
    (sample,) = found.samples
    content = found.source.files.read(sample)
    assert "mask.png" in sample.members
    assert (content.image, content.members["mask.png"]) == tuple(files.values())
    assert not found.skipped


def test_members_in_a_folder_that_holds_the_images_take_no_class(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("set/a/cat/1.png", "set/a/dog/2.png", "set/a/m/2.png"))
    found = scan(
        src,
        options=SourceOptions(
            images=("set/{part}/{label}/{key}",), members={"m?": "set/{part}/m/{key}"}
        ),
    )
    assert found.source.classes == ("cat", "dog")


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


def test_what_lacks_its_member_and_members_without_image_are_rejected(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> None:
    src = write_files(tmp_path, make_jpegs("i/1.png", "i/2.png", "m/2.png", "m/3.png", "n/1.png"))
    members = {"mask": "m/{key}.png", "other": "n/{key}.png"}
    found = scan(src, options=SourceOptions(images=("i/{key}",), members=members))
    assert found.samples == []
    lacks = "it has no other: there is no n/2.png"
    assert found.skipped == {
        "1.png": "it has no mask: there is no m/1.png",
        "../n/1.png": "its image is rejected: it has no mask: there is no m/1.png",
        "2.png": lacks,
        "../m/2.png": f"its image is rejected: {lacks}",
        "../m/3.png": "the source has no image of this path",
    }
    optional = {"mask?": "m/{key}.png", "other?": "n/{key}.png"}
    found = scan(src, options=SourceOptions(images=("i/{key}",), members=optional))
    assert [sample.members for sample in found.samples] == [("other.png",), ("mask.png",)]


Made = tuple[dict[str, tuple[str | None, str]], dict[str, str]]


@pytest.fixture
def made(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Write, scan: Scan
) -> Callable[..., Made]:
    """`made("a.jpg", {"l.txt": "a cat"}, labels=...)`: class and split by key, and the rejected."""

    def run(names: str, lists: dict[str, str], *labels: str, images: str = "{key}") -> Made:
        texts = {name: text.encode() for name, text in lists.items()}
        src = write_files(tmp_path / "src", make_jpegs(*names.split()) | texts)
        found = scan(src, options=SourceOptions(images=(images,), labels=labels))
        classes = found.source.classes
        told = {s.key: (classes[s.label] if s.label >= 0 else None, s.split) for s in found.samples}
        return told, found.skipped

    return run


@pytest.mark.parametrize(
    "key", ["a", "a.jpg", "x/a.jpg", "img/x/a", "/img/x/a.jpg", "./img/x/a.jpg", "img\\x\\a.jpg"]
)
def test_a_list_names_an_image_by_its_path_or_its_end(key: str, made: Callable[..., Made]) -> None:
    names = "img/x/a.jpg img/b.jpg"
    assert made(names, {"l.txt": f"{key} cat\nb dog"}, "l.txt: {key} {label}") == (
        {"img/x/a": ("cat", ""), "img/b": ("dog", "")},
        {},
    )


def test_a_list_names_an_image_by_the_key_of_its_template(made: Callable[..., Made]) -> None:
    lists = {"l.txt": "7 cat"}
    told = made("img/fog_7.jpg", lists, "l.txt: {key} {label}", images="img/{_}_{key}")
    assert told == ({"fog_7": ("cat", "")}, {})


def test_numbers_are_those_of_classes(made: Callable[..., Made]) -> None:
    told, _ = made("a.jpg b.jpg", {"l.txt": "a 10\nb 9"}, "l.txt: {key} {label}")
    assert told == {"a": ("10", ""), "b": ("9", "")}


def test_lists_are_joined_by_their_fields_as_cub_has_it(made: Callable[..., Made]) -> None:
    told = made(
        "images/001.A/x_1.jpg images/002.B/y_1.jpg",
        {"images.txt": "1 001.A/x_1.jpg\n2 002.B/y_1.jpg", "of.txt": "1 1\n2 2"}
        | {"classes.txt": "1 zebra\n2 ant", "train_test_split.txt": "1 train\n2 test"},
        "images.txt: {id} {key}",
        "of.txt: {id} {label}",
        "classes.txt: {label} {class}",
        "train_test_split.txt: {id} {split}",
        images="images/{key}",
    )
    assert told == ({"001.A/x_1": ("zebra", "train"), "002.B/y_1": ("ant", "test")}, {})


def test_class_names_of_folders_come_from_a_list(made: Callable[..., Made]) -> None:
    told, _ = made(
        "n02/1.jpg n01/2.jpg",
        {"words.txt": "n02 tench, Tinca\nn01 goldfish"},
        "words.txt: {label} {class}",
        images="{label}/{key}",
    )
    assert told == {"n02/1": ("tench, Tinca", ""), "n01/2": ("goldfish", "")}


def test_splits_are_those_of_lists(made: Callable[..., Made]) -> None:
    lists = {"sets/train.txt": "a\n", "sets/val.txt": "b\n"}
    told, _ = made("a.jpg b.jpg", lists, "sets/{split}.txt: {key}")
    assert told == {"a": (None, "train"), "b": (None, "val")}
    constants = "sets/train.txt: {key} {split=train}", "sets/val.txt: {key} {split=val}"
    assert made("a.jpg b.jpg", lists, *constants)[0] == told


def test_a_field_that_paths_have_tells_images_of_one_name_apart(made: Callable[..., Made]) -> None:
    told, _ = made(
        "train/1.jpg val/1.jpg",
        {"train.txt": "1 cat", "val.txt": "1 dog"},
        "{split}.txt: {key} {label}",
        images="{split}/{key}",
    )
    assert told == {"train/1": ("cat", "train"), "val/1": ("dog", "val")}


@pytest.mark.parametrize(
    ("names", "text", "rejected"),
    [
        (
            "x/a.jpg y/a.jpg",
            "a cat\nx/a dog",
            {"a": "may be x/a.jpg, y/a.jpg", "y/a.jpg": "no line of l.txt names it"},
        ),
        ("a.jpg b.jpg", "a 1\na 2\nb 1", {"a.jpg": "l.txt:1 and l.txt:2 name it with different"}),
        ("a.jpg", "a 1\nz.jpg 2", {"z.jpg": "l.txt:2 names it, and no image has that name"}),
        ("a.jpg b.jpg", "a 1", {"b.jpg": "no line of l.txt names it"}),
        ("a.jpg", "a.jpg 1\n\na", {"l.txt:3": "it is not of the form {key} {label}"}),
    ],
)
def test_what_a_list_and_the_images_do_not_share_is_named(
    names: str, text: str, rejected: dict[str, str], made: Callable[..., Made]
) -> None:
    _, found = made(names, {"l.txt": text}, "l.txt: {key} {label}")
    assert found.keys() == rejected.keys()
    for name, reason in rejected.items():
        assert reason in found[name]


def test_a_list_that_contradicts_a_path_is_named_with_both_values(
    made: Callable[..., Made],
) -> None:
    text = "cat/a.jpg dog\ncat/b.jpg cat\ndog/c.jpg dog"
    _, found = made(
        "cat/a.jpg cat/b.jpg dog/c.jpg",
        {"l.txt": text},
        "l.txt: {key} {label}",
        images="{label}/{key}",
    )
    assert "l.txt:1 names it, and the label of its path is 'cat', not 'dog'" in found["cat/a.jpg"]


def test_an_image_named_twice_with_the_same_values_is_one(made: Callable[..., Made]) -> None:
    told = made("a.jpg", {"l.txt": "a 0\na.jpg 0"}, "l.txt: {key} {label}")
    assert told == ({"a": ("0", "")}, {})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "folder"}, "Remove --as"),
        ({"class_depth": 2}, "Remove --class-depth"),
        ({"pairs": {"m": "m"}}, "Remove --pair"),
        ({"label_column": "x"}, "Remove --root"),
        ({"labels": ("l.txt: {id} {label}",)}, "for 1 image there are 2 lines"),
    ],
)
def test_what_contradicts_templates_is_refused(
    options: dict[str, Any], told: str, tmp_path: Path, write_files: Write, scan: Scan
) -> None:
    write_files(tmp_path, {"l.txt": b"1 2\n3 4", "a.jpg": b"x"})
    with pytest.raises(UnusableInput, match=told):
        scan(tmp_path, options=SourceOptions(**{"images": ("{key}",), **options}))


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
