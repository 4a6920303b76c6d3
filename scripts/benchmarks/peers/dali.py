"""NVIDIA DALI on the CPU: its WebDataset reader over the same shards, and its ROI decoder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.peer import Task

_FOLDER = "dali"


def prepare(task: Task) -> None:
    """Write the shards' indexes with DALI's own tool."""
    from wds2idx import IndexCreator

    for tar in task.shards.rglob("*.tar"):
        index = _index(task, tar)
        index.parent.mkdir(parents=True, exist_ok=True)
        with IndexCreator(str(tar), str(index), verbose=False) as creator:
            creator.create_index()


def _index(task: Task, tar: Path) -> Path:
    return task.cache / _FOLDER / tar.relative_to(task.shards).with_suffix(".idx")


def _pipeline(task: Task) -> Any:
    from nvidia.dali import fn, pipeline_def, types

    tars = sorted(task.shards.rglob("*.tar"))
    indexes = [_index(task, tar) for tar in tars]

    @pipeline_def(
        batch_size=task.batch_size, num_threads=task.workers, device_id=None, prefetch_queue_depth=2
    )
    def define() -> Any:
        jpegs, labels = fn.readers.webdataset(
            paths=list(map(str, tars)),
            index_paths=list(map(str, indexes)),
            ext=["jpg;png;webp", "cls"],
            random_shuffle=task.crop == "random",
            name="reader",
        )
        labels = fn.pad(labels, fill_value=0)
        bilinear = {"interp_type": types.INTERP_LINEAR, "antialias": False}
        if task.crop == "center":
            images = fn.resize(fn.decoders.image(jpegs), resize_shorter=256, **bilinear)
            return fn.crop(images, crop=(224, 224)), labels
        images = fn.decoders.image_random_crop(
            jpegs, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
        )
        images = fn.resize(images, size=(224, 224), **bilinear)
        return fn.flip(images, horizontal=fn.random.coin_flip()), labels

    return define()


class Epochs:
    """Epochs of (images, labels)."""

    def __init__(self, task: Task) -> None:
        from nvidia.dali.plugin.base_iterator import LastBatchPolicy
        from nvidia.dali.plugin.pytorch import DALIGenericIterator

        self._iterator = DALIGenericIterator(
            _pipeline(task),
            ["images", "labels"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
            auto_reset=True,
        )

    def __iter__(self) -> Iterator[Any]:
        for (batch,) in self._iterator:
            yield batch["images"], np.array([_number(text) for text in batch["labels"].numpy()])


def _number(text: np.ndarray) -> int:
    """The class number that a `cls` member holds as decimal digits, padded with zero bytes."""
    return int(text.tobytes().rstrip(b"\0"))
