"""The sweep over numbers of workers: its points, its table, its verdict."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest
from called_packer import call_packer
from counted import statistics_of
from other_process import wait_until
from PIL import Image

from packer.cli.bench import sweep, verdict
from packer.inspect.bench import Point

StartPacker = Callable[..., "subprocess.Popen[str]"]
RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]


run = partial(call_packer, "bench")


def point(workers: int, rate: int, cpu: float = 0.9) -> Point:
    counts = {"batches": 10, "samples": 10 * rate, "elapsed": 10.0, "waited": 9.9, "cores": 8}
    spent = {"worker_seconds": 10.0 * workers, "busy": 9.9 * workers, "cpu": 10 * workers * cpu}
    return Point(workers, statistics_of(workers=workers, **counts, **spent))


@pytest.mark.parametrize(
    ("largest", "numbers"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]
)
def test_a_sweep_doubles_up_to_the_largest(largest: int, numbers: list[int]) -> None:
    assert sweep(largest) == numbers


def test_the_verdict_is_for_the_fewest_workers_that_are_as_good_as_any() -> None:
    assert verdict([point(1, 500), point(2, 970), point(4, 1000, cpu=0.9)]) == (
        "2 workers gave 970 images/s, and more, up to 4, gave no more than 1000 "
        "(decode-bound; each of 4 had 90% of a core)."
    )


def test_the_verdict_estimates_what_more_would_add_only_where_that_was_not_measured() -> None:
    sentence = verdict([point(1, 500), point(2, 970)])
    assert sentence.startswith("2 workers gave 970 images/s. decode-bound: ")
    assert "each further worker adds about 490 images/s" in sentence


def test_a_line_of_the_table_tells_workers_rate_cpu_and_limit() -> None:
    assert point(2, 970, cpu=0.93).line().split() == ["2", "970", "93%", "decode"]


def test_a_dataset_is_measured_and_drawn_by_number_of_workers(packed: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="drawing needs shardfeed[report]")
    path = tmp_path / "rates.png"
    found = run(
        *(packed, "--seconds", 0.1, "--batch-size", 16, "--workers", "2,1", "--plot", path), code=0
    )
    header, first, second, sentence = found.stdout.splitlines()
    assert header.split() == ["workers", "images/s", "CPU", "share", "bound", "by"]
    assert (first.split()[0], second.split()[0]) == ("1", "2")
    assert float(first.split()[1]) > 0
    assert "images/s" in sentence
    with Image.open(path) as drawn:
        assert drawn.format == "PNG"


def test_points_and_verdict_come_as_json(packed: Path) -> None:
    found = run(packed, "--seconds", 0.1, "--workers", 1, "--transform", "center", "--json", code=0)
    report = json.loads(found.stdout)
    assert [point["workers"] for point in report["points"]] == [1]
    assert report["points"][0]["images_per_second"] > 0
    assert report["points"][0]["bottleneck"] in report["verdict"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--workers", "many"], "Invalid value for '--workers': 'many'"),
        (["--workers", "0"], "Invalid value for '--workers': '0'"),
        (["--workers", "1,-2"], "Invalid value for '--workers': '1,-2'"),
        (["--workers", "1,"], "Invalid value for '--workers': '1,'"),
        (["--workers", "1,2000000"], "2000000 is too many for this machine: pass at most"),
        (["--split", "nope"], "nope"),
        (["--seconds", "600", "--plot", "rates.jpg"], "rates.jpg"),
        (["--seconds", "600", "--plot", "rates"], "rates"),
        (["--seconds", "600", "--plot", "nowhere/rates.png"], "nowhere/rates.png"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_measured_or_drawn_is_refused_before_anything_is_measured(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(packed, *options)
    assert (found.returncode, found.stdout) == (2, "")
    assert told in found.stderr


def test_without_matplotlib_a_plot_is_refused_with_what_to_install(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("packer.cli.bench.find_spec", lambda name: None)
    found = run(packed, "--plot", tmp_path / "rates.png", code=2)
    assert "pip install 'shardfeed[report]'" in found.stderr


def test_bench_names_itself_as_the_other_commands_do(run_packer: RunPacker) -> None:
    for command in ("bench", "info"):
        assert f"Usage: python -m packer {command} " in run_packer(command, "--help").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "send"),
    [(signal.SIGTERM, os.kill), (signal.SIGINT, os.killpg), (signal.SIGHUP, os.killpg)],
)
def test_an_interrupted_bench_exits_130_and_leaves_no_process(
    packed: Path,
    start_packer: StartPacker,
    number: signal.Signals,
    send: Callable[[int, int], None],
) -> None:
    with start_packer("bench", packed, "--seconds", 60, "--workers", 2) as process:
        wait_until(lambda: psutil.Process(process.pid).children(recursive=True))  # its worker
        started = psutil.Process(process.pid).children(recursive=True)
        send(process.pid, number)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    psutil.wait_procs(started, timeout=30)
    assert not any(child.is_running() for child in started)
