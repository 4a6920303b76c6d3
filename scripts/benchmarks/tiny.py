"""Raw images of CIFAR-10's size, beside what people do with them in torch.

    scripts/bench.py tiny [--samples 50000] [--batch-size 512] [--workers N]

Random pixels are packed. FFCV is among the candidates if it is installed (scripts/test_peers.sh).
"""

import argparse
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, TensorDataset

import packer
import reader
from benchmarks.peers import Epochs, installed
from benchmarks.runner import Candidates, Figures

BASELINE = "DataLoader, no workers"
OPTIONS = {"samples": 50_000, "batch-size": 512, "workers": 2, "epochs": 4}
CLASSES = 10


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    pixels = np.random.default_rng(0).integers(0, 256, (given.samples, 32, 32, 3), np.uint8)
    np.save(work / "pixels.npy", pixels)
    samples = [{"image": one, "label": number % CLASSES} for number, one in enumerate(pixels)]
    packer.pack(samples, work / "shards", raw=(32, 32), jobs=1, progress=False)
    names = ["shardfeed", "shardfeed, crop and flip", "tensor indexing", BASELINE]
    names += ["DataLoader, workers"]
    if installed({"FFCV": "ffcv"}):
        write_ffcv(pixels, work)
        names += ["FFCV", "FFCV, translate and flip"]
    given.work = work
    return {name: partial(measure, name, given) for name in names}


def measure(name: str, given: argparse.Namespace) -> Figures:
    began = time.perf_counter()
    batches = build(name, given)
    iterator = iter(batches)
    next(iterator)
    first = time.perf_counter() - began
    for _ in iterator:
        pass
    began = time.perf_counter()
    count = sum(len(images) for _ in range(given.epochs) for images, _ in batches)
    rate = count / (time.perf_counter() - began)
    if isinstance(batches, reader.Loader):
        batches.close()
    return {"images/s": rate, "first batch s": first}


def build(name: str, given: argparse.Namespace) -> Iterable[Any]:
    if name.startswith("shardfeed"):
        augment = [reader.RandomCrop(32, padding=4), reader.RandomHorizontalFlip()]
        how = {"batch_size": given.batch_size, "workers": given.workers, "shuffle": True}
        return reader.Loader(
            given.work / "shards", transforms=augment if "flip" in name else [], **how
        )
    if name.startswith("FFCV"):
        return ffcv(given, is_augmented="flip" in name)
    pixels = torch.from_numpy(np.load(given.work / "pixels.npy")).permute(0, 3, 1, 2)
    data = TensorDataset(pixels.contiguous(), torch.arange(len(pixels)) % CLASSES)
    if name == "tensor indexing":  # the fastest that plain torch can do
        order, size = partial(torch.randperm, len(data)), given.batch_size
        return Epochs(lambda: (data[chosen] for chosen in order().split(size)))
    workers = 0 if name == BASELINE else given.workers
    return DataLoader(
        data, given.batch_size, shuffle=True, num_workers=workers, persistent_workers=bool(workers)
    )


def write_ffcv(pixels: NDArray[np.uint8], work: Path) -> None:
    from ffcv import fields, writer

    columns = {"image": fields.RGBImageField(write_mode="raw"), "label": fields.IntField()}
    samples = [(one, number % CLASSES) for number, one in enumerate(pixels)]
    writer.DatasetWriter(str(work / "images.beton"), columns).from_indexed_dataset(samples)


def ffcv(given: argparse.Namespace, is_augmented: bool) -> Iterable[Any]:
    """Return FFCV's loader, which compiles at each start."""
    from ffcv import loader, transforms
    from ffcv.fields import basics, decoders

    augment = [transforms.RandomTranslate(padding=4), transforms.RandomHorizontalFlip()]
    to_tensor = [transforms.ToTensor(), transforms.ToTorchImage()]
    image = [decoders.SimpleRGBImageDecoder(), *(augment if is_augmented else []), *to_tensor]
    label = [basics.IntDecoder(), transforms.ToTensor(), transforms.Squeeze()]
    return loader.Loader(
        str(given.work / "images.beton"),
        given.batch_size,
        num_workers=given.workers,
        os_cache=True,
        order=loader.OrderOption.RANDOM,
        drop_last=False,
        pipelines={"image": image, "label": label},
    )
