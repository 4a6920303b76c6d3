"""The ways to feed a GPU that `gpu` compares: each as its users would write it.

A way is a function from a `Task` and a device to an endless iterator of (images, labels) there:
images float32 (B, 3, 224, 224), normalised. Ways whose packages are not installed are left out.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import RandomSampler

import reader
from benchmarks import pipeline
from benchmarks.peers import Decode, Folder, Task, loader_of
from benchmarks.read import ours
from reader.gpu_decode.decoders import choose
from reader.gpu_decode.libraries import LIBRARIES

SIZE = 224
Batches = Iterator[tuple[Tensor, Tensor]]
Way = Callable[[Task, torch.device], Batches]


def shardfeed(
    task: Task,
    device: torch.device,
    decode: Literal["cpu", "gpu", "auto"] = "cpu",
    decoder: str | None = None,
    size: int = SIZE,
) -> Batches:
    """This reader; with "gpu", its workers send what the GPU is to decode, with "auto" a share."""
    with ours(task, size, epochs=None, decode=decode) as loader:
        norm = reader.IMAGENET_MEAN, reader.IMAGENET_STD
        try:
            yield from reader.CUDAPrefetcher(loader, *norm, device=device, decoder=decoder)
        finally:
            if decode != "cpu":
                print(loader.statistics(), file=sys.stderr)


def apex(batches: Iterable[Any], device: torch.device) -> Batches:
    """The data_prefetcher of NVIDIA apex's ImageNet example, as a generator."""
    on_gpu = device.type == "cuda"
    side = torch.cuda.Stream(device) if on_gpu else None
    with torch.cuda.stream(side):  # None: as it is
        both = torch.tensor([reader.IMAGENET_MEAN, reader.IMAGENET_STD]) * 255
        mean, std = both.reshape(2, 1, 3, 1, 1).to(device)
    source = iter(batches)

    def preload() -> tuple[Tensor, Tensor]:
        images, labels = next(source)
        if images.is_cuda:  # decoded there, on the current stream
            side.wait_stream(torch.cuda.current_stream())
            images.record_stream(side)
        with torch.cuda.stream(side):
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            return images.float().sub_(mean).div_(std), labels

    images, labels = preload()
    while True:
        if side:
            now = torch.cuda.current_stream()
            now.wait_stream(side)
            images.record_stream(now)
            labels.record_stream(now)
        ahead = preload()
        yield images, labels
        images, labels = ahead


def data_loader(task: Task, decode: Decode, **options: Any) -> Iterable[Any]:
    """DataLoader over the folder, shuffled forever, so that no epoch's end makes it wait."""
    folder = Folder(decode, task)
    options |= {"sampler": RandomSampler(folder, num_samples=10**9), "prefetch_factor": 2}
    return loader_of(folder, task, shuffle=False, **options)


def data_loader_apex(task: Task, device: torch.device) -> Batches:
    """DataLoader with simplejpeg and OpenCV, pin_memory, and apex's prefetcher."""
    on_gpu = device.type == "cuda"
    return apex(data_loader(task, pipeline.with_cv2, pin_memory=on_gpu), device)


def data_loader_gpu_decode(task: Task, device: torch.device) -> Batches:
    """DataLoader that reads bytes; torchvision decodes (nvJPEG), crops and resizes on the GPU."""
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2 import functional

    def crop(image: Tensor) -> Tensor:
        box = pipeline.random_box(*image.shape[-2:])
        image = functional.resized_crop(image, *box, [SIZE, SIZE], antialias=False)
        return image.flip(-1) if torch.rand(()) < 0.5 else image

    def decoded() -> Batches:
        for encoded, sizes, labels in data_loader(task, _encoded, collate_fn=_end_to_end):
            images = decode_jpeg(list(encoded.split(sizes)), ImageReadMode.RGB, device=device)
            yield torch.stack([crop(image) for image in images]), labels

    return apex(decoded(), device)


def _encoded(data: bytes, crop: str) -> np.ndarray:
    # Folder gives images as (H, W, C) arrays, and turns them into (C, H, W) tensors.
    return np.frombuffer(data, np.uint8).reshape(1, -1, 1).copy()


def _end_to_end(samples: list[tuple[Tensor, int]]) -> tuple[Tensor, list[int], Tensor]:
    # One tensor: each that crosses from a worker costs a file descriptor.
    images, labels = zip(*samples, strict=True)
    flat = [image.reshape(-1) for image in images]
    return torch.cat(flat), [len(image) for image in flat], torch.tensor(labels)


def ways(device: torch.device, size: int = SIZE, all_decoders: bool = False) -> dict[str, Way]:
    """Return those that can run here, by name; decoding on the GPU needs a decoder for it.

    With another `size`, or `all_decoders`, only this reader's.
    """
    found: dict[str, Way] = {"shardfeed": partial(shardfeed, size=size)}
    for name in (None, *(LIBRARIES if all_decoders else ())):
        if device.type != "cuda" or choose(device, name).name:
            how = {"decoder": name, "size": size}
            mark = f" ({name})" if name else ""
            found[f"shardfeed, GPU decode{mark}"] = partial(shardfeed, decode="gpu", **how)
            if not name:
                found["shardfeed, auto"] = partial(shardfeed, decode="auto", **how)
    if size != SIZE or all_decoders:
        return found
    found["DataLoader, pinned, apex prefetcher"] = data_loader_apex
    if device.type == "cuda" and choose(device, "torchvision").name:
        found["DataLoader, torchvision GPU decode"] = data_loader_gpu_decode
    return found
