"""`packer repair`."""

from dataclasses import asdict
from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import name_files, print_json, say
from packer.words import many


@click.command()
@options.place
@click.option(
    "--from",
    "src",
    required=True,
    type=options.Place(exists=True, path_type=Path),
    help="What DATASET was packed from: a path or a URL.",
)
@options.declared("scratch", help="For what of SRC is fetched or decompressed.")
@options.jobs
@options.as_json
@options.quiet
def repair(
    place: Path | str, src: Path | str, scratch: Path | None, jobs: int, as_json: bool, quiet: bool
) -> int:
    """Rewrite the damaged shards of DATASET from their source, byte for byte as they were.

    Nothing is replaced before its checksum is the one that dataset.json has kept.
    """
    from packer.inspect.repair import repair as run
    from packer.inspect.store import is_url
    from packer.progress import Progress
    from packer.run.open_source import locate

    if is_url(place):
        raise click.UsageError(
            "packer changes nothing in a store: copy the dataset to a folder, repair that, and "
            "upload the files that it names."
        )
    with locate(src, scratch) as found:
        report = run(Path(place), found, jobs, Progress(quiet), scratch)
    for damage in report.damages:
        say(f"damaged: {damage}")
    name_files("not repaired", report.failed)
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        say(
            f"{report.dataset}: {many(len(report.damages), 'damage')}, "
            f"{many(len(report.repaired), 'file')} repaired, {len(report.failed)} not, "
            f"{report.seconds:.1f} s",
            err=False,
        )
    return 1 if report.failed else 0
