"""Images of another format, size or number, made of photographs."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks import pipeline

FORMATS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "png": ("png", 512, {}),
    "webp": ("webp", 512, {"quality": 85}),
    "large": ("jpg", 3000, {"quality": 92}),
}
"""Extension, shorter side in pixels, and how it is written."""


def make(images: Path, folder: Path, kind: str, side: int | None) -> None:
    """Make a folder of a kind of `FORMATS` of class folders."""
    paths = [Path(path) for path, _ in pipeline.labelled(images)]
    outs = [folder / path.relative_to(images) for path in paths]
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(_convert, kind=kind, side=side), paths, outs, chunksize=8))


def pack(images: Path, shards: Path, *options: str) -> None:
    command = [sys.executable, "-m", "packer", "pack", str(images), str(shards), "--quiet"]
    subprocess.run([*command, *options], check=True)


def repeated(images: Path, count: int, out: Path) -> None:
    """Link the photographs of class folders under other names, until there are so many."""
    paths = [Path(path) for path, _ in pipeline.labelled(images)]
    out.mkdir(exist_ok=True)
    for number in range(count):
        path = paths[number % len(paths)]
        copy = out / path.relative_to(images).with_name(f"{number // len(paths)}-{path.name}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, copy) if path.stat().st_dev == out.stat().st_dev else shutil.copy(path, copy)


def _convert(path: Path, out: Path, kind: str, side: int | None) -> None:
    ext, usual, options = FORMATS[kind]
    out.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(path) as image:
        scale = (side or usual) / min(image.size)
        size = tuple(round(length * scale) for length in image.size)
        made = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    if kind == "large":  # grain, as cameras of so many pixels have: some 3 MB for 12 megapixels
        grain = np.random.default_rng(made.size).normal(0, 6, (made.height, made.width, 3))
        made = Image.fromarray((np.asarray(made) + grain).clip(0, 255).astype(np.uint8))
    made.save(out.with_suffix(f".{ext}"), icc_profile=None, **options)
