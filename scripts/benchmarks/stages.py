"""CPU of each stage of reading an image, and what each optimisation is worth.

    scripts/bench.py stages --images DIR [--shards SHARDS] [--crop random|center]

Runs a worker's own code on one core, with clocks around the stages; an ablation replaces one piece
of it by what one would write without the optimisation.
"""

import argparse
import contextlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import cv2
import numpy as np
import simplejpeg

from benchmarks import pipeline
from benchmarks.peers import Task as ReadTask
from benchmarks.read import TASK, task_of, transforms
from benchmarks.runner import Candidate, Figures
from reader.batch.ring import RingMemory
from reader.columns.schema import BatchSchema
from reader.dataset import tar_bytes
from reader.dataset.dataset import Dataset
from reader.decode import decoder as decode
from reader.decode import plan as view
from reader.decode import splice
from reader.samples.sample import Recipe
from reader.workers.messages import Setup, Task
from reader.workers.progress import ProgressBoard
from reader.workers.worker import Worker

CHUNK = 32
SAMPLES = 1600
_DECODE = simplejpeg.decode_jpeg


def run(dataset: Dataset, transforms: list[Any], repeats: int = 3) -> float:
    """Return milliseconds of CPU an image, the best of `repeats` passes over the same samples."""
    pipeline.single_thread()
    schema = BatchSchema.of_images(CHUNK, (224, 224))
    memory = RingMemory.create(1, schema.layout)
    worker = Worker(
        Setup(dataset, Recipe(tuple(transforms)), 1, schema), memory, ProgressBoard.create().slot(0)
    )
    samples = np.random.default_rng(0).integers(0, len(dataset), SAMPLES)
    best = math.inf
    for _ in range(repeats):
        began = time.process_time()
        for first in range(0, SAMPLES, CHUNK):
            worker.run(Task(first, 0, 0, 0, first, samples[first : first + CHUNK], CHUNK))
        best = min(best, time.process_time() - began)
    memory.close()
    return best / SAMPLES * 1e3


def account(dataset: Dataset, transforms: list[Any]) -> dict[str, float]:
    """Return milliseconds an image by stage: read, splice, decode, resize, rest."""
    spent = dict.fromkeys(("read", "splice", "decode", "resize"), 0.0)

    def clocked(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began, inside = time.process_time(), sum(spent.values())
            try:
                return function(*args, **kwargs)
            finally:  # what is called in turn has counted its own
                spent[stage] += time.process_time() - began - (sum(spent.values()) - inside)

        return call

    with contextlib.ExitStack() as patches:
        for target, name, stage in (
            (tar_bytes.TarBytes, "read", "read"),
            (view, "cut", "splice"),
            (splice.Cut, "build", "splice"),
            (simplejpeg, "decode_jpeg", "decode"),
            (decode, "read_bands", "decode"),
            (decode, "read_picture", "decode"),
            (decode.Decoder, "_place", "resize"),
        ):
            function = clocked(stage, getattr(target, name))
            patches.enter_context(mock.patch.object(target, name, function))
        total = run(dataset, transforms, repeats=1)
    stages = {stage: seconds / SAMPLES * 1e3 for stage, seconds in spent.items()}
    stages["rest"] = total - sum(stages.values())
    return stages


def _fresh(*args: Any, buffer: object = None, **kwargs: Any) -> Any:
    return _DECODE(*args, **kwargs)  # into memory of its own


def _copied(self: decode.Decoder, pixels: Any, shown: view.View, out: Any) -> None:
    resized = cv2.resize(pixels, out.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    out[:] = resized[:, ::-1] if shown.hflip else resized  # by numpy, and not by OpenCV


ABLATIONS: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "all optimisations": contextlib.nullcontext,
    "decode whole images": lambda: mock.patch.object(view, "_cut", return_value=None),
    "no reduced scale": lambda: mock.patch.object(view, "MIN_REDUCTION", math.inf),
    "fresh memory for each decode": lambda: mock.patch.object(simplejpeg, "decode_jpeg", _fresh),
    "copy into the batch": lambda: mock.patch.object(decode.Decoder, "_place", _copied),
}
BASELINE = "all optimisations"
OPTIONS = TASK


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    task = task_of(given, work)
    return [Candidate(name, measure, (name, task)) for name in ABLATIONS]


def measure(name: str, task: ReadTask) -> Figures:
    dataset, steps = Dataset(task.shards), transforms(task.crop)
    with ABLATIONS[name]():
        return {"ms of CPU": run(dataset, steps), **account(dataset, steps)}
