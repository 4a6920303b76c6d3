"""What many classes and files cost: scan and plan, packing, reading labels.

    scripts/bench.py classes [--sets 200000x1 20000x10 1000x1300 10000x270] [--pack] [--folder DIR]

For each set CLASSESxFILES, DIR gets a folder of so many class folders with so many files each:
links to a few tiny PNGs. Memory is the peak of the process.
"""

import argparse
import contextlib
import io
import os
import tempfile
from pathlib import Path

from PIL import Image

import reader
from benchmarks.runner import Candidate, step

BASELINE = None
OPTIONS = {"sets": ["200000x1", "20000x10", "1000x1300", "10000x270"], "pack": False}
OPTIONS |= {"jobs": os.cpu_count() or 1, "folder": None}
LINKS = 30_000  # to one file; ext4 has at most 65,000


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    found = []
    steps = {"scan and plan": dry_run, **({"pack": pack} if given.pack else {})}
    for classes, files in (map(int, name.split("x")) for name in given.sets):
        root = Path(tempfile.mkdtemp(dir=given.folder or work))
        make(root / "images", classes, files)
        for name, run in steps.items():
            label = f"{classes:,} classes x {files:,}: {name}"
            found.append(Candidate(label, step, (run, root, given.jobs)))
    return found


def make(root: Path, classes: int, files: int) -> None:
    content, first = io.BytesIO(), ""
    Image.new("RGB", (8, 8)).save(content, "PNG")
    for number in range(classes * files):
        label, file = divmod(number, files)
        folder = f"{root}/class{label:06d}"
        if not file:
            os.makedirs(folder)
        path = f"{folder}/{file}.png"
        if number % LINKS:
            os.link(first, path)
        else:
            first = path
            Path(path).write_bytes(content.getvalue())


def dry_run(root: Path, jobs: int) -> None:
    command("pack", str(root / "images"), str(root / "dry"), "--dry-run", "--quiet")


def pack(root: Path, jobs: int) -> None:
    options = ["--jobs", str(jobs), "--quiet", "--overwrite"]
    command("pack", str(root / "images"), str(root / "shards"), *options)
    dataset = reader.Dataset(root / "shards")
    names = [dataset.classes[label] for label in dataset.targets]
    assert [dataset.class_to_idx[name] for name in names] == dataset.targets


def command(*arguments: str) -> None:
    """Run a command of packer in this process, without its output."""
    from packer.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()):
        main(list(arguments), standalone_mode=False)
