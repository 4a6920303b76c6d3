"""`packer verify`."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import print_json, say
from packer.words import many

if TYPE_CHECKING:
    from packer.inspect.verify import VerifyReport


@click.command()
@options.place
@click.option("--decode", is_flag=True, help="Also decode every image, and its members.")
@options.jobs
@options.max_pixels
@options.max_bytes
@options.as_json
@options.quiet
def verify(
    place: Path | str,
    decode: bool,
    jobs: int,
    max_pixels: int | None,
    max_bytes: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check every byte of DATASET and name what is damaged."""
    from packer.inspect.store import as_folder
    from packer.inspect.verify import verify as run
    from packer.progress import Progress

    progress, limits = Progress(quiet), options.limits(max_pixels, max_bytes)
    with as_folder(place, progress, is_whole=True) as folder:
        report = replace(run(folder, jobs, decode, progress, limits), dataset=str(place))
    for damage in report.damages:
        say(f"damaged: {damage}")
    if as_json:
        print_json(asdict(report) | {"damaged_samples": len(report.damaged)})
    elif not quiet:
        say(
            f"{report.dataset}: {many(report.samples + report.lost, 'sample')} in "
            f"{many(report.shards, 'shard')}, "
            f"{report.bytes / 1e6:.1f} MB checked in {report.seconds:.1f} s; "
            f"{_told(report)}",
            err=False,
        )
    return 1 if report.damages else 0


def _told(report: "VerifyReport") -> str:
    """How many samples are lost or damaged, each once, and what is damaged besides."""
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
