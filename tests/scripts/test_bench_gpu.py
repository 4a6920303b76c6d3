"""How long a device waits, and what the GPU benchmark compares with, tried out on a CPU."""

import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import bench
import pytest
import torch
from benchmarks.gpu_ways import apex, ways
from benchmarks.waiting import Waiting
from pretended_gpu import DEVICE, pretended_gpu

from reader.gpu_decode.decoders import ChosenDecoder

SCRIPTS = Path(bench.__file__).parent
RunScript = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_share_of_waiting_is_the_time_between_two_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("benchmarks.waiting.time.perf_counter", lambda: now)
    waiting = Waiting(torch.device("cpu"))

    def batches(count: int, seconds: float) -> Iterator[int]:
        nonlocal now
        for number in range(count):
            now += seconds
            yield number

    for _ in waiting.over(batches(3, seconds=1.0)):  # the first wait has nothing before it
        now += 3.0
    assert waiting.share() == pytest.approx(2 / 11)


def test_on_a_gpu_the_share_is_that_of_the_time_between_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pretended_gpu(monkeypatch) as gpu:

        def work(launches: int) -> None:
            for _ in range(launches):
                gpu.launch("kernel", set(), set())

        def batches() -> Iterator[int]:
            for launches in (7, 8, 9):
                work(1)
                yield launches

        waiting = Waiting(DEVICE)
        for launches in waiting.over(batches()):
            work(launches)
        assert waiting.share() == pytest.approx(2 / 26)
        assert gpu.waits == len(gpu.streams)


def test_the_peers_prefetcher_keeps_to_the_rules_of_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for number in range(8):
            images = torch.full((2, 3, 4, 4), number, dtype=torch.uint8)
            yield images.to(DEVICE) if number % 2 else images, torch.arange(2)

    with pretended_gpu(monkeypatch) as gpu:
        for images, labels in islice(apex(batches(), DEVICE), 6):
            (images.mean() + labels).sum()
            del images, labels
        assert gpu.faults == []


@pytest.mark.parametrize("can_decode", [True, False])
def test_decoding_on_the_gpu_is_compared_where_a_library_can(
    monkeypatch: pytest.MonkeyPatch, can_decode: bool
) -> None:
    decoder = "torchvision" if can_decode else ""
    chosen = ChosenDecoder(DEVICE, decoder)
    monkeypatch.setattr("benchmarks.gpu_ways.choose", lambda device, wanted: chosen)
    found = ways(DEVICE)
    assert {"shardfeed, GPU decode", "shardfeed, auto"} <= found.keys() or not can_decode
    assert ("DataLoader, torchvision GPU decode" in found) is can_decode
    each = [name for name in ways(DEVICE, all_decoders=True) if "(" in name]
    assert len(each) == (3 if can_decode else 0)


def test_the_plan_names_every_step_with_a_command_that_is_understood(
    tmp_path: Path, run_script: RunScript
) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "isal-1.9.1.whl").touch()
    out = tmp_path / "out"
    plan = run_script("bench_gpu", "--dry-run", "--wheels", tmp_path / "wheels", "--out", out)
    assert not out.exists()
    lines = plan.stdout.splitlines()
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("    ")]
    assert "--no-index" in commands[0]
    assert commands[0][-1] == str(tmp_path / "wheels" / "isal-1.9.1.whl")
    cases = [command[1:] for command in commands if command[0] == "scripts/bench.py"]
    assert {bench.parsed(case)[1].workers for case in cases} == {4, 8, 16}
    files = [command[0] for command in commands if command[0] != "-m"]
    assert all((SCRIPTS.parent / file).is_file() for file in files)


PYTHON = """#!/bin/bash
case "$*" in
    *sample_images*) echo 42 ;;
    *packer*) echo "no room" >&2 && exit 3 ;;
    *) echo begun && sleep 100 ;;
esac
"""


def test_a_step_that_fails_or_hangs_is_named_and_the_others_go_on(
    tmp_path: Path, run_script: RunScript
) -> None:
    out = tmp_path / "out"
    done = run_script("bench_gpu", "--seconds", 3, "--out", out, code=1, python3=PYTHON)
    assert done.stdout == (out / "gpu.md").read_text()
    assert re.match(
        r"## Images \(\d s\)\n\n42\n\n## Shards \(failed with 3, see 01.log\)", done.stdout
    )
    assert re.search(r"## 4 workers \(stopped after \d s, see 02.log\)\n\nbegun\n", done.stdout)
    assert "## Tests (no time was left)\n" in done.stdout
    assert (out / "01.log").read_text() == "no room\n"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_that_is_starved_is_seen_to_wait() -> None:
    def late(count: int) -> Iterator[int]:
        for number in range(count):
            torch.cuda.synchronize()
            time.sleep(0.05)  # the GPU has nothing to do meanwhile
            yield number

    fed, starved = Waiting(torch.device("cuda")), Waiting(torch.device("cuda"))
    for waiting, batches in ((fed, range(10)), (starved, late(10))):
        for _ in waiting.over(batches):
            torch.cuda._sleep(50_000_000)
    assert fed.share() < 0.1 < starved.share()
