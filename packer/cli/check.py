"""`packer verify` and `packer repair`: find what is damaged, and rewrite it from its source."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import Output, name_files, say
from packer.words import many
from reader.store.urls import is_url

if TYPE_CHECKING:
    from packer.inspect.verify import VerifyReport
    from reader.format import Limits


@click.command()
@options.place
@click.option("--decode", is_flag=True, help="Also decode every image, and its members.")
@options.jobs
@options.limited
@options.reporting
def verify(place: Path | str, decode: bool, jobs: int, limits: "Limits", output: Output) -> int:
    """Check every byte of DATASET and name what is damaged."""
    from packer.inspect.dataset import as_folder
    from packer.inspect.verify import verify as run

    with as_folder(place, output.progress, is_whole=True) as folder:
        report = replace(run(folder, jobs, decode, output.progress, limits), dataset=str(place))
    for damage in report.damages:
        say(f"damaged: {damage}")
    output.report(
        asdict(report) | {"damaged_samples": len(report.damaged)},
        f"{report.dataset}: {many(report.samples + report.lost, 'sample')} in "
        f"{many(report.shards, 'shard')}, {report.bytes / 1e6:.1f} MB checked in "
        f"{report.seconds:.1f} s; {_summary(report)}",
    )
    return 1 if report.damages else 0


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
    from packer.storage.source import locate

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


def _summary(report: "VerifyReport") -> str:
    if not report.damages:
        return "nothing is damaged"
    parts = []
    if report.lost:
        total = many(report.samples + report.lost, "sample")
        parts.append(f"{report.lost:,} of {total} lost")
    if samples := len(report.damaged):
        shards = len({file for file, _ in report.damaged})
        parts.append(f"{many(samples, 'sample')} damaged in {many(shards, 'shard')}")
    if others := sum(damage.key is None for damage in report.damages):
        parts.append(f"{many(others, 'finding')} of no single sample")
    return ", ".join(parts)
