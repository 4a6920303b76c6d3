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
import re
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import packer
import reader
from benchmarks.runner import Candidates, Figures, cpu_seconds, family, own_usage
from packer.shards.joined import write_manifest
from reader.format import Manifest

BASELINE = None
OPTIONS = {"sets": ["100000x10", "10000x10000"], "steps": None, "folder": None}
ORDERS = {
    "order": (True, None),
    "order, blocks": (reader.BlockShuffle(8), None),
    "order, streams": (reader.BlockShuffle(8, streams=64), None),
    "order, buckets": (reader.AspectBuckets(256), None),
    "order, balanced": (False, reader.ClassBalanced()),
    "order, weighted": (False, "weighted"),
}
COMMANDS = {name: [name, "{folder}"] for name in ("info", "plan")}
LOADERS: dict[str, dict[str, Any]] = {
    "loader": {"fields": ("index",)},
    "raw": {"shuffle": True, "workers": 1},
}
STEPS = ["open", "labels", *ORDERS, *LOADERS, *COMMANDS]
OF_IMAGES = {
    "scan": ["pack", "{folder}", "{folder}-dry", "--dry-run", "--quiet"],
    "pack": ["pack", "{folder}", "{folder}-packed", "--quiet", "--overwrite"],
}
CLASSES = 1000
DISTINCT = 1000  # shards; further ones are links to these
LINKS = 30_000  # to one file; ext4 has at most 65,000
VISITS = 4  # of each shard, before a loader is measured
BATCHES = 200  # of 256 samples


def make(folder: Path, shards: int, samples: int, *, is_raw: bool) -> None:
    """Pack a shard, and write a dataset of it and of copies of its index beside tars of holes."""
    rng = np.random.default_rng(0)
    images = [np.zeros(size, np.uint8) for size in rng.integers(20, 60, (samples, 2))]
    labels = [f"class{label:04d}" for label in range(CLASSES)]
    items = zip(images, itertools.cycle(labels))
    how = {"raw": (8, 8) if is_raw else None, "shard_samples": samples, "progress": False}
    packer.pack([*items], folder, classes=labels, **how)
    manifest = Manifest.load(folder)
    tars = [folder / f"shard-{number:06d}.tar" for number in range(shards)]
    (entry,) = manifest.shards
    for number, tar in enumerate(tars[1:], 1):
        index, first = tar.with_suffix(".safetensors"), tars[number % DISTINCT]
        if number < DISTINCT:
            shutil.copy(folder / entry.index, index)
            tar.touch()
            os.truncate(tar, entry.bytes)
        else:
            tar.hardlink_to(first)
            index.hardlink_to(first.with_suffix(".safetensors"))
    entries = tuple(replace(entry, file=tar.name) for tar in tars)
    write_manifest(folder, replace(manifest, shards=entries))


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
    found = {}
    for name, what in itertools.product(given.sets, given.steps or STEPS):
        shards, samples = map(int, name.split("x"))
        is_raw = what.startswith("raw")
        folder = (given.folder or work) / (name + "-images" * (what in OF_IMAGES) + "-raw" * is_raw)
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
        dataset = reader.Dataset(folder)
        assert len(dataset.labels if what == "labels" else dataset) == samples
    seconds, used = time.perf_counter() - began, own_usage()
    # Not getrusage: a process that has just been started has its parent's maximum there.
    memory = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
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
