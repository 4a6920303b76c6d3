"""`packer index`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import Output, name_files
from packer.words import many

if TYPE_CHECKING:
    from reader.format import Limits


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.jobs
@options.limited
@options.reporting
def index(folder: Path, jobs: int, limits: "Limits", output: Output) -> int:
    """Make a dataset of the WebDataset tars in FOLDER, which stay as they are.

    An index is written beside each, and dataset.json into FOLDER. Tars in folders below are splits
    by these folders' names.
    """
    from packer.inspect.index import index as run

    report = run(folder, jobs, output.progress, limits)
    name_files("rejected", report.rejected)
    output.report(
        report,
        f"{report.dataset}: {many(report.samples, 'sample')} in {many(report.classes, 'class')}, "
        f"{many(report.shards, 'tar')}, {report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
        f"{many(len(report.rejected), 'member')} rejected, "
        f"{many(report.renamed, 'key')} made unique",
    )
    return 1 if report.rejected else 0
