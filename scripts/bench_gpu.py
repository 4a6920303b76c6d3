#!/usr/bin/env python3
"""Feeding a GPU: this reader beside its peers, alone and with a ResNet-50 that trains.

    scripts/bench_gpu.py                 # on images that it makes; minutes, and no network
    scripts/bench_gpu.py --images DIR    # on a folder of class folders
    scripts/bench_gpu.py --device cpu    # tries out what it does, with numbers that mean nothing

In each round every way to feed the GPU is built anew, measured alone and then with training steps
(bfloat16, channels_last); printed are medians over the rounds. "GPU waits" is the share of the time
between the CUDA events around the steps in which none was running. "syncs" counts the calls between
batches in which the program waited for the GPU, as torch's profiler saw them.
"""

import argparse
import datetime
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path

import torch
from gpu_peers import Job, ways
from resnet import resnet50
from sample_images import make
from torch import Tensor, nn
from waiting import Waiting

import reader
from reader.system import usable_cores

Batches = Iterator[tuple[Tensor, Tensor]]

ROOT = Path(__file__).resolve().parent.parent
LIMIT = "one batch, again and again"
SYNCHRONISING = (
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cudaDeviceSynchronize",
    "cudaMemcpy",
)


@dataclass
class Measured:
    """One way's rounds."""

    alone: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    syncs: list[float] = field(default_factory=list)


class Model:
    """A network and its training step; on a CPU a network that costs nothing."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        on_gpu = device.type == "cuda"
        tiny = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, 1000))
        network = resnet50() if on_gpu else tiny
        self.network = network.to(device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(network.parameters(), 0.1, momentum=0.9)

    def step(self, images: Tensor, labels: Tensor) -> None:
        """Forward, backward, update; nothing is read back."""
        on_gpu = self.device.type == "cuda"
        with torch.autocast("cuda", torch.bfloat16) if on_gpu else nullcontext():
            images = images.contiguous(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(self.network(images), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


def synchronise(device: torch.device) -> None:
    """Wait for all that is queued."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def rate(batches: Batches, steps: int, device: torch.device) -> float:
    """Images a second that arrive when nothing is done with them."""
    synchronise(device)
    began = time.perf_counter()
    count = sum(len(images) for images, _ in islice(batches, steps))
    synchronise(device)
    return count / (time.perf_counter() - began)


def train(batches: Batches, steps: int, model: Model) -> tuple[float, float]:
    """Images a second that are trained on, and the share of the time that the device waited."""
    synchronise(model.device)
    waiting, count, began = Waiting(model.device), 0, time.perf_counter()
    for images, labels in waiting.over(islice(batches, steps)):
        model.step(images, labels)
        count += len(images)
    synchronise(model.device)
    return count / (time.perf_counter() - began), waiting.share()


def synchronising_calls(batches: Batches, steps: int, model: Model) -> float:
    """Calls a batch that wait for the GPU, in training."""
    from torch.profiler import ProfilerActivity, profile, record_function

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        with record_function("measured"):
            for images, labels in islice(batches, steps):
                model.step(images, labels)
        synchronise(model.device)
    events = profiler.events() or []
    if not any(event.name.startswith("cudaLaunch") for event in events):
        return math.nan  # the profiler may not look at this GPU
    span = next(event.time_range for event in events if event.name == "measured")
    calls = [
        event
        for event in events
        if event.name in SYNCHRONISING and span.start <= event.time_range.start <= span.end
    ]
    return len(calls) / steps


def measure(batches: Batches, warm_up: int, steps: int, model: Model, into: Measured) -> None:
    """One round of one way."""
    rate(batches, warm_up, model.device)  # what lay ready does not count
    into.alone.append(rate(batches, 2 * steps, model.device))
    train(batches, max(2, steps // 5), model)
    images_a_second, waited = train(batches, steps, model)
    into.training.append(images_a_second)
    into.waited.append(waited)
    if model.device.type == "cuda":
        into.syncs.append(synchronising_calls(batches, max(2, steps // 4), model))


def bandwidth(host: Tensor, device: torch.device) -> float:
    """GB/s of copies to the GPU."""
    there = torch.empty_like(host, device=device)
    seconds = []
    for _ in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        there.copy_(host, non_blocking=True)
        end.record()
        end.synchronize()
        seconds.append(begin.elapsed_time(end) / 1e3)
    return host.nbytes / statistics.median(seconds) / 1e9


def copies(job: Job) -> str:
    """The speed of copies from where batches lie, and of the machine's."""
    with reader.Loader(
        job.shards,
        batch_size=job.batch_size,
        transforms=[reader.CenterCrop(224)],
        workers=job.workers,
    ) as loader:
        reader.CUDAPrefetcher(loader, device=job.device)
        images = next(iter(loader))[0]
        ours = bandwidth(images, job.device)
        state = "page-locked" if images.is_pinned() else "NOT page-locked"
        plain = torch.empty_like(images).copy_(images)
        return (
            f"copies to the GPU: {ours:.1f} GB/s from the reader's slots ({state}), "
            f"{bandwidth(plain.pin_memory(), job.device):.1f} GB/s from torch's pinned memory, "
            f"{bandwidth(plain, job.device):.1f} GB/s from ordinary memory"
        )


def table(measured: dict[str, Measured]) -> str:
    """The medians, a line each."""

    def median(values: list[float], form: str) -> str:
        return format(statistics.median(values), form) if values else "-"

    heads = ("alone, images/s", "training, images/s", "GPU waits", "syncs a batch")
    lines = [f"{'':36}" + "".join(f"{head:>20}" for head in heads)]
    for name, result in measured.items():
        cells = (
            median(result.alone, ".0f"),
            median(result.training, ".0f"),
            median(result.waited, ".1%"),
            median(result.syncs, ".1f"),
        )
        lines.append(f"{name:36}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(lines)


def machine(device: torch.device) -> str:
    """What it ran on."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return (
        f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__}, {datetime.date.today()}"
    )


def prepared(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The folder of images and its shards, made if need be."""
    folder = arguments.folder or ROOT / ".demo" / f"gpu{arguments.samples}"
    images = arguments.images or folder / "images"
    if not arguments.images and not (folder / "shards" / "dataset.json").exists():
        print(f"Making {arguments.samples} images ...", flush=True)
        make(images, range(arguments.samples), classes=10)
    command = [sys.executable, "-m", "packer", "pack", "--quiet", images, folder / "shards"]
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)
    return images.absolute(), folder / "shards"


def main(command: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=Path, help="default: made")
    parser.add_argument("--folder", type=Path, help="for images and shards; default: in .demo")
    parser.add_argument("--samples", type=int, default=4096, help="to make")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=usable_cores())
    parser.add_argument("--steps", type=int, default=40, help="measured, a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args(command)
    if arguments.device != "cpu" and not torch.cuda.is_available():
        sys.exit("There is no CUDA device here. --device cpu tries out what this script does.")

    device = reader.CUDAPrefetcher([], device=arguments.device).device
    if device.type == "cuda":
        torch.cuda.set_device(device)  # whose streams and events those without a device are
    images, shards = prepared(arguments)
    job = Job(shards, images, arguments.batch_size, arguments.workers, device)
    torch.backends.cudnn.benchmark = True
    model = Model(device)
    candidates = ways(device)
    measured = {name: Measured() for name in (*candidates, LIMIT)}
    for _ in range(arguments.rounds):
        for name, build in candidates.items():
            batches = build(job)
            measure(batches, 2 * job.workers + 4, arguments.steps, model, measured[name])
            batch = next(batches)
            batches.close()
        images_a_second, waited = train(repeat(batch), arguments.steps, model)
        measured[LIMIT].training.append(images_a_second)
        measured[LIMIT].waited.append(waited)
    print(machine(device))
    print(
        f"{len(reader.Dataset(shards))} images, batch {job.batch_size}, {job.workers} workers, "
        f"{arguments.steps} steps, medians of {arguments.rounds} rounds"
    )
    print(table(measured))
    if device.type == "cuda":
        print(copies(job))


if __name__ == "__main__":
    main()
