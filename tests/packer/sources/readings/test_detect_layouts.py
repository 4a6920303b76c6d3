"""Layouts as publishers and tools lay them out, each in miniature, and what becomes of each.

The rows are in `layouts`.
"""

import functools
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from layouts.archives import image
from layouts.row import Read, Row
from layouts.scanned import GROUPS, ROWS
from sampled import sampled

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.records import Sample
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings import detect
from reader.format import Manifest, manifest

Write = Callable[..., Path]
IMAGE = re.compile(r"\.(jpe?g|png|gif|bmp|webp|tiff?|ppm)$", re.IGNORECASE)


@pytest.fixture
def lay_out(tmp_path: Path, jpegs: list[bytes], write_files: Write) -> Write:
    """`lay_out("cat/1.jpg notes.txt")`: a folder with these files, whose images are images."""

    def write(names: str, contents: Mapping[str, str | bytes] = {}) -> Path:
        files = {
            name: jpegs[number % len(jpegs)] if IMAGE.search(name) else b"{}"
            for number, name in enumerate(names.split())
        }
        texts = {n: c.encode() if isinstance(c, str) else c for n, c in contents.items()}
        return write_files(tmp_path / "src", files | texts)

    return write


def class_of(sample: Sample, classes: Sequence[str]) -> str | None:
    if sample.label < 0:
        return None
    return classes[sample.label] if classes else str(sample.label)


def check(found: Any, expected: Read) -> None:
    classes = found.source.classes
    labels = {s.key: class_of(s, classes) for s in found.samples}
    named = sorted({name for name in expected.labels.values() if name})
    assert labels == expected.labels
    if classes or not all(map(str.isdigit, named)):
        assert classes == tuple(named if expected.classes is None else expected.classes)
    assert {s.key: s.split for s in found.samples if s.split} == expected.splits
    assert found.skipped.keys() == expected.rejected
    assert found.ignored == expected.ignored
    members = {s.key: s.members for s in found.samples}
    if isinstance(expected.members, tuple):
        assert set(members.values()) <= {expected.members}
    else:
        assert members == expected.members
    for sample in found.samples:
        content = found.source.files.read(sample)
        size = len(content.image) if isinstance(content.image, bytes) else content.image.nbytes
        assert size + sum(map(len, content.members.values())) == sample.size
        wanted = expected.json.get(sample.key, {})
        told = json.loads(content.members["json"]) if wanted else {}
        assert {name: told[name] for name in wanted} == wanted
    assert re.search(expected.what, found.reading.what)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_layout_is_read_right_or_refused(
    row: Row, lay_out: Write, scan: Callable[..., Any]
) -> None:
    src = lay_out(row.files, row.contents) / row.src
    options = SourceOptions(**row.options)
    if isinstance(row.expected, Read):
        check(scan(src, options=options), row.expected)
    else:
        with pytest.raises(UnusableInput, match=f"(?s){row.expected}"):
            scan(src, options=options)


def test_every_recogniser_is_what_some_row_is_read_by(
    lay_out: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, Interpretation]] = []

    def noting(recognise: detect.Recognise) -> detect.Recognise:
        @functools.wraps(recognise)
        def note(place: Candidate) -> Interpretation | None:
            if reading := recognise(place):
                given.append((recognise.__name__, reading))
            return reading

        return note

    asked = tuple(map(noting, detect.recognisers()))
    monkeypatch.setattr(detect, "recognisers", lambda: asked)
    used = set()
    for row in ROWS:
        if isinstance(row.expected, Read):
            src = lay_out(row.files, row.contents)
            found = detect.read(src / row.src, SourceOptions(**row.options))
            used |= {by for by, reading in given if reading.what == found.what}
            given.clear()
            shutil.rmtree(src)
    assert used == {recognise.__name__ for recognise in asked}


@pytest.mark.parametrize(
    "row",
    sampled(
        (row for row in GROUPS["folders"] if not getattr(row.expected, "members", ())), every=3
    ),
    ids=lambda row: row.name,
)
def test_a_zip_of_a_layout_is_read_as_the_layout(
    row: Row, tmp_path: Path, lay_out: Write, scan: Callable[..., Any]
) -> None:
    src, options = lay_out(row.files), SourceOptions(**row.options)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in row.files.split():
            archive.write(src / name, name)
    if isinstance(row.expected, str):
        with pytest.raises(UnusableInput, match=f"(?s){row.expected}"):
            scan(tmp_path / "a.zip", options=options)
        return
    found = scan(tmp_path / "a.zip", options=options)
    classes = found.source.classes
    labels = {s.key: classes[s.label] if s.label >= 0 else None for s in found.samples}
    assert labels == row.expected.labels
    assert {s.key: s.split for s in found.samples if s.split} == row.expected.splits
    assert not found.skipped


def beside_their_images(row: Row) -> set[str]:
    """The extensions of the files that share an image's path; none if a list tells of them."""
    stems = {name.rpartition(".")[0] for name in row.files.split()}
    parts = [name.rpartition(".") for name in row.contents]
    lists = {ext for _, _, ext in parts} & {"data", "yaml", "json"}
    return set() if lists else {ext for stem, _, ext in parts if stem in stems}


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in [*GROUPS["coco"], *GROUPS["yolo"], *GROUPS["voc"], *GROUPS["masks"]]
        if isinstance(row.expected, Read)
        and row.expected.members
        and not (row.options or row.src)
        and not {"txt", "xml"} & beside_their_images(row)  # which are members, as they are
    ],
    ids=lambda row: row.name,
)
def test_a_zip_with_boxes_or_masks_is_read_as_its_folder(
    row: Row, tmp_path: Path, lay_out: Write, scan: Callable[..., Any]
) -> None:
    src = lay_out(row.files, row.contents)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in filter(Path.is_file, src.rglob("*")):
            archive.write(path, path.relative_to(src))
    check(scan(tmp_path / "a.zip"), row.expected)


def changed(rng: random.Random, files: dict[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Files of which some are deleted, renamed, wrapped or added, and the new names of folders."""
    renamed: dict[str, str] = {}
    for _ in range(rng.randint(1, 3)):
        part = rng.choice(rng.choice(sorted(files)).split("/"))
        how = rng.choice(["delete", "rename", "wrap", "add"])
        if how == "delete" and len(files) > 1:
            del files[rng.choice(sorted(files))]
        elif how == "rename" and "." not in part:
            other = rng.choice(["train", "Test", "masks", "images", "x", "val2", "labels"])
            renamed[part] = other
            files = {
                "/".join(other if p == part else p for p in name.split("/")): content
                for name, content in files.items()
            }
        elif how == "wrap":
            wrapper = rng.choice(["data", "images", "train", "archive/1"])
            files = {f"{wrapper}/{name}": content for name, content in files.items()}
        else:
            folder = rng.choice(["more", "test", "masks", "images"])
            files[f"{folder}/added{len(files)}.jpg"] = image(len(files))
    return files, renamed


def labels_of(found: Any) -> dict[str, set[str | None]]:
    """The classes of the images that are called so."""
    labels: dict[str, set[str | None]] = {}
    for sample in found.samples:
        base = sample.name.rpartition("/")[2]
        labels.setdefault(base, set()).add(class_of(sample, found.source.classes))
    return labels


# Those of which all is packed, told by what lies there alone: no other folder is said, nor classes.
CHANGED = [r for r in ROWS if not (r.src or "root" in r.options or "folder" in r.options.values())]


@pytest.mark.parametrize("seed", sampled(range(240), every=8))
def test_what_is_made_of_layouts_by_chance_is_right_or_not_packed(
    seed: int, tmp_path: Path, lay_out: Write, write_files: Write, scan: Callable[..., Any]
) -> None:
    """An image is a sample of its class, is named, or all is refused; labels are never wrong."""
    rng = random.Random(seed)
    row = rng.choice(CHANGED)
    options = SourceOptions(**row.options)
    whole = lay_out(row.files, row.contents)
    files = {
        str(path.relative_to(whole)): path.read_bytes()
        for path in sorted(whole.rglob("*"))
        if path.is_file()
    }
    files, renamed = changed(rng, files)
    src = write_files(tmp_path / "changed", files)
    try:
        found = scan(src, options=options)
    except UnusableInput:
        return
    if not found.samples or found.skipped:
        return  # nothing is packed, and what is in the way is named
    if isinstance(row.expected, Read) and len(found.source.classes) != 1:  # which tells nothing
        right = labels_of(scan(whole / row.src, options=options))
        for base, labels in labels_of(found).items():
            allowed = {name for label in right.get(base, ()) for name in new_names(label, renamed)}
            folders_of = {part for name in files if name.endswith(base) for part in name.split("/")}
            assert base not in right or labels <= allowed | folders_of | {None}, base
    assert len(found.labels) == len(found.samples)
    splits = {s.split for s in found.samples}
    may_be_open = row not in GROUPS["folders"]  # a list may leave it so
    assert splits == {""} or "" not in splits or may_be_open
    words = {"train", "test", "val", "training", "testing", "valid", "masks"}
    assert len(words.intersection(map(str.lower, found.source.classes))) < 2
    root = found.source.facts.root or src
    packed = {str((root / s.name).resolve()) for s in found.samples}
    members: set[bytes] = set()
    for sample in found.samples:
        packed |= {str((root / name).resolve()) for name in found.source.files.member_files(sample)}
        members |= set(found.source.files.read(sample).members.values())
    named = {str((root / name).resolve()) for name in found.ignored}
    for name in filter(IMAGE.search, files):
        path = (src / name).resolve()
        known = {str(path), *map(str, path.parents)}
        assert str(path) in packed or known & named or files[name] in members, name


def new_names(label: str | None, renamed: Mapping[str, str]) -> set[str | None]:
    """What a class may be called where folders are."""
    if label is None:
        return {None}
    parts = label.split("/")
    return {label, "/".join(renamed.get(part, part) for part in parts)}


COCO = b"""{"images": [{"id": 1, "file_name": "1.jpg"}], "categories": [{"id": 7, "name": "cat"}],
"annotations": [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]}]}"""


def test_what_cocos_annotations_do_not_list_is_named(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {"annotations/instances_train2017.json": COCO, "README.md": b"x"}
    files |= {"train2017/1.jpg": jpegs[0], "train2017/2.jpg": jpegs[1], "train2017/notes.md": b"x"}
    found = scan(write_files(tmp_path / "coco", files | {"test2017/3.jpg": jpegs[2]}))
    assert [(s.key, s.split) for s in found.samples] == [("train2017/1", "train")]
    assert found.skipped == {"train2017/2.jpg": "it is in no list"}
    assert found.ignored == {"README.md", "train2017/notes.md", "test2017/"}


def test_images_of_which_no_list_speaks_are_no_leftovers(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {f"{folder}/{n}.jpg": jpegs[n] for folder in ("JPEGImages", "more") for n in range(2)}
    files |= {"ImageSets/Segmentation/train.txt": b"0\n", "SegmentationClass/0.png": jpegs[2]}
    found = scan(write_files(tmp_path / "voc", files))
    assert [sample.name for sample in found.samples] == ["JPEGImages/0.jpg"]
    assert "JPEGImages/1.jpg" in found.ignored
    assert found.skipped.keys() == {"more/0.jpg", "more/1.jpg"}


def test_images_in_the_folder_of_another_split_are_not_those_of_a_table(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    names = ["train/1.jpg", "train/2.jpg", "test/1.jpg", "test/3.jpg"]
    files = {name: jpegs[n % 3] for n, name in enumerate(names)}
    rows = b"id,label\n1,cat\n2,dog\n3,cat\n"
    found = scan(write_files(tmp_path / "kaggle", files | {"trainLabels.csv": rows}))
    assert {s.name: s.split for s in found.samples} == {n: n.split("/")[0] for n in names}
    assert found.labels == {"train/1": 0, "train/2": 1, "test/1": -1, "test/3": -1}
    assert list(found.skipped.values()) == ["'3': no image has that name"]


def test_parquet_that_holds_bytes_is_not_passed_over(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {f"{kind}/{n}.jpg": jpegs[n] for kind, n in zip("abcabc", range(6), strict=True)}
    src = write_files(tmp_path / "src", files)
    pyarrow, parquet = (pytest.importorskip(n) for n in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(pyarrow.table({"key": ["a"], "jpg": [jpegs[0]]}), src / "0.parquet")
    assert "0.parquet" in scan(src).skipped
    parquet.write_table(pyarrow.table({"mean": [0.5]}), src / "0.parquet")
    assert "0.parquet" in scan(src).ignored


def test_series_of_tars_named_as_splits_are_splits(
    tmp_path: Path, jpegs: list[bytes], write_tar: Write, scan: Callable[..., Any]
) -> None:
    for name in ("set-train-000", "set-train-001", "set-val-000"):
        write_tar(tmp_path / f"{name}.tar", {f"{name}.jpg": jpegs[0], f"{name}.cls": b"0"})
    found = scan(tmp_path)
    assert {s.key: s.split for s in found.samples} == {
        "set-train-000": "train",
        "set-train-001": "train",
        "set-val-000": "val",
    }
    write_tar(tmp_path / "more.tar", {"1.jpg": jpegs[0], "1.cls": b"0"})
    with pytest.raises(UnusableInput, match=r"more\.tar does not"):
        scan(tmp_path)


def test_the_sentence_is_kept_and_one_without_it_still_loads(
    tmp_path: Path, lay_out: Write, run_pack: Callable[..., Any]
) -> None:
    report = run_pack(lay_out("Training/cat/1.jpg Testing/dog/2.jpg"), tmp_path / "dst")
    assert report.reading == (
        "Read as folders of images: 2 images; 2 classes (cat, dog); splits test 1, train 1."
    )
    path = tmp_path / "dst" / "dataset.json"
    assert Manifest.load(path.parent).reading == report.reading
    content = json.loads(path.read_text())
    del content["reading"], content["checksum"]
    path.write_text(json.dumps({**content, "checksum": manifest.own_checksum(content)}))
    assert Manifest.load(path.parent).reading == ""
    again = run_pack(tmp_path / "src", tmp_path / "dst")
    assert again.shards_written == 0
