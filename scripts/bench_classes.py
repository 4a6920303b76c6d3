#!/usr/bin/env python3
"""Measures what many classes cost: scan and plan, `packer pack --dry-run`, packing, reading labels.

bench_classes.py [--sets 200000x1 20000x10 1000x1300 10000x270] [--pack] [--jobs N] [--folder DIR]

For each set CLASSESxFILES a folder of so many class folders with so many files each is made in DIR;
the files are links to a few tiny PNGs. Printed are CPU seconds (user and system), seconds, and the
most memory that the process of each step took. `--pack` adds packing and reading.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PLAN = """
from pathlib import Path
from packer.options.declared import PackOptions
from packer.plan.prepare import prepare
from packer.plan.work import digests
from packer.progress import Progress
digests(prepare(Path(sys.argv[1]), PackOptions(), Progress(quiet=True)))
"""
DRY_RUN = """
import contextlib
from packer.cli.main import main
with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
    main(["pack", sys.argv[1], sys.argv[2], "--dry-run", "--quiet"], standalone_mode=False)
"""
PACK = """
from packer.cli.main import main
options = ["--jobs", sys.argv[3], "--quiet"]
main(["pack", sys.argv[1], sys.argv[2], *options], standalone_mode=False)
"""
READ = """
import reader
dataset = reader.Dataset(sys.argv[2])
names = [dataset.classes[label] for label in dataset.targets]
assert [dataset.class_to_idx[name] for name in names] == dataset.targets
"""
MEASURED = """
import os, resource, sys, time
began = time.perf_counter()
{step}
used = resource.getrusage(resource.RUSAGE_SELF)
seconds, cpu = time.perf_counter() - began, used.ru_utime + used.ru_stime
print(f"{{cpu:.1f}} s CPU, {{seconds:.1f}} s, {{used.ru_maxrss / 1024:.0f}} MiB")
"""
STEPS = {"scan and plan": PLAN, "dry run": DRY_RUN}
PACKING = {"pack": PACK, "read labels": READ}
LINKS = 30_000  # to one file; ext4 has at most 65,000


def make(root: Path, classes: int, files: int) -> None:
    """Write the class folders."""
    content = io.BytesIO()
    Image.new("RGB", (8, 8)).save(content, "PNG")
    first = ""
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sets = ["200000x1", "20000x10", "1000x1300", "10000x270"]
    parser.add_argument("--sets", nargs="+", default=sets)
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    steps = STEPS | (PACKING if arguments.pack else {})
    for name in arguments.sets:
        classes, files = map(int, name.split("x"))
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            images, shards = Path(folder, "images"), Path(folder, "shards")
            make(images, classes, files)
            for step, code in steps.items():
                command = [sys.executable, "-c", MEASURED.format(step=code)]
                command += [str(images), str(shards), str(arguments.jobs)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                print(f"{classes} classes x {files}: {step:14}{done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
