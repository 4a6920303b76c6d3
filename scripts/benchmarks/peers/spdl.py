"""SPDL: a pipeline of threads, each of which loads a whole batch."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers import pipeline
from benchmarks.peers.peer import Task


class Epochs:
    """Epochs of (images, labels), with simplejpeg and OpenCV."""

    def __init__(self, task: Task) -> None:
        self._task, self._samples = task, pipeline.labelled(task.images)

    def __iter__(self) -> Iterator[Any]:
        import cv2
        from spdl.pipeline import PipelineBuilder

        cv2.setNumThreads(1)
        order = list(self._samples)
        if self._task.crop == "random":
            random.shuffle(order)
        step = self._task.batch_size
        batches = [order[first : first + step] for first in range(0, len(order), step)]
        threads = (
            PipelineBuilder()
            .add_source(batches)
            .pipe(self._load, concurrency=self._task.workers)
            .add_sink(3)
            .build(num_threads=self._task.workers)
        )
        with threads.auto_stop():
            yield from threads

    def _load(self, batch: list[tuple[str, int]]) -> tuple[np.ndarray, np.ndarray]:
        images = np.empty((len(batch), 224, 224, 3), np.uint8)
        for row, (path, _) in enumerate(batch):
            images[row] = pipeline.with_cv2(pipeline.read(path), self._task.crop)
        return images, np.array([label for _, label in batch])
