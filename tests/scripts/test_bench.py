"""Every benchmark runs to its table; the runner's own logic."""

import re
from argparse import Namespace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import bench
import numpy as np
import pytest
from benchmarks import slow_store
from benchmarks.peers import installed
from benchmarks.runner import Figures, run, table
from PIL import Image

SMALL = "--rounds=1"
IMAGES = "--images={source}"
SMALL_STORE = ["--batch-size=8", "--latency=1", "--blocks", "0", "1"]
STEPS = ["open", "labels", "order", "order, weighted", "loader", "raw", "info", "scan", "pack"]
CASES = {
    "read": [IMAGES, "--batch-size=4", "--epochs=1", "--only=s"],
    "tiny": ["--samples=200", "--batch-size=50", "--epochs=1"],
    "store": ["--images={large}", "--count=120", "--shard-size=200KB", *SMALL_STORE],
    "gpu": [IMAGES, "--device=cpu", "--batch-size=4", "--workers=1", "--batches=2"],
    "pack": [IMAGES, "--jobs=1"],
    "scale": ["--sets", "4x30", "--steps", *STEPS],
}
A_SHARE = "1 ms, BlockShuffle(1), 0.5 of a cache, epoch 2"
ROWS = {
    "read": {"shardfeed", "DataLoader, simplejpeg + cv2"},
    "tiny": {"shardfeed", "shardfeed, crop and flip", "tensor indexing"},
    "store": {"local disk", "1 ms, global shuffle, cold", A_SHARE},
    "gpu": {"shardfeed", "shardfeed, auto", "shardfeed, GPU decode", "one batch, again and again"},
    "pack": {"cp -r", "packer, verbatim, one process", "packer, tiled"},
    "scale": {f"4x30 {step}" for step in STEPS},
}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of JPEGs that are larger than their rows in an index."""
    root = tmp_path_factory.mktemp("large")
    for seed in range(4):
        pixels = np.random.default_rng(seed).integers(0, 256, (200, 200, 3), np.uint8)
        path = root / f"class{seed % 2}" / f"{seed}.jpg"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(path, quality=90)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("case", bench.CASES)
def test_every_case_prints_a_row_of_figures_for_each_candidate(
    case: str, source: Path, large: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if case == "store" and (reason := slow_store.missing()):
        pytest.skip(reason)
    options = [option.format(source=source, large=large) for option in CASES[case]]
    bench.main([case, SMALL, *options])
    out, err = capfd.readouterr()
    assert "failed" not in err, err
    rows = dict(re.findall(r"^\| ([^|]+?) \|[ |]*([\d,.]+)", out, re.M))
    assert ROWS[case] <= rows.keys()
    assert all(float(figure.replace(",", "")) > 0 for figure in rows.values())


def test_a_gpu_is_required_where_none_is_named(source: Path) -> None:
    with pytest.raises(SystemExit, match="no CUDA device"):
        bench.main(["gpu", f"--images={source}", "--device=cuda"])


def echo(value: float) -> Figures:
    if value < 0:
        raise ValueError(value)
    return {"images/s": value, "CPU ms": 2 * value}


def test_a_candidate_that_fails_is_named_and_the_others_are_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    both = {"good": partial(echo, 3.0), "bad": partial(echo, -1.0)}
    case = SimpleNamespace(BASELINE="good", candidates=lambda *_: both)
    for count in (2, 1):
        run(case, Namespace(only="", rounds=count), tmp_path)
        out, err = capfd.readouterr()
        assert re.findall(r"^\| (\w+) \| ([\d. |]+) \|$", out, re.M) == [
            ("good", "3.00 | 1.00 | 6.00")
        ]
        assert err.count("good: images/s 3.00") == count
        assert err.count("bad: left out, it failed") == 1


def test_peers_that_are_not_installed_are_named_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    packages = {"A": "no_package.a", "B": "json", "B too": "json", "C": "no_package_c"}
    assert installed(packages) == ["B", "B too"]
    expected = "Not measured, because not installed: no_package.a, no_package_c\n"
    assert capsys.readouterr().err == expected


def rounds(*values: float) -> dict[int, dict[str, float]]:
    return {number: {"images/s": value} for number, value in enumerate(values)}


def test_the_ratio_is_the_median_of_the_ratios_within_each_round() -> None:
    rows = {"ours": rounds(10, 40, 12), "theirs": rounds(5, 10, 12)}
    assert table(rows, "theirs").splitlines() == [
        "| | images/s | ratio |",
        "|---|---:|---:|",
        "| ours | 12.00 | 2.00 |",
        "| theirs | 10.00 | 1.00 |",
    ]


def test_a_figure_that_a_row_lacks_is_left_blank() -> None:
    rows = {"one": rounds(200), "two": {0: {"images/s": 0.5, "MB": 7.0}}}
    assert table(rows, None).splitlines()[2:] == ["| one | 200 |  |", "| two | 0.500 | 7.00 |"]
