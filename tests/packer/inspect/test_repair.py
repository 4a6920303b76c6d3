"""Damaged shards are made again, byte for byte, or left as they are."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from damage import flip
from finished import repair, verify
from made_images import make_folder, write_files
from other_process import forked
from packing import files_of, pack, run_pack

import packer
from packer.errors import UnusableInput
from packer.options.declared import PackOptions
from reader.format import Index, Manifest


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    "damaged",
    [
        *(["shard-000001.tar"], ["shard-000001.safetensors"]),
        ["shard-000000.tar", "shard-000003.tar", "shard-000003.safetensors"],
    ],
    ids=str,
)
def test_what_is_damaged_becomes_what_it_was(
    copy: Path, source: Path, packed: Path, damaged: list[str], jobs: int
) -> None:
    for name in damaged:
        flip(copy / name, 700)
    report = repair(copy, source, jobs)
    assert sorted(report.repaired) == sorted(damaged)
    assert report.failed == []
    assert {damage.file for damage in report.damages} >= set(damaged)
    assert files_of(copy) == files_of(packed)


def test_what_is_missing_or_cut_short_is_made_again(copy: Path, source: Path, packed: Path) -> None:
    (copy / "shard-000000.tar").unlink()
    (copy / "shard-000001.safetensors").unlink()
    os.truncate(copy / "shard-000002.tar", 1000)
    assert len(repair(copy, source, 1).repaired) == 3
    assert files_of(copy) == files_of(packed)


def test_a_sound_dataset_is_left_alone(copy: Path, tmp_path: Path) -> None:
    times = {path: path.stat().st_mtime_ns for path in copy.iterdir()}
    report = repair(copy, tmp_path / "not needed", 1)
    assert (report.repaired, report.damages) == ([], [])
    assert {path: path.stat().st_mtime_ns for path in copy.iterdir()} == times


def test_what_a_program_has_packed_only_that_can_make_again(dst: Path, source: Path) -> None:
    packer.pack([np.zeros((4, 4), np.uint8)], dst, progress=False)
    flip(dst / "shard-000000.tar", 700)
    done = call_packer("repair", dst, "--from", source, code=2)
    assert "packed from Python, and `packer repair` cannot run that program" in done.stderr


def test_shards_with_rejected_files_are_the_same_again(own_source: Path, dst: Path) -> None:
    for number in range(5):
        (own_source / "class1" / f"bad{number}.jpg").write_text("text")
    run_pack(own_source, dst, skip_rejected=True, shard_samples=10)
    before = files_of(dst)
    for path in dst.glob("shard-*"):
        flip(path, 1500)
    assert repair(dst, own_source, 2).failed == []
    assert files_of(dst) == before


def test_appended_shards_are_made_again(own_source: Path, tmp_path: Path) -> None:
    options, dst = PackOptions(shard_samples=10), tmp_path / "dst"
    pack(own_source, dst, options, 1)
    for path in make_folder(tmp_path / "more", images=13).rglob("image00[01].jpg"):
        path.rename(own_source / path.parent.name / f"more-{path.name}")
    pack(own_source, dst, options, 1, append=True)
    before = files_of(dst)
    for name in ("shard-000000.tar", "shard-000002.safetensors", "shard-000004.tar"):
        flip(dst / name, 900)
    assert repair(dst, own_source, 1).failed == []
    assert files_of(dst) == before


@pytest.mark.parametrize("change", ["other content", "other names", "missing"])
def test_another_source_repairs_nothing(copy: Path, own_source: Path, change: str) -> None:
    flip(copy / "shard-000001.tar", 700)
    before = files_of(copy)
    for image in sorted(own_source.glob("*/*.jpg"))[::2]:
        if change == "other content":
            flip(image, -3)
        elif change == "other names":
            image.rename(image.with_name(f"x{image.name}"))
        else:
            image.unlink()
    [(file, reason)] = repair(copy, own_source, 1).failed
    assert file == "shard-000001.tar"
    assert ("has other names, sizes or labels" in reason) == (change != "other content")
    assert files_of(copy) == before


@pytest.mark.parametrize("kind", ["tar", "a part"])
def test_any_source_repairs_the_shards_whose_bytes_it_gives(
    copy: Path, packed: Path, own_source: Path, tmp_path: Path, kind: str
) -> None:
    flip(copy / "shard-000001.tar", 700)
    source = own_source
    if kind == "a part":
        index = Index(packed / "shard-000000.safetensors", mapped=False)
        (own_source / f"{index.key(0)}.jpg").unlink()
    else:
        source = Path(shutil.make_archive(str(tmp_path / "archive"), kind, own_source))
    assert repair(copy, source, 1).repaired == ["shard-000001.tar"]
    assert files_of(copy) == files_of(packed)


def test_shards_that_nothing_tells_of_are_named(copy: Path, source: Path) -> None:
    """Here dataset.json has a shard that lies nowhere, and that its options do not give."""
    manifest = Manifest.load(copy)
    lost = replace(manifest.shards[0], file="lost.tar")
    manifest = replace(manifest, shards=(*manifest.shards, lost))
    (copy / "dataset.json").write_text(manifest.dump(), "utf-8")
    before = files_of(copy)
    failed = repair(copy, source, 1).failed
    assert [file for file, _ in failed] == ["lost.tar"]
    assert files_of(copy) == before


@pytest.mark.parametrize("damage", ["{}", "a flipped bit"])
def test_a_damaged_manifest_is_refused_with_advice(copy: Path, source: Path, damage: str) -> None:
    path = copy / "dataset.json"
    path.write_text(damage) if damage == "{}" else flip(path, 700)
    before = files_of(copy)
    with pytest.raises(UnusableInput, match="Restore it from a copy, or pack the source again"):
        repair(copy, source, 1)
    assert files_of(copy) == before


def test_a_manifest_in_other_bytes_is_mended(copy: Path, source: Path, packed: Path) -> None:
    path = copy / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert repair(copy, source, 1).repaired == ["dataset.json"]
    assert files_of(copy) == files_of(packed)


def test_the_command_clears_away_what_a_killed_one_left(copy: Path, source: Path) -> None:
    def die() -> None:
        os.replace = lambda *_: os._exit(9)
        repair(copy, source, jobs=1)

    flip(copy / "shard-000001.tar", 700)
    with forked(die) as child:
        os.waitpid(child, 0)
    assert list(copy.glob(".repair-*/*"))
    done = call_packer("repair", copy, "--from", source, "--json", code=0)
    assert json.loads(done.stdout)["repaired"] == ["shard-000001.tar"]
    assert "damaged: shard-000001.tar, sample" in done.stderr
    assert verify(copy, 1).damages == []
    assert not list(copy.glob(".*"))


def test_folders_that_the_command_did_not_make_stay(
    copy: Path, source: Path, tmp_path: Path
) -> None:
    own = write_files(tmp_path / "own", {"0/shard-000000.tar": b"mine"})
    (copy / ".repair-link").symlink_to(own)
    write_files(copy / ".repair-old", {"0/shard-000000.tar": b"mine", "notes": b"mine"})
    flip(copy / "shard-000001.tar", 700)
    assert repair(copy, source, jobs=1).repaired == ["shard-000001.tar"]
    for folder in (".repair-link", ".repair-old"):
        assert (copy / folder / "0/shard-000000.tar").read_bytes() == b"mine"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_source_file_that_ends_the_process_is_named_and_other_shards_are_repaired(
    with_faulty: tuple[Path, Path, str], jobs: int
) -> None:
    source, shards, key = with_faulty
    for name in ("shard-000000.tar", "shard-000001.tar"):
        flip(shards / name, 512 + 700)
    done = call_packer("repair", shards, "--from", source, "--jobs", jobs, code=1)
    assert "Traceback" not in done.stderr
    told = f"shard-000000.tar: encoding the sample {key!r} (Segmentation fault (signal 11)) ends"
    assert told in done.stderr
    assert {damage.file for damage in verify(shards, 1).damages} == {"shard-000000.tar"}
