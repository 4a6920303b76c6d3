#!/usr/bin/env python3
"""Reading tiny raw images (CIFAR-10's size), beside what people do with them in torch.

    scripts/bench_tiny.py [--images 50000] [--batch-size 512] [--workers N] [--rounds N]

Random pixels are packed into a temporary folder. In each round every candidate is built anew and
reads one epoch to warm up and then the measured ones; printed are medians over the rounds. FFCV is
among them where it is installed (see scripts/test_peers.sh).
"""

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.utils.data import DataLoader, TensorDataset

import reader
from packer import pack

CLASSES = 10
AUGMENT = [reader.RandomCrop(32, padding=4), reader.RandomHorizontalFlip()]


class TensorBatches:
    """The fastest that plain torch can do: one index into a tensor for each batch."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor, batch_size: int) -> None:
        self.images, self.labels, self.batch_size = images, labels, batch_size

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        order = torch.randperm(len(self.images))
        for chosen in order.split(self.batch_size):
            yield self.images[chosen], self.labels[chosen]


class IndexedPixels:
    """A sample's pixels and label by its number, as FFCV's writer wants them."""

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self.pixels = pixels

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, number: int) -> tuple[NDArray[np.uint8], int]:
        return self.pixels[number], number % CLASSES


def ffcv_loaders(
    pixels: NDArray[np.uint8], path: Path, batch_size: int, workers: int
) -> dict[str, Callable[[], Iterable[Any]]]:
    """FFCV over a file of its own, without and with augmentation; it compiles at each start."""
    from ffcv import fields, loader, transforms, writer
    from ffcv.fields import basics, decoders

    image_field = fields.RGBImageField(write_mode="raw")
    made = writer.DatasetWriter(str(path), {"image": image_field, "label": fields.IntField()})
    made.from_indexed_dataset(IndexedPixels(pixels))

    def build(*augmentation: Any) -> Iterable[Any]:
        to_tensor = transforms.ToTensor(), transforms.ToTorchImage()
        image = [decoders.SimpleRGBImageDecoder(), *augmentation, *to_tensor]
        label = [basics.IntDecoder(), transforms.ToTensor(), transforms.Squeeze()]
        return loader.Loader(
            str(path),
            batch_size,
            num_workers=workers,
            os_cache=True,
            order=loader.OrderOption.RANDOM,
            drop_last=False,
            pipelines={"image": image, "label": label},
        )

    augment = transforms.RandomTranslate(padding=4), transforms.RandomHorizontalFlip()
    return {"FFCV": build, "FFCV, translate and flip": lambda: build(*augment)}


def measure(build: Callable[[], Iterable[Any]], epochs: int) -> tuple[float, float]:
    """Images a second, and seconds to the first batch."""
    began = time.perf_counter()
    batches = build()
    iterator = iter(batches)
    next(iterator)
    first = time.perf_counter() - began
    for _ in iterator:
        pass
    began = time.perf_counter()
    count = sum(len(images) for _ in range(epochs) for images, _ in batches)
    rate = count / (time.perf_counter() - began)
    if isinstance(batches, reader.Loader):
        batches.close()
    return rate, first


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4, help="measured epochs a round")
    arguments = parser.parse_args()

    pixels = np.random.default_rng(0).integers(0, 256, (arguments.images, 32, 32, 3), np.uint8)
    labels = torch.arange(arguments.images) % CLASSES
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous()
    with tempfile.TemporaryDirectory() as folder:
        for number, image in enumerate(pixels):
            path = Path(folder, "images", str(number % CLASSES), f"{number:06d}.bmp")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path)
        shards = Path(folder, "shards")
        pack(path.parent.parent, shards, raw=(32, 32), jobs=arguments.workers, progress=False)

        def ours(*transforms: reader.Transform) -> reader.Loader:
            return reader.Loader(
                shards,
                batch_size=arguments.batch_size,
                shuffle=True,
                transforms=transforms,
                workers=arguments.workers,
            )

        def theirs(workers: int) -> DataLoader[Any]:
            return DataLoader(
                TensorDataset(images, labels),
                arguments.batch_size,
                shuffle=True,
                num_workers=workers,
                persistent_workers=bool(workers),
            )

        candidates: dict[str, Callable[[], Iterable[Any]]] = {
            "shardfeed": ours,
            "shardfeed, crop and flip": lambda: ours(*AUGMENT),
            "tensor indexing": lambda: TensorBatches(images, labels, arguments.batch_size),
            "DataLoader, no workers": lambda: theirs(0),
            f"DataLoader, {arguments.workers} workers": lambda: theirs(arguments.workers),
        }
        if importlib.util.find_spec("ffcv"):
            path = Path(folder, "images.beton")
            candidates |= ffcv_loaders(pixels, path, arguments.batch_size, arguments.workers)
        results: dict[str, list[tuple[float, float]]] = {name: [] for name in candidates}
        for _ in range(arguments.rounds):
            for name, build in candidates.items():
                results[name].append(measure(build, arguments.epochs))
    print(f"{'':28}{'images/s':>12}{'1st batch s':>13}")
    for name, measured in results.items():
        rate, first = (statistics.median(values) for values in zip(*measured, strict=True))
        print(f"{name:28}{rate:12,.0f}{first:13.2f}")


if __name__ == "__main__":
    main()
