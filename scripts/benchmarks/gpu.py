"""Feeding a GPU: this reader beside its peers, alone and with a network that trains.

    scripts/bench.py gpu                 # on images that it makes; minutes, and no network
    scripts/bench.py gpu --images DIR    # on a folder of class folders
    scripts/bench.py gpu --device cpu    # tries out what it does, with numbers that mean nothing

Every way to feed the GPU is measured without and with training steps (bfloat16, channels_last).
"ratio" is that to the same steps on one batch, again and again: the GPU's limit. "GPU waits %" is
the share of the time between the CUDA events around the steps in which none was running. "GiB" is
the GPU's memory in use at the end. `scripts/bench_gpu.sh` runs all of it in a limited time.
"""

import argparse
import datetime
import os
import platform
import time
from contextlib import nullcontext
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import torch
import training
from sample_images import make
from torch import Tensor, nn

import reader
from benchmarks.gpu_ways import SIZE, Batches, ways
from benchmarks.peers import Task
from benchmarks.read import task_of
from benchmarks.runner import Candidates, Figures
from benchmarks.waiting import Waiting, synchronise
from reader.system import usable_cores

BASELINE = LIMIT = "one batch, again and again"
OPTIONS = {"images": None, "shards": None, "samples": 4096, "batch-size": 256}
OPTIONS |= {"workers": usable_cores(), "batches": 40, "device": "cuda", "decoders": False}
OPTIONS |= {"network": "resnet50", "size": SIZE, "compile": False}
WARM_UP = 32  # batches, in which "auto" measures its share beside the training


class Model:
    """A network and its training step; on a CPU a network that costs nothing."""

    def __init__(self, device: torch.device, network: str, is_compiled: bool) -> None:
        self.on_gpu = device.type == "cuda"
        tiny = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, 1000))
        made = getattr(training, network)() if self.on_gpu else tiny
        self.network = made.to(device, memory_format=torch.channels_last)
        if is_compiled and self.on_gpu:
            self.network.compile()
        self.optimizer = torch.optim.SGD(made.parameters(), 0.1, momentum=0.9)

    def step(self, images: Tensor, labels: Tensor) -> None:
        """Forward, backward, update; nothing is read back."""
        with torch.autocast("cuda", torch.bfloat16) if self.on_gpu else nullcontext():
            images = images.contiguous(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(self.network(images), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


def fed(
    batches: Batches, steps: int, device: torch.device, model: Model | None = None
) -> tuple[float, float]:
    """Return the images a second, untouched without a model, and the share of time waited."""
    synchronise(device)
    waiting, count, began = Waiting(device), 0, time.perf_counter()
    for images, labels in waiting.over(islice(batches, steps)):
        if model is not None:
            model.step(images, labels)
        count += len(images)
    synchronise(device)
    return count / (time.perf_counter() - began), waiting.share()


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    if given.device != "cpu" and not torch.cuda.is_available():
        raise SystemExit("There is no CUDA device. --device cpu tries out what this does.")
    images = (given.images or work / "images").absolute()
    if given.images is None:
        make(images, range(given.samples))
    device = reader.CUDAPrefetcher([], device=given.device).device
    task = task_of(images, work, given)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    python, today = platform.python_version(), datetime.date.today()
    print(f"{name}, {os.cpu_count()} cores, Python {python}, torch {torch.__version__}, {today}")
    print(
        f"{len(reader.Dataset(task.shards))} images, batch {task.batch_size}, "
        f"{task.workers} workers, {given.batches} steps"
    )
    names = [*ways(device, given.size, given.decoders), LIMIT]
    return {name: partial(measure, name, task, device, given) for name in names}


def measure(name: str, task: Task, device: torch.device, given: argparse.Namespace) -> Figures:
    steps = given.batches
    if device.type == "cuda":
        torch.cuda.set_device(device)  # whose streams and events those without a device are
    else:
        torch.set_num_threads(1)  # which spin while they wait for each other
    torch.backends.cudnn.benchmark = True
    model = Model(device, given.network, given.compile)
    way = ways(device, given.size, given.decoders)["shardfeed" if name == LIMIT else name]
    batches: Any = way(task, device)
    if name == LIMIT:
        source, batches = batches, repeat(next(batches))
        source.close()
    fed(batches, WARM_UP, device, model)
    trained, waited = fed(batches, steps, device, model)
    figures = {"training, images/s": trained, "GPU waits %": 100 * waited}
    if name != LIMIT:
        fed(batches, 2 * task.workers + 4, device)  # what lay ready does not count
        figures["alone, images/s"] = fed(batches, 2 * steps, device)[0]
    if device.type == "cuda":
        free, whole = torch.cuda.mem_get_info(device)
        figures["GiB"] = (whole - free) / 2**30
    if name != LIMIT:
        batches.close()
    return figures
