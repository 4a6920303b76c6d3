"""`packer index`, `packer export`, `packer extract`: others' tars, other tools' indexes, files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import Output, name_files
from packer.words import listed, many
from reader.store.urls import is_url

if TYPE_CHECKING:
    from packer.inspect.extract import ExtractReport
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


@click.command()
@options.place
@click.option(
    "--to", "tool", required=True, type=click.Choice(["dali", "wids", "energon"]), help="The tool."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write them here, as they are to lie beside the tars. Needed for a URL.",
)
@click.option("--overwrite", is_flag=True, help="Replace files of the tool that are there.")
@options.reporting
def export(place: Path | str, tool: str, out: Path | None, overwrite: bool, output: Output) -> int:
    """Write the index files with which another tool reads DATASET."""
    from packer.errors import UnusableInput
    from packer.inspect.dataset import as_folder
    from packer.inspect.export import export as run
    from reader.format import Manifest

    if is_url(place) and out is None:
        raise click.UsageError(
            "The files are to lie beside the shards, and packer changes nothing in a store: give "
            "--out FOLDER, and upload what is in it then."
        )
    with as_folder(place, output.progress, is_whole=False) as folder:
        if is_url(place) and Manifest.load(folder).external:
            raise UnusableInput(
                f"{place} was not packed by packer, so its tars have to be read: copy it to a "
                "folder, and export that."
            )
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        files = run(folder, tool, overwrite, output.progress, out)
    line = f"{out or place}: {many(len(files), 'file')} for {tool}: {listed(files, 3)}"
    output.report({"dataset": str(place), "files": files}, line)
    return 0


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

    with as_folder(place, output.progress, is_whole=True) as folder:
        report = run(folder, out, jobs, split, overwrite, output.progress)
    name_files("not written", report.refused)
    output.report(
        report,
        f"{report.out}: {many(report.written, 'file')} written, {report.present} were there, "
        f"{len(report.refused)} not written, {report.bytes / 1e6:.1f} MB, "
        f"{report.seconds:.1f} s{''.join(f'; {note}' for note in _notes(report))}",
    )
    return 1 if report.refused else 0


def _notes(report: "ExtractReport") -> Iterator[str]:
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
