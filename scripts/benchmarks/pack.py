"""Packing: packer beside `cp -r` and other writers.

    scripts/bench.py pack --images DIR [--jobs N] [--beside NAME=PYTHON]

DIR has class folders, or splits of them, and is packed into a folder on the same disk. packer ends
when everything is on the disk, while `cp -r` and the other writers leave that to the kernel. So
there are `cp -r` and the ShardWriter with a flush, and packer without. "One process" calls the
library in this process, as the other writers are called; the other rows of packer are the command,
with its start. --beside adds the packer of another environment, named by its Python.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from benchmarks.peers import is_installed, litdata, mosaic, pipeline
from benchmarks.runner import Candidate, Rows, own_usage

BASELINE = "cp -r"
SHARD_SIZE = 100 * 10**6
Write = Callable[[Path, Path, int], None]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the case's options."""
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=PYTHON")


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    """Return the writers that there are; each has packed a few images, which compiles the tiler."""
    images = given.images.absolute()
    every = pipeline.labelled(images)
    few = work / "few"
    for path, _ in (*every[:10], *every[-10:]):
        link = few / Path(path).relative_to(images)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    writers = {name: write for name, (needs, write) in WRITERS.items() if is_installed(needs)}
    for name in WRITERS.keys() - writers.keys():
        print(f"{name}: left out, {WRITERS[name][0]} is not installed", file=sys.stderr)
    if shutil.which("jpegtran"):
        writers["packer, tiled by jpegtran"] = partial(packer, "tiled", numba=False)
    for name, _, python in (other.partition("=") for other in given.beside):
        for jpeg in ("verbatim", "tiled"):
            writers[f"{name}, {jpeg}"] = partial(packer, jpeg, python=python)
    print(f"{len(every)} images, {given.jobs} jobs")
    return [
        Candidate(name, measure, (name, write, images, few, work, given.jobs))
        for name, write in writers.items()
    ]


def measure(name: str, write: Write, images: Path, few: Path, work: Path, jobs: int) -> Rows:
    """Return the figures of one writer's round."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        write(few, Path(folder, "few"), jobs)
        os.sync()
        began, used = time.perf_counter(), own_usage()
        write(images, Path(folder, "all"), jobs)
        seconds, used = time.perf_counter() - began, own_usage() - used
    count = len(pipeline.labelled(images))
    return {name: {"images/s": count / seconds, "CPU ms an image": used / count * 1e3}}


def packer(
    jpeg: str,
    images: Path,
    out: Path,
    jobs: int,
    *,
    python: str = sys.executable,
    numba: bool = True,
) -> None:
    """Run the command, in another environment, or as if numba were not installed."""
    command = [python, "-m", "packer", "pack", str(images), str(out), "--quiet"]
    command += ["--shard-size", str(SHARD_SIZE), "--jobs", str(jobs), "--jpeg", jpeg]
    with tempfile.TemporaryDirectory() as folder:
        hidden = "" if numba else "import sys; sys.modules['numba'] = None"
        Path(folder, "sitecustomize.py").write_text(hidden)
        # Not in a checkout, whose packer would be imported in place of the installed one.
        subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder})


def packer_in_process(images: Path, out: Path, jobs: int) -> None:
    """Pack verbatim in this process."""
    from packer import pack

    pack(images, out, shard_size=SHARD_SIZE, jpeg="verbatim", jobs=1, progress=False)


def packer_unflushed(images: Path, out: Path, jobs: int) -> None:
    """The same, and the kernel decides when it goes to the disk."""
    with mock.patch.object(os, "fsync", return_value=None):
        packer_in_process(images, out, jobs)


def copy(images: Path, out: Path, jobs: int) -> None:
    """Copy the folder with cp -r."""
    subprocess.run(["cp", "-r", str(images), str(out)], check=True)


def shard_writer(images: Path, out: Path, jobs: int) -> None:
    """Write with the ShardWriter of webdataset, one process."""
    import webdataset as wds

    out.mkdir()
    with wds.ShardWriter(f"{out}/%06d.tar", maxsize=SHARD_SIZE, verbose=0) as writer:
        for number, (path, label) in enumerate(pipeline.labelled(images)):
            writer.write({"__key__": f"{number:08d}", "jpg": pipeline.read(path), "cls": label})


def flushed(write: Write, images: Path, out: Path, jobs: int) -> None:
    """Write, and flush the file system."""
    write(images, out, jobs)
    subprocess.run(["sync", "-f", str(out)], check=True)


def mds_writer(images: Path, out: Path, jobs: int) -> None:
    """Write with the MDSWriter of MosaicML, one process."""
    mosaic.write(images, out)


WRITERS: dict[str, tuple[str, Write]] = {
    "cp -r": ("os", copy),
    "cp -r, flushed": ("os", partial(flushed, copy)),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "webdataset ShardWriter, flushed": ("webdataset", partial(flushed, shard_writer)),
    "packer, verbatim, one process": ("packer", packer_in_process),
    "the same, not flushed": ("packer", packer_unflushed),
    "MosaicML MDSWriter": ("streaming", mds_writer),
    "LitData optimize": ("litdata", litdata.write),
    "packer, verbatim": ("packer", partial(packer, "verbatim")),
    "packer, tiled": ("packer", partial(packer, "tiled")),
}
