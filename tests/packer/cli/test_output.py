"""What is printed reaches the terminal, or the exit code tells that it did not."""

import json
import os
import subprocess
import sys
from pathlib import Path

from called_packer import call_packer


def test_names_that_are_no_utf8_are_told_all_the_same(tmp_path: Path, bad_source: Path) -> None:
    dst = tmp_path / os.fsdecode(b"dst \xff")
    done = call_packer("pack", bad_source, dst, "--on-error", "skip")
    assert done.returncode == 1
    assert r"\xff empty.jpg: it is empty" in done.stderr
    assert "39 samples" in done.stdout
    again = call_packer("pack", bad_source, dst, "--on-error", "skip", "--json")
    assert json.loads(again.stdout)["dataset"] == str(dst)


def test_half_a_surrogate_pair_out_of_json_is_told_as_an_escape(
    tmp_path: Path, source: Path
) -> None:
    rows = [
        {"image": "class0/image000.jpg", "label": "\ud800"},
        {"image": "\udbff.jpg", "label": "cat"},
    ]
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ("--root", source, "--on-error", "skip")
    done = call_packer("pack", tmp_path / "list.jsonl", tmp_path / "dst", *options)
    assert done.returncode == 1
    assert "\\udbff.jpg': its path is not text" in done.stderr
    shown = call_packer("info", tmp_path / "dst")
    assert shown.returncode == 0
    assert "\\ud800" in shown.stdout


def test_a_report_that_cannot_be_written_is_told_and_exits_2(packed: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "info", str(packed)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 2
    assert "standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_under_the_log_does_not_stop_the_work(tmp_path: Path, source: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "pack", source / "class0", tmp_path / "dst"]
        command += ["--jobs", "1", "--jpeg", "verbatim"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, timeout=300)
    assert done.returncode == 0
    assert "13 samples" in done.stdout


def test_a_long_name_is_told_by_its_ends_and_is_whole_in_the_json(
    tmp_path: Path, source: Path
) -> None:
    names = [f"{letter}{'x' * 10**6}" for letter in "ab"]
    rows = [f"class0/image{number:03d}.jpg,{name}" for number, name in enumerate(names)]
    (tmp_path / "list.csv").write_text("\n".join(["image,label", *rows]))
    (tmp_path / "names.txt").write_text("\n".join(names[:1]))
    command = ("pack", tmp_path / "list.csv", tmp_path / "dst", "--root", source)
    refused = call_packer(*command, "--classes", tmp_path / "names.txt")
    assert "not in the list of classes: bxxx" in refused.stderr
    assert len(refused.stderr) < 2000
    for done in (
        call_packer(*command, "--dry-run"),
        call_packer(*command, "--explain"),
        call_packer(*command),
        call_packer("info", tmp_path / "dst"),
    ):
        assert done.returncode == 0, done.stderr
        assert "axxx" in done.stdout + done.stderr
        assert len(done.stdout + done.stderr) < 5000
    assert names[0] in call_packer("info", tmp_path / "dst", "--json").stdout
