"""`packer bench --plot`: images/s by workers, and what bounds them."""

import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from packer.inspect.bench import Point

_SUFFIXES = (".png", ".svg", ".pdf")
_WIDTH = 88  # characters of the sentence beneath


def check(path: Path) -> None:
    """See that a plot can be drawn and written, before anything is measured.

    Raises:
        UsageError: matplotlib is missing, or `path` is no file that it writes.
    """
    if find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'shardfeed[report]'.")
    if path.suffix.lower() not in _SUFFIXES:
        raise click.UsageError(f"--plot {path}: its name ends in none of {', '.join(_SUFFIXES)}.")
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"--plot {path}: there is no folder {path.parent}.")


def draw(points: Sequence[Point], verdict: str, path: Path) -> None:
    """Draw what was measured, what as many workers would give of the first rate, and the limit.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure  # an extra

    workers = [point.workers for point in points]
    rates = [point.rate for point in points]
    first, best = points[0], max(points, key=lambda point: point.rate)
    cores = best.statistics.cores
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    most = max(max(workers), 1)
    axes.plot(
        [0, most],
        [0, first.rate / first.workers * most],
        "--",
        color="0.6",
        label=f"each as fast as of {first.workers}",
    )
    axes.axhline(best.rate, color="tab:red", lw=1, label=f"limit: {best.statistics.bound_by}")
    if cores <= most:
        axes.axvline(cores, color="0.4", ls=":", label=f"{cores} usable cores")
    axes.plot(workers, rates, "o-", color="tab:blue", label="measured")
    for point in points:
        axes.annotate(
            f"{point.rate:,.0f}",
            (point.workers, point.rate),
            (0, 7),
            textcoords="offset points",
            ha="center",
        )
    axes.set_xticks(workers)
    axes.set(xlabel="workers", ylabel="images/s", xlim=(0, most * 1.08))
    axes.set_ylim(0, max(best.rate, first.rate / first.workers * most) * 1.15)
    axes.legend(loc="lower right")
    figure.supxlabel("\n".join(textwrap.wrap(verdict, _WIDTH)), fontsize=8)
    figure.savefig(path, dpi=150)
