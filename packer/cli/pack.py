"""`packer pack`."""

import os
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import click

from packer.cli import params as options
from packer.cli.explain import say_explained
from packer.cli.output import name_files, say
from packer.cli.pack_output import json_of_errors, say_part, say_plan, say_report
from packer.cli.sections import Sectioned
from packer.planning.shard_size import SMALLEST
from packer.sources.options import FORMATS, KINDS

SECTIONS = {
    "What the source is": (
        *("kind", "class_depth", "pairs", "classes", "dedupe", "root"),
        *("image_column", "label_column", "split_column", "label_separator", "box_format"),
    ),
    "What is stored": ("jpeg", "png", "check", "max_side", "quality", "raw"),
    "How it is divided": ("split", "shard_size", "shard_samples", "shuffle", "seed"),
    "What is refused": ("on_error", "max_pixels", "max_bytes"),
    "This run": (
        "jobs",
        "executor",
        "part",
        "scratch",
        "append",
        "overwrite",
        "dry_run",
        "explain",
        "page",
        "as_json",
        "quiet",
    ),
}


@click.command(cls=Sectioned, sections=SECTIONS)
@click.argument("src", type=options.Place(exists=True, path_type=Path))
@click.argument("dst", type=options.Place(file_okay=False, path_type=Path), required=False)
@options.jobs
@click.option(
    "--executor",
    metavar="local|ray[://HOST:PORT]|dask://HOST:PORT",
    default="local",
    help="Where shards are packed: in processes here, or on the cluster that is there.",
)
@click.option(
    "--part",
    metavar="I/N|slurm",
    help="Write one of N parts, by a command on each machine, and commit nothing: the command "
    "without --part does that in the end. slurm: the part of this task of a job array.",
)
@click.option(
    "--scratch",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="For what is fetched if SRC is a URL, and for shards before they are uploaded if DST is.",
)
@click.option(
    "--shard-size",
    type=options.ByteSize(SMALLEST),
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
@click.option(
    "--png",
    type=click.Choice(["banded", "verbatim"]),
    help="Transcode PNGs without loss so that they and crops of them decode faster, or keep their "
    "bytes. Default: banded.",
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
@click.option(
    "--as",
    "kind",
    type=click.Choice(KINDS),
    help="What SRC is, where it could be several things. Default: told by what lies there.",
)
@click.option(
    "--class-depth",
    type=options.Depth(),
    metavar="N|all",
    help="Levels of folders that name a class; all: each folder that holds images is one.",
)
@click.option("--dedupe", is_flag=True, help="Skip images that are byte for byte another.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the images of a manifest lie. Default: beside it.",
)
@click.option("--image-column", help="Of a manifest. Default: image, path, file, file_name, ...")
@click.option(
    "--label-column",
    help="Of a table. Default: what it declares, else label, labels, class, cls, category, ... "
    "none: no column is.",
)
@click.option("--split-column", help="Of a manifest. Default: split.")
@click.option(
    "--label-separator",
    metavar="TEXT|none",
    help="Between the labels of one image, where a manifest has several in one column.",
)
@click.option(
    "--box-format",
    type=click.Choice(FORMATS),
    help="Of the boxes of a manifest, where the names of their columns do not tell.",
)
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="On a file that is not a sound image: commit nothing, or go on without it. All are named.",
)
@options.max_pixels
@options.max_bytes
@click.option("--append", is_flag=True, help="Add what is new in SRC to the dataset at DST.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace a dataset that is at DST; it is removed before the new one is packed.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only say what would be written; images are not opened."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Only say what SRC is read as, with five of its samples and all that belongs to them.",
)
@click.option(
    "--report",
    "page",
    metavar="FILE.html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Then show the dataset on a page, as `packer report` does.",
)
@options.as_json
@options.quiet
def pack(
    src: Path | str,
    dst: Path | str | None,
    jobs: int,
    executor: str,
    part: str | None,
    scratch: Path | None,
    shard_size: int | None,
    shard_samples: int | None,
    shuffle: bool,
    seed: int,
    jpeg: str | None,
    png: str | None,
    check: bool,
    max_side: int | None,
    quality: int | None,
    raw: tuple[int, int] | None,
    split: dict[str, float] | None,
    pairs: tuple[tuple[str, Path], ...],
    classes: Path | None,
    kind: str | None,
    class_depth: int | None,
    dedupe: bool,
    root: Path | None,
    image_column: str | None,
    label_column: str | None,
    split_column: str | None,
    label_separator: str | None,
    box_format: str | None,
    on_error: str,
    max_pixels: int | None,
    max_bytes: int | None,
    append: bool,
    overwrite: bool,
    dry_run: bool,
    explain: bool,
    page: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Pack the images in SRC into the dataset DST.

    SRC is a folder: it holds a folder for each class, as torchvision's ImageFolder has it, or
    images without classes. Files that share an image's name up to a dot (x.json, x.txt, x.mask.png)
    become members of its sample. Or SRC is a manifest that names the images (.csv, .tsv, .jsonl,
    .parquet), a COCO annotation file (.json) or COCO's folder, or Parquet files that hold the
    images, as Hugging Face has them. Or a tar or zip of such folders, WebDataset tars, the archives
    of CIFAR, the files of MNIST. Or SRC is the URL of any of these in a store, such as
    s3://bucket/images or s3://bucket/train-{000..146}.tar. The same command finishes an interrupted
    run.
    """
    from packer.checking.store import is_url
    from packer.fetching.place import source
    from packer.packing import pack as run
    from packer.planning.chosen import WITHOUT_TILER, chosen
    from packer.progress import Progress
    from packer.writing.place import destination

    if dst is None and not explain:
        raise click.UsageError("Missing argument 'DST'.")
    if append and overwrite:
        raise click.UsageError("--append adds to a dataset and --overwrite replaces it: give one.")
    if len({name.removesuffix("?") for name, _ in pairs}) < len(pairs):
        raise click.UsageError("--pair: each NAME has one folder.")
    if page is not None:
        from packer.report.report import check_extra

        if part is not None or dry_run or explain:
            raise click.UsageError("--report shows a dataset that is packed: leave it out here.")
        check_extra(page)
    asked = chosen(
        src if isinstance(src, Path) else None,
        shard_size=shard_size,
        shard_samples=shard_samples,
        shuffle=shuffle,
        seed=seed,
        jpeg=jpeg,
        png=png,
        check=check,
        max_side=max_side,
        quality=quality,
        raw=raw,
        split=split,
        pairs=dict(pairs),
        kind=kind,
        class_depth=class_depth,
        dedupe=dedupe,
        root=root,
        image_column=image_column,
        label_column=label_column,
        split_column=split_column,
        label_separator=label_separator,
        box_format=box_format,
        limits=options.limits(max_pixels, max_bytes),
    )
    if asked.jpeg != "tiled" and jpeg is None and raw is None and not quiet:
        say(f"packer: {WITHOUT_TILER}")
    names = None if classes is None else _class_names(classes)
    if dst is None or explain:
        with source(src, scratch) as given:
            return say_explained(given, asked, names, as_json, Progress(quiet))
    if part is not None and (append or overwrite):
        raise click.UsageError("--part is for a new dataset: no --append or --overwrite.")
    announce = (lambda _: None) if as_json or quiet else partial(say, err=False)
    printed = sys.stderr if as_json else sys.stdout  # by a library, such as Ray
    told: list[tuple[str, str]] = []

    def tell(files: list[tuple[str, str]]) -> None:
        told.extend(files)
        name_files("rejected", files)

    built = scratch if is_url(dst) or not is_url(src) else None
    with (
        source(src, scratch) as given,
        destination(dst, built) as to,
        json_of_errors(as_json, told),
    ):
        if dry_run:
            return say_plan(given, to, asked, names, append, as_json, Progress(quiet))
        if part is not None:
            from packer.part import pack_part
            from packer.planning.part import Part

            its = Part.of(part, os.environ)
            with redirect_stdout(printed):
                done = pack_part(
                    given,
                    to,
                    asked,
                    jobs,
                    its,
                    classes=names,
                    skip_rejected=on_error == "skip",
                    executor=executor,
                    progress=Progress(quiet),
                    announce=announce,
                )
            say_part(done, as_json, quiet)
            return 1 if done.rejected else 0
        with redirect_stdout(printed):
            report = run(
                given,
                to,
                asked,
                jobs,
                classes=names,
                append=append,
                skip_rejected=on_error == "skip",
                overwrite=overwrite,
                executor=executor,
                progress=Progress(quiet),
                announce=announce,
                tell=tell,
            )
    name_files("rejected", sorted(set(report.rejected).difference(told)))
    say_report(report, as_json, quiet)
    code = 1 if report.rejected else 0
    if page is not None:
        from packer.cli.report import say_reported
        from packer.report.report import report as show

        made = show(dst, page, jobs, progress=Progress(quiet))
        code = max(code, say_reported(made, False, as_json or quiet))
    return code


def _class_names(path: Path) -> list[str]:
    names = [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    if len(set(names)) < len(names):
        raise click.BadParameter(f"{path} names a class twice.", param_hint="--classes")
    return names
