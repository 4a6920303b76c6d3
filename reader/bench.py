"""``packer bench``: how many images a second a data set gives, by number of workers.

Runs as ``python -m reader.bench``; packer starts it so, because packer does not import the reader.
Each number of workers gets a loader of its own whose batches are thrown away, so the consumer is
never the limit. Measured is what follows the first batch and the start of all workers; storage is
read as warm as it is found, so the first line may have warmed it for the others.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reader.errors import ReaderError
from reader.format import ShardfeedError
from reader.loader.statistics import Statistics
from reader.system import usable_cores

if TYPE_CHECKING:
    from reader.transforms import Transform

_TRANSFORMS = ("rrc", "center")
_CLOSE = 0.95  # of the best rate is as good
_HEADER = f"{'workers':>7}{'images/s':>10}{'CPU share':>11}  bound by"


@dataclass(frozen=True)
class Point:
    """What a number of workers gave."""

    workers: int
    statistics: Statistics

    @property
    def cpu_share(self) -> float:
        """Of a core, what each worker used on average."""
        return self.statistics.cpu / max(self.statistics.worker_seconds, 1e-9)

    def line(self) -> str:
        """Its line of the table."""
        rate = self.statistics.images_per_second
        return f"{self.workers:>7}{rate:>10.0f}{self.cpu_share:>11.0%}  {self.statistics.bound_by}"


def sweep(largest: int) -> list[int]:
    """Powers of two up to `largest`, and `largest`."""
    return sorted({*(1 << bit for bit in range(largest.bit_length())), largest})


def measure(
    dataset: Path, split: str | None, batch_size: int, seconds: float, workers: int, transform: str
) -> Point:
    """Read for `seconds` with so many workers, and at least one batch."""
    from reader.loader.loader import Loader  # brings torch

    with Loader(
        dataset,
        split=split,
        batch_size=batch_size,
        workers=workers,
        transforms=_transforms(transform),
        shuffle=True,
        epochs=None,
        fields=("image",),
    ) as loader:
        batches = iter(loader)
        next(batches)
        while (before := loader.statistics()).starting:
            next(batches)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            next(batches)
        return Point(workers, loader.statistics().since(before))


def verdict(points: list[Point]) -> str:
    """What to choose, and what holds that back, in sentences."""
    best = max(point.statistics.images_per_second for point in points)
    chosen = next(p for p in points if p.statistics.images_per_second >= _CLOSE * best)
    many = f"{chosen.workers} worker{'s' * (chosen.workers > 1)}"
    rate = f"{chosen.statistics.images_per_second:.0f} images/s"
    more = "" if chosen is points[-1] else ", and more are of no use"
    return f"{many} gave {rate}{more}. {chosen.statistics.bottleneck}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("dst", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--split", help="Of the data set. Default: all of it.")
@click.option("--batch-size", type=click.IntRange(1), default=256, show_default=True)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    help="Measured for each number of workers.",
)
@click.option(
    "--workers",
    metavar="MAX|N,N,...",
    help="The largest of a sweep by powers of two, or a list. Default: the usable cores.",
)
@click.option(
    "--transform",
    type=click.Choice(_TRANSFORMS),
    default=_TRANSFORMS[0],
    show_default=True,
    help="RandomResizedCrop(224) and flip, or Resize(256) and CenterCrop(224).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the points and the verdict as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="The verdict only.")
def main(
    dst: Path,
    split: str | None,
    batch_size: int,
    seconds: float,
    workers: str | None,
    transform: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure how fast the data set DST is read, by number of worker processes."""
    try:
        points: list[Point] = []
        for number in _numbers(workers):
            points.append(measure(dst, split, batch_size, seconds, number, transform))
            if not (as_json or quiet):
                click.echo(points[-1].line() if points[1:] else f"{_HEADER}\n{points[-1].line()}")
        click.echo(_as_json(points) if as_json else verdict(points))
    except ShardfeedError as error:
        click.echo(f"packer: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _transforms(name: str) -> "list[Transform]":
    from reader.transforms import (
        CenterCrop,
        RandomHorizontalFlip,
        RandomResizedCrop,
        Resize,
    )

    if name == "rrc":
        return [RandomResizedCrop(224), RandomHorizontalFlip()]
    return [Resize(256), CenterCrop(224)]


def _numbers(workers: str | None) -> list[int]:
    if workers is None:
        return sweep(usable_cores())
    try:
        numbers = [int(part) for part in workers.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise ReaderError(
            f"--workers {workers}: give a number of at least 1, or several with commas between."
        )
    return sweep(numbers[0]) if len(numbers) == 1 else sorted(set(numbers))


def _as_json(points: list[Point]) -> str:
    found = [
        {
            "workers": point.workers,
            "images_per_second": round(point.statistics.images_per_second, 1),
            "cpu_share": round(point.cpu_share, 3),
            "bound_by": point.statistics.bound_by,
            "bottleneck": point.statistics.bottleneck,
        }
        for point in points
    ]
    return json.dumps({"points": found, "verdict": verdict(points)})


if __name__ == "__main__":
    main(prog_name="packer bench")
