"""`packer pack`."""

from pathlib import Path
from typing import Any

import click

from packer.commands import options
from packer.commands.output import name_files, print_json, say


@click.command()
@click.argument("src", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("dst", type=click.Path(file_okay=False, path_type=Path))
@options.jobs
@click.option(
    "--shard-size", type=options.ByteSize(), default="1GB", show_default=True, help="Largest shard."
)
@click.option("--shard-samples", type=click.IntRange(1), help="Most samples in a shard.")
@click.option(
    "--shuffle/--no-shuffle", default=True, show_default=True, help="Shuffle the samples."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the shuffle.")
@click.option(
    "--jpeg",
    type=click.Choice(["tiled", "verbatim"]),
    help="Transcode JPEGs without loss so that crops decode faster, or keep their bytes. "
    "Default: tiled, if jpegtran is installed.",
)
@click.option("--check", is_flag=True, help="Compare every pixel before and after transcoding.")
@click.option("--max-side", type=click.IntRange(1), help="Shrink larger images. Loses quality.")
@click.option("--quality", type=click.IntRange(1, 100), help="Re-encode as JPEG. Loses quality.")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="On a file that is no sound image: commit nothing, or go on without it. All are named.",
)
@click.option("--overwrite", is_flag=True, help="Replace a data set that is at DST.")
@options.as_json
@options.quiet
def pack(
    src: Path,
    dst: Path,
    jobs: int,
    shard_size: int,
    shard_samples: int | None,
    shuffle: bool,
    seed: int,
    jpeg: str | None,
    check: bool,
    max_side: int | None,
    quality: int | None,
    on_error: str,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Pack the images in SRC into the data set DST.

    SRC holds a folder for each class, as torchvision's ImageFolder has it, or images without
    classes. The same command finishes an interrupted run.
    """
    from packer.errors import Rejected, UnusableInput
    from packer.pack import PackOptions
    from packer.pack import pack as run
    from packer.progress import Progress
    from packer.tiles import PACKAGE, jpegtran

    chosen = PackOptions(
        shard_size,
        shard_samples,
        seed if shuffle else None,
        jpeg or _default_jpeg(quiet),
        max_side,
        quality,
        check,
    )
    if jpeg == "tiled" and jpegtran() is None:
        raise UnusableInput(f"--jpeg tiled needs jpegtran: install the package {PACKAGE}.")
    try:
        report = run(
            src,
            dst,
            chosen,
            jobs,
            skip_rejected=on_error == "skip",
            overwrite=overwrite,
            progress=Progress(quiet),
        )
    except Rejected as error:
        name_files("rejected", error.files)
        if as_json:
            _report_json({"committed": False, "rejected": error.files})
        raise
    name_files("rejected", report.rejected)
    if as_json:
        _report_json({"committed": True, **vars(report)})
    elif not quiet:
        name_files("ignored", report.ignored)
        name_files("not tiled", report.untiled)
        say(
            f"{report.dataset}: {report.samples} samples in {report.classes} classes, "
            f"{report.shards} shards ({report.shards_written} written now), "
            f"{report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
            f"{len(report.rejected)} files rejected, {len(report.ignored)} ignored, "
            f"{len(report.untiled)} JPEGs not tiled",
            err=False,
        )
    return 1 if report.rejected else 0


def _default_jpeg(quiet: bool) -> str:
    from packer.tiles import PACKAGE, jpegtran

    if jpegtran() is not None:
        return "tiled"
    if not quiet:
        say(
            "packer: jpegtran is not installed, so JPEGs are kept as they are and crops of them "
            f"decode more slowly. The package {PACKAGE} has it."
        )
    return "verbatim"


def _report_json(report: dict[str, Any]) -> None:
    for kind in ("rejected", "ignored", "untiled"):
        if kind in report:
            report[kind] = [{"file": name, "reason": reason} for name, reason in report[kind]]
    print_json(report)
