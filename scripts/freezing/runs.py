"""Each option that shapes bytes, and each way to run: append, parts, jobs, stores, commands."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from called_packer import call_packer
from layouts import making
from s3_server import bucket

import packer
from freezing.material import Files, images, photos, write
from freezing.record import KEPT, USUAL, VERBATIM, Case

SPLIT = {"split": {"train": 0.6, "val": 0.4}}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "on-error stop": {"on_error": "stop"},
    "jpeg verbatim": {"jpeg": "verbatim"},
    "jpeg tiled": {"jpeg": "tiled"},
    "png verbatim": {"png": "verbatim"},
    "png banded": {"png": "banded"},
    "check": {"check": True},
    "max-side": {"max_side": 100},
    "max-side verbatim": {"max_side": 100, **KEPT},
    "quality": {"quality": 70},
    "max-side and quality": {"max_side": 48, "quality": 70},
    "raw": {"raw": (32, 24)},
    "no-shuffle": {"shuffle": False},
    "seed": {"seed": 7},
    "seed, negative": {"seed": -1},
    "split": SPLIT,
    "split in shards": {**SPLIT, "shard_samples": 2},
    "shard-samples": {"shard_samples": 4},
    "shard-size": {"shard_size": "20KB"},
    "dedupe": {"dedupe": True},
    "as flat": {"kind": "flat"},
    "class-depth": {"class_depth": 1},
    "class-depth all": {"class_depth": "all"},
    "classes": {"classes": ["class2", "class1", "class0", "class9"]},
    "max-pixels": {"max_pixels": 4500},
    "max-bytes": {"max_bytes": 2500},
    "jobs 2": {"jobs": 2, "shard_samples": 4},
}
ONE_COMMAND = (
    "--as folder --class-depth 1 --dedupe --jpeg tiled --png banded --check --max-side 90 "
    "--quality 85 --split train=0.5,val=0.5 --shard-size 30KB --shard-samples 3 --seed 11 "
    "--on-error skip --max-pixels 100000 --max-bytes 1MB --jobs 1"
)
VERBATIM_COMMAND = ("--jpeg", "verbatim", "--png", "verbatim", "--jobs", "1", "--on-error", "skip")


class Refused(Exception):
    """A command that ended with exit code 2."""


def command(*arguments: object) -> dict[str, Any]:
    """Run a command in this process; return what it prints as JSON."""
    done = call_packer(*arguments, "--json")
    if done.returncode not in (0, 1):
        raise Refused(done.stderr)
    return dict(json.loads(done.stdout))


def half() -> Files:
    return dict(list(photos().items())[::2])


def pack_photos(options: Mapping[str, Any], tmp: Path) -> Any:
    return packer.pack(write(tmp / "src", photos()), tmp / "dst", **{**USUAL, **options})


def one_command(tmp: Path) -> Any:
    """Pack the photos by a command with as many options as go together."""
    src, names = write(tmp / "src", photos()), tmp / "classes.txt"
    names.write_text("class2\nclass0\nclass1\n", "utf-8")
    return command("pack", src, tmp / "dst", *ONE_COMMAND.split(), "--classes", names)


def append(options: Mapping[str, Any], tmp: Path) -> Any:
    """Pack half of the photos, then append the others."""
    packer.pack(write(tmp / "src", half()), tmp / "dst", **USUAL, **options)
    return pack_photos({**options, "append": True}, tmp)


def append_a_class(tmp: Path) -> Any:
    packer.pack(write(tmp / "first", images("b/1.jpg c/2.jpg")), tmp / "dst", **VERBATIM)
    second = write(tmp / "second", images("a/3.jpg b/4.jpg c/5.jpg", first=5))
    return packer.pack(second, tmp / "dst", append=True, **VERBATIM)


def overwrite(tmp: Path) -> Any:
    pack_photos({"shard_samples": 2}, tmp)
    return pack_photos({**KEPT, "shard_samples": 5, "overwrite": True}, tmp)


def members(tmp: Path) -> Any:
    """Pack half of the photos, then a text for each of those and for others."""
    base = write(tmp / "src", half())
    packer.pack(base, tmp / "base", **VERBATIM, shard_samples=3)
    texts = {f"{name.rpartition('.')[0]}.txt": name.encode() for name in photos()}
    return packer.pack(write(tmp / "texts", texts), tmp / "dst", keys_of=tmp / "base", **USUAL)


def parts(files: Callable[[], Files], in_store: bool, tmp: Path) -> Any:
    """Pack in two parts, the second first, then commit."""
    src = write(tmp / "src", files())
    arguments = ["pack", src.as_uri() if in_store else src, tmp / "dst", "--shard-samples", 3]
    arguments += ["--jobs", 1, "--on-error", "skip"]
    arguments += ["--scratch", tmp / "scratch"] if in_store else []
    for part in ("2/2", "1/2"):
        command(*arguments, "--part", part)
    return command(*arguments)


def repair(tmp: Path) -> None:
    """Remove a shard and damage another one, then repair the dataset."""
    pack_photos({"shard_samples": 3}, tmp)
    (tmp / "dst" / "shard-000001.tar").unlink()
    with (tmp / "dst" / "shard-000002.tar").open("r+b") as file:
        file.seek(600)
        file.write(b"damage")
    command("repair", tmp / "dst", "--from", tmp / "src", "--jobs", 1)


def index(tmp: Path) -> Any:
    found: dict[str, bytes] = {}
    for number, split in enumerate(("train", "val")):
        files = images("1.jpg 2.png 3.webp", first=3 * number)
        files |= {"1.cls": b"1", "2.cls": b"0", "3.cls": b"1", "1.json": b"{}"}
        found[f"{split}/part-{number}.tar"] = making.tar(dict(sorted(files.items())))
    return command("index", write(tmp / "dst", found), "--jobs", 1)


def executor(tmp: Path) -> Any:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return pack_photos({"shard_samples": 4, "executor": pool, "jobs": 2}, tmp)


def into_a_store(tmp: Path) -> Any:
    """Pack from a store into a store that is a folder."""
    src, given = write(tmp / "src", photos()), {"scratch": tmp / "scratch", "shard_samples": 4}
    return packer.pack(src.as_uri(), (tmp / "dst").as_uri(), **USUAL, **given)


def in_a_bucket(tmp: Path) -> Any:
    with bucket(tmp / "bucket") as server:
        write(server.folder / "raw", half())
        (tmp / "dst").symlink_to(server.folder / "dst")
        given = {"scratch": tmp / "scratch", "storage_options": server.options}
        return packer.pack("s3://bucket/raw", "s3://bucket/dst", **USUAL, **given)


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {
        f"option/{name}": partial(pack_photos, given) for name, given in OPTIONS.items()
    }
    return found | {
        "option/one command": one_command,
        "run/append": partial(append, {}),
        "run/append with splits": partial(append, {"split": {"a": 0.5, "b": 0.5}, "seed": 3}),
        "run/append a class": append_a_class,
        "run/overwrite": overwrite,
        "run/members": members,
        "run/parts": partial(parts, photos, False),
        "run/parts from a store": partial(parts, half, True),
        "run/repair": repair,
        "run/index": index,
        "run/executor": executor,
        "run/into a store": into_a_store,
        "run/in a bucket": in_a_bucket,
    }
