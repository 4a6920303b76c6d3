"""The images that are packed, undisturbed packs of them to compare with, and what was found."""

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import sample_images
from delivered import damage
from PIL import Image

import reader

PACKS = {
    "tiled": ("--shard-samples=40",),
    "verbatim": ("--jpeg=verbatim", "--shard-samples=60", "--no-shuffle"),
    "shrunken": ("--max-side=96", "--shard-samples=50", "--seed=3"),
    "raw": ("--raw=32x32", "--shard-size=200KB"),
    "split": ("--split=train=0.8,val=0.2", "--shard-samples=30"),
}
CLASSES = 6
BAD = 3  # samples of the damaged dataset that cannot be decoded


class Violation(Exception):
    """Something that packer or reader promises did not hold; the text says what."""


class Tally(Counter[str]):
    """Counts over all rounds: of packs and epochs, of what was struck meanwhile, and of samples."""

    def __str__(self) -> str:
        return (
            "rounds {rounds:,}, packs {packs:,} (kills {packs killed:,}), epochs {epochs:,} "
            "(kills {kills:,}, stops {stops:,}), samples {samples:,} read, lost {lost}, "
            "doubled {doubled}, differing {differing}, hangs {hangs}"
        ).format_map(self)


@dataclass
class Ground:
    """Everything lies below `folder`; what is not there yet is made when it is asked for."""

    folder: Path
    images: int

    @property
    def source(self) -> Path:
        """Class folders of small JPEGs, and a few PNGs."""
        return self._drawn("source", self.images)

    @property
    def half(self) -> Path:
        return self._drawn("half", self.images // 2)

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def clear(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()

    def packed(self, name: str) -> Path:
        """`source`, packed undisturbed with the options `PACKS[name]`."""
        path = self.folder / f"packed-{name}"
        if not path.exists():
            run("pack", self.source, path, *PACKS[name])
        return path

    def appended(self, name: str) -> Path:
        """`half`, packed undisturbed, and the rest of `source` appended to it."""
        path = self.folder / f"appended-{name}"
        if not path.exists():
            run("pack", self.half, path, *PACKS[name])
            run("pack", self.source, path, *PACKS[name], "--append")
        return path

    def damaged(self) -> tuple[Path, dict[int, str]]:
        """A copy of the tiled pack with images that do not decode; their numbers and keys."""
        keys, path = reader.Dataset(self.packed("tiled")).keys, self.folder / "damaged"
        bad = {number: keys[number] for number in range(1, len(keys), len(keys) // BAD)}
        if not path.exists():
            shutil.copytree(self.packed("tiled"), path)
            for number in bad:
                damage(path, number)
        return path, bad

    def _drawn(self, name: str, count: int) -> Path:
        path = self.folder / name
        if not path.exists():
            sample_images.make(path, range(count), CLASSES, scale=0.3)
            for jpeg in path.rglob("*0.jpg"):  # every tenth is another format
                Image.open(jpeg).save(jpeg.with_suffix(".png"))
                jpeg.unlink()
        return path


def start(*arguments: object) -> "subprocess.Popen[str]":
    """Start packer in a session of its own, so that Ctrl-C reaches this program alone."""
    command = [sys.executable, "-m", "packer", *map(str, arguments), "--quiet"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def run(*arguments: object, expected: int = 0) -> str:
    """Run packer undisturbed; return what it printed."""
    with start(*arguments) as process:
        out, said = process.communicate()
    if process.returncode != expected:
        what = f"packer {' '.join(map(str, arguments))} ended with {process.returncode}"
        raise Violation(f"{what} instead of {expected}: {said or out}")
    return said
