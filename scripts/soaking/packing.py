"""Rounds that write: pack, append and repair, with every process of packer killed on the way."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from glob import glob
from pathlib import Path

import psutil
from damage import flip
from packing import files_of

from reader.format import Manifest, manifest
from soaking.disturb import expect_gone
from soaking.ground import PACKS, Ground, Tally, Violation, run, start

_MOST_KILLS = 6  # a round
_SECONDS = 300.0  # for one run of packer
_NOT_YET_PYTHON = "Fatal Python error: init_"  # how it ends when interrupted as it starts
_ENDS = {  # how packer may end, by who was struck
    "": (),
    "parent": (-signal.SIGKILL,),
    "interrupt": (130, -signal.SIGINT),  # before Python has set up its own handling
    "child": (2,),
}


def pack_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Pack, killed and run again until it is done: the same bytes as undisturbed."""
    name = rng.choice(list(PACKS))
    expected, packed = ground.packed(name), ground.scratch / "packed"
    _insist(rng, tally, packed, "pack", ground.source, packed, *PACKS[name])
    _expect_same(expected, packed)
    tally["packs"] += 1


def append_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Append, killed and run again until it is done: the same bytes as undisturbed."""
    name = rng.choice(["tiled", "verbatim"])
    expected, packed = ground.appended(name), ground.scratch / "packed"
    _insist(rng, tally, packed, "pack", ground.half, packed, *PACKS[name])
    _insist(rng, tally, packed, "pack", ground.source, packed, *PACKS[name], "--append")
    _expect_same(expected, packed)
    tally["packs"] += 2


def repair_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Flip bits, cut and remove files: verify notices, and repair restores every byte."""
    expected = ground.packed(rng.choice(["tiled", "verbatim", "raw"]))
    copy = Path(shutil.copytree(expected, ground.scratch / "copy"))
    damages = _damage(rng, copy)
    report = run("verify", copy, f"--jobs={rng.randint(1, 2)}", expected=1)
    for file in damages:
        # Without dataset.json nothing tells of a shard that is gone.
        if Path(file).stem not in report and manifest.FILENAME not in damages:
            raise Violation(f"verify did not name {file}, which was damaged; it said:\n{report}")
    if manifest.FILENAME in damages:  # it alone holds the options: nothing can make it again
        run("repair", copy, "--from", ground.source, expected=2)
        shutil.copy(expected / manifest.FILENAME, copy)
    _insist(rng, tally, copy, "repair", copy, "--from", ground.source)
    _expect_same(expected, copy)
    run("verify", copy, "--decode")
    tally["packs"] += 1


def _damage(rng: random.Random, folder: Path) -> list[str]:
    """Damage a few files, each in one way; return their names."""
    files = [file for shard in Manifest.load(folder).shards for file in (shard.file, shard.index)]
    few = rng.sample(files, rng.randint(1, 3))
    ways = {file: rng.choice(["flip", "flip", "cut", "remove"]) for file in few}
    if rng.random() < 0.3:
        ways[manifest.FILENAME] = "flip"
    for file, way in ways.items():
        path, at = folder / file, rng.randrange((folder / file).stat().st_size)
        if way == "remove":
            path.unlink()
        elif way == "cut":
            os.truncate(path, at)
        else:
            flip(path, at, rng.randrange(8))
    return list(ways)


def _insist(rng: random.Random, tally: Tally, dst: Path, *arguments: object) -> None:
    """Run packer again and again, and strike it down now and then, until it is done."""
    kills = rng.randint(0, _MOST_KILLS)
    what = f"packer {' '.join(map(str, arguments))}"
    longest = 2.0  # seconds; from the first run that is not struck down, what that took
    while True:
        with start(*arguments, f"--jobs={rng.randint(1, 3)}") as process:
            began = time.monotonic()
            way = _strike(process, dst, rng, longest, tally) if kills else ""
            try:
                _, said = process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                tally["hangs"] += 1
                raise Violation(f"{what} did not end in {_SECONDS:.0f} s") from None
        is_early = way == "interrupt" and _NOT_YET_PYTHON in said
        if process.returncode == 0:
            if not kills:
                return
            longest = time.monotonic() - began
        elif process.returncode not in _ENDS[way] and not is_early:
            struck = f"{what}, of which was struck {way or 'nothing'}"
            raise Violation(f"{struck}, ended with {process.returncode}: {said}")
        kills = max(kills - 1, 0)


def _strike(
    process: "subprocess.Popen[str]", dst: Path, rng: random.Random, longest: float, tally: Tally
) -> str:
    """Kill the packer, or one of its children, some time after it began; return who was struck."""

    def wait(seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None and not until():
            time.sleep(0.002)

    if rng.random() < 0.5:
        wait(rng.uniform(0, longest))
    else:  # just after one of the shards has appeared
        wanted = _shards(dst) + rng.randint(1, 4)
        wait(longest, lambda: _shards(dst) >= wanted)
        wait(rng.uniform(0, 0.05))
    way = rng.choice(["parent", "parent", "child", "child", "interrupt"])
    try:
        parent = psutil.Process(process.pid)
        family = parent.children(recursive=True)
        if way == "child" and family:
            rng.choice(family).kill()
        elif way == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            way = "parent"
            process.kill()
            process.wait()
            expect_gone(family, "packer, killed,")
    except psutil.NoSuchProcess:
        return way
    tally["packs killed"] += 1
    return way


def _shards(folder: Path) -> int:
    return len(glob(f"{folder}/**/*.tar", recursive=True))


def _expect_same(expected: Path, actual: Path) -> None:
    wanted, found = files_of(expected), files_of(actual)
    if wanted.keys() != found.keys():
        missing, more = sorted(wanted.keys() - found), sorted(found.keys() - wanted)
        raise Violation(f"{actual} lacks {missing} and has {more} beside what it should")
    for name in wanted:
        if wanted[name] != found[name]:
            raise Violation(f"{actual / name} differs from {expected / name}, packed undisturbed")
