"""NVIDIA DALI on the CPU: its WebDataset reader over the same shards, and its ROI decoder."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers import Task


class Epochs:
    def __init__(self, task: Task) -> None:
        from nvidia.dali import fn, pipeline_def, types
        from nvidia.dali.plugin.base_iterator import LastBatchPolicy
        from nvidia.dali.plugin.pytorch import DALIGenericIterator

        tars = sorted(task.shards.rglob("*.tar"))
        how = {"batch_size": task.batch_size, "num_threads": task.workers}

        @pipeline_def(**how, device_id=None, prefetch_queue_depth=2)
        def define() -> Any:
            jpegs, labels = fn.readers.webdataset(
                paths=list(map(str, tars)),
                ext=["jpg;png;webp", "cls"],
                random_shuffle=task.is_random,
                name="reader",
            )
            labels = fn.pad(labels, fill_value=0)
            bilinear = {"interp_type": types.INTERP_LINEAR, "antialias": False}
            if not task.is_random:
                images = fn.resize(fn.decoders.image(jpegs), resize_shorter=256, **bilinear)
                return fn.crop(images, crop=(224, 224)), labels
            images = fn.decoders.image_random_crop(
                jpegs, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
            )
            images = fn.resize(images, size=(224, 224), **bilinear)
            return fn.flip(images, horizontal=fn.random.coin_flip()), labels

        partial = {"last_batch_policy": LastBatchPolicy.PARTIAL, "auto_reset": True}
        names = ["images", "labels"]
        self._iterator = DALIGenericIterator(define(), names, reader_name="reader", **partial)

    def __iter__(self) -> Iterator[Any]:
        for (batch,) in self._iterator:
            # A `cls` member holds the label as decimal digits, padded with zero bytes.
            texts = (text.tobytes().rstrip(b"\0") for text in batch["labels"].numpy())
            yield batch["images"], np.array(list(map(int, texts)))
