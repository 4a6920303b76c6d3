#!/usr/bin/env python3
"""Makes images like photographs, in the layout that a page of the documentation begins with.

    python scripts/sample_images.py DIR N [--for TASK]

N images in all: nine of ten for training, the others for validation.
"""

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SIZES = ((375, 500), (500, 375), (333, 500), (480, 640), (500, 500))
NAMES = ("bird", "boat", "bus", "car", "cat", "cow", "cup", "dog", "hat", "owl")


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
    label = number % classes
    height, width = (round(scale * side) for side in SIZES[number % len(SIZES)])
    image = photograph(np.random.default_rng(number), label, height, width)
    image.save(folder / NAMES[label] / f"{number:06d}.jpg", quality=90)


def make(folder: Path, numbers: range, classes: int = len(NAMES), scale: float = 1.0) -> None:
    """Write the images of these numbers, `scale` times as large as photographs of the web."""
    for name in NAMES[:classes]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(write, folder, classes, scale), numbers, chunksize=16))


def draw(number: int) -> tuple[Image.Image, list[int], int]:
    """Return an image of an object on a background, its box (x, y, w, h), and its class."""
    rng, label = np.random.default_rng(number), number % len(NAMES)
    image = photograph(rng, 0, 240, 320)
    w, h = (int(rng.integers(side // 4, side // 2)) for side in image.size)
    x, y = int(rng.integers(image.width - w)), int(rng.integers(image.height - h))
    colour = tuple(int(value) for value in 127 + 120 * np.sin(np.arange(3) * 2 + label))
    ImageDraw.Draw(image).ellipse((x, y, x + w, y + h), fill=colour)
    return image, [x, y, w, h], label


def captions(folder: Path, split: str, number: int) -> None:
    """Write a text beside each image."""
    image, _, label = draw(number)
    save(image, folder / split / f"{number}.jpg")
    (folder / split / f"{number}.txt").write_text(f"A {NAMES[label]} before clouds.")


def coco(folder: Path, split: str, numbers: range) -> None:
    """Write COCO's folder of images, and an annotation file."""
    images, annotations = [], []
    for number in numbers:
        image, box, label = draw(number)
        save(image, folder / f"{split}2017" / f"{number:012d}.jpg")
        size = {"height": image.height, "width": image.width}
        images.append({"id": number, "file_name": f"{number:012d}.jpg", **size})
        owner = {"id": number, "image_id": number, "category_id": label + 1, "iscrowd": 0}
        annotations.append({**owner, "bbox": box, "area": box[2] * box[3]})
    categories = [{"id": label + 1, "name": name} for label, name in enumerate(NAMES)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations").mkdir(exist_ok=True)
    (folder / "annotations" / f"instances_{split}2017.json").write_text(json.dumps(content))


def masks(folder: Path, split: str, number: int) -> None:
    """Write an image into `photos`, and a mask of three classes of pixels into `masks`."""
    image, (x, y, w, h), _ = draw(number)
    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).ellipse((x, y, x + w, y + h), fill=1 + number % 2)
    save(image, folder / "photos" / split / f"{number}.jpg")
    save(mask, folder / "masks" / split / f"{number}.png")


def table(folder: Path, split: str, number: int) -> None:
    """Write the image of a competition, with a table of several labels for those to train with."""
    image, _, label = draw(number)
    is_train = split == "train"
    save(image, folder / ("train_images" if is_train else "test_images") / f"{number}.jpg")
    labels = NAMES[label] if number % 3 else f"{NAMES[label]} {NAMES[label - 1]}"
    with open(folder / "train.csv", "a") as rows:
        rows.write("image,labels\n" * (number == 0) + f"{number}.jpg,{labels}\n" * is_train)


def tiny(folder: Path, split: str, number: int) -> None:
    """Write a PNG of 32 x 32 in a class folder."""
    label = number % len(NAMES)
    image = photograph(np.random.default_rng(number), label, 32, 32)
    save(image, folder / split / NAMES[label] / f"{number}.png")


def save(image: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def each(write: Callable[[Path, str, int], None]) -> Callable[[Path, str, range], object]:
    return lambda folder, split, numbers: [write(folder, split, number) for number in numbers]


TASKS = {"captions": each(captions), "detection": coco, "segmentation": each(masks)}
TASKS |= {"tables": each(table), "tiny": each(tiny)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, help="images in all")
    parser.add_argument("--for", dest="task", choices=sorted(TASKS), help="default: class folders")
    given = parser.parse_args()
    trained = given.count - max(given.count // 10, 1)
    for split, numbers in {"train": range(trained), "val": range(trained, given.count)}.items():
        if given.task is None:
            make(given.folder / split, numbers)
        else:
            TASKS[given.task](given.folder, split, numbers)


if __name__ == "__main__":
    main()
