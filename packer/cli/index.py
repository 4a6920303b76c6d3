"""`packer index`."""

from dataclasses import asdict
from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import name_files, print_json, say
from packer.words import many


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.jobs
@options.max_pixels
@options.max_bytes
@options.as_json
@options.quiet
def index(
    folder: Path,
    jobs: int,
    max_pixels: int | None,
    max_bytes: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Make a dataset of the WebDataset tars in FOLDER, which stay as they are.

    An index is written beside each, and dataset.json into FOLDER. Tars in folders below are splits
    by these folders' names.
    """
    from packer.inspect.index import index as run
    from packer.progress import Progress

    report = run(folder, jobs, Progress(quiet), options.limits(max_pixels, max_bytes))
    name_files("rejected", report.rejected)
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        say(
            f"{report.dataset}: {many(report.samples, 'sample')} in "
            f"{many(report.classes, 'class')}, "
            f"{many(report.shards, 'tar')}, {report.bytes / 1e6:.1f} MB, "
            f"{report.seconds:.1f} s; {many(len(report.rejected), 'member')} rejected, "
            f"{many(report.renamed, 'key')} made unique",
            err=False,
        )
    return 1 if report.rejected else 0
