"""Images of another format and size, made of photographs, for bench_read.py."""

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

FORMATS: Mapping[str, tuple[str, int, dict[str, Any]]] = {
    "png": ("png", 512, {}),
    "webp": ("webp", 512, {"quality": 85}),
    "large": ("jpg", 3000, {"quality": 92}),
}
"""Extension, shorter side in pixels, and how it is written."""


def make(images: Path, cache: Path, kind: str, side: int | None) -> tuple[Path, Path]:
    """A folder of such images, and the same packed, which is told of.

    Args:
        images: a folder of class folders.
        cache: where both are written.
        kind: of `FORMATS`.
        side: the shorter one, if not that of `FORMATS`.
    """
    folder, shards = cache / "images", cache / "shards"
    paths = sorted(path for path in images.glob("*/*") if path.is_file())
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(_convert, folder=folder, kind=kind, side=side), paths, chunksize=8))
    command = [sys.executable, "-m", "packer", "pack", str(folder), str(shards), "--overwrite"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(paths)} images of {size / 1e6:.1f} MB\n{done.stdout.strip()}")
    return folder, shards


def _convert(path: Path, folder: Path, kind: str, side: int | None) -> None:
    ext, usual, options = FORMATS[kind]
    out = folder / path.parent.name / f"{path.name}.{ext}"
    out.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(path) as image:
        scale = (side or usual) / min(image.size)
        size = tuple(round(length * scale) for length in image.size)
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(out, **options)
