"""`packer export`."""

from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import Output
from packer.words import many
from reader.store.urls import is_url


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
    progress = output.progress
    with as_folder(place, progress, is_whole=False) as folder:
        if is_url(place) and Manifest.load(folder).external:
            raise UnusableInput(
                f"{place} was not packed by packer, so its tars have to be read: copy it to a "
                "folder, and export that."
            )
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        files = run(folder, tool, overwrite, progress, out)
    shown = ", ".join(files[:3]) + ", ..." * (len(files) > 3)
    output.report(
        {"dataset": str(place), "files": files},
        f"{out or place}: {many(len(files), 'file')} for {tool}: {shown}",
    )
    return 0
