"""The ways to read images that this project is compared with: each as its users would write it.

`PEERS` has for each what must be installed; its `build`, from a task to an iterable of (images,
labels), of which iterating again is the next epoch; and where the peer reads a format of its own,
its `prepare`, which writes that and is not timed.
"""

import importlib.util
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pipeline

Build = Callable[["Task"], Iterable[Any]]
Write = Callable[[Path, Path, int], object]  # images into a folder, with so many processes


class Stored(NamedTuple):
    """Where a store has what `prepare` wrote.

    Attributes:
        endpoint, bucket: an HTTP server that takes S3's requests of paths, whoever signed them.
        cache: a folder for what comes.
        limit: bytes that may stay there; None for all.
    """

    endpoint: str
    bucket: str
    cache: Path
    limit: int | None


@dataclass(frozen=True)
class Task:
    """What every candidate does: the same images, crop, batch and number of workers.

    Attributes:
        images: class folders, or the folders `train` and `val` of them.
        shards: the same, packed.
        cache: a folder for what `prepare` writes; each peer has one of its own in it.
        stored: where to read from, in place of the folders.
    """

    shards: Path
    images: Path
    cache: Path
    crop: str
    batch_size: int
    workers: int
    stored: Stored | None = None

    @property
    def is_random(self) -> bool:
        return self.crop == "random"


class Peer(NamedTuple):
    package: str
    build: Build
    prepare: Callable[[Task], object] | None = None


def installed(packages: Mapping[str, str]) -> list[str]:
    """Return the names whose package is installed; print the other packages in one line."""
    missing = [package for package in dict.fromkeys(packages.values()) if _is_missing(package)]
    if missing:
        print(f"Not measured, because not installed: {', '.join(missing)}", file=sys.stderr)
    return [name for name, package in packages.items() if package not in missing]


def _is_missing(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is None
    except ModuleNotFoundError:  # what it lies in is missing
        return True


def tensor_of(image: np.ndarray) -> Any:
    """Return an image (H, W, C) as a tensor (C, H, W)."""
    import torch

    return torch.from_numpy(image).permute(2, 0, 1)


class Folder:
    """A torch Dataset over class folders, as torchvision's ImageFolder."""

    def __init__(self, decode: Callable[[bytes, str], np.ndarray], task: Task) -> None:
        self.samples = pipeline.labelled(task.images)
        self.crop, self.decode = task.crop, decode

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        path, label = self.samples[number]
        return tensor_of(self.decode(pipeline.read(path), self.crop)), label


def loader_of(data: Any, task: Task, **options: Any) -> Iterable[Any]:
    """Return torch's DataLoader over a map-style dataset, set up for speed."""
    from torch.utils.data import DataLoader

    shuffle = {"shuffle": task.is_random, "batch_size": task.batch_size}
    return DataLoader(data, **{**shuffle, **_workers(task), **options})


def _workers(task: Task) -> dict[str, Any]:
    begin = {"worker_init_fn": pipeline.single_thread, "prefetch_factor": 4}
    return {"num_workers": task.workers, "persistent_workers": True, **begin}


def over(decode: Callable[[bytes, str], np.ndarray], task: Task) -> Iterable[Any]:
    """Return a DataLoader over a folder."""
    return loader_of(Folder(decode, task), task)


def webdataset(task: Task) -> Iterable[Any]:
    """The webdataset library over the same shards: a WebLoader."""
    import webdataset as wds
    from torch.utils.data import default_collate

    urls = sorted(map(str, task.shards.rglob("*.tar")))
    if task.stored is not None:  # no cache: its own has no limit that it keeps to
        place = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        tars = sorted(path.relative_to(task.shards) for path in task.shards.rglob("*.tar"))
        urls = [f"pipe:curl --silent --fail {place}/{tar}" for tar in tars]

    def decode(sample: dict[str, Any]) -> tuple[Any, int]:
        data = next(sample[ext] for ext in ("jpg", "png", "webp") if ext in sample)
        return tensor_of(pipeline.with_cv2(data, task.crop)), int(sample["cls"])

    split = {"shardshuffle": len(urls), "nodesplitter": wds.split_by_node, "empty_check": False}
    data = wds.WebDataset(urls, **split)
    batches = data.shuffle(1000).map(decode).batched(task.batch_size, collation_fn=default_collate)
    return wds.WebLoader(batches, batch_size=None, **_workers(task))


def grain(task: Task) -> Iterable[Any]:
    import grain.python as pygrain

    pipeline.single_thread()
    samples = pipeline.labelled(task.images)

    class Load(pygrain.MapTransform):
        def map(self, number: int) -> tuple[np.ndarray, int]:
            path, label = samples[number]
            return pipeline.with_cv2(pipeline.read(path), task.crop), label

    options = pygrain.ReadOptions(num_threads=task.workers, prefetch_buffer_size=512)
    data = pygrain.MapDataset.range(len(samples)).shuffle(seed=0).map(Load())
    return data.to_iter_dataset(options).batch(task.batch_size)


class SPDL:
    """A pipeline of SPDL's threads, each of which loads a whole batch."""

    def __init__(self, task: Task) -> None:
        self._task, self._samples = task, pipeline.labelled(task.images)

    def __iter__(self) -> Iterator[Any]:
        from spdl.pipeline import PipelineBuilder

        pipeline.single_thread()
        order, step = list(self._samples), self._task.batch_size
        if self._task.is_random:
            random.shuffle(order)
        batches = [order[first : first + step] for first in range(0, len(order), step)]
        built = PipelineBuilder().add_source(batches)
        built = built.pipe(self._load, concurrency=self._task.workers).add_sink(3)
        threads = built.build(num_threads=self._task.workers)
        with threads.auto_stop():
            yield from threads

    def _load(self, batch: list[tuple[str, int]]) -> tuple[np.ndarray, np.ndarray]:
        images = np.empty((len(batch), 224, 224, 3), np.uint8)
        for row, (path, _) in enumerate(batch):
            images[row] = pipeline.with_cv2(pipeline.read(path), self._task.crop)
        return images, np.array([label for _, label in batch])


def write_arrow(task: Task) -> None:
    """Write the images' bytes to Arrow, as Hugging Face's `save_to_disk` does."""
    from datasets import Dataset, Features, Value

    features = Features({"jpg": Value("binary"), "label": Value("int64")})
    rows = partial(pipeline.contents, task.images)
    cache = str(task.cache / "huggingface/generated")
    data = Dataset.from_generator(rows, features=features, cache_dir=cache)
    data.save_to_disk(str(task.cache / "huggingface/arrow"))


def huggingface(task: Task) -> Iterable[Any]:
    """Hugging Face datasets: an Arrow file that holds the JPEGs, read through a DataLoader."""
    import torch
    from datasets import load_from_disk

    def decode(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        images = [tensor_of(pipeline.with_cv2(data, task.crop)) for data in rows["jpg"]]
        return {"image": images, "label": rows["label"]}

    def collate(rows: list[dict[str, Any]]) -> tuple[Any, Any]:
        images = torch.stack([row["image"] for row in rows])
        return images, torch.tensor([row["label"] for row in rows])

    data = load_from_disk(str(task.cache / "huggingface/arrow")).with_transform(decode)
    return loader_of(data, task, collate_fn=collate)


def write_chunks(images: Path, out: Path, workers: int) -> None:
    """Write LitData's chunks of a folder of class folders."""
    import litdata

    data = {"inputs": pipeline.labelled(images), "output_dir": str(out)}
    how = {"chunk_bytes": "64MB", "num_workers": workers, "verbose": False}
    litdata.optimize(fn=pipeline.content, **data, **how)


def _decode(row: dict[str, Any], crop: str) -> tuple[Any, int]:
    return tensor_of(pipeline.with_cv2(row["jpg"], crop)), row["label"]


def litdata(task: Task) -> Iterable[Any]:
    import litdata
    from litdata.streaming import downloader

    place: dict[str, Any] = {"input_dir": str(task.cache / "litdata")}
    if task.stored is not None:
        # Of the libraries that fetch for it, the one that is usual refuses a server without TLS.
        downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True
        keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
        place = {
            "input_dir": f"s3://{task.stored.bucket}/litdata",
            "cache_dir": str(task.stored.cache),
            "max_cache_size": task.stored.limit,
            "storage_options": {"endpoint_url": task.stored.endpoint, "region_name": "us-east-1"}
            | keys,
        }
    how = {"shuffle": task.is_random, "drop_last": False}
    data = litdata.StreamingDataset(**place, **how, transform=partial(_decode, crop=task.crop))
    return litdata.StreamingDataLoader(data, batch_size=task.batch_size, **_workers(task))


def write_mds(images: Path, out: Path, _workers: int = 1) -> None:
    """Write MosaicML's MDS shards of a folder of class folders, with one process."""
    from streaming import MDSWriter

    with MDSWriter(out=str(out), columns={"jpg": "bytes", "label": "int"}) as writer:
        for sample in pipeline.contents(images):
            writer.write(sample)


def mosaic(task: Task) -> Iterable[Any]:
    """MosaicML Streaming: its own dataset, read through a DataLoader."""
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    class Decoded(StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, index: Any) -> tuple[Any, int]:
            return _decode(super().__getitem__(index), task.crop)

    place: dict[str, Any] = {"local": str(task.cache / "mosaic")}
    if task.stored is not None:
        os.environ["S3_ENDPOINT_URL"] = task.stored.endpoint  # there is no other way to say it
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "any"
        remote = f"s3://{task.stored.bucket}/mosaic"
        local = {"local": str(task.stored.cache), "cache_limit": task.stored.limit}
        place = {"remote": remote, **local}
    clean_stale_shared_memory()  # what the round before left behind
    data = Decoded(**place, shuffle=task.is_random, batch_size=task.batch_size)
    return loader_of(data, task, shuffle=False)
