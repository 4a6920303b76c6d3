"""Threads of Grain over the folder."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.peers import pipeline
from benchmarks.peers.peer import Task


def build(task: Task) -> Iterable[Any]:
    """A MapDataset with simplejpeg and OpenCV."""
    import cv2
    import grain.python as pygrain

    cv2.setNumThreads(1)
    samples = pipeline.labelled(task.images)

    class Load(pygrain.MapTransform):
        def map(self, number: int) -> tuple[np.ndarray, int]:
            path, label = samples[number]
            return pipeline.with_cv2(pipeline.read(path), task.crop), label

    return (
        pygrain.MapDataset.range(len(samples))
        .shuffle(seed=0)
        .map(Load())
        .to_iter_dataset(pygrain.ReadOptions(num_threads=task.workers, prefetch_buffer_size=512))
        .batch(task.batch_size)
    )
