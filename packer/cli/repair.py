"""`packer repair`."""

from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import Output, name_files, say
from packer.words import many
from reader.store.urls import is_url


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
@options.reporting
def repair(
    place: Path | str, src: Path | str, scratch: Path | None, jobs: int, output: Output
) -> int:
    """Rewrite the damaged shards of DATASET from their source, byte for byte as they were.

    Nothing is replaced before its checksum is the one that dataset.json has kept.
    """
    from packer.inspect.repair import repair as run
    from packer.run.open_source import locate

    if is_url(place):
        raise click.UsageError(
            "packer changes nothing in a store: copy the dataset to a folder, repair that, and "
            "upload the files that it names."
        )
    with locate(src, scratch) as found:
        report = run(Path(place), found, jobs, output.progress, scratch)
    for damage in report.damages:
        say(f"damaged: {damage}")
    name_files("not repaired", report.failed)
    output.report(
        report,
        f"{report.dataset}: {many(len(report.damages), 'damage')}, "
        f"{many(len(report.repaired), 'file')} repaired, {len(report.failed)} not, "
        f"{report.seconds:.1f} s",
    )
    return 1 if report.failed else 0
