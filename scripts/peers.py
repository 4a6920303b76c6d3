"""The ways to read images that bench_read.py compares with: each as its users would write it.

A peer is a function from a `Task` to an iterable of batches; iterating over it again is the next
epoch. Peers whose package is not installed are left out.
"""

import io
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CROPS = ("random", "center")


@dataclass(frozen=True)
class Task:
    """What every candidate does: the same images, crop, batch and number of workers."""

    shards: Path
    images: Path
    crop: str
    batch_size: int
    workers: int


def random_box(height: int, width: int) -> tuple[int, int, int, int]:
    """(top, left, height, width) by the rules of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = height * width * random.uniform(0.08, 1)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def with_cv2(data: bytes, crop: str) -> np.ndarray:
    """The fast way: simplejpeg (its fast settings), then OpenCV's bilinear resize."""
    import cv2
    import simplejpeg

    image = simplejpeg.decode_jpeg(data, "RGB", fastdct=True, fastupsample=True)
    height, width = image.shape[:2]
    if crop == "random":
        top, left, h, w = random_box(height, width)
        image = cv2.resize(image[top : top + h, left : left + w], (224, 224))
        return cv2.flip(image, 1) if random.random() < 0.5 else image
    scale = 256 / min(height, width)
    image = cv2.resize(image, (max(256, int(width * scale)), max(256, int(height * scale))))
    top, left = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
    return np.ascontiguousarray(image[top : top + 224, left : left + 224])


def with_pillow(data: bytes, crop: str) -> np.ndarray:
    """As torchvision does it: Pillow's decoder and its antialiased resize."""
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    width, height = image.size
    if crop == "random":
        top, left, h, w = random_box(height, width)
        image = image.crop((left, top, left + w, top + h)).resize((224, 224), Image.BILINEAR)
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        return np.array(image)
    scale = 256 / min(height, width)
    image = image.resize((max(256, int(width * scale)), max(256, int(height * scale))))
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    return np.array(image.crop((left, top, left + 224, top + 224)))


class Folder:
    """A torch Dataset over class folders, as torchvision's ImageFolder is one."""

    def __init__(self, task: Task, decode: Callable[[bytes, str], np.ndarray]) -> None:
        classes = sorted(path.name for path in task.images.iterdir() if path.is_dir())
        self.samples = [
            (str(path), label)
            for label, name in enumerate(classes)
            for path in sorted((task.images / name).rglob("*"))
            if path.is_file()
        ]
        self.crop, self.decode = task.crop, decode

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        import torch

        path, label = self.samples[number]
        with open(path, "rb") as file:
            image = self.decode(file.read(), self.crop)
        return torch.from_numpy(image).permute(2, 0, 1), label


def _single_thread(_worker: int) -> None:
    import cv2

    cv2.setNumThreads(1)


def _data_loader(task: Task, decode: Callable[[bytes, str], np.ndarray]) -> Iterable[Any]:
    from torch.utils.data import DataLoader

    return DataLoader(
        Folder(task, decode),
        batch_size=task.batch_size,
        shuffle=task.crop == "random",
        num_workers=task.workers,
        persistent_workers=True,
        worker_init_fn=_single_thread,
        prefetch_factor=4,
    )


def data_loader_cv2(task: Task) -> Iterable[Any]:
    """DataLoader over the folder, the fast way to write it."""
    return _data_loader(task, with_cv2)


def data_loader_pillow(task: Task) -> Iterable[Any]:
    """DataLoader over the folder, as torchvision has it."""
    return _data_loader(task, with_pillow)


def webdataset(task: Task) -> Iterable[Any]:
    """The webdataset library over the same shards, with simplejpeg and OpenCV."""
    import webdataset as wds
    from torch.utils.data import default_collate

    urls = sorted(map(str, task.shards.rglob("*.tar")))

    def decode(sample: dict[str, Any]) -> tuple[Any, int]:
        import torch

        image = with_cv2(sample["jpg"], task.crop)
        return torch.from_numpy(image).permute(2, 0, 1), int(sample["cls"])

    data = (
        wds.WebDataset(
            urls, shardshuffle=len(urls), nodesplitter=wds.split_by_node, empty_check=False
        )
        .shuffle(1000)
        .map(decode)
        .batched(task.batch_size, collation_fn=default_collate)
    )
    return wds.WebLoader(
        data,
        batch_size=None,
        num_workers=task.workers,
        persistent_workers=True,
        worker_init_fn=_single_thread,
    )


def grain(task: Task) -> Iterable[Any]:
    """Threads of Grain over the folder, with simplejpeg and OpenCV."""
    import grain.python as pygrain

    source = Folder(task, with_cv2)

    class Load(pygrain.MapTransform):
        def map(self, number: int) -> tuple[np.ndarray, int]:
            path, label = source.samples[number]
            with open(path, "rb") as file:
                return with_cv2(file.read(), task.crop), label

    return (
        pygrain.MapDataset.range(len(source))
        .shuffle(seed=0)
        .map(Load())
        .to_iter_dataset(pygrain.ReadOptions(num_threads=task.workers, prefetch_buffer_size=512))
        .batch(task.batch_size)
    )


PEERS: dict[str, tuple[str, Callable[[Task], Iterable[Any]]]] = {
    "DataLoader, simplejpeg + cv2": ("torch", data_loader_cv2),
    "DataLoader, Pillow": ("torch", data_loader_pillow),
    "webdataset, simplejpeg + cv2": ("webdataset", webdataset),
    "Grain, simplejpeg + cv2": ("grain", grain),
}
