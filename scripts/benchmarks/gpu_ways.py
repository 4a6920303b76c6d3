"""The ways to feed a GPU that `gpu` compares: each as its users would write it.

A way is a function from a `Job` to an endless iterator of (images, labels) on the device: images
float32 (B, 3, 224, 224), normalised. Ways whose packages are not installed are left out.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import RandomSampler

import reader
from benchmarks.peers import Task, pipeline
from benchmarks.peers.data_loader import Folder, loader_of
from reader.gpu_decode.nvjpeg import require

SIZE = 224
Batches = Generator[tuple[Tensor, Tensor], None, None]


@dataclass(frozen=True)
class Job:
    """What every way does: the same images, crops of 224, batch, workers and device."""

    shards: Path
    images: Path
    batch_size: int
    workers: int
    device: torch.device


def shardfeed(job: Job, decode: Literal["cpu", "gpu"] = "cpu") -> Batches:
    """This reader."""
    with reader.Loader(
        job.shards,
        batch_size=job.batch_size,
        transforms=[reader.RandomResizedCrop(SIZE), reader.RandomHorizontalFlip()],
        shuffle=True,
        epochs=None,
        workers=job.workers,
        decode=decode,
    ) as loader:
        yield from reader.CUDAPrefetcher(
            loader, reader.IMAGENET_MEAN, reader.IMAGENET_STD, device=job.device
        )


def shardfeed_gpu_decode(job: Job) -> Batches:
    """This reader, whose workers send what nvJPEG is to decode."""
    return shardfeed(job, "gpu")


def apex(batches: Iterable[Any], device: torch.device) -> Batches:
    """The data_prefetcher of NVIDIA apex's ImageNet example, as a generator."""
    on_gpu = device.type == "cuda"
    side = torch.cuda.Stream(device) if on_gpu else None
    with torch.cuda.stream(side) if side else contextlib.nullcontext():
        mean, std = (
            (torch.tensor(values) * 255).reshape(1, 3, 1, 1).to(device)
            for values in (reader.IMAGENET_MEAN, reader.IMAGENET_STD)
        )
    source = iter(batches)

    def preload() -> tuple[Tensor, Tensor]:
        images, labels = next(source)
        if images.is_cuda:  # decoded there, on the current stream
            side.wait_stream(torch.cuda.current_stream())
            images.record_stream(side)
        with torch.cuda.stream(side) if side else contextlib.nullcontext():
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            return images.float().sub_(mean).div_(std), labels

    images, labels = preload()
    while True:
        if side:
            torch.cuda.current_stream().wait_stream(side)
            images.record_stream(torch.cuda.current_stream())
            labels.record_stream(torch.cuda.current_stream())
        ahead = preload()
        yield images, labels
        images, labels = ahead


def data_loader(
    job: Job, decode: Callable[[bytes, str], np.ndarray], **options: Any
) -> Iterable[Any]:
    """DataLoader over the folder, shuffled forever, so that no epoch's end makes it wait."""
    cache = job.shards.parent  # DataLoader needs none
    task = Task(job.shards, job.images, cache, "random", job.batch_size, job.workers)
    folder = Folder(task, decode)
    forever = RandomSampler(folder, num_samples=10**9)
    return loader_of(folder, task, shuffle=False, sampler=forever, prefetch_factor=2, **options)


def data_loader_apex(job: Job) -> Batches:
    """DataLoader with simplejpeg and OpenCV, pin_memory, and apex's prefetcher."""
    return apex(
        data_loader(job, pipeline.with_cv2, pin_memory=job.device.type == "cuda"), job.device
    )


def data_loader_gpu_decode(job: Job) -> Batches:
    """DataLoader that reads bytes; torchvision decodes (nvJPEG), crops and resizes on the GPU."""
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2 import functional

    def crop(image: Tensor) -> Tensor:
        box = pipeline.random_box(*image.shape[-2:])
        image = functional.resized_crop(image, *box, [SIZE, SIZE], antialias=False)
        return image.flip(-1) if torch.rand(()) < 0.5 else image

    def decoded() -> Batches:
        for encoded, sizes, labels in data_loader(job, _encoded, collate_fn=_end_to_end):
            images = decode_jpeg(list(encoded.split(sizes)), ImageReadMode.RGB, device=job.device)
            yield torch.stack([crop(image) for image in images]), labels

    return apex(decoded(), job.device)


def _encoded(data: bytes, crop: str) -> np.ndarray:
    # Folder gives images as (H, W, C) arrays, and turns them into (C, H, W) tensors.
    return np.frombuffer(data, np.uint8).reshape(1, -1, 1).copy()


def _end_to_end(samples: list[tuple[Tensor, int]]) -> tuple[Tensor, list[int], Tensor]:
    # One tensor: each that crosses from a worker costs a file descriptor.
    images, labels = zip(*samples, strict=True)
    flat = [image.reshape(-1) for image in images]
    return torch.cat(flat), [len(image) for image in flat], torch.tensor(labels)


def _can_decode(device: torch.device) -> bool:
    """Whether there is a torchvision, and it was built with nvJPEG."""
    try:
        require([device])
    except reader.ReaderError:
        return False
    return True


def ways(device: torch.device) -> dict[str, Callable[[Job], Batches]]:
    """Those that can run here, by name."""
    found = {
        "shardfeed": shardfeed,
        "shardfeed, GPU decode": shardfeed_gpu_decode,
        "DataLoader, pinned, apex prefetcher": data_loader_apex,
        "DataLoader, torchvision GPU decode": data_loader_gpu_decode,
    }
    if device.type == "cpu":  # where this reader's own decoder stands in
        del found["DataLoader, torchvision GPU decode"]
    elif not _can_decode(device):
        found = {name: way for name, way in found.items() if "GPU decode" not in name}
    return found
