"""`packer bench`: how many images a second a dataset gives, by number of workers."""

import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import Output, echo
from packer.words import many
from reader.system import most_workers, usable_cores

if TYPE_CHECKING:
    from packer.inspect.bench import Point

_TRANSFORMS = ("rrc", "center")
_CLOSE = 0.95  # of the best rate is as good
_HEADER = f"{'workers':>7}{'images/s':>10}{'CPU share':>11}  bound by"
_SUFFIXES = (".png", ".svg", ".pdf")
_WIDTH = 88  # characters of the sentence beneath a plot


def _workers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise ValueError(f"{text!r} is not a number from 1 on, or several with commas.")
    if max(numbers) > (most := most_workers()):
        raise ValueError(f"{max(numbers)} is too many for this machine: pass at most {most}.")
    return sweep(numbers[0]) if len(numbers) == 1 else sorted(set(numbers))


@click.command()
@options.place
@click.option("--split", help="Split to read. Default: all samples.")
@options.count("--batch-size", default=256)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    help="Epochs to measure for each number of workers.",
)
@click.option(
    "--workers",
    "numbers",
    type=options.parsed("workers", _workers),
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
    type=options.new_file,
    metavar="FILE.png|svg|pdf",
    help="Draw images/s by workers, with the limit; needs shardfeed[report].",
)
@options.reporting(quiet="Print only the verdict.")
def bench(
    place: Path | str, numbers: list[int], plot: Path | None, output: Output, **how: Any
) -> int:
    """Measure how fast a dataset is read, by number of worker processes."""
    from packer.inspect.bench import measure

    if plot is not None:
        _check(plot)
    points: list[Point] = []
    for number in numbers:
        points.append(measure(place, workers=number, **how))
        if not output.is_silent:
            line = points[-1].line()
            echo(line if points[1:] else f"{_HEADER}\n{line}", err=False, lines=True)
    if plot is not None:
        _draw(points, plot)
    found, sentence = [point.content() for point in points], verdict(points)
    return Output(output.as_json).report({"points": found, "verdict": sentence}, sentence)


def sweep(largest: int) -> list[int]:
    return sorted({*(1 << bit for bit in range(largest.bit_length())), largest})


def verdict(points: "list[Point]") -> str:
    """Return the number of workers to choose, and the reason, measured or estimated."""
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


def _check(path: Path) -> None:
    if find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'shardfeed[report]'.")
    if path.suffix.lower() not in _SUFFIXES:
        raise click.UsageError(f"--plot {path}: its name ends in none of {', '.join(_SUFFIXES)}.")
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"--plot {path}: there is no folder {path.parent}.")


def _draw(points: "list[Point]", path: Path) -> None:
    from matplotlib.figure import Figure  # an extra

    workers = [point.workers for point in points]
    first, best = points[0], max(points, key=lambda point: point.rate)
    cores, most = best.statistics.cores, max(workers)
    ideal = first.rate / first.workers * most
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, most], [0, ideal], "--", color="0.6", label=f"each as fast as of {first.workers}")
    axes.axhline(best.rate, color="tab:red", lw=1, label=f"limit: {best.statistics.bound_by}")
    if cores <= most:
        axes.axvline(cores, color="0.4", ls=":", label=f"{cores} usable cores")
    axes.plot(workers, [point.rate for point in points], "o-", color="tab:blue", label="measured")
    for point in points:
        at = (point.workers, point.rate)
        axes.annotate(f"{point.rate:,.0f}", at, (0, 7), textcoords="offset points", ha="center")
    axes.set_xticks(workers)
    axes.set(xlabel="workers", ylabel="images/s", xlim=(0, most * 1.08))
    axes.set_ylim(0, max(best.rate, ideal) * 1.15)
    axes.legend(loc="lower right")
    figure.supxlabel("\n".join(textwrap.wrap(verdict(points), _WIDTH)), fontsize=8)
    figure.savefig(path, dpi=150)
