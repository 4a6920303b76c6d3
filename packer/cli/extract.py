"""`packer extract`."""

from dataclasses import asdict
from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import name_files, print_json, say
from packer.words import many


@click.command()
@options.place
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--split", help="Only this one.")
@options.jobs
@click.option("--overwrite", is_flag=True, help="Replace files in OUT that have other content.")
@options.as_json
@options.quiet
def extract(
    place: Path | str,
    out: Path,
    split: str | None,
    jobs: int,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Give the files of DATASET back, under their own names in the folder OUT.

    Run again, it writes what is missing.
    """
    from packer.inspect.extract import extract as run
    from packer.inspect.store import as_folder
    from packer.progress import Progress

    progress = Progress(quiet)
    with as_folder(place, progress, is_whole=True) as folder:
        report = run(folder, out, jobs, split, overwrite, progress)
    name_files("not written", report.refused)
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        transcoded = ((report.tiled, "tiled JPEG"), (report.banded, "banded PNG"))
        notes = [
            f"; {many(number, what)} with the original's pixels in other bytes"
            for number, what in transcoded
            if number
        ]
        if report.raw:
            notes.append(f"; {many(report.raw, 'raw image')} written as PNG")
        if report.members:
            notes.append(
                f"; {many(report.members, 'member')} written beside the images: folders of labels "
                "and lists of annotations are not made again, and names of classes that they hold "
                "are in dataset.json"
            )
        if report.unlabelled:
            notes.append(f"; no name tells the class of {many(report.unlabelled, 'sample')}")
        if report.unsplit:
            notes.append(f"; no name tells the split of {many(report.unsplit, 'sample')}")
        if report.reencoded:
            notes.append("; images were resized or re-encoded when they were packed")
        say(
            f"{report.out}: {many(report.written, 'file')} written, "
            f"{report.present} were there, "
            f"{len(report.refused)} not written, {report.bytes / 1e6:.1f} MB, "
            f"{report.seconds:.1f} s{''.join(notes)}",
            err=False,
        )
    return 1 if report.refused else 0
