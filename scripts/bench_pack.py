#!/usr/bin/env python3
"""Packing speed: packer beside `cp -r` and other writers, on the same images, interleaved.

    scripts/bench_pack.py --images DIR [--rounds N] [--jobs N]

Every round packs DIR anew with each candidate into a temporary folder on the same disk. Printed are
medians of images a second. packer's include the flush to the disk that a finished data set stands
for, which `cp -r` and the other writers leave to the kernel. "One process" calls the library in
this process, as the other writers are called; the rest of packer is the command, from its start on.
Writers that are not installed are named and left out. Below it is told, for one process, where the
CPU goes, in milliseconds an image; the rest is what lies between the stages.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from peers import is_installed, litdata, mosaic, pipeline

SHARD_SIZE = 100 * 10**6


def packer(*options: str) -> Callable[[Path, Path, int], None]:
    """The command line, as users run it."""

    def run(images: Path, out: Path, jobs: int) -> None:
        command = [sys.executable, "-m", "packer", "pack", str(images), str(out), "--quiet"]
        command += ["--shard-size", str(SHARD_SIZE), "--jobs", str(jobs), *options]
        subprocess.run(command, check=True)

    return run


def packer_in_process(images: Path, out: Path, jobs: int) -> None:
    """Verbatim, with this process alone."""
    from packer.packing import (
        PackOptions,
        pack,
    )

    pack(images, out, PackOptions(shard_size=SHARD_SIZE, jpeg="verbatim"), jobs=1)


def copy(images: Path, out: Path, jobs: int) -> None:
    """Copy the folder with cp -r."""
    subprocess.run(["cp", "-r", str(images), str(out)], check=True)


def shard_writer(images: Path, out: Path, jobs: int) -> None:
    """The ShardWriter of webdataset, one process."""
    import webdataset as wds

    out.mkdir()
    with wds.ShardWriter(f"{out}/%06d.tar", maxsize=SHARD_SIZE, verbose=0) as writer:
        for number, (path, label) in enumerate(pipeline.labelled(images)):
            writer.write({"__key__": f"{number:08d}", "jpg": pipeline.read(path), "cls": label})


def mds_writer(images: Path, out: Path, jobs: int) -> None:
    """The MDSWriter of MosaicML, one process."""
    mosaic.write(images, out)


CANDIDATES: dict[str, tuple[str, Callable[[Path, Path, int], None]]] = {
    "cp -r": ("os", copy),
    "packer, verbatim, one process": ("packer", packer_in_process),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "MosaicML MDSWriter": ("streaming", mds_writer),
    "LitData optimize": ("litdata", litdata.write),
    "packer, verbatim": ("packer", packer("--jpeg", "verbatim")),
    "packer, tiled": ("packer", packer("--jpeg", "tiled")),
}


def account(images: Path, out: Path, jpeg: str) -> dict[str, float]:
    """Seconds of CPU by stage, for all images, in this process."""
    import packer.packing
    from packer.images import encode
    from packer.packing import PackOptions, pack
    from packer.sources.folder.folder import FolderSource
    from packer.writing.shard_writer import ShardWriter

    stages = {
        "scan": (packer.packing, "prepare"),
        "read": (FolderSource, "read"),
        "probe": (encode, "probe"),
        "tile": (encode, "tile"),
        "write": (ShardWriter, "add"),
        "commit": (ShardWriter, "finish"),
    }
    spent = dict.fromkeys(stages, 0.0)

    def clocked(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent[stage] += time.process_time() - began

        return call

    with contextlib.ExitStack() as stack:
        for stage, (owner, name) in stages.items():
            replaced = clocked(stage, getattr(owner, name))
            stack.enter_context(mock.patch.object(owner, name, replaced))
        pack(images, out / "first", PackOptions(shard_size=SHARD_SIZE, jpeg=jpeg), jobs=1)
        spent.update(dict.fromkeys(stages, 0.0))  # of what is loaded at first use
        began = time.process_time()
        pack(images, out / "second", PackOptions(shard_size=SHARD_SIZE, jpeg=jpeg), jobs=1)
        total = time.process_time() - began
    return spent | {"rest": total - sum(spent.values()), "all": total}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    count = len(pipeline.labelled(arguments.images))
    candidates = {}
    for name, (package, run) in CANDIDATES.items():
        if is_installed(package):
            candidates[name] = run
        else:
            print(f"{name}: left out, {package} is not installed", file=sys.stderr)
    rates: dict[str, list[float]] = {name: [] for name in candidates}
    with tempfile.TemporaryDirectory(dir=arguments.images.parent) as folder:
        for _ in range(arguments.rounds):
            for name, run in candidates.items():
                out = Path(folder) / "out"
                os.sync()
                began = time.perf_counter()
                run(arguments.images, out, arguments.jobs)
                rates[name].append(count / (time.perf_counter() - began))
                shutil.rmtree(out)
        accounts = {
            jpeg: account(arguments.images, Path(folder) / jpeg, jpeg)
            for jpeg in ("verbatim", "tiled")
        }
    print(f"{count} images, {arguments.jobs} jobs, medians of {arguments.rounds} rounds")
    base = statistics.median(rates["cp -r"])
    for name, values in rates.items():
        rate = statistics.median(values)
        print(f"{name:32}{rate:10.0f} images/s{rate / base:8.2f} x cp -r")
    for jpeg, spent in accounts.items():
        shown = ", ".join(f"{stage} {1e3 * cpu / count:.3f}" for stage, cpu in spent.items())
        print(f"{jpeg}, ms of CPU an image: {shown}")


if __name__ == "__main__":
    main()
