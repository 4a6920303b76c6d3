#!/usr/bin/env python3
"""Measures what many classes cost: scan and plan, the whole of `packer pack`, reading labels.

bench_classes.py [--sets 200000x1 20000x10] [--jobs N] [--folder DIR]

For each set CLASSESxFILES a folder of so many class folders with so many tiny JPEGs each is made in
DIR. Printed are seconds, and the most memory that the process of each step took.
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
from packer.planning.options import PackOptions
from packer.planning.prepare import prepare
from packer.progress import Progress
work = prepare(Path(sys.argv[1]), PackOptions(), Progress(quiet=True))
work.digests()
"""
PACK = """
from packer.cli.main import main
options = ["--jobs", sys.argv[3], "--jpeg", "verbatim", "--quiet"]
main(["pack", sys.argv[1], sys.argv[2], *options], standalone_mode=False)
"""
READ = """
import reader
dataset = reader.Dataset(sys.argv[2])
names = [dataset.classes[label] for label in dataset.targets]
assert [dataset.class_to_idx[name] for name in names] == dataset.targets
"""
MEASURED = """
import resource, sys, time
began = time.perf_counter()
{step}
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{{time.perf_counter() - began:.1f}} s, {{memory:.0f}} MiB")
"""


def make(root: Path, classes: int, files: int) -> None:
    """Write the class folders."""
    content = io.BytesIO()
    Image.new("RGB", (8, 8)).save(content, "JPEG")
    for label in range(classes):
        folder = root / f"class{label:06d}"
        folder.mkdir(parents=True)
        for number in range(files):
            (folder / f"{number}.jpg").write_bytes(content.getvalue())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["200000x1", "20000x10"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    for name in arguments.sets:
        classes, files = map(int, name.split("x"))
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            images, shards = Path(folder, "images"), Path(folder, "shards")
            make(images, classes, files)
            for step, code in (("scan and plan", PLAN), ("pack", PACK), ("read labels", READ)):
                command = [sys.executable, "-c", MEASURED.format(step=code)]
                command += [str(images), str(shards), str(arguments.jobs)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                print(f"{classes} classes x {files}: {step:14}{done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
