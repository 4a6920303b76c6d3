"""The script that trains a detector, where torchvision is installed."""

from pathlib import Path

import pytest
import train_detector
from PIL import Image


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["coco", "yolo"])
def test_the_loss_falls_and_the_boxes_are_drawn(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torchvision", reason="the detector is torchvision's")
    picture = tmp_path / "drawn.png"
    train_detector.main([f"--kind={kind}", "--steps=12", "--batch-size=4", f"--draw={picture}"])
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert float(last[-1 - 3]) < float(last[2])
    assert Image.open(picture).getcolors(1 << 24) is not None


@pytest.mark.parametrize("kind", ["coco", "yolo"])
def test_what_it_draws_is_delivered_with_every_box_on_its_shape(kind: str, tmp_path: Path) -> None:
    shards = train_detector.make(tmp_path, kind, 8)
    seen = 0
    with train_detector.load(shards, kind, 8) as loader:
        images, objects = next(iter(loader))
        for image, found in zip(images, objects, strict=True):
            for x, y, w, h in found["boxes"].tolist():
                middle = (x, y) if kind == "yolo" else (x + w / 2, y + h / 2)
                column, row = (int(value) for value in middle)
                assert image[:, row, column].float().mean() > 90  # a shape; the noise is below 60
                seen += 1
    assert seen > 4
