"""What becomes of odd image files in packing, verifying and reading."""

import csv
import io
import tarfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from finished import verify
from numpy.typing import NDArray
from packing import run_pack
from PIL import Image, ImageOps

from packer.inspect.index import index
from reader import Dataset, Loader, RandomResizedCrop
from reader.format import Index

Pixels = NDArray[Any]
Files = Mapping[str, bytes]

_TABLES = {"JPEG": "jpeg", "Other formats": "others", "Members": "members"}


@dataclass
class Tried:
    """What became of files, by their names.

    `outcomes` are the words of the tables: tiled, kept, rejected. `pixels` are what was read,
    `reasons` what the indexes keep about files that are not as they should be.
    """

    outcomes: dict[str, str]
    damages: list[str]
    reasons: list[str]
    pixels: dict[str, Pixels] = field(default_factory=dict)
    crops: int = 0


def table_of(heading: str) -> dict[str, str]:
    """The outcome of each file in the page's table under this heading."""
    path = Path(__file__).with_name(f"{_TABLES[heading]}.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return {row["file"]: row["outcome"] for row in csv.DictReader(file)}


def try_packed(root: Path, files: Files, **options: Any) -> Tried:
    """Pack, verify and read them."""
    (root / "files").mkdir()
    for number, data in enumerate(files.values()):
        (root / "files" / f"{number:03d}.bin").write_bytes(data)
    run_pack(root / "files", root / "shards", seed=None, skip_rejected=True, **options)
    return _read(root / "shards", list(files))


def try_indexed(root: Path, files: Files, extension: str) -> Tried:
    """Index a tar of them, verify and read it."""
    with tarfile.open(root / "files.tar", "w") as tar:
        for number, data in enumerate(files.values()):
            info = tarfile.TarInfo(f"{number:03d}.{extension}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    index(root, 1)
    return _read(root, list(files))


def _read(shards: Path, names: list[str]) -> Tried:
    damages = [str(damage) for damage in verify(shards, 1, decode=True).damages]
    indexes = [Index(path) for path in shards.glob("*.safetensors")]
    reasons = [why for found in indexes for _, why in (*found.rejected, *found.untiled)]
    tried = Tried(dict.fromkeys(names, "rejected"), damages, reasons)
    dataset = Dataset(shards)
    for number, key in enumerate(dataset.keys):
        name = names[int(key)]
        shard, row = dataset.locate(number)
        tiled = shard.index.tiled and np.diff(shard.index.columns["segment_offset"])[row]
        tried.outcomes[name] = "tiled" if tiled else "kept"
        tried.pixels[name] = dataset[number][0]
    with Loader(shards, batch_size=16, workers=0, transforms=[RandomResizedCrop(32)]) as loader:
        tried.crops = sum(len(images) for images, _ in loader)
    return tried


def pillows(data: bytes, max_side: int | None = None) -> Pixels:
    """Upright RGB pixels by Pillow, of more bits the high ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data)) as image:
            if image.mode.startswith("I;16") or (image.mode, image.format) == ("I", "PPM"):
                bits = getattr(image, "tag_v2", {}).get(258, (16,))[0]
                found = Image.fromarray((np.asarray(image) >> (bits - 8)).astype(np.uint8))
            elif image.mode == "I" and image.tag_v2[339] == (1,):  # 32 bits of a TIFF
                grey = np.asarray(image).view(np.uint32) >> 24
                found = Image.fromarray(grey.astype(np.uint8))
            else:
                found = ImageOps.exif_transpose(image)
            found = found.convert("RGB")
    if max_side is not None:
        found.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return np.asarray(found)
