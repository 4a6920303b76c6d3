"""LitData: chunks written by `optimize`, read by its own dataset and loader."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers import pipeline
from benchmarks.peers.peer import Task

_FOLDER = "litdata"


def _sample(item: tuple[str, int]) -> dict[str, Any]:
    path, label = item
    return {"jpg": pipeline.read(path), "label": label}


def write(images: Path, out: Path, workers: int) -> None:
    """Pack a folder of class folders."""
    import litdata

    litdata.optimize(
        fn=_sample,
        inputs=pipeline.labelled(images),
        output_dir=str(out),
        chunk_bytes="64MB",
        num_workers=workers,
        verbose=False,
    )


def prepare(task: Task) -> None:
    """Write the images into chunks."""
    write(task.images, task.cache / _FOLDER, task.workers)


def _decode(row: dict[str, Any], crop: str) -> tuple[Any, int]:
    import torch

    return torch.from_numpy(pipeline.with_cv2(row["jpg"], crop)).permute(2, 0, 1), row["label"]


def build(task: Task) -> Iterable[Any]:
    """A StreamingDataset that decodes with simplejpeg and OpenCV."""
    import litdata
    from litdata.streaming import downloader

    place: dict[str, Any] = {"input_dir": str(task.cache / _FOLDER)}
    if task.stored is not None:
        # Of the libraries that fetch for it, the one that is usual refuses a server without TLS.
        downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True
        place = {
            "input_dir": f"s3://{task.stored.bucket}/{_FOLDER}",
            "cache_dir": str(task.stored.cache),
            "max_cache_size": task.stored.limit,
            "storage_options": {
                "endpoint_url": task.stored.endpoint,
                "aws_access_key_id": "any",
                "aws_secret_access_key": "any",
                "region_name": "us-east-1",
            },
        }
    data = litdata.StreamingDataset(
        **place,
        shuffle=task.crop == "random",
        drop_last=False,
        transform=partial(_decode, crop=task.crop),
    )
    return litdata.StreamingDataLoader(
        data,
        batch_size=task.batch_size,
        num_workers=task.workers,
        persistent_workers=True,
        worker_init_fn=pipeline.single_thread,
        prefetch_factor=4,
    )
