"""`packer report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import Output
from packer.inspect.report import SAMPLES
from packer.words import many

if TYPE_CHECKING:
    from packer.inspect.report.report import Reported


@click.command()
@options.place
@click.option(
    "--output",
    "-o",
    "out",
    required=True,
    metavar="FILE.html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page; a report that is there is replaced.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=SAMPLES,
    show_default=True,
    help="Most samples whose pixels, boxes and masks are looked at; indexes tell the rest of all.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the choice.")
@click.option(
    "--box-format",
    type=click.Choice(["xyxy", "xywh", "cxcywh"]),
    help="Of the boxes. Default: as dataset.json records it; boxes without either are not shown.",
)
@click.option(
    "--normalized",
    is_flag=True,
    help="Boxes are fractions of the image. Default: as dataset.json records it.",
)
@options.jobs
@options.reporting
def report(place: Path | str, out: Path, jobs: int, output: Output, **given: Any) -> int:
    """Show DATASET on one page: its samples, its distributions, and what deserves a look."""
    from packer.inspect.report.report import report as run

    return say_reported(run(place, out, jobs, progress=output.progress, **given), output)


def say_reported(made: "Reported", output: Output) -> int:
    """Print what was found; the exit code."""
    lines = [f"{one.weight}: {one.title}: {one.sentence}" for one in made.findings]
    lines.append(
        f"{made.page}: {many(made.samples, 'sample')}, {made.looked:,} looked at, "
        f"{many(len(made.findings), 'finding')}, {made.bytes / 1e6:.1f} MB, {made.seconds:.1f} s"
    )
    output.report(made, lines)
    return 1 if any(finding.kind == "damaged" for finding in made.findings) else 0
