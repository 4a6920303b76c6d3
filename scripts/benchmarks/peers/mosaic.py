"""MosaicML Streaming: MDS shards, read by its own dataset through torch's DataLoader."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.peers import pipeline
from benchmarks.peers.data_loader import loader_of
from benchmarks.peers.peer import Task

_FOLDER = "mosaic"


def write(images: Path, out: Path) -> None:
    """Pack a folder of class folders, with one process."""
    from streaming import MDSWriter

    with MDSWriter(out=str(out), columns={"jpg": "bytes", "label": "int"}) as writer:
        for path, label in pipeline.labelled(images):
            writer.write({"jpg": pipeline.read(path), "label": label})


def prepare(task: Task) -> None:
    """Write the images into MDS shards."""
    write(task.images, task.cache / _FOLDER)


def build(task: Task) -> Iterable[Any]:
    """A StreamingDataset that decodes with simplejpeg and OpenCV."""
    import torch
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    class Decoded(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: Any) -> tuple[Any, int]:
            row = super().__getitem__(index)
            image = pipeline.with_cv2(row["jpg"], task.crop)
            return torch.from_numpy(image).permute(2, 0, 1), row["label"]

    place: dict[str, Any] = {"local": str(task.cache / _FOLDER)}
    if task.stored is not None:
        os.environ["S3_ENDPOINT_URL"] = task.stored.endpoint  # there is no other way to say it
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "any"
        place = {
            "remote": f"s3://{task.stored.bucket}/{_FOLDER}",
            "local": str(task.stored.cache),
            "cache_limit": task.stored.limit,
        }
    clean_stale_shared_memory()  # what the round before left behind
    data = Decoded(**place, shuffle=task.crop == "random", batch_size=task.batch_size)
    return loader_of(data, task, shuffle=False)
