"""`packer pack`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import (
    counted,
    name_files,
    print_json,
    say,
)

if TYPE_CHECKING:
    from packer.planning.options import PackOptions
    from packer.progress import Progress

SMALLEST_SHARD = 10**4  # what says less has a unit forgotten
_REMEDY = "pip install numba, or install the package libjpeg-turbo-progs"


@click.command()
@click.argument("src", type=click.Path(exists=True, path_type=Path))
@click.argument("dst", type=click.Path(file_okay=False, path_type=Path))
@options.jobs
@click.option(
    "--shard-size",
    type=options.ByteSize(SMALLEST_SHARD),
    help="Largest shard. Default: 1GB, and less where that would make fewer than 64 shards, down "
    "to 10MB.",
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
    "Default: tiled, where numba or jpegtran is installed.",
)
@click.option("--check", is_flag=True, help="Compare every pixel before and after transcoding.")
@click.option("--max-side", type=click.IntRange(1), help="Shrink larger images. Loses quality.")
@click.option("--quality", type=click.IntRange(1, 100), help="Re-encode as JPEG. Loses quality.")
@click.option(
    "--raw",
    type=options.Size(),
    metavar="HxW",
    help="Store decoded pixels of this size: scaled to cover it, and cut. For small images.",
)
@click.option(
    "--split",
    type=options.Fractions(),
    metavar="train=0.9,val=0.1",
    help="Divide the samples by a hash of their keys, unless SRC has folders train, val, test.",
)
@click.option(
    "--pair",
    "pairs",
    type=options.Pair(),
    multiple=True,
    metavar="NAME=DIR",
    help="DIR holds a file for every image, under the image's path: member NAME of its sample. "
    "NAME?=DIR: an image may be without one.",
)
@click.option(
    "--classes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of class names in label order, one a line. Default: sorted.",
)
@click.option("--dedupe", is_flag=True, help="Leave out images that are byte for byte another.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the images of a manifest lie. Default: beside it.",
)
@click.option("--image-column", help="Of a manifest. Default: image, path, file, file_name, ...")
@click.option(
    "--label-column",
    help="Of a table. Default: what it declares, else label, labels, class, cls, category, ...",
)
@click.option("--split-column", help="Of a manifest. Default: split.")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="On a file that is no sound image: commit nothing, or go on without it. All are named.",
)
@options.max_pixels
@options.max_bytes
@click.option("--append", is_flag=True, help="Add what is new in SRC to the data set at DST.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace a data set that is at DST; it is removed before the new one is packed.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only say what would be written; images are not opened."
)
@options.as_json
@options.quiet
def pack(
    src: Path,
    dst: Path,
    jobs: int,
    shard_size: int | None,
    shard_samples: int | None,
    shuffle: bool,
    seed: int,
    jpeg: str | None,
    check: bool,
    max_side: int | None,
    quality: int | None,
    raw: tuple[int, int] | None,
    split: dict[str, float] | None,
    pairs: tuple[tuple[str, Path], ...],
    classes: Path | None,
    dedupe: bool,
    root: Path | None,
    image_column: str | None,
    label_column: str | None,
    split_column: str | None,
    on_error: str,
    max_pixels: int | None,
    max_bytes: int | None,
    append: bool,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Pack the images in SRC into the data set DST.

    SRC is a folder: it holds a folder for each class, as torchvision's ImageFolder has it, or
    images without classes. Files that share an image's name up to a dot (x.json, x.txt, x.mask.png)
    become members of its sample. Or SRC is a manifest that names the images (.csv, .tsv, .jsonl,
    .parquet), a COCO annotation file (.json) or COCO's folder, or Parquet files that hold the
    images, as Hugging Face has them. Or a tar or zip of such folders, WebDataset tars, the archives
    of CIFAR, the files of MNIST. The same command finishes an interrupted run.
    """
    from packer.errors import UnusableInput
    from packer.images.tiles import can_tile
    from packer.packing import pack as run
    from packer.planning.options import PackOptions
    from packer.progress import Progress
    from packer.sources.options import SourceOptions

    chosen = PackOptions(
        shard_size,
        shard_samples,
        seed if shuffle else None,
        jpeg or _default_jpeg(quiet),
        max_side,
        quality,
        check,
        raw,
        split,
        dedupe,
        SourceOptions(
            {name: _relative(folder, src) for name, folder in pairs},
            None if root is None else _relative(root, Path(os.path.realpath(src)).parent),
            image_column,
            label_column,
            split_column,
        ),
        options.limits(max_pixels, max_bytes),
    )
    if len({name.removesuffix("?") for name, _ in pairs}) < len(pairs):
        raise click.UsageError("--pair: each NAME has one folder.")
    names = None if classes is None else _class_names(classes)
    if append and overwrite:
        raise click.UsageError("--append adds to a data set and --overwrite replaces it: give one.")
    if check and jpeg == "verbatim":
        raise click.UsageError("--check compares what is transcoded: nothing by --jpeg verbatim.")
    if raw is not None and (jpeg is not None or max_side is not None or quality is not None):
        raise click.UsageError("--raw stores pixels: no --jpeg, --max-side or --quality.")
    if dry_run:
        with _json_of_errors(as_json):
            return _say_plan(src, dst, chosen, names, append, as_json, Progress(quiet))
    if jpeg == "tiled" and not can_tile():
        raise UnusableInput(f"--jpeg tiled needs numba, or jpegtran: {_REMEDY}.")
    told: list[tuple[str, str]] = []

    def tell(files: list[tuple[str, str]]) -> None:
        told.extend(files)
        name_files("rejected", files)

    with _json_of_errors(as_json):
        report = run(
            src,
            dst,
            chosen,
            jobs,
            classes=names,
            append=append,
            skip_rejected=on_error == "skip",
            overwrite=overwrite,
            progress=Progress(quiet),
            tell=tell,
        )
    name_files("rejected", sorted(set(report.rejected).difference(told)))
    if as_json:
        _report_json({"committed": True, **vars(report)})
    elif not quiet:
        for remark in report.remarks:
            say(remark, err=False)
        name_files("ignored", report.ignored)
        name_files("not tiled", report.untiled)
        splits = "".join(f"{name} {count}, " for name, count in report.splits.items())
        untiled = f", {counted(len(report.untiled), 'JPEGs')} not tiled" if report.untiled else ""
        say(
            f"{report.dataset}: {counted(report.samples, 'samples')} in "
            f"{counted(report.classes, 'classes')}, {splits}"
            f"{counted(report.shards, 'shards')} ({report.shards_written} written now), "
            f"{report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
            f"{counted(len(report.rejected), 'files')} rejected, "
            f"{len(report.ignored)} ignored{untiled}",
            err=False,
        )
    return 1 if report.rejected else 0


@contextmanager
def _json_of_errors(as_json: bool) -> Iterator[None]:
    """Name the files for which nothing is committed, with `as_json` on standard output, too."""
    from packer.errors import (
        NothingToPack,
        Rejected,
    )

    try:
        yield
    except (NothingToPack, Rejected) as error:
        if isinstance(error, Rejected):  # the other one's text has them
            name_files("rejected", error.files)
        if as_json:
            _report_json({"committed": False, "rejected": error.files})
        raise


def _default_jpeg(quiet: bool) -> str:
    from packer.images.tiles import can_tile

    if can_tile():
        return "tiled"
    if not quiet:
        say(
            "packer: neither numba nor jpegtran is installed, so JPEGs are kept as they are and "
            f"crops of them decode more slowly: {_REMEDY}."
        )
    return "verbatim"


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(start))


def _class_names(path: Path) -> list[str]:
    names = [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    if len(set(names)) < len(names):
        raise click.BadParameter(f"{path} names a class twice.", param_hint="--classes")
    return names


def _say_plan(
    src: Path,
    dst: Path,
    chosen: "PackOptions",
    names: list[str] | None,
    append: bool,
    as_json: bool,
    progress: "Progress",
) -> int:
    """Print what would be written; the exit code."""
    from packer.planning.prepare import prepare
    from packer.planning.work import outline as outlined

    work = prepare(src, chosen, progress, names, onto=dst if append else None)
    outline = outlined(work, dst)
    if as_json:
        print_json(outline)
        return 1 if outline["rejected"] else 0
    for remark in outline["remarks"]:
        say(remark, err=False)
    for split, count in outline["splits"].items():
        say(f"split {split}: {counted(count, 'samples')}", err=False)
    for name, count in outline["classes"].items():
        say(f"class {name}: {counted(count, 'samples')}", err=False)
    name_files("rejected", [(item["file"], item["reason"]) for item in outline["rejected"]])
    needed = outline["bytes_needed"]
    say(
        f"{counted(outline['samples'], 'samples')}, {counted(len(outline['shards']), 'shards')}, "
        f"{'an unknown size' if needed is None else f'{needed / 1e6:.1f} MB'} on a disk with "
        f"{outline['bytes_free'] / 1e9:.1f} GB free. Nothing was written, and no image opened.",
        err=False,
    )
    return 1 if outline["rejected"] else 0


def _report_json(report: dict[str, Any]) -> None:
    for kind in ("rejected", "ignored", "untiled"):
        if kind in report:
            report[kind] = [{"file": name, "reason": reason} for name, reason in report[kind]]
    print_json(report)
