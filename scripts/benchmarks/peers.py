"""The ways to read images that this project is compared with: each as its users would write it."""

import contextlib
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

Decode = Callable[[bytes, str], np.ndarray]  # of a file's content, and the crop
Build = Callable[["Task"], Iterable[Any]]
Write = Callable[[Path, Path, int], object]  # images into a folder, with so many processes


class Stored(NamedTuple):
    """Where a store has the shards, and what a peer's `write` wrote."""

    endpoint: str  # of an HTTP server that takes S3's requests of paths, whoever signed them
    bucket: str
    cache: Path  # a folder for what comes
    limit: int | None  # bytes that may stay there; None for all


@dataclass(frozen=True)
class Task:
    """What every candidate does: the same images, crop, batch and number of workers."""

    shards: Path  # the images, packed
    images: Path  # class folders, or the folders `train` and `val` of them
    cache: Path  # has a folder for what each peer writes, by the name of its package
    crop: str
    batch_size: int
    workers: int
    stored: Stored | None = None  # where to read from, in place of the folders

    @property
    def is_random(self) -> bool:
        return self.crop == "random"


class Peer(NamedTuple):
    """What must be installed, how to read, and how to write the format that it reads, untimed."""

    package: str
    build: Build
    write: Write | None = None


class Epochs:
    """An iterable of batches whose every epoch is begun by a function."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Any]:
        return self._begin()


def installed(packages: Mapping[str, str]) -> list[str]:
    """Return the names whose package is installed; print the other packages in one line."""
    missing = []
    for package in dict.fromkeys(packages.values()):
        with contextlib.suppress(ModuleNotFoundError):  # what it lies in is missing
            if importlib.util.find_spec(package):
                continue
        missing.append(package)
    if missing:
        print(f"Not measured, because not installed: {', '.join(missing)}", file=sys.stderr)
    return [name for name, package in packages.items() if package not in missing]


def tensor_of(image: np.ndarray) -> Any:
    """Return an image (H, W, C) as a tensor (C, H, W)."""
    import torch

    return torch.from_numpy(image).permute(2, 0, 1)


class Folder:
    """A torch Dataset over class folders, as torchvision's ImageFolder."""

    def __init__(self, decode: Decode, task: Task) -> None:
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
    return {"num_workers": task.workers, "persistent_workers": True, "prefetch_factor": 4}


def over(decode: Decode, task: Task) -> Iterable[Any]:
    """Return a DataLoader over a folder."""
    return loader_of(Folder(decode, task), task)


def webdataset(task: Task) -> Iterable[Any]:
    """The webdataset library over the same shards: a WebLoader."""
    import webdataset as wds
    from torch.utils.data import default_collate

    place = str(task.shards)
    if task.stored is not None:  # no cache: its own has no limit that it keeps to
        place = f"pipe:curl --silent --fail {task.stored.endpoint}/{task.stored.bucket}/shards"
    tars = sorted(path.relative_to(task.shards) for path in task.shards.rglob("*.tar"))
    urls = [f"{place}/{tar}" for tar in tars]

    def decode(sample: dict[str, Any]) -> tuple[Any, int]:
        data = next(sample[ext] for ext in ("jpg", "png", "webp") if ext in sample)
        return tensor_of(pipeline.with_cv2(data, task.crop)), int(sample["cls"])

    split = {"shardshuffle": len(urls), "nodesplitter": wds.split_by_node, "empty_check": False}
    data = wds.WebDataset(urls, **split)
    batches = data.shuffle(1000).map(decode).batched(task.batch_size, collation_fn=default_collate)
    return wds.WebLoader(batches, batch_size=None, **_workers(task))


def grain(task: Task) -> Iterable[Any]:
    import grain.python as pygrain

    samples = pipeline.labelled(task.images)

    class Load(pygrain.MapTransform):
        def map(self, number: int) -> tuple[np.ndarray, int]:
            path, label = samples[number]
            return pipeline.with_cv2(pipeline.read(path), task.crop), label

    options = pygrain.ReadOptions(num_threads=task.workers, prefetch_buffer_size=512)
    data = pygrain.MapDataset.range(len(samples)).shuffle(seed=0).map(Load())
    return data.to_iter_dataset(options).batch(task.batch_size)


def spdl(task: Task) -> Iterable[Any]:
    """A pipeline of SPDL's threads, each of which loads a whole batch."""
    from spdl.pipeline import PipelineBuilder

    samples = pipeline.labelled(task.images)

    def load(batch: list[tuple[str, int]]) -> tuple[np.ndarray, np.ndarray]:
        images = np.empty((len(batch), 224, 224, 3), np.uint8)
        for row, (path, _) in enumerate(batch):
            images[row] = pipeline.with_cv2(pipeline.read(path), task.crop)
        return images, np.array([label for _, label in batch])

    def epoch() -> Iterator[Any]:
        order = random.sample(samples, len(samples)) if task.is_random else samples
        step = task.batch_size
        batches = [order[first : first + step] for first in range(0, len(order), step)]
        built = PipelineBuilder().add_source(batches).pipe(load, concurrency=task.workers)
        threads = built.add_sink(3).build(num_threads=task.workers)
        with threads.auto_stop():
            yield from threads

    return Epochs(epoch)


def dali(task: Task) -> Iterable[Any]:
    """NVIDIA DALI on the CPU: its WebDataset reader over the same shards, and its ROI decoder."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    how = {"batch_size": task.batch_size, "num_threads": task.workers}
    source = {"paths": sorted(map(str, task.shards.rglob("*.tar"))), "name": "reader"}

    @pipeline_def(**how, device_id=None, prefetch_queue_depth=2)
    def define() -> Any:
        ext = ["jpg;png;webp", "cls"]
        jpegs, labels = fn.readers.webdataset(**source, ext=ext, random_shuffle=task.is_random)
        labels = fn.pad(labels, fill_value=0)
        bilinear = {"interp_type": types.INTERP_LINEAR, "antialias": False}
        if not task.is_random:
            images = fn.resize(fn.decoders.image(jpegs), resize_shorter=256, **bilinear)
            return fn.crop(images, crop=(224, 224)), labels
        box = {"random_area": [0.08, 1.0], "random_aspect_ratio": [3 / 4, 4 / 3]}
        images = fn.resize(fn.decoders.image_random_crop(jpegs, **box), size=(224, 224), **bilinear)
        return fn.flip(images, horizontal=fn.random.coin_flip()), labels

    partly = {"last_batch_policy": LastBatchPolicy.PARTIAL, "auto_reset": True}
    batches = DALIGenericIterator(define(), ["images", "labels"], reader_name="reader", **partly)

    def epoch() -> Iterator[Any]:
        for (batch,) in batches:
            # A `cls` member holds the label as decimal digits, padded with zero bytes.
            texts = (text.tobytes().rstrip(b"\0") for text in batch["labels"].numpy())
            yield batch["images"], np.array(list(map(int, texts)))

    return Epochs(epoch)


def write_arrow(images: Path, out: Path, _workers: int) -> None:
    """Write the images' bytes to Arrow, as Hugging Face's `save_to_disk` does."""
    from datasets import Dataset, Features, Value

    features = Features({"jpg": Value("binary"), "label": Value("int64")})
    rows = partial(pipeline.contents, images)
    data = Dataset.from_generator(rows, features=features, cache_dir=f"{out}-generated")
    data.save_to_disk(str(out))


def huggingface(task: Task) -> Iterable[Any]:
    """Hugging Face datasets: an Arrow file that holds the JPEGs, read through a DataLoader."""
    from datasets import load_from_disk
    from torch.utils.data import default_collate

    def decode(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        images = [tensor_of(pipeline.with_cv2(data, task.crop)) for data in rows["jpg"]]
        return {"image": images, "label": rows["label"]}

    def collate(rows: list[dict[str, Any]]) -> Any:
        return default_collate([(row["image"], row["label"]) for row in rows])

    data = load_from_disk(str(task.cache / "datasets")).with_transform(decode)
    return loader_of(data, task, collate_fn=collate)


def write_chunks(images: Path, out: Path, workers: int) -> None:
    """Write LitData's chunks of a folder of class folders."""
    import litdata

    how = {"chunk_bytes": "64MB", "num_workers": workers, "verbose": False}
    data = {"inputs": pipeline.labelled(images), "output_dir": str(out)}
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
        client = {"endpoint_url": task.stored.endpoint, "region_name": "us-east-1"}
        client |= {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
        place = {"input_dir": f"s3://{task.stored.bucket}/litdata", "storage_options": client}
        place |= {"cache_dir": str(task.stored.cache), "max_cache_size": task.stored.limit}
    place |= {"shuffle": task.is_random, "drop_last": False}
    data = litdata.StreamingDataset(**place, transform=partial(_decode, crop=task.crop))
    return litdata.StreamingDataLoader(data, batch_size=task.batch_size, **_workers(task))


def write_mds(images: Path, out: Path, _workers: int) -> None:
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

    place: dict[str, Any] = {"local": str(task.cache / "streaming")}
    if task.stored is not None:
        os.environ["S3_ENDPOINT_URL"] = task.stored.endpoint  # there is no other way to say it
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "any"
        place = {"local": str(task.stored.cache), "cache_limit": task.stored.limit}
        place |= {"remote": f"s3://{task.stored.bucket}/streaming"}
    clean_stale_shared_memory()  # what the round before left behind
    data = Decoded(**place, shuffle=task.is_random, batch_size=task.batch_size)
    return loader_of(data, task, shuffle=False)
