"""torch's DataLoader over the folder, as torchvision's ImageFolder is read."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.peers import pipeline
from benchmarks.peers.peer import Task


class Folder:
    """A torch Dataset over class folders."""

    def __init__(self, task: Task, decode: Callable[[bytes, str], np.ndarray]) -> None:
        self.samples = pipeline.labelled(task.images)
        self.crop, self.decode = task.crop, decode

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        import torch

        path, label = self.samples[number]
        image = self.decode(pipeline.read(path), self.crop)
        return torch.from_numpy(image).permute(2, 0, 1), label


def loader_of(data: Any, task: Task, **options: Any) -> Iterable[Any]:
    """Return a DataLoader over a map-style dataset, set up for speed."""
    from torch.utils.data import DataLoader

    usual = {
        "shuffle": task.crop == "random",
        "batch_size": task.batch_size,
        "num_workers": task.workers,
        "persistent_workers": True,
        "worker_init_fn": pipeline.single_thread,
        "prefetch_factor": 4,
    }
    return DataLoader(data, **{**usual, **options})


def with_simplejpeg(task: Task) -> Iterable[Any]:
    """The fast way to write it."""
    return loader_of(Folder(task, pipeline.with_cv2), task)


def with_simplejpeg_reduced(task: Task) -> Iterable[Any]:
    """The same, and photographs at a reduced scale where the crop allows it."""
    return loader_of(Folder(task, pipeline.with_cv2_reduced), task)


def with_pillow(task: Task) -> Iterable[Any]:
    """As torchvision has it."""
    return loader_of(Folder(task, pipeline.with_pillow), task)
