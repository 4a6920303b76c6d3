"""The command line. Only here does packer print, and only here are exit codes chosen.

0: done; 1: finished, but something was rejected; 2: usage or unusable input; 130: interrupted.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


class ByteSize(click.ParamType[int]):
    """``500MB``, ``1GB``, ``2GiB`` or a plain number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        text = str(value).strip().upper().removesuffix("B")
        number = text.rstrip("KMGTI")
        try:
            size = int(float(number) * _UNITS[text[len(number) :]])
        except (KeyError, ValueError, OverflowError):
            self.fail(f"{value!r} is not a size such as 500MB, 1GB or 2GiB.", param, ctx)
        if size < 1:
            self.fail(f"{value!r} is not a size of at least one byte.", param, ctx)
        return size


def _exits(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result and its errors into exit codes and sentences."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            from reader.format import ShardfeedError

            try:
                code = command(*args, **kwargs)
            except ShardfeedError as error:
                _say(f"packer: {error}")
                code = 2
        except KeyboardInterrupt:
            _say("packer: interrupted. Run the same command again to go on.")
            code = 130
        sys.exit(code)

    return run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shardfeed", prog_name="packer")
def main() -> None:
    """Pack folders of images into sharded WebDataset tars that `reader` feeds to a GPU."""


@main.command()
@click.argument("src", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("dst", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes. Default: the cores this one may use."
)
@click.option(
    "--shard-size", type=ByteSize(), default="1GB", show_default=True, help="Largest shard."
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
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no report; errors only.")
@_exits
def pack(
    src: Path,
    dst: Path,
    jobs: int | None,
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

    options = PackOptions(
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
            options,
            jobs or usable_cores(),
            skip_rejected=on_error == "skip",
            overwrite=overwrite,
            progress=Progress(quiet),
        )
    except Rejected as error:
        _name_files("rejected", error.files)
        if as_json:
            _print_json({"committed": False, "rejected": error.files})
        raise
    _name_files("rejected", report.rejected)
    if as_json:
        _print_json({"committed": True, **vars(report)})
    elif not quiet:
        _name_files("ignored", report.ignored)
        _name_files("not tiled", report.untiled)
        _say(
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
        _say(
            "packer: jpegtran is not installed, so JPEGs are kept as they are and crops of them "
            f"decode more slowly. The package {PACKAGE} has it."
        )
    return "verbatim"


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _name_files(what: str, files: list[tuple[str, str]]) -> None:
    for name, reason in files:
        _say(f"{what}: {name}: {reason}")


def _print_json(report: dict[str, Any]) -> None:
    for kind in ("rejected", "ignored", "untiled"):
        if kind in report:
            report[kind] = [{"file": name, "reason": reason} for name, reason in report[kind]]
    click.echo(json.dumps(report))


def _say(text: str, err: bool = True) -> None:
    """Print; bytes of file names that are no UTF-8 as escapes."""
    click.echo(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), err=err)
