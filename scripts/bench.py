#!/usr/bin/env python3
"""Runs a benchmark: this project beside its peers, on the same images, in interleaved rounds.

    scripts/bench.py CASE --help

Each candidate runs in a process of its own in every round. The table has medians over the rounds;
"ratio" compares the first column with the baseline of the same round. Peers that are not installed
are named and left out.
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs" / "tasks"))  # its network

from benchmarks import runner

CASES = {
    "read": "photographs, PNGs, WebPs, large photographs, images with masks",
    "tiny": "raw images of CIFAR's size",
    "start": "from the constructor to the first batch, and memory",
    "stages": "CPU of each stage of reading, and what each optimisation is worth",
    "store": "reading from a store that answers late",
    "gpu": "feeding a GPU, alone and with a ResNet-50 that trains",
    "pack": "packing, beside cp -r and other writers",
    "classes": "packing many classes and files",
    "scale": "datasets of many shards and samples",
}


def main(command: list[str] | None = None) -> None:
    """Run the case that the command line names, and print its table."""
    names = "".join(f"\n  {name:10}{what}" for name, what in CASES.items())
    parser = argparse.ArgumentParser(
        prog="scripts/bench.py",
        description=f"{__doc__}\ncases:{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("case", choices=CASES, metavar="CASE")
    command = sys.argv[1:] if command is None else command
    name = parser.parse_args(command[:1]).case
    case = importlib.import_module(f"benchmarks.{name}")
    options = argparse.ArgumentParser(
        prog=f"scripts/bench.py {name}",
        description=case.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    options.add_argument("--only", default="", help="candidates whose name contains this")
    options.add_argument("--json", action="store_true", help="print every round's figures")
    case.add_options(options)
    given = options.parse_args(command[1:])
    beside = getattr(given, "images", None)
    with tempfile.TemporaryDirectory(dir=beside and beside.absolute().parent) as work:
        runner.run(case, given, Path(work))


if __name__ == "__main__":
    main()
