"""The images that are packed, undisturbed packs of them to compare with, and what was found."""

import shutil
import subprocess
import sys
from collections.abc import Callable
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


@dataclass
class Tally:
    """Counts over all rounds: of packs and epochs, of what was struck meanwhile, and of samples."""

    rounds: int = 0
    packs: int = 0  # also those that were appended to or repaired
    pack_kills: int = 0
    epochs: int = 0
    kills: int = 0  # of workers, or whole readers
    stops: int = 0  # of workers, for a moment
    samples: int = 0  # that were read and compared
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    hangs: int = 0

    def __str__(self) -> str:
        return (
            f"rounds {self.rounds:,}, packs {self.packs:,} (kills {self.pack_kills:,}), epochs "
            f"{self.epochs:,} (kills {self.kills:,}, stops {self.stops:,}), samples "
            f"{self.samples:,} read, lost {self.lost}, doubled {self.doubled}, "
            f"differing {self.differing}, hangs {self.hangs}"
        )


@dataclass
class Ground:
    """Everything lies below `folder`; what is not there yet is made when it is asked for."""

    folder: Path
    images: int

    @property
    def source(self) -> Path:
        """Class folders of small JPEGs, and a few PNGs."""
        return self._once("source", lambda path: _draw(path, self.images))

    @property
    def half(self) -> Path:
        return self._once("half", lambda path: _draw(path, self.images // 2))

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def clear(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()

    def packed(self, name: str) -> Path:
        """`source`, packed undisturbed with the options `PACKS[name]`."""
        return self._once(f"packed-{name}", lambda path: _pack(self.source, path, name))

    def appended(self, name: str) -> Path:
        """`half`, packed undisturbed, and the rest of `source` appended to it."""

        def make(path: Path) -> None:
            _pack(self.half, path, name)
            _pack(self.source, path, name, "--append")

        return self._once(f"appended-{name}", make)

    def damaged(self) -> tuple[Path, dict[int, str]]:
        """A copy of the tiled pack with images that do not decode; their numbers and keys."""
        keys = reader.Dataset(self.packed("tiled")).keys
        bad = {number: keys[number] for number in range(1, len(keys), len(keys) // BAD)}

        def make(path: Path) -> None:
            shutil.copytree(self.packed("tiled"), path)
            for number in bad:
                damage(path, number)

        return self._once("damaged", make), bad

    def _once(self, name: str, make: Callable[[Path], None]) -> Path:
        path = self.folder / name
        if not path.exists():
            make(path)
        return path


def _draw(folder: Path, count: int) -> None:
    sample_images.make(folder, range(count), CLASSES, scale=0.3)
    for jpeg in sorted(folder.rglob("*0.jpg")):  # every tenth is another format
        with Image.open(jpeg) as image:
            image.save(jpeg.with_suffix(".png"))
        jpeg.unlink()


def _pack(src: Path, dst: Path, name: str, *options: str) -> None:
    run(["pack", src, dst, *PACKS[name], "--jobs=2", *options])


def command(arguments: list[object]) -> list[str]:
    return [sys.executable, "-m", "packer", *map(str, arguments), "--quiet"]


def run(arguments: list[object], expected: int = 0) -> str:
    """Run packer undisturbed; return what it printed."""
    done = subprocess.run(command(arguments), capture_output=True, text=True)
    if done.returncode != expected:
        raise Violation(
            f"packer {' '.join(map(str, arguments))} ended with {done.returncode} instead of "
            f"{expected}: {done.stderr or done.stdout}"
        )
    return done.stderr
