#!/usr/bin/env python3
"""Reading speed: this reader beside its peers, on the same images, in interleaved rounds.

    scripts/bench_read.py SHARDS --images DIR [--crop random|center] [--workers N] [--rounds N]
    scripts/bench_read.py --images DIR --format png|webp|large [--side PX]

SHARDS is DIR packed. With --format the images are made of DIR's and packed, for this run alone:
PNGs or lossy WebPs whose shorter side is PX (512), or JPEGs of PX (3,000: 12 megapixels).

In each round every candidate is built anew, reads one epoch to warm up, in which it must deliver
every image once, and then the measured ones. Printed are medians over the rounds, and the ratio to
the first peer. Peers that are not installed are named and left out; what the others read from
formats of their own is written before, beside DIR, and removed at the end.
"""

import argparse
import gc
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import made
import numpy as np
import psutil
import stages
from peers import CROPS, PEERS, Peer, Task, is_installed

import reader

OURS = "shardfeed"
_BUSY = 0.1  # of the processors
_BATCHES = 8  # of an epoch, for each worker: torch's DataLoader prefetches four


@dataclass
class Measured:
    """One candidate's rounds."""

    rate: list[float] = field(default_factory=list)
    first_batch: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    pss: list[float] = field(default_factory=list)
    workers_pss: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)  # of the processors, what other programs took
    remark: str | None = None


def transforms(crop: str) -> list[reader.Transform]:
    """The pipeline that all candidates run."""
    if crop == "center":
        return [reader.Resize(256), reader.CenterCrop(224)]
    return [reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()]


def ours(task: Task) -> reader.Loader:
    """This reader."""
    return reader.Loader(
        task.shards,
        batch_size=task.batch_size,
        transforms=transforms(task.crop),
        shuffle=task.crop == "random",
        workers=task.workers,
    )


def family() -> list[psutil.Process]:
    """This process and all its descendants."""
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def cpu_seconds() -> float:
    """CPU time of the whole family so far."""
    return sum(sum(process.cpu_times()[:2]) for process in family())


def busy_seconds() -> float:
    """What all processors of the machine did so far, and what its host took of them."""
    times = psutil.cpu_times()._asdict()
    return sum(
        times.get(name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal")
    )


def epoch(batches: Iterable[Any]) -> int:
    """Read everything once; the number of images."""
    return sum(len(images) for images, *_ in batches)


def check(batches: list[tuple[Any, Any]], labels: np.ndarray) -> str | None:
    """What is wrong with an epoch of (shape of the images, labels)."""
    shapes = {tuple(shape[1:]) for shape, _ in batches}
    if not shapes <= {(3, 224, 224), (224, 224, 3)}:
        return f"gave images of {shapes}"
    delivered = np.concatenate([np.asarray(part).ravel() for _, part in batches])
    if len(delivered) != len(labels):
        return f"gave {len(delivered)} images instead of {len(labels)}"
    return None if (np.sort(delivered) == labels).all() else "gave other labels"


def too_few(images: int, task: Task) -> str | None:
    """A warning where an epoch is over before its rate is steady."""
    least = _BATCHES * task.batch_size * task.workers
    if images >= least:
        return None
    return (
        f"{images:,} images are too few to compare: images/s and ratios are those of starting an "
        f"epoch. Use at least {least:,} images, or a smaller --batch-size."
    )


def measure(
    build: Callable[[Task], Iterable[Any]],
    task: Task,
    epochs: int,
    labels: np.ndarray,
    result: Measured,
) -> None:
    """One round of one candidate; `labels` is what an epoch should give, sorted."""
    began = time.perf_counter()
    batches = build(task)
    seen = []
    for images, given, *_ in batches:
        if not seen:
            result.first_batch.append(time.perf_counter() - began)
        seen.append((images.shape, given))
    result.remark = check(seen, labels) or result.remark
    began, cpu, busy = time.perf_counter(), cpu_seconds(), busy_seconds()
    count = sum(epoch(batches) for _ in range(epochs))
    seconds = time.perf_counter() - began
    own, every = cpu_seconds() - cpu, busy_seconds() - busy
    result.rate.append(count / seconds)
    result.cpu.append(own / count * 1e3)
    result.others.append(max(every - own, 0) / (seconds * psutil.cpu_count()))
    pss = [process.memory_full_info().pss / 1e6 for process in family()]
    result.pss.append(sum(pss))
    result.workers_pss.append(sum(pss[1:]))
    if isinstance(batches, reader.Loader):
        batches.close()


def table(measured: dict[str, Measured], baseline: str) -> str:
    """The medians, a line each."""
    lines = [
        f"{'':32}{'images/s':>10}{'ratio':>8}{'CPU ms':>8}{'1st batch s':>13}"
        f"{'PSS MB':>8}{'of workers':>12}"
    ]
    base = statistics.median(measured[baseline].rate)
    for name, result in measured.items():
        rate, cpu, first, pss, workers = (
            statistics.median(values)
            for values in (
                result.rate,
                result.cpu,
                result.first_batch,
                result.pss,
                result.workers_pss,
            )
        )
        lines.append(
            f"{name:32}{rate:10.0f}{rate / base:8.2f}{cpu:8.2f}{first:13.2f}"
            f"{pss:8.0f}{workers:12.0f}"
        )
    return "\n".join(lines)


def prepare(peer: Peer, task: Task) -> None:
    """Let the peer write its format, in a process of its own: some leave settings behind."""
    process = multiprocessing.get_context("spawn").Process(target=peer.prepare, args=(task,))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{peer.package} could not write its format; see above.")


def compare(task: Task, only: str, rounds: int, epochs: int) -> dict[str, Measured]:
    """Every candidate that is installed and whose name contains `only`, in interleaved rounds."""
    candidates: dict[str, Callable[[Task], Iterable[Any]]] = {OURS: ours}
    for name, peer in PEERS.items():
        if only not in name:
            continue
        if not is_installed(peer.package):
            print(f"{name}: left out, {peer.package} is not installed", file=sys.stderr)
            continue
        if peer.prepare is not None:
            prepare(peer, task)
        candidates[name] = peer.build
    labels = np.sort(reader.Dataset(task.shards).labels)
    if remark := too_few(len(labels), task):
        print(remark, file=sys.stderr)
    measured = {name: Measured() for name in candidates}
    for _ in range(rounds):
        for name, build in candidates.items():
            measure(build, task, epochs, labels, measured[name])
            gc.collect()  # ends the workers of a loader that refers to itself
    return measured


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path, nargs="?")
    parser.add_argument("--images", type=Path, required=True, help="the folder SHARDS was made of")
    parser.add_argument("--format", choices=made.FORMATS)
    parser.add_argument("--side", type=int)
    parser.add_argument("--crop", choices=CROPS, default="random")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2, help="measured epochs a round")
    parser.add_argument("--peers", help="only those whose name contains this")
    parser.add_argument("--ablate", action="store_true", help="what each optimisation is worth")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if (arguments.shards is None) == (arguments.format is None):
        parser.error("give either SHARDS or --format")

    with tempfile.TemporaryDirectory(dir=arguments.images.parent) as cache:
        images, shards = arguments.images, arguments.shards
        if arguments.format is not None:
            images, shards = made.make(images, Path(cache), arguments.format, arguments.side)
        task = Task(
            shards,
            images,
            Path(cache),
            arguments.crop,
            arguments.batch_size,
            arguments.workers,
        )
        measured = compare(task, arguments.peers or "", arguments.rounds, arguments.epochs)
        report(arguments, task, measured)


def report(arguments: argparse.Namespace, task: Task, measured: dict[str, Measured]) -> None:
    """What was measured, and where a core's time goes."""
    if arguments.json:
        print(json.dumps({name: vars(result) for name, result in measured.items()}))
        return
    print(
        f"{len(reader.Dataset(task.shards))} images, {task.crop} crop 224, batch "
        f"{task.batch_size}, {task.workers} workers, medians of {arguments.rounds} rounds"
    )
    baseline = next(name for name in measured if name != OURS)
    print(table(measured, baseline))
    others = statistics.median(share for result in measured.values() for share in result.others)
    if others > _BUSY:
        print(
            f"other programs took {others:.0%} of the processors meanwhile: images/s and ratios "
            "are not those of a quiet machine; CPU ms are nearly"
        )
    for name, result in measured.items():
        if result.remark:
            print(f"{name} {result.remark}")
    text, needed = stages.report(
        reader.Dataset(task.shards), transforms(task.crop), arguments.ablate
    )
    print(text)
    limit = task.workers / needed * 1e3
    rate = statistics.median(measured[OURS].rate)
    print(
        f"decode and resize alone on {task.workers} cores: {limit:.0f} images/s; "
        f"{rate / limit:.0%} of it reached"
    )


if __name__ == "__main__":
    main()
