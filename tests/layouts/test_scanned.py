"""Each row of `scanned` is read right or refused, also as an archive and without recognisers.

What chance makes of the rows is right or not packed.
"""

import functools
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import pytest
from sampled import sampled

from layouts.alone import only_folders
from layouts.archives import image
from layouts.details import ROWS as DETAILS
from layouts.row import Read, Row, Whole
from layouts.scanned import GROUPS, IMAGE, ROWS, lay_out
from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.records import Sample
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings import detect

Write = Callable[..., Path]


def class_of(sample: Sample, classes: Sequence[str]) -> str | None:
    if sample.label < 0:
        return None
    return classes[sample.label] if classes else str(sample.label)


def check(found: Any, expected: Read) -> None:
    classes = found.source.classes
    labels = classes_of(found)
    named = sorted({name for name in expected.labels.values() if name})
    assert labels == expected.labels
    if classes or not all(map(str.isdigit, named)):
        assert classes == tuple(named if expected.classes is None else expected.classes)
    assert splits_of(found) == expected.splits
    assert found.skipped.keys() == expected.rejected.keys()
    assert found.ignored == expected.ignored.keys()
    for name, words in {**expected.rejected, **expected.ignored}.items():
        assert words in found.reasons[name]
    members = {s.key: s.members for s in found.samples}
    if isinstance(expected.members, tuple):
        assert set(members.values()) <= {expected.members}
    else:
        assert members == expected.members
    for sample in found.samples:
        content = found.source.files.read(sample)
        size = len(content.image) if isinstance(content.image, bytes) else content.image.nbytes
        assert size + sum(map(len, content.members.values())) == sample.size
        if (path := Path(found.root, sample.name)).is_file():
            assert content.image == path.read_bytes()
        wanted = expected.json.get(sample.key, {})
        told = json.loads(content.members["json"]) if wanted else {}
        is_whole = isinstance(wanted, Whole)
        assert {name: told[name] for name in (told if is_whole else wanted)} == wanted
    assert re.search(expected.what, found.reading.what)
    assert expected.remark in "\n".join(found.source.facts.remarks)


def classes_of(found: Any) -> dict[str, str | None]:
    return {s.key: class_of(s, found.source.classes) for s in found.samples}


def splits_of(found: Any) -> dict[str, str]:
    return {s.key: s.split for s in found.samples if s.split}


@pytest.mark.parametrize("row", [*ROWS, *DETAILS], ids=lambda row: row.name)
def test_a_layout_is_read_right_or_refused(
    row: Row, tmp_path: Path, scan: Callable[..., Any]
) -> None:
    src, options = lay_out(row, tmp_path / "src"), SourceOptions(**row.options)
    if isinstance(row.expected, Read):
        check(scan(src, list(row.given) or None, options), row.expected)
    else:
        with pytest.raises(UnusableInput, match=f"(?s){row.expected}"):
            scan(src, list(row.given) or None, options)


def test_every_recogniser_is_what_some_row_is_read_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    used: set[str] = set()
    for row in filter(None, chain.from_iterable(zip_longest(*GROUPS.values()))):
        if isinstance(row.expected, Read) and len(used) < len(asked):
            found = detect.read(lay_out(row, tmp_path / "src"), SourceOptions(**row.options))
            used |= {by for by, reading in given if reading.what == found.what}
            given.clear()
            shutil.rmtree(tmp_path / "src")
    # A row cannot write HDF5, so its tests are those of the container.
    assert used | {"hdf5"} == {recognise.__name__ for recognise in asked}


def beside_their_images(row: Row) -> set[str]:
    """The extensions of the files that share an image's path; none if a list tells of them."""
    stems = {name.rpartition(".")[0] for name in row.files.split()}
    parts = [name.rpartition(".") for name in row.contents]
    lists = {ext for _, _, ext in parts} & {"data", "yaml", "json"}
    return set() if lists else {ext for stem, _, ext in parts if stem in stems}


FLAT = [row for row in GROUPS["folders"] if not getattr(row.expected, "members", ())]
BOXED = [
    row
    for row in (*GROUPS["coco"], *GROUPS["yolo"], *GROUPS["voc"], *GROUPS["masks"])
    if isinstance(row.expected, Read)
    and row.expected.members
    and not (row.options or row.src)
    and not {"txt", "xml"} & beside_their_images(row)  # which are members, as they are
]
LISTED = [r for r in ROWS if r not in FLAT and r not in BOXED and not (r.src or r.options)]


@pytest.mark.parametrize(
    "row",
    [*sampled(FLAT, every=3), *BOXED, *sampled(LISTED, every=4)],
    ids=lambda row: row.name,
)
def test_a_zip_of_a_layout_is_read_as_its_folder_or_refused(
    row: Row, tmp_path: Path, scan: Callable[..., Any]
) -> None:
    src = lay_out(row, tmp_path / "src")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in filter(Path.is_file, src.rglob("*")):
            archive.write(path, path.relative_to(src))
    try:
        found = scan(tmp_path / "a.zip", options=SourceOptions(**row.options))
    except UnusableInput as refusal:
        refused = isinstance(row.expected, str) and re.search(f"(?s){row.expected}", str(refusal))
        assert refused or row in LISTED
        return
    if row in LISTED and not (isinstance(row.expected, Read) and found.samples):
        return
    if row in LISTED and found.skipped:
        return
    assert isinstance(row.expected, Read)
    if row in BOXED:
        check(found, row.expected)
    assert classes_of(found) == row.expected.labels
    assert splits_of(found) == row.expected.splits
    assert not found.skipped or row in BOXED


def below_images(values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return values by keys without the folder that holds all images."""
    return {key.removeprefix("images/"): value for key, value in values.items()}


OTHERS = {  # that are packed otherwise than by their recogniser
    "SUN397 with its list of classes": "a list of as many folders as there are classes",
    "Label Studio: choices, in JSON_MIN": "the choice is kept in the json",
    "Azure's AutoML": "all images are of one split, which only the name of the file gives",
    "Label Studio: uploads that were downloaded without their prefix": "names with a prefix each",
}


@pytest.mark.parametrize(
    "row",
    sampled((row for row in ROWS if row.name not in OTHERS), every=4),
    ids=lambda row: row.name,
)
def test_without_recognisers_no_layout_is_packed_wrongly(
    row: Row, tmp_path: Path, scan: Callable[..., Any]
) -> None:
    kind = row.options.get("kind")
    kept = {**row.options, "kind": kind if kind in ("folder", "flat") else None}
    try:
        with only_folders():
            found = scan(lay_out(row, tmp_path / "src"), options=SourceOptions(**kept))
    except UnusableInput:
        return
    if found.skipped or not found.samples or not isinstance(row.expected, Read):
        return
    assert below_images(classes_of(found)) == below_images(row.expected.labels)
    assert below_images(splits_of(found)) == below_images(row.expected.splits)
    wanted = row.expected.members
    for sample in found.samples:
        own = wanted if isinstance(wanted, tuple) else wanted[sample.key]
        is_kept = set(sample.members) == {"xml"} and own == ("json",)  # as it is
        assert set(sample.members) == set(own) or is_kept


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
    seed: int, tmp_path: Path, write_files: Write, scan: Callable[..., Any]
) -> None:
    """An image is a sample of its class, is named, or all is refused; labels are never wrong."""
    rng = random.Random(seed)
    row = rng.choice(CHANGED)
    options = SourceOptions(**row.options)
    whole = lay_out(row, tmp_path / "src")
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
        right = labels_of(scan(whole, options=options))
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
