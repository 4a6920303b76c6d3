"""Where one core's time goes for an image, and what each optimisation is worth.

Runs a worker's own code in this process, with clocks around the stages; an ablation replaces one
piece of it by what one would write without the optimisation.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import cv2
import numpy as np
import simplejpeg

from reader.batch.ring import RingMemory
from reader.columns.schema import BatchSchema
from reader.dataset import tar_bytes
from reader.dataset.dataset import Dataset
from reader.decode import (
    decoder as decode,
)
from reader.decode import (
    plan as view,
)
from reader.decode import (
    splice,
)
from reader.samples.sample import Recipe
from reader.workers.messages import (
    Setup,
    Task,
)
from reader.workers.progress import ProgressBoard
from reader.workers.worker import Worker

CHUNK = 32
SAMPLES = 1600


def run(dataset: Dataset, transforms: list[Any], repeats: int = 3) -> float:
    """Milliseconds of CPU an image, best of `repeats` passes over the same random samples."""
    cv2.setNumThreads(1)
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
    """Milliseconds an image by stage: read, splice, decode, resize, rest."""
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


@contextlib.contextmanager
def _fresh_memory() -> Iterator[None]:
    """Let every decode allocate its own memory."""
    original = simplejpeg.decode_jpeg

    def call(*args: Any, buffer: object = None, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    with mock.patch.object(simplejpeg, "decode_jpeg", call):
        yield


@contextlib.contextmanager
def _copy_into_batch() -> Iterator[None]:
    """Resize to memory of its own, mirror with numpy, and copy that into the batch."""

    def place(self: decode.Decoder, pixels: Any, shown: view.View, out: Any) -> None:
        resized = cv2.resize(pixels, out.shape[1::-1], interpolation=cv2.INTER_LINEAR)
        out[:] = resized[:, ::-1] if shown.hflip else resized

    with mock.patch.object(decode.Decoder, "_place", place):
        yield


def ablations() -> dict[str, contextlib.AbstractContextManager[Any]]:
    """Each optimisation, switched off."""
    return {
        "all on": contextlib.nullcontext(),
        "decode whole images": mock.patch.object(view, "_cut", return_value=None),
        "no reduced scale": mock.patch.object(view, "MIN_REDUCTION", math.inf),
        "fresh memory for each decode": _fresh_memory(),
        "copy into the batch": _copy_into_batch(),
    }


def report(dataset: Dataset, transforms: list[Any], ablate: bool) -> tuple[str, float]:
    """The account as text, and the milliseconds of decode and resize alone."""
    stages = account(dataset, transforms)
    lines = ["one core, ms an image: " + ", ".join(f"{k} {v:.3f}" for k, v in stages.items())]
    if ablate:
        for name, patch in ablations().items():
            with patch:
                lines.append(f"  {name:30}{run(dataset, transforms):8.3f} ms")
    return "\n".join(lines), stages["decode"] + stages["resize"]
