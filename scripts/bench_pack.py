"""Packing speed: packer beside `cp -r` and other writers, on the same images, interleaved.

    scripts/bench_pack.py --images DIR [--rounds N] [--jobs N] [--minutes N] [--beside NAME=PYTHON]

Every round packs DIR anew with each candidate into a temporary folder on the same disk; each begins
elsewhere, and none is begun that would end after the minutes given. A few images come first, so
that modules are loaded and what tiles is compiled. Printed are medians: images a second, and
milliseconds of CPU an image, of all processes and the kernel's part included.

packer ends when all lies on the disk, which `cp -r` and the other writers leave to the kernel. So
that like is compared with like, there are `cp -r` and the ShardWriter with a flush, and packer
without. "One process" calls the library in this process, as the other writers are called; the rest
of packer is the command, from its start on. --beside names the Python of another environment, whose
packer is measured, too: another version, for instance. Writers that are not installed are named and
left out.

Below it is told, for one process, where the CPU goes, in milliseconds an image; the rest is what
lies between the stages.
"""

import argparse
import contextlib
import os
import resource
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
FEW = 20


Run = Callable[[Path, Path, int], None]


def packer(jpeg: str, python: str = sys.executable, numba: bool = True) -> Run:
    """The command line, as users run it; in another environment, or where there is no numba."""

    def run(images: Path, out: Path, jobs: int) -> None:
        command = [python, "-m", "packer", "pack", str(images), str(out), "--quiet"]
        command += ["--shard-size", str(SHARD_SIZE), "--jobs", str(jobs), "--jpeg", jpeg]
        with tempfile.TemporaryDirectory() as folder:
            hidden = "" if numba else "import sys; sys.modules['numba'] = None"
            Path(folder, "sitecustomize.py").write_text(hidden)
            # Not where the packer of some checkout lies: it would be taken for the installed one.
            subprocess.run(
                command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder}
            )

    return run


def packer_in_process(images: Path, out: Path, jobs: int) -> None:
    """Verbatim, with this process alone."""
    from packer import pack

    pack(images, out, shard_size=SHARD_SIZE, jpeg="verbatim", jobs=1, progress=False)


def packer_unflushed(images: Path, out: Path, jobs: int) -> None:
    """The same, and the kernel decides when it goes to the disk."""
    with mock.patch.object(os, "fsync", return_value=None):
        packer_in_process(images, out, jobs)


def copy(images: Path, out: Path, jobs: int) -> None:
    """Copy the folder with cp -r."""
    subprocess.run(["cp", "-r", str(images), str(out)], check=True)


def copy_flushed(images: Path, out: Path, jobs: int) -> None:
    """The same, and flush the file system."""
    copy(images, out, jobs)
    subprocess.run(["sync", "-f", str(out)], check=True)


def shard_writer(images: Path, out: Path, jobs: int) -> None:
    """The ShardWriter of webdataset, one process."""
    import webdataset as wds

    out.mkdir()
    with wds.ShardWriter(f"{out}/%06d.tar", maxsize=SHARD_SIZE, verbose=0) as writer:
        for number, (path, label) in enumerate(pipeline.labelled(images)):
            writer.write({"__key__": f"{number:08d}", "jpg": pipeline.read(path), "cls": label})


def shard_writer_flushed(images: Path, out: Path, jobs: int) -> None:
    """The same, and flush each shard."""
    shard_writer(images, out, jobs)
    for path in out.iterdir():
        with path.open("rb") as file:
            os.fsync(file)


def mds_writer(images: Path, out: Path, jobs: int) -> None:
    """The MDSWriter of MosaicML, one process."""
    mosaic.write(images, out)


CANDIDATES: dict[str, tuple[str, Run]] = {
    "cp -r": ("os", copy),
    "cp -r, flushed": ("os", copy_flushed),
    "webdataset ShardWriter": ("webdataset", shard_writer),
    "webdataset ShardWriter, flushed": ("webdataset", shard_writer_flushed),
    "packer, verbatim, one process": ("packer", packer_in_process),
    "the same, not flushed": ("packer", packer_unflushed),
    "MosaicML MDSWriter": ("streaming", mds_writer),
    "LitData optimize": ("litdata", litdata.write),
    "packer, verbatim": ("packer", packer("verbatim")),
    "packer, tiled": ("packer", packer("tiled")),
}


def found(beside: list[str]) -> dict[str, Run]:
    """The candidates that there are."""
    candidates = {}
    for name, (package, run) in CANDIDATES.items():
        if is_installed(package):
            candidates[name] = run
        else:
            print(f"{name}: left out, {package} is not installed", file=sys.stderr)
    if shutil.which("jpegtran"):
        candidates["packer, tiled by jpegtran"] = packer("tiled", numba=False)
    for other in beside:
        name, _, python = other.partition("=")
        for jpeg in ("verbatim", "tiled"):
            candidates[f"{name}, {jpeg}"] = packer(jpeg, python)
    return candidates


def cpu() -> float:
    """Seconds that this process and those that it has waited for have taken so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measure(
    candidates: dict[str, Run], images: Path, folder: Path, rounds: int, jobs: int, minutes: float
) -> dict[str, list[tuple[float, float]]]:
    """Seconds and seconds of CPU of each candidate's runs; one that fails is named and left out."""
    end = time.monotonic() + 60 * minutes
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in candidates}
    for number in range(rounds):
        names = [name for name in candidates if name in spent]
        begin = number % len(names)
        for name in names[begin:] + names[:begin]:
            longest = max((seconds for seconds, _ in spent[name]), default=0.0)
            if time.monotonic() + longest > end:
                continue
            out = folder / "out"
            os.sync()
            began, used = time.perf_counter(), cpu()
            try:
                candidates[name](images, out, jobs)
                spent[name].append((time.perf_counter() - began, cpu() - used))
            except Exception as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
                del spent[name]
            shutil.rmtree(out, ignore_errors=True)
    return {name: runs for name, runs in spent.items() if runs}


def few_of(images: Path, folder: Path) -> Path:
    """A folder with some of the images, for what is to be done once."""
    for path, _ in pipeline.labelled(images)[:FEW]:
        link = folder / "few" / Path(path).relative_to(images)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    return folder / "few"


def account(images: Path, few: Path, out: Path, jpeg: str) -> dict[str, float]:
    """Seconds of CPU by stage, for all images, in this process; after `few` others."""
    import packer.run.pack
    from packer.images import encode
    from packer.layouts.folders.source import FolderSource
    from packer.shards.shard_writer import ShardWriter

    stages = {
        "scan": (packer.run.pack, "prepare"),
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
        how: dict[str, Any] = {"shard_size": SHARD_SIZE, "jpeg": jpeg, "jobs": 1, "progress": False}
        packer.pack(few, out / "first", **how)
        spent.update(dict.fromkeys(stages, 0.0))  # of what is loaded at first use
        began = time.process_time()
        packer.pack(images, out / "second", **how)
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
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=PYTHON")
    arguments = parser.parse_args()
    images = arguments.images.absolute()
    count = len(pipeline.labelled(images))
    with tempfile.TemporaryDirectory(dir=images.parent) as name:
        folder = Path(name)
        few = few_of(images, folder)
        candidates = found(arguments.beside)
        working = measure(candidates, few, folder, 1, arguments.jobs, 2)
        candidates = {name: run for name, run in candidates.items() if name in working}
        accounts = {
            jpeg: account(images, few, folder / jpeg, jpeg) for jpeg in ("verbatim", "tiled")
        }
        spent = measure(
            candidates, images, folder, arguments.rounds, arguments.jobs, arguments.minutes
        )
    print(f"{count} images, {arguments.jobs} jobs, medians of {arguments.rounds} rounds at most")
    base = statistics.median(seconds for seconds, _ in spent["cp -r"])
    for name, runs in spent.items():
        seconds, used = (statistics.median(column) for column in zip(*runs, strict=True))
        print(
            f"{name:32}{count / seconds:8.0f} images/s{base / seconds:7.2f} x cp -r"
            f"{1e3 * used / count:8.3f} ms of CPU   {len(runs)} rounds"
        )
    for jpeg, stages in accounts.items():
        shown = ", ".join(f"{stage} {1e3 * used / count:.3f}" for stage, used in stages.items())
        print(f"{jpeg}, ms of CPU an image: {shown}")


if __name__ == "__main__":
    main()
