#!/usr/bin/env python3
"""Runs a benchmark: this project beside its peers, on the same images, in interleaved rounds.

    scripts/bench.py CASE --help

Each candidate runs in a process of its own in every round. The table has medians over the rounds;
"ratio" is that of the ratios of the first column to the baseline of the same round. Peers that are
not installed are named and left out.
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs" / "tasks"))  # its network

from benchmarks import runner

CASES = {
    "read": "photographs, PNGs, WebPs, large photographs",
    "tiny": "raw images of CIFAR's size",
    "store": "reading from a store that answers late",
    "gpu": "feeding a GPU, alone and with a ResNet that trains",
    "pack": "packing, beside cp -r and other writers",
    "scale": "datasets of many shards and samples; packing many classes and files",
}


# Of the options that cases have in their OPTIONS, with their defaults. Numbers, lists of numbers
# and flags are known by their defaults.
CASE_OPTIONS: dict[str, dict[str, Any]] = {
    "images": {"type": Path, "help": "class folders"},
    "shards": {"type": Path, "help": "the same, packed; default: packed for the run"},
    "shard-size": {"help": "without --shards"},
    "format": {"choices": ("png", "webp", "large")},
    "side": {"type": int, "help": "shorter side in pixels"},
    "crop": {"choices": ("random", "center")},
    "samples": {"help": "to make"},
    "count": {"help": "to which they are repeated"},
    "epochs": {"help": "measured epochs a round"},
    "steps": {"nargs": "+", "help": "what is measured"},
    "batches": {"help": "measured, a round"},
    "decoders": {"help": "each decoder on the GPU, not only the best"},
    "network": {"choices": ("resnet18", "resnet50")},
    "size": {"help": "of a crop; another than 224: without peers"},
    "compile": {"help": "with torch.compile"},
    "latency": {"nargs": "+", "help": "in ms"},
    "blocks": {"help": "shards of a window; 0: a global shuffle"},
    "shares": {"help": "of the data that a cache holds"},
    "sets": {"nargs": "+"},
    "folder": {"type": Path, "help": "keeps the datasets, to use them again"},
}


def main(command: list[str] | None = None) -> None:
    case, given = parsed(sys.argv[1:] if command is None else command)
    beside = getattr(given, "images", None)
    with tempfile.TemporaryDirectory(dir=beside and beside.absolute().parent) as work:
        runner.run(case, given, Path(work))


def parsed(command: list[str]) -> tuple[Any, argparse.Namespace]:
    """Return the case's module, and its options."""
    names = "".join(f"\n  {name:10}{what}" for name, what in CASES.items())
    parser = parser_of("", f"{__doc__}\ncases:{names}")
    parser.add_argument("case", choices=CASES, metavar="CASE")
    name = parser.parse_args(command[:1]).case
    case = importlib.import_module(f"benchmarks.{name}")
    options = parser_of(f" {name}", case.__doc__)
    options.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    options.add_argument("--only", default="", help="candidates whose name contains this")
    for option, value in case.OPTIONS.items():
        usual: dict[str, Any] = {"required": True} if value is ... else {"default": value}
        if value is False:
            usual["action"] = "store_true"
        elif isinstance(value, list):
            usual |= {"nargs": "*", "type": type(value[0])}
        elif isinstance(value, (int, str)):
            usual["type"] = type(value)
        options.add_argument(f"--{option}", **{**usual, **CASE_OPTIONS.get(option, {})})
    return case, options.parse_args(command[1:])


def parser_of(name: str, text: str | None) -> argparse.ArgumentParser:
    kind = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(f"scripts/bench.py{name}", None, text, formatter_class=kind)


if __name__ == "__main__":
    main()
