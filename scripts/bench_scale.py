#!/usr/bin/env python3
"""Measures what the number of shards and samples costs, on made-up datasets.

bench_scale.py [--sets 100000x10 10000x10000] [--steps open info ...] [--folder DIR]

For each set SHARDSxSAMPLES the indexes of so many shards with so many samples each are made in DIR,
beside tars that are all holes: no step here reads an image, except `report`, for which every sample
is a tiny JPEG of its own. Printed are the seconds of CPU and of the clock, and the peak memory, of
the process of each step; of a loader also the memory of its largest worker (proportional set size).
"""

import argparse
import io
import subprocess
import sys
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from reader.format import Manifest, ShardEntry
from reader.format.checksum import checksum_of
from reader.format.columns import FORMATS, MEMBER, ROW
from reader.format.index import metadata_of, serialize

STEPS = {
    "open": "assert len(reader.Dataset(folder)) == samples",
    "labels": "reader.Dataset(folder).labels",
    "order": "walk(True)",
    "order, blocks": "walk(reader.BlockShuffle(8))",
    "order, streams": "walk(reader.BlockShuffle(8, streams=64))",
    "order, buckets": "walk(reader.AspectBuckets(256))",
    "order, balanced": "walk(False, reader.ClassBalanced())",
    "loader": "load()",
    "info": "run('info', folder)",
    "plan": "run('plan', folder)",
    "plan, blocks": "run('plan', folder, '--shuffle', 'block:8')",
    "report": "run('report', folder, '-o', folder + '.html', '--jobs', '2', '--quiet')",
}
MEASURED = """
import contextlib, io, itertools, os, pathlib, re, resource, sys, time
import numpy as np
import reader
from reader.order.samplers import build_order
folder, samples = sys.argv[1], int(sys.argv[2])

def run(*command):
    from packer.cli.main import main
    with contextlib.redirect_stdout(io.StringIO()):
        main(list(command), standalone_mode=False)

def walk(shuffle, sampler=None):
    order = build_order(reader.Dataset(folder), shuffle, 0, sampler)
    for start in range(0, order.count, 1 << 14):
        order.samples(np.arange(start, min(start + (1 << 14), order.count)), 0)

def load():
    # Workers open as many datasets as a loader's do, and read no sample: the tars are empty.
    fields = dict(fields=("index",), shuffle=True, workers=2, batch_size=256)
    with reader.Loader(folder, **fields) as loader:
        for _ in itertools.islice(loader, 200):
            pass
        print(*map(memory, children()))

def children():
    tree = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            tree[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in tree.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}

def memory(pid):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss: +(\d+)", rollup, re.M)[1]) / 1024

began = time.perf_counter()
{step}
wall = time.perf_counter() - began
own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
cpu = [used.ru_utime + used.ru_stime for used in (own, others)]
print(*cpu, wall, own.ru_maxrss / 1024)
"""
CLASSES = 1000
ROOM = 512  # bytes of a sample in its tar
TEMPLATES = 50_000
DISTINCT = 1000  # shards without images; further ones are links to these


def make(folder: Path, shards: int, samples: int, *, with_images: bool) -> None:
    """Write dataset.json, the indexes, and tars of holes or of tiny JPEGs."""
    folder.mkdir(parents=True)
    templates = _templates() if with_images else None
    entries: list[ShardEntry] = []
    for number in range(shards):
        name, size = f"shard-{number:06d}", 2 * ROOM * samples + 1024
        if number >= DISTINCT and templates is None:
            entry = entries[number % DISTINCT]
            for suffix in ("tar", "safetensors"):
                other = Path(entry.file).with_suffix(f".{suffix}")
                (folder / f"{name}.{suffix}").hardlink_to(folder / other)
            entries.append(replace(entry, file=f"{name}.tar"))
            continue
        columns = _columns(number, samples)
        content = b""
        if templates is not None:
            content = _images(templates, number, samples, columns)
        with open(folder / f"{name}.tar", "wb") as file:
            file.write(content)
            file.truncate(size)
        index = serialize(columns, metadata_of(size, f"xxh3-128:{number:032x}", []))
        (folder / f"{name}.safetensors").write_bytes(index)
        checksums = f"xxh3-128:{number:032x}", checksum_of(index)
        entries.append(
            ShardEntry(f"{name}.tar", "", samples, size, checksums[0], len(index), checksums[1])
        )
    classes = tuple(f"class{label:04d}" for label in range(CLASSES))
    content_of = Manifest("0", {"seed": 0}, "", classes, ("cls", "jpg"), tuple(entries))
    (folder / "dataset.json").write_text(content_of.dump())


def _columns(number: int, samples: int) -> dict[str, NDArray[np.generic]]:
    """An index's columns, whose keys are the samples' numbers in nine digits."""
    rng = np.random.default_rng(number)
    rows = np.arange(samples)
    columns: dict[str, NDArray[np.generic]] = {
        "offset": rows * ROOM,
        "size": np.full(samples, ROOM),
        "label": rng.integers(0, CLASSES, samples),
        "height": rng.integers(200, 600, samples),
        "width": rng.integers(200, 600, samples),
        "format": np.full(samples, FORMATS.index("jpg")),
        "channels": np.full(samples, 3),
        "orientation": np.ones(samples),
        "crc32": rng.integers(0, 2**32, samples),
        "cls.offset": rows * ROOM,
        "cls.size": np.full(samples, 1),
        "cls.crc32": np.zeros(samples),
    }
    columns = {name: values.astype({**ROW, **_CLS}[name]) for name, values in columns.items()}
    digits = (number * samples + rows)[:, None] // 10 ** np.arange(8, -1, -1) % 10
    for text in ("key", "name"):
        columns[text] = (digits + ord("0")).astype("u1").ravel()
        columns[f"{text}_offset"] = (np.arange(samples + 1) * 9).astype("<u8")
    return columns


_CLS = {f"cls.{name}": kind for name, kind in MEMBER.items()}


def _templates() -> NDArray[np.uint8]:
    """JPEGs of noise, (TEMPLATES, ROOM), each ended by zeros."""
    rng = np.random.default_rng(0)
    found = np.zeros((TEMPLATES, ROOM), np.uint8)
    for row in found:
        noise = Image.fromarray(rng.integers(0, 256, (4, 4), np.uint8)).resize((16, 16))
        file = io.BytesIO()
        noise.save(file, "JPEG", quality=30, optimize=True)
        row[: len(file.getvalue())] = np.frombuffer(file.getvalue(), np.uint8)
    return found


def _images(
    templates: NDArray[np.uint8], number: int, samples: int, columns: dict[str, NDArray[np.generic]]
) -> bytes:
    """The images of a shard, which differ in their last bytes; fits the columns to them."""
    rows = number * samples + np.arange(samples)
    images = templates[rows * 7919 % TEMPLATES]
    images[:, -8:] = rows[:, None].view(np.uint8)
    content = images.tobytes()
    sums = [zlib.crc32(content[at : at + ROOM]) for at in range(0, len(content), ROOM)]
    columns["crc32"] = np.array(sums, "<u4")
    for name, value in (("height", 16), ("width", 16), ("channels", 1)):
        columns[name] = np.full(samples, value, ROW[name])
    return content


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["100000x10", "10000x10000"])
    parser.add_argument("--steps", nargs="+", choices=STEPS)
    parser.add_argument("--folder", type=Path, help="Where there is room for the datasets.")
    parser.add_argument("--keep", action="store_true", help="Keep and use again what was made.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
        root = arguments.folder if arguments.keep else Path(made)
        for name in arguments.sets:
            shards, samples = map(int, name.split("x"))
            steps = arguments.steps or [step for step in STEPS if step != "report"]
            folder = root / (name + "-images" * ("report" in steps))
            if not folder.exists():
                make(folder, shards, samples, with_images="report" in steps)
            for step in steps:
                _measure(name, step, folder, shards * samples)


def _measure(name: str, step: str, folder: Path, samples: int) -> None:
    command = [
        sys.executable,
        "-c",
        MEASURED.replace("{step}", STEPS[step]),
        str(folder),
        str(samples),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{name:>14} {step:16} failed: exit status {done.returncode}", flush=True)
        return
    *printed, last = done.stdout.splitlines()
    cpu, others, wall, memory = map(float, last.split())
    workers = f", {others:.1f} s CPU of others" if others > 1 else ""
    if step == "loader":  # one of the processes starts the workers
        workers += f", {max(map(float, printed[-1].split())):.0f} MiB (PSS) of a worker"
    print(
        f"{name:>14} {step:16} {cpu:8.1f} s CPU {wall:8.1f} s {memory:6.0f} MiB{workers}",
        flush=True,
    )


if __name__ == "__main__":
    main()
