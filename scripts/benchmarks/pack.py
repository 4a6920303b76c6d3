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
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks import pipeline
from benchmarks.peers import Write, installed, write_chunks, write_mds
from benchmarks.runner import Candidate, Figures, own_usage

BASELINE = "cp -r, flushed"
OPTIONS = {"images": ..., "jobs": os.cpu_count() or 1}
SHARD_SIZE = 100 * 10**6


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    """Return the writers that there are; each has packed a few images, which compiles the tiler."""
    images = given.images.absolute()
    every = pipeline.labelled(images)
    few = work / "few"
    for path, _ in (*every[:10], *every[-10:]):
        link = few / Path(path).relative_to(images)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    print(f"{len(every)} images, {given.jobs} jobs")
    packages = {name: needs for name, (needs, _) in WRITERS.items()}
    return [
        Candidate(name, measure, (WRITERS[name][1], images, few, work, given.jobs))
        for name in installed(packages)
    ]


def measure(write: Write, images: Path, few: Path, work: Path, jobs: int) -> Figures:
    with tempfile.TemporaryDirectory(dir=work) as folder:
        write(few, Path(folder, "few"), jobs)
        os.sync()
        began, used = time.perf_counter(), own_usage()
        write(images, Path(folder, "all"), jobs)
        seconds, used = time.perf_counter() - began, own_usage() - used
    count = len(pipeline.labelled(images))
    return {"images/s": count / seconds, "CPU ms an image": used / count * 1e3}


def packer(jpeg: str, images: Path, out: Path, jobs: int) -> None:
    command = [sys.executable, "-m", "packer", "pack", str(images), str(out), "--quiet"]
    command += ["--shard-size", str(SHARD_SIZE), "--jobs", str(jobs), "--jpeg", jpeg]
    subprocess.run(command, check=True)


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


def flushed(write: Write, images: Path, out: Path, jobs: int) -> None:
    write(images, out, jobs)
    subprocess.run(["sync", "-f", str(out)], check=True)


OTHERS: dict[str, tuple[str, Write]] = {
    "cp -r": ("os", copy),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "MosaicML MDSWriter": ("streaming", write_mds),
    "LitData optimize": ("litdata", write_chunks),
}
WRITERS: dict[str, tuple[str, Write]] = {
    **OTHERS,
    **{f"{name}, flushed": (needs, partial(flushed, how)) for name, (needs, how) in OTHERS.items()},
    "packer, verbatim, one process": ("packer", packer_in_process),
    "packer, verbatim": ("packer", partial(packer, "verbatim")),
    "packer, tiled": ("packer", partial(packer, "tiled")),
}
