"""What the number of shards and samples, or of classes and files, costs, on made-up data.

    scripts/bench.py scale [--sets 100000x10 10000x10000] [--steps open info ...] [--folder DIR]
    scripts/bench.py scale --sets 200000x1 1000x1300 --steps scan pack [--folder DIR]

For each set SHARDSxSAMPLES, DIR gets the indexes of so many shards with so many samples each,
beside tars that are all holes: no step reads an image. For `scan` (which plans, too) and `pack`, a
set is CLASSESxFILES, and DIR gets class folders. Memory is the peak of the process, and for a
loader the PSS of its largest worker.
"""

import argparse
import contextlib
import io
import itertools
import tempfile
from collections.abc import Callable, Sized
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import reader
from benchmarks.runner import Candidate, family, step
from reader.format import Manifest, ShardEntry
from reader.format.checksum import checksum_of
from reader.format.columns import FORMATS, MEMBER, ROW
from reader.format.index import metadata_of
from reader.format.safetensors import serialize
from reader.format.sizes import SizeBounds, upright_sizes

BASELINE = None
OPTIONS = {"sets": ["100000x10", "10000x10000"], "steps": None, "folder": None, "keep": False}
ORDERS = {
    "order": (True, None),
    "order, blocks": (reader.BlockShuffle(8), None),
    "order, streams": (reader.BlockShuffle(8, streams=64), None),
    "order, buckets": (reader.AspectBuckets(256), None),
    "order, balanced": (False, reader.ClassBalanced()),
}
COMMANDS = {
    "info": ["info", "{folder}"],
    "plan": ["plan", "{folder}"],
    "plan, blocks": ["plan", "{folder}", "--shuffle", "block:8"],
}
STEPS = ["open", "labels", "targets", "subset", *ORDERS, "loader", *COMMANDS]
OF_IMAGES = {
    "scan": ["pack", "{folder}", "{folder}-dry", "--dry-run", "--quiet"],
    "pack": ["pack", "{folder}", "{folder}-packed", "--quiet", "--overwrite"],
}
CLASSES = 1000
ROOM = 512  # bytes of a sample in its tar
DISTINCT = 1000  # shards; further ones are links to these
LINKS = 30_000  # to one file; ext4 has at most 65,000


def make(folder: Path, shards: int, samples: int) -> None:
    """Write dataset.json, the indexes, and tars of holes."""
    folder.mkdir(parents=True)
    entries: list[ShardEntry] = []
    sizes: SizeBounds | None = None
    for number in range(shards):
        name, size = f"shard-{number:06d}", 2 * ROOM * samples + 1024
        if number >= DISTINCT:
            entry = entries[number % DISTINCT]
            for suffix in ("tar", "safetensors"):
                other = Path(entry.file).with_suffix(f".{suffix}")
                (folder / f"{name}.{suffix}").hardlink_to(folder / other)
            entries.append(replace(entry, file=f"{name}.tar"))
            continue
        with open(folder / f"{name}.tar", "wb") as file:
            file.truncate(size)
        columns = _columns(number, samples)
        own = SizeBounds.of(*upright_sizes(columns))
        sizes = own | sizes if own else sizes
        index = serialize(columns, metadata_of(size, f"xxh3-128:{number:032x}", []))
        (folder / f"{name}.safetensors").write_bytes(index)
        sums = f"xxh3-128:{number:032x}", len(index), checksum_of(index)
        entries.append(ShardEntry(f"{name}.tar", "", samples, size, *sums))
    classes = tuple(f"class{label:04d}" for label in range(CLASSES))
    manifest = Manifest("0", {"seed": 0}, "", classes, ("cls", "jpg"), tuple(entries))
    manifest = replace(manifest, sizes={"": sizes} if sizes else {})
    (folder / "dataset.json").write_text(manifest.dump())


def _columns(number: int, samples: int) -> dict[str, NDArray[np.generic]]:
    """Return an index's columns, whose keys are the samples' numbers in nine digits."""
    rng = np.random.default_rng(number)
    rows = np.arange(samples)
    columns: dict[str, NDArray[np.generic]] = {
        "offset": rows * ROOM,
        "size": np.full(samples, ROOM),
        "label": rng.integers(0, CLASSES, samples),
        "height": rng.integers(200, 600, samples),
        "width": rng.integers(200, 600, samples),
        "format": np.full(samples, FORMATS.index("jpg")),
        "channels": np.full(samples, 3),
        "orientation": np.ones(samples),
        "crc32": rng.integers(0, 2**32, samples),
        "cls.offset": rows * ROOM,
        "cls.size": np.full(samples, 1),
        "cls.crc32": np.zeros(samples),
    }
    kinds = ROW | {f"cls.{name}": kind for name, kind in MEMBER.items()}
    columns = {name: values.astype(kinds[name]) for name, values in columns.items()}
    digits = (number * samples + rows)[:, None] // 10 ** np.arange(8, -1, -1) % 10
    for text in ("key", "name"):
        columns[text] = (digits + ord("0")).astype("u1").ravel()
        columns[f"{text}_offset"] = (np.arange(samples + 1) * 9).astype("<u8")
    return columns


def make_images(folder: Path, classes: int, files: int) -> None:
    """Write class folders of links to a few tiny PNGs."""

    def path(number: int) -> Path:
        label, file = divmod(number, files)
        return folder / f"class{label:06d}" / f"{file}.png"

    for number in range(classes * files):
        path(number).parent.mkdir(parents=True, exist_ok=True)
        if number % LINKS:
            path(number).hardlink_to(path(number - number % LINKS))
        else:
            Image.new("RGB", (8, 8)).save(path(number))


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    root = given.folder if given.keep else Path(tempfile.mkdtemp(dir=given.folder or work))
    found = []
    for name, what in itertools.product(given.sets, given.steps or STEPS):
        shards, samples = map(int, name.split("x"))
        folder = root / (f"{name}-images" if what in OF_IMAGES else name)
        if not folder.exists():
            (make_images if what in OF_IMAGES else make)(folder, shards, samples)
        found.append(Candidate(f"{name} {what}", step, (do, what, folder, shards * samples)))
    return found


def do(what: str, folder: Path, samples: int) -> float | None:
    """Do one step; return the MiB of the largest worker, if there are any."""
    if arguments := (COMMANDS | OF_IMAGES).get(what):
        from packer.cli.main import main  # of which the memory counts

        with contextlib.redirect_stdout(io.StringIO()):
            main([word.format(folder=folder) for word in arguments], standalone_mode=False)
    elif what in ORDERS:
        walk(folder, *ORDERS[what])
    elif what == "loader":
        return load(folder)
    else:
        dataset = reader.Dataset(folder)
        found: dict[str, Callable[[], Sized]] = {
            "open": lambda: dataset,
            "labels": lambda: dataset.labels,
            "targets": lambda: dataset.targets,
            "subset": lambda: dataset.subset(lambda columns: columns["label"] >= 0),
        }
        assert len(found[what]()) == samples
    return None


def walk(folder: Path, shuffle: Any, sampler: Any) -> None:
    from reader.order.samplers import build_order

    order = build_order(reader.Dataset(folder), shuffle, 0, sampler)
    for start in range(0, order.count, 1 << 14):
        order.samples(np.arange(start, min(start + (1 << 14), order.count)), 0)


def load(folder: Path) -> float:
    """Read batches of numbers; return the MiB of the largest worker.

    The workers open as many datasets as a loader's do, and read no sample: the tars are empty.
    """
    numbers = {"fields": ("index",), "shuffle": True, "workers": 2, "batch_size": 256}
    with reader.Loader(folder, **numbers) as loader:
        list(itertools.islice(loader, 200))
        return max(one.memory_full_info().pss for one in family()[1:]) / 2**20
