#!/usr/bin/env python3
"""Packing speed: packer beside `cp -r` and other writers, on the same images, interleaved.

    scripts/bench_pack.py --images DIR [--rounds N] [--jobs N]

Every round packs DIR anew with each candidate into a temporary folder on the same disk. Printed are
medians of images a second; "to disk" includes the flush that a finished data set stands for, which
`cp -r` and the other writers leave to the kernel.
"""

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def packer(*options: str) -> Callable[[Path, Path, int], None]:
    """The command line, as users run it."""

    def run(images: Path, out: Path, jobs: int) -> None:
        command = [sys.executable, "-m", "packer", "pack", str(images), str(out), "--quiet"]
        command += ["--shard-size", "100MB", "--jobs", str(jobs), *options]
        subprocess.run(command, check=True)

    return run


def packer_on_one_core(images: Path, out: Path, jobs: int) -> None:
    """Verbatim, with one process."""
    packer("--jpeg", "verbatim")(images, out, 1)


def copy(images: Path, out: Path, jobs: int) -> None:
    """Copy the folder with cp -r."""
    subprocess.run(["cp", "-r", str(images), str(out)], check=True)


def labelled(images: Path) -> list[tuple[Path, int]]:
    """Every image with its class number."""
    classes = sorted(path for path in images.iterdir() if path.is_dir())
    return [(path, n) for n, folder in enumerate(classes) for path in sorted(folder.rglob("*"))]


def shard_writer(images: Path, out: Path, jobs: int) -> None:
    """The ShardWriter of webdataset, one process."""
    import webdataset as wds

    out.mkdir()
    with wds.ShardWriter(f"{out}/%06d.tar", maxsize=100e6, verbose=0) as writer:
        for number, (path, label) in enumerate(labelled(images)):
            writer.write({"__key__": f"{number:08d}", "jpg": path.read_bytes(), "cls": label})


def mds_writer(images: Path, out: Path, jobs: int) -> None:
    """The MDSWriter of MosaicML, one process."""
    from streaming import MDSWriter

    with MDSWriter(out=str(out), columns={"image": "bytes", "label": "int"}) as writer:
        for path, label in labelled(images):
            writer.write({"image": path.read_bytes(), "label": label})


CANDIDATES: dict[str, tuple[str, Callable[[Path, Path, int], None]]] = {
    "cp -r": ("os", copy),
    "packer, verbatim, one process": ("packer", packer_on_one_core),
    "packer, verbatim": ("packer", packer("--jpeg", "verbatim")),
    "packer, tiled": ("packer", packer("--jpeg", "tiled")),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "MosaicML MDSWriter": ("streaming", mds_writer),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    count = len(labelled(arguments.images))
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=arguments.images.parent) as folder:
        for _ in range(arguments.rounds):
            for name, (package, run) in CANDIDATES.items():
                if importlib.util.find_spec(package) is None:
                    continue
                out = Path(folder) / "out"
                os.sync()
                began = time.perf_counter()
                run(arguments.images, out, arguments.jobs)
                rates.setdefault(name, []).append(count / (time.perf_counter() - began))
                shutil.rmtree(out)
    print(f"{count} images, {arguments.jobs} jobs, medians of {arguments.rounds} rounds")
    base = statistics.median(rates["cp -r"])
    for name, values in rates.items():
        rate = statistics.median(values)
        print(f"{name:32}{rate:10.0f} images/s{rate / base:8.2f} x cp -r")


if __name__ == "__main__":
    main()
