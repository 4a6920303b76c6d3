"""The training script learns, says what it measured, and goes on exactly where it was stopped."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from made_images import make_folder
from packing import run_pack

sys.path.append(str(Path(__file__).parents[2] / "docs" / "tasks"))

import training

STEPS = 6  # 2 epochs of 24 samples in batches of 8


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 images to train on and 8 to validate, in 4 classes."""
    root = tmp_path_factory.mktemp("data")
    for split, images in {"train": 6, "val": 2}.items():
        make_folder(root / "images" / split, classes=4, images=images)
    run_pack(root / "images", root / "shards")
    return root / "shards"


def train(data: Path, checkpoint: Path, *options: str) -> dict[str, Any]:
    """Run the script; what it saved."""
    common = ["--batch-size=8", "--size=16", "--workers=1", "--epochs=2", "--save-every=2"]
    training.main([str(data), *common, f"--checkpoint={checkpoint}", *options])
    return torch.load(checkpoint, weights_only=True)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="not all of a GPU's sums are reproducible")
def test_a_run_that_was_stopped_in_an_epoch_ends_with_the_weights_of_one_that_was_not(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = train(data, tmp_path / "whole.pt")
    told = capsys.readouterr().out
    assert len(re.findall(r"^epoch [01]: \d+ images/s, loss ", told, re.M)) == 2

    stopped = train(data, tmp_path / "part.pt", "--stop-at=4")
    assert stopped["step"] == 4  # in the middle of the second epoch
    early = shutil.copy(tmp_path / "part.pt", tmp_path / "early.pt")
    resumed = train(data, Path(early))
    assert "continues after step 4 of 6" in capsys.readouterr().out

    assert whole["step"] == resumed["step"] == STEPS
    assert whole["data"] == resumed["data"]
    for name, weights in whole["model"].items():
        assert torch.equal(weights, resumed["model"][name]), name
    assert any(
        not torch.equal(weights, stopped["model"][name]) for name, weights in whole["model"].items()
    )


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [training.learning_rate(step, 100, 2.0) for step in range(100)]
    assert rates.index(max(rates)) in (4, 5)
    assert max(rates) == 2.0
    assert rates[:5] == sorted(rates[:5])
    assert rates[5:] == sorted(rates[5:], reverse=True)
    assert 0 < rates[-1] < 0.01


@pytest.mark.parametrize(
    ("build", "parameters"), [(training.resnet18, 11689512), (training.resnet50, 25557032)]
)
def test_the_networks_have_the_parameters_of_torchvisions(build: Any, parameters: int) -> None:
    model = build()
    assert sum(weights.numel() for weights in model.parameters()) == parameters
    assert model(torch.zeros(2, 3, 32, 32)).shape == (2, 1000)
