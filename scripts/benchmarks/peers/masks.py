"""torch's DataLoader over images with masks."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import pipeline
from benchmarks.peers.data_loader import Folder, loader_of
from benchmarks.peers.peer import Task


class FolderWithMasks(Folder):
    """Class folders of images X with X.mask.png beside them."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, pipeline.with_cv2)
        self.samples = [one for one in self.samples if not one[0].endswith(".mask.png")]

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        import cv2
        import torch

        path, label = self.samples[number]
        image = pipeline.decoded(pipeline.read(path))
        content = pipeline.read(str(Path(path).with_suffix(".mask.png")))
        mask = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
        top, left, h, w = pipeline.random_box(*mask.shape)
        box = slice(top, top + h), slice(left, left + w)
        image = cv2.resize(image[box], (224, 224))
        mask = cv2.resize(mask[box], (224, 224), interpolation=cv2.INTER_NEAREST_EXACT)
        if torch.rand(1) < 0.5:
            image, mask = cv2.flip(image, 1), cv2.flip(mask, 1)
        return torch.from_numpy(image).permute(2, 0, 1), label, torch.from_numpy(mask)


def build(task: Task) -> Iterable[Any]:
    """The fast way to write it with torch."""
    return loader_of(FolderWithMasks(task), task)


MASKS = {"DataLoader, simplejpeg + cv2": build}
