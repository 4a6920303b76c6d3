"""`packer bench`: how many images a second a dataset gives, by number of workers."""

from pathlib import Path
from typing import Any

import click

from packer.cli import params as options
from packer.cli.bench_plot import check, draw
from packer.cli.output import print_json, say
from packer.inspect.bench import Point, measure
from packer.words import many
from reader.system import usable_cores

_TRANSFORMS = ("rrc", "center")
_CLOSE = 0.95  # of the best rate is as good
_HEADER = f"{'workers':>7}{'images/s':>10}{'CPU share':>11}  bound by"


class Workers(click.ParamType[list[int]]):
    """``8``: a sweep by powers of two up to it; ``1,4,6``: these numbers."""

    name = "workers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """The numbers of workers to measure with, rising."""
        try:
            numbers = [int(part) for part in str(value).split(",")]
        except ValueError:
            numbers = [0]
        if min(numbers) < 1:
            self.fail(f"{value!r} is not a number from 1 on, or several with commas.", param, ctx)
        return sweep(numbers[0]) if len(numbers) == 1 else sorted(set(numbers))


@click.command()
@options.place
@click.option("--split", help="Of the dataset. Default: all of it.")
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
    "numbers",
    type=Workers(),
    metavar="MAX|N,N,...",
    default=lambda: str(usable_cores()),
    help="The largest of a sweep by powers of two, or a list. Default: the usable cores.",
)
@click.option(
    "--transform",
    type=click.Choice(_TRANSFORMS),
    default=_TRANSFORMS[0],
    show_default=True,
    help="RandomResizedCrop(224) and flip, or Resize(256) and CenterCrop(224).",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.png|svg|pdf",
    help="Draw images/s by workers, with the limit; needs shardfeed[report].",
)
@click.option("--json", "as_json", is_flag=True, help="Print the points and the verdict as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="The verdict only.")
def bench(
    place: Path | str,
    split: str | None,
    batch_size: int,
    seconds: float,
    numbers: list[int],
    transform: str,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure how fast a dataset is read, by number of worker processes."""
    if plot is not None:
        check(plot)
    points: list[Point] = []
    for number in numbers:
        points.append(measure(place, split, batch_size, seconds, number, transform))
        if not (as_json or quiet):
            line = points[-1].line()
            say(line if points[1:] else f"{_HEADER}\n{line}", err=False, lines=True)
    if plot is not None:
        draw(points, verdict(points), plot)
    if as_json:
        found = [point.content() for point in points]
        print_json({"points": found, "verdict": verdict(points)})
    else:
        say(verdict(points), err=False)
    return 0


def sweep(largest: int) -> list[int]:
    """Powers of two up to `largest`, and `largest`."""
    return sorted({*(1 << bit for bit in range(largest.bit_length())), largest})


def verdict(points: list[Point]) -> str:
    """What to choose, and why: what more workers gave where that was measured, else would give."""
    best = max(point.rate for point in points)
    chosen = next(point for point in points if point.rate >= _CLOSE * best)
    gave = f"{many(chosen.workers, 'worker')} gave {chosen.rate:.0f} images/s"
    largest = points[-1]
    if chosen is largest:
        return f"{gave}. {chosen.statistics.bottleneck}"
    most = max(point.rate for point in points if point.workers > chosen.workers)
    return (
        f"{gave}, and more, up to {largest.workers}, gave no more than {most:.0f} "
        f"({chosen.statistics.bound_by}-bound; "
        f"each of {largest.workers} had {largest.cpu_share:.0%} of a core)."
    )
