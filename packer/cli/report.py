"""`packer report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import print_json, say
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
@options.as_json
@options.quiet
def report(
    place: Path | str,
    out: Path,
    samples: int,
    seed: int,
    box_format: str | None,
    normalized: bool,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Show DATASET on one page: its samples, its distributions, and what deserves a look."""
    from packer.inspect.report.report import report as run
    from packer.progress import Progress

    made = run(
        place,
        out,
        jobs,
        samples=samples,
        seed=seed,
        box_format=box_format,
        normalized=normalized,
        progress=Progress(quiet),
    )
    return say_reported(made, as_json, quiet)


def say_reported(made: "Reported", as_json: bool, quiet: bool) -> int:
    """Print what was found; the exit code."""
    if as_json:
        print_json(made.content())
    elif not quiet:
        for finding in made.findings:
            say(f"{finding.weight}: {finding.title}: {finding.sentence}", err=False)
        say(
            f"{made.page}: {many(made.samples, 'sample')}, {made.looked:,} looked at, "
            f"{many(len(made.findings), 'finding')}, {made.bytes / 1e6:.1f} MB, "
            f"{made.seconds:.1f} s",
            err=False,
        )
    return 1 if any(finding.kind == "damaged" for finding in made.findings) else 0
