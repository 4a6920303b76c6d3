"""The images that are packed, and undisturbed packs of them to compare with."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import sample_images
from PIL import Image

from reader.format import (
    Index,
    Manifest,
)
from soaking.tally import Violation

PACKS = {
    "tiled": ("--shard-samples=40",),
    "verbatim": ("--jpeg=verbatim", "--shard-samples=60", "--no-shuffle"),
    "shrunken": ("--max-side=96", "--shard-samples=50", "--seed=3"),
    "raw": ("--raw=32x32", "--shard-size=200KB"),
    "split": ("--split=train=0.8,val=0.2", "--shard-samples=30"),
}
CLASSES = 6
BAD = 3  # samples of the damaged dataset that cannot be decoded


@dataclass
class Ground:
    """Everything lies below `folder`; what is not there yet is made when it is asked for.

    Attributes:
        scratch: for the round that is under way, empty before it.
    """

    folder: Path
    images: int

    @property
    def source(self) -> Path:
        """Class folders of small JPEGs, and a few PNGs."""
        return self._images("source", range(self.images))

    @property
    def half(self) -> Path:
        """The first half of `source`, to be appended to."""
        return self._images("half", range(self.images // 2))

    @property
    def scratch(self) -> Path:
        """A folder for the round that is under way."""
        return self.folder / "scratch"

    def clear(self) -> None:
        """Begin a round: `scratch` is empty."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()

    def packed(self, name: str) -> Path:
        """`source`, packed undisturbed with the options `PACKS[name]`."""
        path = self.folder / f"packed-{name}"
        if not path.exists():
            run(["pack", self.source, path, *PACKS[name], "--jobs=2"])
        return path

    def appended(self, name: str) -> Path:
        """`half`, packed undisturbed, and the rest of `source` appended to it."""
        path = self.folder / f"appended-{name}"
        if not path.exists():
            run(["pack", self.half, path, *PACKS[name], "--jobs=2"])
            run(["pack", self.source, path, *PACKS[name], "--jobs=2", "--append"])
        return path

    def damaged(self) -> tuple[Path, dict[int, str]]:
        """A copy of the tiled pack with images that do not decode; their numbers and keys."""
        path = self.folder / "damaged"
        if not path.exists():
            shutil.copytree(self.packed("tiled"), path)
        bad, first = {}, 0
        for entry in Manifest.load(path).shards[:BAD]:
            index = Index(path / entry.index)
            row = len(index) // 2
            bad[first + row] = index.key(row)
            with open(path / entry.file, "r+b") as file:
                file.seek(int(index.columns["offset"][row]))
                file.write(bytes(int(index.columns["size"][row])))
            first += len(index)
        return path, bad

    def _images(self, name: str, numbers: range) -> Path:
        path = self.folder / name
        if not path.exists():
            sample_images.make(path, numbers, CLASSES, scale=0.3)
            for jpeg in sorted(path.rglob("*0.jpg")):  # every tenth is another format
                with Image.open(jpeg) as image:
                    image.save(jpeg.with_suffix(".png"))
                jpeg.unlink()
        return path


def command(arguments: list[object]) -> list[str]:
    """The command line of packer with `arguments`."""
    return [sys.executable, "-m", "packer", *map(str, arguments), "--quiet"]


def run(arguments: list[object], expected: int = 0) -> str:
    """Run packer undisturbed; what it said.

    Raises:
        Violation: it ended with another exit code than `expected`.
    """
    done = subprocess.run(command(arguments), capture_output=True, text=True)
    if done.returncode != expected:
        raise Violation(
            f"packer {' '.join(map(str, arguments))} ended with {done.returncode} instead of "
            f"{expected}: {done.stderr or done.stdout}"
        )
    return done.stderr
