"""`packer verify`."""

from dataclasses import asdict
from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.output import (
    counted,
    print_json,
    say,
)


@click.command()
@options.dst
@click.option("--decode", is_flag=True, help="Also decode every image.")
@options.jobs
@options.max_pixels
@options.max_bytes
@options.as_json
@options.quiet
def verify(
    dst: Path,
    decode: bool,
    jobs: int,
    max_pixels: int | None,
    max_bytes: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check every byte of the data set DST and name what is damaged."""
    from packer.checking.verify import verify as run
    from packer.progress import Progress

    report = run(dst, jobs, decode, Progress(quiet), options.limits(max_pixels, max_bytes))
    for damage in report.damages:
        say(f"damaged: {damage}")
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        say(
            f"{report.dataset}: {counted(report.samples, 'samples')} in "
            f"{counted(report.shards, 'shards')}, "
            f"{report.bytes / 1e6:.1f} MB checked in {report.seconds:.1f} s; "
            f"{counted(len(report.damages), 'damages')}",
            err=False,
        )
    return 1 if report.damages else 0
