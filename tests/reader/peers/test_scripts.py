"""The patches of the page "In your training script", applied and run.

Each runs where its package is installed; `scripts/test_peers.sh` installs them.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packing import run_pack
from PIL import Image

SCRIPTS = Path(__file__).parent / "scripts"
_spec = importlib.util.spec_from_file_location("patched", SCRIPTS / "patched.py")
assert _spec is not None
assert _spec.loader is not None
patched = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(patched)

PATCHES = {name: (script, text) for name, script, text in patched.patches()}
PAGE = patched.PATCHES.parent / "your-script.md"
ALONE = "torchvision_dataset"  # the one that changes the dataset and keeps torch's DataLoader
COUNT, BATCH, EPOCHS = 40, 4, 2


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`images` and `shards` of so many classes of one image each, so that a label is its sample."""
    root = tmp_path_factory.mktemp("data")
    for split, count in (("train", COUNT), ("val", 12)):
        for number in range(count):
            path = root / "images" / split / f"class{number:02d}" / "image.jpg"
            path.parent.mkdir(parents=True)
            pixels = np.random.default_rng(number).integers(0, 255, (40, 44, 3), np.uint8)
            Image.fromarray(pixels).save(path)
    run_pack(root / "images", root / "shards")
    return root


def run(text: str, data: Path, out: Path, ranks: int, *arguments: object) -> None:
    script = out / "script.py"
    script.write_text(text)
    launched = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]
    command = [sys.executable, "-W", "ignore", *(launched if ranks > 1 else []), script, data, out]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [str(part) for part in (*command, *arguments)],
        env=environment,
        cwd=out,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def labels_of(out: Path, ranks: int, *runs: str) -> list[list[list[int]]]:
    """Of each rank the labels of each step, over successive runs."""
    return [
        [
            labels
            for name in runs
            for _, labels in json.loads((out / f"seen-{rank}-{name}.json").read_text())
        ]
        for rank in range(ranks)
    ]


def check_each_sample_once_an_epoch(ranks: list[list[list[int]]]) -> None:
    steps = COUNT // BATCH // len(ranks)
    assert [len(seen) for seen in ranks] == [EPOCHS * steps] * len(ranks)
    for epoch in range(EPOCHS):
        part = slice(epoch * steps, (epoch + 1) * steps)
        seen = [label for rank in ranks for labels in rank[part] for label in labels]
        assert sorted(seen) == list(range(COUNT))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", sorted(PATCHES.keys() - {ALONE}))
def test_a_patched_script_stops_in_mid_epoch_and_goes_on(
    data: Path, tmp_path: Path, name: str, ranks: int
) -> None:
    script, patch = PATCHES[name]
    for package in (patched.needed(script), "torchvision"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    text, stop = patched.patched(script, patch), 3
    run(text, data / "shards", tmp_path, ranks, "--stop", stop)
    # Keras counts epochs of its own from where it begins.
    left = EPOCHS * COUNT // BATCH // ranks - stop
    end = ["--stop", left] if "keras" in script else []
    run(text, data / "shards", tmp_path, ranks, "--resume", *end)
    check_each_sample_once_an_epoch(labels_of(tmp_path, ranks, "first", "rest"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [1, 2])
def test_the_dataset_alone_serves_torchs_own_loader(data: Path, tmp_path: Path, ranks: int) -> None:
    pytest.importorskip("torchvision")
    run(patched.patched(*PATCHES[ALONE]), data / "shards", tmp_path, ranks)
    check_each_sample_once_an_epoch(labels_of(tmp_path, ranks, "first"))


@pytest.mark.parametrize("name", PATCHES)
def test_each_patch_applies_and_is_as_long_as_the_page_says(name: str) -> None:
    script, patch = PATCHES[name]
    compile(patched.patched(script, patch), script, "exec")
    link = rf"^\| .*\]\(patches/{name}\.patch\) \| (\d+) \|$"
    (said,) = re.findall(link, PAGE.read_text(), re.MULTILINE)
    assert int(said) == sum(line[:1] in ("+", "-") for line in patch.splitlines())


def test_the_page_shows_lines_of_each_patch() -> None:
    block = r"<!-- not run: lines of patches/(\w+)\.patch -->\n\n?```diff\n(.*?)```"
    shown = dict(re.findall(block, PAGE.read_text(), re.DOTALL))
    assert shown.keys() == PATCHES.keys()
    for name, lines in shown.items():
        left = iter(PATCHES[name][1].splitlines())
        for line in lines.splitlines():
            assert line == "..." or line in left, (name, line)  # in the patch's order


def test_there_is_a_patch_for_each_script() -> None:
    scripts = {path.stem for path in SCRIPTS.glob("*.py")} - {"training", "patched"}
    assert {script for script, _ in PATCHES.values()} == scripts
    assert len(scripts) == 9
