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
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import reader
from benchmarks import dali, material, peers
from benchmarks.peers import Build, Peer, Task, over
from benchmarks.pipeline import with_cv2, with_cv2_reduced, with_pillow
from benchmarks.runner import Candidate, Figures, cpu_seconds, family

OURS = "shardfeed"
BASELINE = "DataLoader, simplejpeg + cv2"
TASK = {"images": ..., "shards": None, "crop": "random", "batch-size": 256, "workers": 2}
OPTIONS = {**TASK, "format": None, "side": None, "epochs": 2}
MIDDLE = 5  # batches into an epoch
SETTLED = 1.0  # seconds in which the workers have done what they can
BATCHES = 8  # of an epoch, for each worker: torch's DataLoader prefetches four


def _of_folder(decode: Callable[[bytes, str], np.ndarray]) -> Peer:
    return Peer("torch", partial(over, decode))


def _own(write: peers.Write, folder: str, task: Task) -> None:
    write(task.images, task.cache / folder, task.workers)


PEERS = {
    BASELINE: _of_folder(with_cv2),
    "DataLoader, simplejpeg reduced": _of_folder(with_cv2_reduced),
    "DataLoader, Pillow": _of_folder(with_pillow),
    "webdataset, simplejpeg + cv2": Peer("webdataset", peers.webdataset),
    "Grain, simplejpeg + cv2": Peer("grain", peers.grain),
    "HF datasets, simplejpeg + cv2": Peer("datasets", peers.huggingface, peers.write_arrow),
    "DALI (CPU), its ROI decoder": Peer("nvidia.dali", dali.Epochs),
    "LitData, simplejpeg + cv2": Peer(
        "litdata", peers.litdata, partial(_own, peers.write_chunks, "litdata")
    ),
    "MosaicML, simplejpeg + cv2": Peer(
        "streaming", peers.mosaic, partial(_own, peers.write_mds, "mosaic")
    ),
    "SPDL, simplejpeg + cv2": Peer("spdl", peers.SPDL),
}


def task_of(given: argparse.Namespace, work: Path) -> Task:
    """Return the task of the command line; packs the images if there are no shards."""
    images, shards = given.images, given.shards
    if missing := [path for path in (images, shards) if path and not path.is_dir()]:
        raise SystemExit(f"There is no folder {missing[0]}.")
    if given.format:
        images, shards = material.make(images, work, given.format, given.side)
    elif shards is None:
        shards = work / "shards"
        material.pack(images, shards)
    return Task(shards, images, work, given.crop, given.batch_size, given.workers)


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    """Return this reader and the peers that are installed, whose formats are written."""
    task = task_of(given, work)
    count = len(reader.Dataset(task.shards))
    print(f"{count} images, {task.crop} crop 224, batch {task.batch_size}, {task.workers} workers")
    if remark := too_few(count, task):
        print(remark, file=sys.stderr)
    found: dict[str, Build] = {OURS: ours}
    found |= {name: peer.build for name, peer in prepared(task, given.only).items()}
    return [
        Candidate(name, measure, (name, build, task, given.epochs)) for name, build in found.items()
    ]


def prepared(task: Task, *only: str) -> dict[str, Peer]:
    """Return the peers whose names contain one of `only`, with their formats written."""
    wanted = {
        name: peer.package for name, peer in PEERS.items() if any(part in name for part in only)
    }
    found = {name: PEERS[name] for name in peers.installed(wanted)}
    for peer in found.values():
        if peer.prepare is not None:
            peer.prepare(task)
    return found


def transforms(crop: str) -> list[reader.Transform]:
    if crop == "center":
        return [reader.Resize(256), reader.CenterCrop(224)]
    return [reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()]


def ours(task: Task) -> reader.Loader:
    return reader.Loader(
        task.shards,
        batch_size=task.batch_size,
        transforms=transforms(task.crop),
        shuffle=task.is_random,
        workers=task.workers,
    )


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
