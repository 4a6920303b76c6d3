#!/usr/bin/env python3
"""Makes a folder of class folders with generated photographs-like JPEGs: sample_images.py DIR N."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

SIZES = ((375, 500), (500, 375), (333, 500), (480, 640), (500, 500))


def photograph(rng: np.random.Generator, label: int, height: int, width: int) -> Image.Image:
    """Clouds of many scales, as in natural images (amplitude falls with frequency), and noise."""
    pixels = np.zeros((height, width, 3), np.float32)
    for cells in (2, 4, 8, 16, 32, 64, 128):
        coarse = rng.integers(0, 256, (cells, cells, 3), np.uint8)
        layer = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        pixels += (np.asarray(layer, np.float32) - 127.5) / cells**0.7
    pixels += 60 * np.sin(np.arange(3) + label) + rng.normal(0, 4, pixels.shape)
    return Image.fromarray((pixels * 0.8 + 127.5).clip(0, 255).astype(np.uint8))


def write(folder: Path, classes: int, scale: float, number: int) -> None:
    """Write one image; it is a function of its number."""
    label = number % classes
    height, width = (round(scale * side) for side in SIZES[number % len(SIZES)])
    image = photograph(np.random.default_rng(number), label, height, width)
    image.save(folder / f"class{label:03d}" / f"image{number:06d}.jpg", quality=90)


def make(folder: Path, numbers: range, classes: int, scale: float = 1.0) -> None:
    """Write the images of these numbers, `scale` times as large as photographs of the web."""
    for label in range(classes):
        (folder / f"class{label:03d}").mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(partial(write, folder, classes, scale), numbers, chunksize=16):
            pass  # so that an error is raised


def main() -> None:
    """Write the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, help="images in all")
    parser.add_argument("--classes", type=int, default=10)
    arguments = parser.parse_args()
    make(arguments.folder, range(arguments.count), arguments.classes)


if __name__ == "__main__":
    main()
