#!/usr/bin/env python3
"""What each way to resize costs, and how far its pixels are from torchvision's PIL pipeline.

    scripts/bench_resize.py SHARDS --images DIR [--limit N]

SHARDS is DIR packed. Each image is read as evaluation does, Resize(256) and CenterCrop(224), and by
RandomResizedCrop(224), whose boxes torchvision is given. Printed are milliseconds of processor time
an image, decoding included, and of all values the share that is within 1 of torchvision's with the
same interpolation, their mean difference, what 99.9% keep to, and the largest. Needs torchvision.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

import reader
from reader.rng import SampleRandom

WAYS: dict[str, dict[str, Any]] = {
    "the default": {},
    "antialias=True": {"antialias": True},
    'interpolation="bicubic"': {"interpolation": "bicubic"},
}


class Boxed:
    """RandomResizedCrop that remembers its boxes: (top, left, height, width)."""

    def __init__(self, **options: Any) -> None:
        self.crop = reader.RandomResizedCrop(224, **options)
        self.boxes: list[tuple[int, ...]] = []

    def apply(self, geometry: reader.Geometry, rng: SampleRandom) -> None:
        """Crop, and take note of what."""
        self.crop.apply(geometry, rng)
        box = geometry.top, geometry.left, geometry.box_height, geometry.box_width
        self.boxes.append(tuple(map(round, box)))


def ours(dataset: reader.Dataset, transforms: list[Any]) -> tuple[np.ndarray, float]:
    """All images (N, 224, 224, 3), and milliseconds for each."""
    with reader.Loader(dataset, batch_size=32, transforms=transforms, workers=0) as loader:
        for transform in transforms:
            getattr(transform, "boxes", []).clear()  # of what the loader has tried out
        began = time.thread_time()
        batches = [images.permute(0, 2, 3, 1).numpy().copy() for images, _ in loader]
        return np.concatenate(batches), (time.thread_time() - began) * 1e3 / len(dataset)


def theirs(files: list[Path], boxes: list[Any], bicubic: bool) -> tuple[np.ndarray, float]:
    """The same by torchvision from the files; without boxes, the middle."""
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms import functional as F

    mode = InterpolationMode.BICUBIC if bicubic else InterpolationMode.BILINEAR
    began, found = time.thread_time(), []
    for number, file in enumerate(files):
        image = Image.open(file).convert("RGB")
        if boxes:
            image = F.resized_crop(image, *boxes[number], [224, 224], mode)
        else:
            image = F.center_crop(F.resize(image, [256], mode), [224, 224])
        found.append(np.asarray(image))
    return np.stack(found), (time.thread_time() - began) * 1e3 / len(files)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=400, help="images")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    dataset = reader.Dataset(given.shards)
    dataset = dataset.subset(range(min(given.limit, len(dataset))))
    files = [given.images / name for name in dataset.names]
    print(f"{len(files)} images{'':28}{'ms':>8}{'within 1':>12}{'mean':>8}{'99.9%':>8}{'most':>6}")
    for crop in ("Resize(256), CenterCrop(224)", "RandomResizedCrop(224)"):
        print(crop)
        for way, options in WAYS.items():
            boxed = Boxed(**options)
            middle = [reader.Resize(256, **options), reader.CenterCrop(224)]
            pixels, took = ours(dataset, [boxed] if crop.startswith("Random") else middle)
            expected, their_took = theirs(files, boxed.boxes, "bicubic" in way)
            differs = np.abs(pixels.astype(np.int16) - expected).ravel()
            counts = np.bincount(differs, minlength=256).cumsum() / differs.size
            print(
                f"  {way:36}{took:8.2f}{counts[1]:12.4%}{differs.mean():8.3f}"
                f"{int(np.argmax(counts >= 0.999)):8}{differs.max():6}"
            )
        print(f"  {'torchvision, from the files':36}{their_took:8.2f}")


if __name__ == "__main__":
    main()
