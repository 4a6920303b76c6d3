"""`packer export`."""

from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import counted, print_json, say


@click.command()
@options.dst
@click.option(
    "--to", "tool", required=True, type=click.Choice(["dali", "wids", "energon"]), help="The tool."
)
@click.option("--overwrite", is_flag=True, help="Replace files of the tool that are there.")
@options.as_json
@options.quiet
def export(dst: Path, tool: str, overwrite: bool, as_json: bool, quiet: bool) -> int:
    """Write the index files with which another tool reads DATASET."""
    from packer.interop.export import export as run
    from packer.progress import Progress

    files = run(dst, tool, overwrite, Progress(quiet))
    if as_json:
        print_json({"dataset": str(dst), "files": files})
    elif not quiet:
        shown = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
        say(f"{dst}: {counted(len(files), 'files')} for {tool}: {shown}", err=False)
    return 0
