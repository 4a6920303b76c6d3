#!/usr/bin/env python3
"""Measures all that concerns a GPU, in a limited time, on a machine without a package index.

    scripts/bench_gpu.py --fetch WHEELS      # where there is an index: the wheels to bring along
    scripts/bench_gpu.py --wheels WHEELS --out OUT      # on the machine, which has Python and torch
    scripts/bench_gpu.py --dry-run           # only prints the steps
    scripts/bench_gpu.py --device cpu        # tries them out, with numbers that mean nothing

The steps come by importance. One that fails or takes too long is named, and the others go on. OUT
gets the tables for the page of benchmarks, and a log of each step.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIMIT_MIB = 64  # of what may be brought along

# What an environment with torch, torchvision, numba and OpenCV lacks.
WHEELS = ["nvidia-nvimgcodec-cu13==0.9.0.20", "nvidia-nvjpeg==13.3.2.43", "torchcodec==0.17.0"]
WHEELS += ["simplejpeg==1.9.0", "isal==1.9.1", "zlib-ng==1.1.0", "cykooz.resizer==4.0.1"]
TAGS = [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 24, 17)] + ["manylinux2014_x86_64"]


class Step(NamedTuple):
    name: str
    seconds: int  # at most
    command: list[str]


def steps(given: argparse.Namespace) -> list[Step]:
    work, python = given.out / "work", [sys.executable]
    images, shards = str(work / "images"), str(work / "shards")
    on_gpu = given.device != "cpu"
    bench = [*python, "scripts/bench.py"]
    common = ["--rounds", "1", "--device", given.device, "--batch-size", "256" if on_gpu else "4"]
    gpu = [*bench, "gpu", "--images", images, "--shards", shards, *common]
    gpu += ["--batches", "60" if on_gpu else "2", "--workers"]
    few, some, many = map(str, (4, 8, 16) if on_gpu else (1, 1, 1))
    count = "4000" if on_gpu else "40"
    tests = ["tests/reader/gpu_decode", "tests/reader/cuda", "tests/reader/guarantees"]
    pytest = [*python, "-m", "pytest", "-m", "gpu", "-q", "-rs", "-p", "no:cacheprovider", *tests]
    small = ["--network", "resnet18", "--size", "160"]
    install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    install += ["--target", str(work / "site"), *map(str, wheels_in(given.wheels))]
    made = [
        Step("Images", 60, [*python, "scripts/sample_images.py", images, count]),
        Step("Shards", 60, [*python, "-m", "packer", "pack", images, shards, "--quiet"]),
        Step("4 workers", 150, [*gpu, few]),
        Step("4 workers, each decoder", 90, [*gpu, few, "--decoders", "--only", "("]),
        Step("Tests", 60, pytest),
        Step("16 workers", 60, [*gpu, many, "--only", "shardfeed"]),
        Step("ResNet-18 at 160", 70, [*gpu, many, *small]),
        Step("8 workers", 60, [*gpu, some, "--only", "shardfeed"]),
        Step("4 workers, torch.compile", 120, [*gpu, few, "--compile"]),
    ]
    return [Step("Wheels", 40, [*python, *install]), *made] if given.wheels else made


def wheels_in(folder: Path | None) -> list[Path]:
    return sorted(folder.glob("*.whl")) if folder else []


def fetch(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
    command += ["--only-binary=:all:", "--python-version", "3.12", "--implementation", "cp"]
    command += [part for tag in TAGS for part in ("--platform", tag)]
    subprocess.run([*map(str, command), *WHEELS], check=True)
    show_sizes(folder)


def show_sizes(folder: Path | None) -> None:
    sizes = {wheel.name: wheel.stat().st_size / 2**20 for wheel in wheels_in(folder)}
    for name, size in sizes.items():
        print(f"{size:6.1f} MiB  {name}")
    whole = sum(sizes.values())
    fits = "fits into" if whole <= LIMIT_MIB else "does not fit into"
    print(f"{whole:6.1f} MiB in all: {fits} {LIMIT_MIB} MiB")


def run(plan: list[Step], given: argparse.Namespace) -> bool:
    """Run the steps until the time is over; return whether each has succeeded."""
    given.out.mkdir(parents=True, exist_ok=True)
    page = given.out / "gpu.md"
    page.write_text("")
    end, outcomes = time.monotonic() + given.seconds, []
    for number, step in enumerate(plan):
        began = time.monotonic()
        outcome, output = ended(step, end - began, given.out, given.out / f"{number:02}.log")
        outcomes.append(outcome)
        title = f"## {step.name} ({outcome or f'{time.monotonic() - began:.0f} s'})"
        text = f"{title}\n\n{output}".rstrip() + "\n\n"
        print(text, end="", flush=True)
        with page.open("a") as file:
            file.write(text)
    return not any(outcomes)


def ended(step: Step, left: float, out: Path, log: Path) -> tuple[str, str]:
    """Run a step; return what went wrong, if anything, and its output."""
    limit = min(step.seconds, left)
    if limit <= 0:
        return "no time was left", ""
    paths = [str(out / "work" / "site"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = ["timeout", "--signal=KILL", f"{limit}", *step.command]  # ends its children, too
    with log.open("w") as errors:
        pipe = {"stdout": subprocess.PIPE, "stderr": errors}
        done = subprocess.run(command, cwd=ROOT, env=environment, text=True, check=False, **pipe)
    code = done.returncode
    if code == -signal.SIGKILL:
        return f"stopped after {limit:.0f} s, see {log.name}", done.stdout
    return f"failed with {code}, see {log.name}" if code else "", done.stdout


def main(command: list[str] | None = None) -> None:
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("--fetch", type=Path, metavar="WHEELS", help="download the wheels, and end")
    parser.add_argument("--wheels", type=Path, help="installed into a folder of OUT")
    parser.add_argument("--out", type=Path, default=Path("gpu-bench"), help="default: %(default)s")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=int, default=480, help="in all; default: %(default)s")
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args(command)
    given.out = given.out.absolute()
    if given.fetch:
        fetch(given.fetch)
    elif not given.dry_run:
        sys.exit(not run(steps(given), given))
    else:
        if given.wheels:
            show_sizes(given.wheels)
        for step in steps(given):
            print(f"{step.name}, at most {step.seconds} s:\n    {shlex.join(step.command)}")
        print(f"At most {given.seconds} s in all.")


if __name__ == "__main__":
    main()
