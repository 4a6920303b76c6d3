"""Freezing on a sample: cases whose bytes depend on no library that encodes images."""

import json
from pathlib import Path

import pytest
from freeze import main

FROZEN = Path(__file__).with_name("frozen.json")
IGNORED = ("fingerprint", *(f"manifest/{name}" for name in ("packer", "reading", "shards")))
ARGUMENTS = [f"--ignore={field}" for field in (*IGNORED, "manifest/transcoders")]
ARGUMENTS += ["--jobs", "1"]
FOLDERS = "row/folders of other things beside class folders"


def test_shards_and_indexes_have_the_bytes_that_they_had() -> None:
    assert main(["compare", str(FROZEN), *ARGUMENTS]) == 0


def test_a_changed_byte_a_lost_name_and_a_refusal_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads(FROZEN.read_text("utf-8"))
    folder = record[FOLDERS]
    folder["files/shard-000000.tar"] = "0" + folder["files/shard-000000.tar"][1:]
    folder["ignored"] = []
    record["row/images alone"] = {"outcome": "UnusableInput", "rejected": []}
    changed = {name: record[name] for name in (FOLDERS, "row/images alone", "row/MNIST(root)")}
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    assert main(["compare", str(tmp_path / "changed.json"), *ARGUMENTS]) == 1
    listed = capsys.readouterr().out
    assert f"{FOLDERS}\n  files/shard-000000.tar: " in listed
    assert '  ignored: [] -> ["checkpoints/model.pth", ' in listed
    assert '  outcome: "UnusableInput" -> "packed"' in listed
    assert "row/MNIST(root)" not in listed
    assert "2 of 3 cases differ" in listed
