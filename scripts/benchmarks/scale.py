"""What the number of shards and samples, or of classes and files, costs, on made-up data.

    scripts/bench.py scale [--sets 100000x10 10000x10000] [--steps open info ...] [--folder DIR]
    scripts/bench.py scale --sets 200000x1 1000x1300 --steps scan pack [--folder DIR]

For each set SHARDSxSAMPLES, DIR gets the indexes of so many shards with so many samples each,
beside tars that are all holes: only `raw` reads images, of 8 x 8 black pixels. For `scan` (which
plans, too) and `pack`, a set is CLASSESxFILES, and DIR gets class folders. Memory is the peak of
the process, and for loaders also that of the largest worker: its PSS, which includes the pages of
mapped indexes, and its own. `raw` reads until most shards have been opened, and then measures the
CPU time of a sample.
"""

import argparse
import contextlib
import io
import itertools
import os
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import reader
from benchmarks.runner import Candidates, Figures, cpu_seconds, family, own_usage
from packer.shards.joined import write_manifest
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
    "order, weighted": (False, "weighted"),
}
COMMANDS = {
    "info": ["info", "{folder}"],
    "plan": ["plan", "{folder}"],
    "plan, blocks": ["plan", "{folder}", "--shuffle", "block:8"],
}
LOADERS: dict[str, dict[str, Any]] = {
    "loader": {"fields": ("index",)},
    "raw": {"shuffle": True, "workers": 1},
    "raw, blocks": {"shuffle": reader.BlockShuffle(8), "workers": 1},
}
STEPS = ["open", "labels", "targets", "subset", *ORDERS, *LOADERS, *COMMANDS]
OF_IMAGES = {
    "scan": ["pack", "{folder}", "{folder}-dry", "--dry-run", "--quiet"],
    "pack": ["pack", "{folder}", "{folder}-packed", "--quiet", "--overwrite"],
}
CLASSES = 1000
ROOM = 512  # bytes of a sample in its tar
DISTINCT = 1000  # shards; further ones are links to these
LINKS = 30_000  # to one file; ext4 has at most 65,000
SIDE = 8  # of a raw image
VISITS = 4  # of each shard, before a loader is measured
BATCHES = 200  # of 256 samples


def make(folder: Path, shards: int, samples: int, *, is_raw: bool) -> None:
    """Write dataset.json, the indexes, and tars of holes."""
    folder.mkdir(parents=True)
    entries: list[ShardEntry] = []
    sizes: SizeBounds | None = None
    size = 2 * ROOM * samples + 1024
    for number in range(shards):
        tar = folder / f"shard-{number:06d}.tar"
        if number >= DISTINCT:
            entry = entries[number % DISTINCT]
            tar.hardlink_to(folder / entry.file)
            tar.with_suffix(".safetensors").hardlink_to(folder / entry.index)
            entries.append(replace(entry, file=tar.name))
            continue
        tar.touch()
        os.truncate(tar, size)
        columns = _columns(number, samples, is_raw)
        own = SizeBounds.of(*upright_sizes(columns))
        sizes = own | sizes if own else sizes
        checksum = f"xxh3-128:{number:032x}"
        index = serialize(columns, metadata_of(size, checksum, []))
        tar.with_suffix(".safetensors").write_bytes(index)
        sums = checksum, len(index), checksum_of(index)
        entries.append(ShardEntry(tar.name, "", samples, size, *sums))
    classes = tuple(f"class{label:04d}" for label in range(CLASSES))
    options, ext = ({"raw": [SIDE, SIDE]}, "raw") if is_raw else ({"seed": 0}, "jpg")
    manifest = Manifest("0", options, "", classes, ("cls", ext), tuple(entries))
    write_manifest(folder, replace(manifest, sizes={"": sizes} if sizes else {}))


def _columns(number: int, samples: int, is_raw: bool) -> dict[str, NDArray[np.generic]]:
    """Return an index's columns, whose keys are the samples' numbers in nine digits."""
    rng = np.random.default_rng(number)
    rows = np.arange(samples)
    size, sides = (3 * SIDE * SIDE, (SIDE, SIDE + 1)) if is_raw else (ROOM, (200, 600))
    values: dict[str, Any] = {"offset": rows * ROOM, "size": size, "channels": 3, "orientation": 1}
    values |= {name: rng.integers(*sides, samples) for name in ("height", "width")}
    values |= {"label": rng.integers(0, CLASSES, samples), "crc32": rng.integers(0, 2**32, samples)}
    values |= {"format": FORMATS.index("raw" if is_raw else "jpg")}
    values |= {"cls.offset": rows * ROOM, "cls.size": 1, "cls.crc32": 0}
    kinds = ROW | {f"cls.{name}": kind for name, kind in MEMBER.items()}
    columns: dict[str, NDArray[np.generic]] = {
        name: np.broadcast_to(value, samples).astype(kinds[name]) for name, value in values.items()
    }
    digits = (number * samples + rows)[:, None] // 10 ** np.arange(8, -1, -1) % 10
    for text in ("key", "name"):
        columns[text] = (digits + ord("0")).astype("u1").ravel()
        columns[f"{text}_offset"] = (np.arange(samples + 1) * 9).astype("<u8")
    return columns


def make_images(folder: Path, classes: int, files: int) -> None:
    """Write class folders of links to a few tiny PNGs."""
    paths = [folder / f"class{n // files:06d}" / f"{n % files}.png" for n in range(classes * files)]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % LINKS:
            path.hardlink_to(paths[number - number % LINKS])
        else:
            Image.new("RGB", (8, 8)).save(path)


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    root = given.folder if given.keep else Path(tempfile.mkdtemp(dir=given.folder or work))
    found = {}
    for name, what in itertools.product(given.sets, given.steps or STEPS):
        shards, samples = map(int, name.split("x"))
        is_raw = what.startswith("raw")
        folder = root / (name + "-images" * (what in OF_IMAGES) + "-raw" * is_raw)
        if not folder.exists() and what in OF_IMAGES:
            make_images(folder, shards, samples)
        elif not folder.exists():
            make(folder, shards, samples, is_raw=is_raw)
        found[f"{name} {what}"] = partial(measure, what, folder, shards * samples)
    return found


def measure(what: str, folder: Path, samples: int) -> Figures:
    """Do one step; return its time, the CPU and memory of this process, and what a loader says."""
    began, further = time.perf_counter(), {}
    if arguments := (COMMANDS | OF_IMAGES).get(what):
        from packer.cli.main import main  # of which the memory counts

        with contextlib.redirect_stdout(io.StringIO()):
            main([word.format(folder=folder) for word in arguments], standalone_mode=False)
    elif what in ORDERS:
        walk(folder, *ORDERS[what])
    elif what in LOADERS:
        further = load(folder, LOADERS[what])
    else:
        dataset: Any = reader.Dataset(folder)
        if what == "subset":
            dataset = dataset.subset(lambda columns: columns["label"] >= 0)
        assert len(dataset if what in ("open", "subset") else getattr(dataset, what)) == samples
    seconds, used = time.perf_counter() - began, own_usage()
    memory = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    return {"CPU s": used, "s": seconds, "MiB": memory, **further}


def walk(folder: Path, shuffle: Any, sampler: Any) -> None:
    from reader.order.samplers import build_order

    dataset = reader.Dataset(folder)
    if sampler == "weighted":
        sampler = reader.Weighted(np.ones(len(dataset)))
    order = build_order(dataset, shuffle, 0, sampler)
    for start in range(0, order.count, 1 << 14):
        order.samples(np.arange(start, min(start + (1 << 14), order.count)), 0)


def load(folder: Path, options: dict[str, Any]) -> Figures:
    """Read batches, numbers alone or images; return memory, and the CPU time of a sample."""
    usual: dict[str, Any] = {"shuffle": True, "workers": 2, "batch_size": 256, "epochs": None}
    with reader.Loader(folder, **{**usual, **options}) as loader:
        batches, shards = iter(loader), len(loader.dataset.shards)
        is_raw = "fields" not in options
        for _ in range(1 + is_raw * VISITS * shards // 256):
            next(batches)
        began = cpu_seconds()
        for _ in range(BATCHES):
            next(batches)
        spent = (cpu_seconds() - began) / BATCHES / 256
        memory = [one.memory_full_info() for one in family()[1:]]
    return {
        "ms a sample": 1000 * spent,
        "PSS of a worker": max(one.pss for one in memory) / 2**20,
        "its own": max(one.rss - one.shared for one in memory) / 2**20,
    }
