"""`packer extract`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import Output, name_files
from packer.words import many

if TYPE_CHECKING:
    from packer.inspect.extract import ExtractReport


@click.command()
@options.place
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--split", help="Only this one.")
@options.jobs
@click.option("--overwrite", is_flag=True, help="Replace files in OUT that have other content.")
@options.reporting
def extract(
    place: Path | str, out: Path, split: str | None, jobs: int, overwrite: bool, output: Output
) -> int:
    """Give the files of DATASET back, under their own names in the folder OUT.

    Run again, it writes what is missing.
    """
    from packer.inspect.dataset import as_folder
    from packer.inspect.extract import extract as run

    progress = output.progress
    with as_folder(place, progress, is_whole=True) as folder:
        report = run(folder, out, jobs, split, overwrite, progress)
    name_files("not written", report.refused)
    output.report(
        report,
        f"{report.out}: {many(report.written, 'file')} written, {report.present} were there, "
        f"{len(report.refused)} not written, {report.bytes / 1e6:.1f} MB, "
        f"{report.seconds:.1f} s{''.join(f'; {note}' for note in _notes(report))}",
    )
    return 1 if report.refused else 0


def _notes(report: "ExtractReport") -> Iterator[str]:
    """In what the files differ from the source's."""
    for number, what in ((report.tiled, "tiled JPEG"), (report.banded, "banded PNG")):
        if number:
            yield f"{many(number, what)} with the original's pixels in other bytes"
    if report.raw:
        yield f"{many(report.raw, 'raw image')} written as PNG"
    if report.members:
        yield (
            f"{many(report.members, 'member')} written beside the images: folders of labels "
            "and lists of annotations are not made again, and names of classes that they hold "
            "are in dataset.json"
        )
    if report.unlabelled:
        yield f"no name tells the class of {many(report.unlabelled, 'sample')}"
    if report.unsplit:
        yield f"no name tells the split of {many(report.unsplit, 'sample')}"
    if report.reencoded:
        yield "images were resized or re-encoded when they were packed"
