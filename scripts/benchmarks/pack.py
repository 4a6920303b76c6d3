"""Packing: packer beside `cp -r` and other writers.

    scripts/bench.py pack --images DIR [--jobs N]

DIR has class folders, or splits of them, and is packed into a folder on the same disk. packer ends
when everything is on the disk; all others leave that to the kernel, so they are also measured with
a flush. "One process" calls the library in this process, as the other writers are called; the other
rows of packer are the command, with its start.
"""

import argparse
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks import material, pipeline
from benchmarks.peers import Write, installed, write_chunks, write_mds
from benchmarks.runner import Candidates, Figures, own_usage

BASELINE = "cp -r, flushed"
OPTIONS = {"images": ..., "jobs": os.cpu_count() or 1}
SHARD_SIZE = 100 * 10**6
FEW = 20  # images


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    """Return the writers that there are; each first packs a few images, and compiles the tiler."""
    images, few = given.images.absolute(), work / "few"
    material.repeated(images, FEW, few)
    count = len(pipeline.labelled(images))
    print(f"{count} images, {given.jobs} jobs")
    writers = OTHERS | {f"{name}, flushed": (*own, flushed) for name, own in OTHERS.items()} | OURS
    return {
        name: partial(measure, writers[name][1:], images, count, few, work, given.jobs)
        for name in installed({name: needs for name, (needs, *_) in writers.items()})
    }


def measure(
    steps: tuple[Write, ...], images: Path, count: int, few: Path, work: Path, jobs: int
) -> Figures:
    with tempfile.TemporaryDirectory(dir=work) as folder:
        steps[0](few, Path(folder, "few"), jobs)
        os.sync()
        began, used = time.perf_counter(), own_usage()
        for step in steps:
            step(images, Path(folder, "all"), jobs)
        seconds, used = time.perf_counter() - began, own_usage() - used
    return {"images/s": count / seconds, "CPU ms an image": used / count * 1e3}


def packer(jpeg: str, images: Path, out: Path, jobs: int) -> None:
    options = {"shard-size": SHARD_SIZE, "jobs": jobs, "jpeg": jpeg}
    material.pack(images, out, *(f"--{name}={value}" for name, value in options.items()))


def packer_in_process(images: Path, out: Path, jobs: int) -> None:
    from packer import pack

    pack(images, out, shard_size=SHARD_SIZE, jpeg="verbatim", jobs=1, progress=False)


def copy(images: Path, out: Path, jobs: int) -> None:
    subprocess.run(["cp", "-r", str(images), str(out)], check=True)


def shard_writer(images: Path, out: Path, jobs: int) -> None:
    import webdataset as wds

    out.mkdir()
    with wds.ShardWriter(f"{out}/%06d.tar", maxsize=SHARD_SIZE, verbose=0) as writer:
        for number, (path, label) in enumerate(pipeline.labelled(images)):
            writer.write({"__key__": f"{number:08d}", "jpg": pipeline.read(path), "cls": label})


def flushed(images: Path, out: Path, jobs: int) -> None:
    subprocess.run(["sync", "-f", str(out)], check=True)


OTHERS = {
    "cp -r": ("os", copy),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "MosaicML MDSWriter": ("streaming", write_mds),
    "LitData optimize": ("litdata", write_chunks),
}
OURS = {
    "packer, verbatim, one process": ("packer", packer_in_process),
    "packer, verbatim": ("packer", partial(packer, "verbatim")),
    "packer, tiled": ("packer", partial(packer, "tiled")),
}
