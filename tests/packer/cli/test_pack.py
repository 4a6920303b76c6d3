"""`packer pack`: its report, its plan, and what it refuses."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from made_images import write_files

from packer.cli.main import main
from packer.run import write_missing
from reader.format import Manifest


def shards(dst: Path) -> int:
    return len(list(dst.glob("shard-*.safetensors")))


def test_packing_tells_what_it_did_and_exits_0(dst: Path, source: Path) -> None:
    done = call_packer("pack", source, dst, "--jobs", 1, "--shard-samples", 10, code=0)
    assert re.fullmatch(
        r"Read as folders of images: 39 images; 3 classes \(class0, class1, class2\)\.\n"
        r"Equivalent command: packer pack .*/dst .*--shard-samples 10.* --images '{label}/{key}'\n"
        r".*/dst: 39 samples in 3 classes, 4 shards \(4 written now\), .* 0 files rejected.*\n",
        done.stdout,
    )
    assert Manifest.load(dst).classes == ("class0", "class1", "class2")


def test_bad_files_stop_the_run_and_can_then_be_skipped(dst: Path, bad_source: Path) -> None:
    command = ("pack", bad_source, dst, "--shard-samples", 10, "--json")
    name = os.fsdecode(b"class1/\xff empty.jpg")
    stopped = call_packer(*command, "--on-error", "stop", code=2)
    assert stopped.stderr.count(r"class1/\xff empty.jpg: it is empty") == 1
    assert stopped.stderr.count("class0/text.jpg: it is not an image") == 1
    assert "1 file rejected, so nothing will be committed. Packing continues" in stopped.stderr
    report = json.loads(stopped.stdout)
    assert (report["committed"], len(report["rejected"])) == (False, 2)
    assert not (dst / "dataset.json").exists()
    before = {path: path.stat().st_mtime_ns for path in dst.glob("shard-*")}
    assert len(before) == 8
    skipped = call_packer(*command, "--on-error", "skip", code=1)
    report = json.loads(skipped.stdout)
    assert (report["committed"], report["samples"], report["classes"]) == (True, 39, 3)
    assert (report["dataset"], report["shards_written"]) == (str(dst), 0)
    assert {entry["file"]: entry["reason"] for entry in report["rejected"]} == {
        "class0/text.jpg": "it is not an image of a known format",
        name: "it is empty",
    }
    assert {path: path.stat().st_mtime_ns for path in before} == before
    quiet = call_packer(*command[:-1], "--quiet", "--on-error", "skip")
    assert (quiet.returncode, quiet.stdout, len(quiet.stderr.splitlines())) == (1, "", 2)


def test_a_source_of_nothing_that_can_be_packed_is_told_as_json_too(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "empty.jpg").touch()
    for dry in ((), ("--dry-run",)):
        done = call_packer("pack", tmp_path / "src", tmp_path / "dst", "--json", *dry, code=2)
        rejected = [{"file": "empty.jpg", "reason": "it is empty"}]
        assert json.loads(done.stdout) == {"committed": False, "rejected": rejected}


def test_a_dry_run_says_what_it_would_write(tmp_path: Path, source: Path, own_source: Path) -> None:
    shares = ("--split", "train=0.75,val=0.25", "--shard-samples", 10)
    done = call_packer(
        "pack", source, tmp_path / "dst", *shares, "--dry-run", "--json", "--quiet", code=0
    )
    plan = json.loads(done.stdout)
    assert not (tmp_path / "dst").exists()
    assert plan["ignored"] == plan["rejected"] == []
    assert plan["samples"] == sum(plan["splits"].values()) == sum(plan["classes"].values()) == 39
    done = call_packer("pack", source, tmp_path / "dst", *shares, "--jpeg", "verbatim")
    shards = Manifest.load(tmp_path / "dst").shards
    assert [(item["file"], item["samples"]) for item in plan["shards"]] == [
        (shard.file, shard.samples) for shard in shards
    ]
    written = sum(path.stat().st_size for path in (tmp_path / "dst").rglob("*.*"))
    assert written <= plan["bytes_needed"] < 2 * written
    spoken = call_packer("pack", source, tmp_path / "dst", *shares, "--dry-run", "--quiet")
    assert re.search(r" [kMGT]B free\. Nothing was written", spoken.stdout)
    next(own_source.rglob("*.jpg")).write_bytes(b"")
    done = call_packer("pack", own_source, tmp_path / "other", "--dry-run", code=1)
    assert "it is empty" in done.stderr


def test_a_disk_that_is_too_small_ends_a_run_and_a_dry_run_before_anything_is_written(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(path) for path in sorted(source.rglob("*.jpg"))]
    table = tmp_path / "l.csv"
    table.write_text("\n".join(["path,kind", *(f"{name},pug" for name in names)]))
    command = ("pack", table, tmp_path / "dst", "--root", source, "--jpeg", "verbatim")
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(tmp_path)._replace(free=2345)
        patch.setattr(shutil, "disk_usage", lambda path: usage)
        for dry in ((), ("--dry-run",)):
            done = call_packer(*command, *dry, code=2)
            assert re.search(r"take up to [0-9.]+ kB, and the disk has 2\.345 kB free", done.stderr)
            assert "If one of kind is the label" in done.stdout  # remarks on a source come before
    assert not list((tmp_path / "dst").rglob("*.tar"))
    done = call_packer(*command, code=0)
    assert done.stdout.count("If one of kind is the label") == 1


def test_a_dry_run_names_ten_of_many_classes_and_all_in_json(tmp_path: Path, source: Path) -> None:
    image = min(source.rglob("*.jpg")).read_bytes()
    for number in range(12):
        images = {f"{number}-{at}.jpg": image for at in range(2)}
        write_files(tmp_path / "src" / f"class{number:02}", images)
    command = ("pack", tmp_path / "src", tmp_path / "dst", "--dry-run")
    lines = call_packer(*command).stdout.splitlines()
    assert sum(line.startswith("class ") for line in lines) == 10
    assert "and 2 more, 12 classes in all" in lines
    assert len(json.loads(call_packer(*command, "--json").stdout)["classes"]) == 12


def test_a_part_says_what_it_has_written_and_what_is_left(dst: Path, source: Path) -> None:
    command = ["pack", source, dst, "--shard-samples", "10", "--jobs", "1"]
    done = call_packer(*command, "--part", "1/2", code=0)
    assert "part 1/2, 20 samples in 2 shards (2 written now)" in done.stdout
    assert "2 shards of the dataset still missing" in done.stdout
    again = call_packer(*command, "--part", "2/2")
    assert "run the command without --part" in again.stdout
    report = json.loads(call_packer(*command, "--part", "2/2", "--json").stdout)
    assert (report["part"], report["shards_written"], report["missing"]) == ("2/2", 0, 0)
    assert not report["committed"]
    call_packer(*command, code=0)
    assert "the dataset is committed" in call_packer(*command, "--part", "1/2").stdout
    for wrong in (["--part", "3/2"], ["--part", "1/2", "--append"], ["--executor", "spark"]):
        for only in ([], ["--dry-run"], ["--explain"]):
            refused = call_packer(*command, *wrong, *only, code=2)
            assert wrong[0] in refused.stderr


def test_what_an_engine_prints_is_not_in_the_json(
    dst: Path, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = write_missing.write_missing

    def noisy(*arguments: Any, **options: Any) -> Any:
        print("(raylet) A node has died.")
        return plain(*arguments, **options)

    monkeypatch.setattr("packer.run.pack.write_missing", noisy)
    command = ["pack", str(source), str(dst), "--jobs", "1", "--json"]
    main(command, standalone_mode=False)
    printed = capsys.readouterr()
    assert json.loads(printed.out)["committed"]
    assert "A node has died" in printed.err
