"""Distributions as SVG for the page: drawn by matplotlib, coloured by the page, light or dark.

No text of a dataset comes into a drawing: names of classes are the template's to escape.
"""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.findings import class_counts
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import in_bytes, many

_BINS = 40
_TEXT, _MARK, _LINE = "#010203", "#040506", "#070809"  # of page.mplstyle; become the page's own


@dataclass(frozen=True)
class Chart:
    title: str
    summary: str  # what is drawn, in a sentence
    svg: str  # an element to be put into the page as it is


def charts(table: Table, looked: Looked) -> list[Chart]:
    from matplotlib import rc_context

    with (
        as_file(files("packer.inspect.report") / "page.mplstyle") as style,
        rc_context(fname=style),
    ):
        return list(_charts(table, looked))


def _charts(table: Table, looked: Looked) -> Iterator[Chart]:
    if not len(table):
        return
    pixels = "{:,.0f} px".format
    yield _histogram("Shorter side", table.short, pixels, "pixels", is_log=True)
    yield _histogram("Longer side", table.long, pixels, "pixels", is_log=True)
    aspect = table.width / table.height.clip(1)
    yield _histogram("Width to height", aspect, "{:.2f}".format, "width / height", is_log=True)
    yield _histogram("Bytes of an image", table.size, in_bytes, "bytes", is_log=True)
    counts, unit = class_counts(table, looked)
    total = np.sort(counts.sum(axis=1))[::-1]
    if len(total) > 1 and total.any():
        yield _tail(total, unit)
    if len(looked.boxes):
        places = np.searchsorted(looked.numbers, looked.box_sample)
        each = np.bincount(places, minlength=len(looked.numbers))
        yield _histogram("Boxes a sample", each, "{:,.0f}".format, "boxes", is_log=False)
        sides = (looked.boxes[:, 2:] - looked.boxes[:, :2]).clip(0)
        part = np.sqrt(sides.prod(axis=1))
        unit = "of the image's side"
        yield _histogram("Size of boxes", part, "{:.0%}".format, unit, is_log=False)


def _histogram(
    title: str, values: NDArray[Any], say: Callable[[float], str], unit: str, *, is_log: bool
) -> Chart:
    low, high = float(values.min()), float(values.max())
    if is_log:
        low = max(low, 1e-3)
        edges = np.geomspace(low / 1.02, max(high, low) * 1.02, _BINS + 1)
    elif values.dtype.kind in "iu" and high - low < _BINS:
        edges = np.arange(low - 0.5, high + 1)
    else:
        edges = np.linspace(low, max(high, low + 1e-6), _BINS + 1)
    counts, _ = np.histogram(values, edges)
    middle = float(np.median(values))
    summary = f"{say(low)} to {say(high)}; dashed the median, {say(middle)}"

    def draw(axes: Any) -> None:
        axes.set_xlabel(unit)
        axes.stairs(counts, edges, fill=True, color=_MARK)
        axes.axvline(middle, color=_TEXT, linewidth=0.8, linestyle=(0, (4, 3)))
        if is_log and high / low > 1.05:
            axes.set_xscale("log")
            axes.set_xlabel(f"{unit}, on a logarithmic scale")
            steps = (1, 2, 5) if high / low < 60 else (1,)
            ticks = [ten * step for ten in 10.0 ** np.arange(-3, 13) for step in steps]
            ticks = [tick for tick in ticks if low <= tick <= high]
            if len(ticks) < 2:
                ticks = np.geomspace(low, high, 3).tolist()
            axes.minorticks_off()
            axes.set_xticks(ticks[:: -(-len(ticks) // 5)])
            axes.xaxis.set_major_formatter(lambda value, _: say(value).removesuffix(" px"))
        elif not is_log:
            whole = values.dtype.kind in "iu"
            axes.xaxis.get_major_locator().set_params(integer=whole, min_n_ticks=1 if whole else 2)
            axes.xaxis.set_major_formatter(lambda value, _: say(value))

    return Chart(title, summary, _svg(draw))


def _tail(total: NDArray[np.int64], unit: str) -> Chart:
    half = int(np.searchsorted(np.cumsum(total), total.sum() / 2)) + 1
    summary = (
        f"{many(len(total), 'class')}, from {many(int(total[0]), unit)} down to {total[-1]:,}; "
        f"half of all are in the first {many(half, 'class') if half > 1 else 'one'}"
    )

    def draw(axes: Any) -> None:
        places = np.unique(np.linspace(0, len(total) - 1, min(len(total), 400)).astype(int))
        axes.fill_between(places + 1, total[places], step="mid", color=_MARK, linewidth=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("classes, by size")

    return Chart("Classes, the long tail", summary, _svg(draw))


def _svg(draw: Callable[[Any], None]) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 2.3), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    draw(axes)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(length=0, axis="y")
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawn = file.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r' (width|height)="[\d.]+pt"', "", drawn, count=2)
    drawn = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", drawn)
    for colour, own in ((_TEXT, "currentColor"), (_MARK, "var(--accent)"), (_LINE, "var(--line)")):
        drawn = drawn.replace(colour, own)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
