"""What is printed reaches the terminal, or the exit code tells that it did not."""

import json
import subprocess
import sys
from pathlib import Path

from called_packer import call_packer


def test_half_a_surrogate_pair_of_json_is_shown_as_an_escape(tmp_path: Path, source: Path) -> None:
    rows = [{"image": "class0/image000.jpg", "label": "\ud800"}]
    rows.append({"image": "\udbff.jpg", "label": "cat"})
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ("--root", source, "--on-error", "skip")
    done = call_packer("pack", tmp_path / "list.jsonl", tmp_path / "dst", *options, code=1)
    assert "\\udbff.jpg': its path is not text" in done.stderr
    shown = call_packer("info", tmp_path / "dst", code=0)
    assert "\\ud800" in shown.stdout


def test_a_report_that_cannot_be_written_is_told_and_exits_2(packed: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "info", str(packed)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 2
    assert "standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_under_the_log_does_not_stop_the_work(dst: Path, source: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "pack", source / "class0", dst]
        command += ["--jobs", "1", "--jpeg", "verbatim"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, timeout=300)
    assert done.returncode == 0
    assert "13 samples" in done.stdout
