"""Images of another format, size or number, made of photographs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.peers import pipeline

FORMATS: Mapping[str, tuple[str, int, dict[str, Any]]] = {
    "png": ("png", 512, {}),
    "webp": ("webp", 512, {"quality": 85}),
    "large": ("jpg", 3000, {"quality": 92}),
}
"""Extension, shorter side in pixels, and how it is written."""


def make(images: Path, cache: Path, kind: str, side: int | None) -> tuple[Path, Path]:
    """Return a folder of a kind of `FORMATS`, made of class folders, and the same packed."""
    folder, shards = cache / "images", cache / "shards"
    paths = [Path(path) for path, _ in pipeline.labelled(images)]
    outs = [folder / path.relative_to(images) for path in paths]
    convert = partial(_convert, kind=kind, side=side)
    with ProcessPoolExecutor() as pool:
        list(pool.map(convert, paths, outs, chunksize=8))
    pack(folder, shards)
    return folder, shards


def pack(images: Path, shards: Path, *options: str) -> None:
    command = [sys.executable, "-m", "packer", "pack", str(images), str(shards), "--quiet"]
    subprocess.run([*command, *options], check=True)


def repeated(images: Path, count: int, out: Path) -> None:
    """Link the photographs of class folders under other names, until there are so many."""
    paths = [Path(path) for path, _ in pipeline.labelled(images)]
    for number in range(count):
        path = paths[number % len(paths)]
        copy = out / path.relative_to(images).with_name(f"{number // len(paths)}-{path.name}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, copy) if path.stat().st_dev == out.stat().st_dev else shutil.copy(path, copy)


def _convert(path: Path, out: Path, kind: str, side: int | None) -> None:
    ext, usual, options = FORMATS[kind]
    out = out.with_suffix(f".{ext}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(path) as image:
        scale = (side or usual) / min(image.size)
        size = tuple(round(length * scale) for length in image.size)
        made = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    if kind == "large":  # grain, as cameras of so many pixels have: some 3 MB for 12 megapixels
        grain = np.random.default_rng(made.size).normal(0, 6, (made.height, made.width, 3))
        made = Image.fromarray((np.asarray(made) + grain).clip(0, 255).astype(np.uint8))
    made.save(out, icc_profile=None, **options)
