"""`packer plan`: what it prints, takes and refuses."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from called_packer import call_packer
from packing import run_pack
from store_server import serving

from reader import Dataset

run = partial(call_packer, "plan")


def test_a_plan_says_steps_traffic_memory_and_what_a_change_would_do(packed: Path) -> None:
    found = run(packed, "--batch-size", 4, "--nodes", 2, "--ranks", 2, "--rate", 100, code=0)
    plan, table = found.stdout.split("\n\n")
    lines = dict(line.split(maxsplit=1) for line in plan.splitlines())
    assert "39 samples in 4 shards" in lines["dataset"]
    assert "decode 0.2 s" in lines["time"]
    assert "(given)" in lines["rate"]
    assert lines["not"].startswith("known   --gpu-rate:")
    assert table.splitlines()[1].startswith("as planned")
    assert "--shuffle block:4" in table


def test_a_folder_here_is_asked_for_nothing_unless_a_store_is_meant(packed: Path) -> None:
    for word in ("request", "cache", "latency"):
        assert word not in run(packed, "--rate", 100).stdout.replace('cache="decoded"', "")
    found = run(packed, "--rate", 100, "--cache-limit", "2MB").stdout
    assert "from its cache; 0.39 s, bound by decode" in found
    assert "not known   --latency, --bandwidth, --gpu-rate" in found


def test_a_plan_is_for_train_unless_a_split_is_named(tmp_path: Path, own_source: Path) -> None:
    run_pack(own_source, tmp_path / "shards", split={"train": 0.7, "val": 0.3})
    whole = len(Dataset(tmp_path / "shards"))
    train = len(Dataset(tmp_path / "shards", split="train"))
    splits = (), ("--split", "val"), ("--split", "")
    found = [json.loads(run(tmp_path / "shards", "--json", *split).stdout) for split in splits]
    assert [plan["split"] for plan in found] == ["train", "val", None]
    assert [plan["samples"] for plan in found] == [train, whole - train, whole]
    assert f"shards, split train: {train} samples" in run(tmp_path / "shards").stdout


def test_a_plan_comes_as_json_with_the_sources_of_its_rates(packed: Path) -> None:
    options = "--latency", "100ms", "--shuffle", "block:2", "--epochs", 3, "--batch-size", 4
    found = run(packed, "--json", *options, code=0)
    plan = json.loads(found.stdout)
    assert plan["rates"]["latency"] == {"value": 0.1, "source": "given"}
    assert len(plan["traffic"]) == len(plan["times"]) == 3
    assert plan["alternatives"][0]["change"] == "--shuffle global"


def test_a_rate_is_measured_here_and_says_so(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("packer.cli.plan._SECONDS", 0.1)
    found = run(packed, "--rate", "measured", "--batch-size", 8, "--workers", 1, code=0)
    assert "measured here with 1 worker for 0 s" in found.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reading from a store needs Linux")
def test_a_store_is_measured(packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="the extra `remote` is not installed")
    monkeypatch.setattr("packer.cli.plan._SECONDS", 0.5)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with serving(packed) as server:
        server.latency = 0.05
        found = run(server.url, "--bandwidth", "1GB", "--json", code=0)
    rates = json.loads(found.stdout)["rates"]
    assert rates["latency"]["value"] >= 0.05
    assert rates["latency"]["source"].startswith("measured in")
    assert rates["bandwidth"] == {"value": 1e9, "source": "given"}


@pytest.mark.parametrize(
    "wrong",
    [
        ("--shuffle", "blocks"),
        ("--shuffle", "block:0"),
        ("--latency", "fast"),
        ("--rate", "0"),
        ("--bandwidth", "1 lot"),
    ],
)
def test_what_cannot_be_planned_with_is_named(packed: Path, wrong: tuple[str, str]) -> None:
    found = run(packed, *wrong, code=2)
    assert wrong[1] in found.stderr


def test_a_cache_that_is_too_small_is_refused_with_what_would_do(packed: Path) -> None:
    found = run(packed, "--cache-limit", "1kB", code=2)
    assert "Pass at least --cache-limit 1MB" in found.stderr
