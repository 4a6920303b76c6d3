"""Reading images: this reader beside its peers.

    scripts/bench.py read --images DIR [--shards SHARDS] [--crop random|center]
    scripts/bench.py read --images DIR --format png|webp|large [--side PX]

DIR has class folders, or splits of them. SHARDS is DIR packed; without it, DIR is packed for the
run. With --format the images are made of DIR's: PNGs or lossy WebPs whose shorter side is PX (512),
or JPEGs of PX (3,000: 12 megapixels).

Each candidate reads one epoch to warm up, in which it must deliver every image once, and then the
measured ones. "MB" is the memory of its processes early in the first one, with all batches decoded
that are decoded ahead: pages that they share counted once (PSS), and with the files of shared
memory that none has mapped yet, which is where a DataLoader's batches wait.
"""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import reader
from benchmarks import material, peers
from benchmarks.peers import Build, Peer, Task, over
from benchmarks.pipeline import with_cv2, with_cv2_reduced, with_pillow
from benchmarks.runner import Candidates, Figures, cpu_seconds, family, leaving_out

BASELINE = "DataLoader, simplejpeg + cv2"
OPTIONS = {"images": ..., "shards": None, "crop": "random", "batch-size": 256, "workers": 2}
OPTIONS |= {"format": None, "side": None, "epochs": 2}
MIDDLE = 5  # batches into an epoch
SETTLED = 1.0  # seconds in which the workers have done what they can
BATCHES = 8  # of an epoch, for each worker: torch's DataLoader prefetches four


PEERS = {
    BASELINE: Peer("torch", partial(over, with_cv2)),
    "DataLoader, simplejpeg reduced": Peer("torch", partial(over, with_cv2_reduced)),
    "DataLoader, Pillow": Peer("torch", partial(over, with_pillow)),
    "webdataset, simplejpeg + cv2": Peer("webdataset", peers.webdataset),
    "Grain, simplejpeg + cv2": Peer("grain", peers.grain),
    "HF datasets, simplejpeg + cv2": Peer("datasets", peers.huggingface, peers.write_arrow),
    "DALI (CPU), its ROI decoder": Peer("nvidia.dali", peers.dali),
    "LitData, simplejpeg + cv2": Peer("litdata", peers.litdata, peers.write_chunks),
    "MosaicML, simplejpeg + cv2": Peer("streaming", peers.mosaic, peers.write_mds),
    "SPDL, simplejpeg + cv2": Peer("spdl", peers.spdl),
}


def task_of(images: Path, cache: Path, given: argparse.Namespace) -> Task:
    """Return the task of a command line; packs the images if there are no shards."""
    shards = given.shards
    if missing := [path for path in (images, shards) if path and not path.is_dir()]:
        raise SystemExit(f"There is no folder {missing[0]}.")
    crop, size = getattr(given, "crop", "random"), getattr(given, "shard_size", None)
    if shards is None:
        shards = cache / "shards"
        material.pack(images, shards, *([f"--shard-size={size}"] if size else []))
    return Task(shards, images, cache, crop, given.batch_size, given.workers)


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    """Return this reader and the peers that are installed, whose formats are written."""
    images = given.images
    if given.format:
        images, given.shards = work / "images", None
        material.make(given.images, images, given.format, given.side)
    task = task_of(images, work, given)
    count = len(reader.Dataset(task.shards))
    print(f"{count} images, {task.crop} crop 224, batch {task.batch_size}, {task.workers} workers")
    if remark := too_few(count, task):
        print(remark, file=sys.stderr)
    found = {"shardfeed": ours} | {name: peer.build for name, peer in prepared(task, given.only)}
    return {
        name: partial(measure, name, build, task, given.epochs) for name, build in found.items()
    }


def prepared(task: Task, *only: str) -> Iterator[tuple[str, Peer]]:
    """Yield the peers whose names contain one of `only`, with their formats written."""
    wanted = [name for name in PEERS if any(part in name for part in only)]
    for name in peers.installed({name: PEERS[name].package for name in wanted}):
        peer = PEERS[name]
        with leaving_out(name):  # such as one that lacks what it imports
            if peer.write is not None:
                peer.write(task.images, task.cache / peer.package, task.workers)
            yield name, peer


def ours(task: Task, size: int = 224, **options: Any) -> reader.Loader:
    """Return this project's loader, set up for a task."""
    data = reader.Dataset(task.shards)
    if task.stored is not None:
        url = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        data = reader.Dataset(url, cache_dir=task.stored.cache, cache_limit=task.stored.limit)
    transforms: list[reader.Transform] = [reader.Resize(256), reader.CenterCrop(size)]
    if task.is_random:
        transforms = [reader.RandomResizedCrop(size), reader.RandomHorizontalFlip()]
    how = {"batch_size": task.batch_size, "workers": task.workers, "shuffle": task.is_random}
    return reader.Loader(data, transforms=transforms, **{**how, **options})


def measure(name: str, build: Build, task: Task, epochs: int) -> Figures:
    began = time.perf_counter()
    batches, seen, first, held = build(task), [], 0.0, 0.0
    for images, labels, *_ in batches:
        first = first or time.perf_counter() - began
        seen.append((tuple(images.shape[1:]), np.asarray(labels).ravel()))
        if len(seen) == MIDDLE:
            time.sleep(SETTLED)
            held = memory()
    if fault := wrong(seen, np.sort(reader.Dataset(task.shards).labels)):
        print(f"{name} {fault}", file=sys.stderr)
    began, cpu = time.perf_counter(), cpu_seconds()
    count = sum(len(images) for _ in range(epochs) for images, *_ in batches)
    seconds, cpu = time.perf_counter() - began, cpu_seconds() - cpu
    if isinstance(batches, reader.Loader):
        batches.close()
    figures = {"images/s": count / seconds, "CPU ms an image": cpu / count * 1e3}
    return figures | {"first batch s": first, "MB": held}


def memory() -> float:
    """Return the MB of this process and its workers, and of the shared memory that they hold."""
    pss, mapped = 0.0, 0.0
    files: dict[tuple[int, int], float] = {}
    for pid in (process.pid for process in family()):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1.024e-3 for line in lines}
        pss, mapped = pss + sizes["Pss"], mapped + sizes["Pss_Shmem"]
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # it is closed
                if os.readlink(descriptor).startswith(("/dev/shm/", "/memfd:")):
                    seen = descriptor.stat()
                    files[seen.st_dev, seen.st_ino] = seen.st_blocks * 512 / 1e6
    return pss - mapped + max(mapped, sum(files.values()))


def wrong(seen: list[tuple[tuple[int, ...], np.ndarray]], labels: np.ndarray) -> str | None:
    """Return what is wrong with an epoch's (shape of images, labels)."""
    shapes = {shape for shape, _ in seen}
    if not shapes <= {(3, 224, 224), (224, 224, 3)}:
        return f"gave images of {shapes}"
    delivered = np.concatenate([part for _, part in seen])
    if len(delivered) != len(labels):
        return f"gave {len(delivered)} images instead of {len(labels)}"
    return None if (np.sort(delivered) == labels).all() else "gave other labels"


def too_few(images: int, task: Task) -> str | None:
    """Return a warning if an epoch is over before its rate is steady."""
    least = BATCHES * task.batch_size * task.workers
    if images >= least:
        return None
    return (
        f"{images:,} images are too few to compare: images/s and ratios are those of starting an "
        f"epoch. Use at least {least:,} images, or a smaller --batch-size."
    )
