#!/usr/bin/env python3
"""Reading images with masks: this reader beside torch's DataLoader with OpenCV.

    scripts/bench_masks.py --images DIR [--format png|webp|large] [--side PX] [--rounds N]

The images are made of DIR's for this run alone, as those of bench_read.py are (PNGs whose shorter
side is 512 pixels), each with a mask as PNG beside it, and packed. Both are cropped by the rules of
torchvision's RandomResizedCrop, resized to 224 x 224 (the mask by its nearest pixels) and mirrored.
Rounds and figures are those of bench_read.py.
"""

import argparse
import gc
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bench_read
import cv2
import made
import numpy as np
import torch
from peers import Task, pipeline

import reader


class Folder:
    """A torch Dataset over class folders of images, each with a mask."""

    def __init__(self, task: Task) -> None:
        files = pipeline.labelled(task.images)
        self.samples = [sample for sample in files if not sample[0].endswith(".mask.png")]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> tuple[Any, int, Any]:
        path, label = self.samples[number]
        image = pipeline.decoded(pipeline.read(path))
        content = pipeline.read(str(Path(path).with_suffix(".mask.png")))
        mask = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
        top, left, h, w = pipeline.random_box(*mask.shape)
        box = slice(top, top + h), slice(left, left + w)
        image = cv2.resize(image[box], (224, 224))
        mask = cv2.resize(mask[box], (224, 224), interpolation=cv2.INTER_NEAREST_EXACT)
        if torch.rand(1) < 0.5:
            image, mask = cv2.flip(image, 1), cv2.flip(mask, 1)
        return torch.from_numpy(image).permute(2, 0, 1), label, torch.from_numpy(mask)


def data_loader(task: Task) -> Iterable[Any]:
    """The fast way to write it with torch."""
    return torch.utils.data.DataLoader(
        Folder(task),
        batch_size=task.batch_size,
        shuffle=True,
        num_workers=task.workers,
        persistent_workers=True,
        worker_init_fn=pipeline.single_thread,
        prefetch_factor=4,
    )


def ours(task: Task) -> reader.Loader:
    """This reader."""
    return reader.Loader(
        task.shards,
        fields=("image", "label", "mask.png"),
        batch_size=task.batch_size,
        transforms=bench_read.transforms("random"),
        shuffle=True,
        workers=task.workers,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--images", type=Path, required=True, help="class folders, or splits of them"
    )
    parser.add_argument("--format", choices=made.FORMATS, default="png")
    parser.add_argument("--side", type=int)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2, help="measured epochs a round")
    given = parser.parse_args()
    candidates: dict[str, Callable[[Task], Iterable[Any]]] = {
        bench_read.OURS: ours,
        "DataLoader, cv2": data_loader,
    }
    measured = {name: bench_read.Measured() for name in candidates}
    with tempfile.TemporaryDirectory(dir=given.images.parent) as name:
        cache = Path(name)
        images, shards = made.make(given.images, cache, given.format, given.side, masks=True)
        task = Task(shards, images, cache, "random", given.batch_size, given.workers)
        labels = np.sort(reader.Dataset(shards).labels)
        if remark := bench_read.too_few(len(labels), task):
            print(remark, file=sys.stderr)
        for _ in range(given.rounds):
            for name, build in candidates.items():
                bench_read.measure(build, task, given.epochs, labels, measured[name])
                gc.collect()  # ends the workers of a loader that refers to itself
    print(bench_read.table(measured, "DataLoader, cv2"))
    for name, result in measured.items():
        if result.remark:
            print(f"{name} {result.remark}")


if __name__ == "__main__":
    main()
