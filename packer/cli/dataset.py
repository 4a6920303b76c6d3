"""`packer verify`, `repair`, `index`, `export` and `extract`: what is done with a whole dataset."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packer.cli import params as options
from packer.cli.output import Output, echo, name_files
from packer.words import listed, many
from reader.store.urls import is_url

if TYPE_CHECKING:
    from packer.inspect.extract import ExtractReport
    from packer.inspect.verify import VerifyReport
    from reader.format import Limits

_UNLISTED = (
    "dataset.json does not list it, but programs that read all tars of the folder read it, too. "
    "If another dataset has left it, remove it"
)


@click.command()
@options.place
@click.option("--decode", is_flag=True, help="Also decode every image, and its members.")
@options.jobs
@options.limited
@options.reporting()
def verify(place: Path | str, decode: bool, jobs: int, limits: "Limits", output: Output) -> int:
    """Check every byte of DATASET and name what is damaged."""
    from packer.inspect.repair import remedy
    from packer.inspect.verify import verify as run
    from packer.storage.dataset import finished

    with finished(place, output.progress, is_whole=True) as dataset:
        report = run(dataset, jobs, decode, output.progress, limits)
    remedies = [remedy(place)] if report.damages else []
    for damage in report.damages:
        echo(f"damaged: {damage}")
    name_files("unlisted", ((name, _UNLISTED) for name in report.unlisted))
    return output.report(
        asdict(report) | {"damaged_samples": len(report.damaged)},
        [
            f"{report.dataset}: {many(report.samples + report.lost, 'sample')} in "
            f"{many(report.shards, 'shard')}, {report.bytes / 1e6:.1f} MB checked in "
            f"{report.seconds:.1f} s; {_summary(report)}",
            *report.frames,
            *remedies,
        ],
        wrong=report.damages or report.unlisted,
    )


class _Packed(options.Place):
    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return "Pass the folder, the archive or the URL that DATASET was packed from."


@click.command()
@options.place
@click.option(
    "--from",
    "src",
    required=True,
    type=_Packed(exists=True, path_type=Path),
    help="Source that DATASET was packed from: a path or a URL.",
)
@options.declared("scratch", help="Folder for files of SRC that are fetched or decompressed.")
@options.jobs
@options.reporting()
def repair(
    place: Path | str, src: Path | str, scratch: Path | None, jobs: int, output: Output
) -> int:
    """Rewrite the damaged shards of DATASET from their source, byte for byte as they were.

    Nothing is replaced before its checksum is the one that dataset.json has kept.
    """
    from packer.inspect.repair import IN_STORE
    from packer.inspect.repair import repair as run
    from packer.storage.source import locate

    if is_url(place):
        raise click.UsageError(IN_STORE)
    with locate(src, scratch) as found:
        report = run(Path(place), found, jobs, output.progress, scratch)
    for damage in report.damages:
        echo(f"damaged: {damage}")
    name_files("not repaired", report.failed)
    return output.report(
        report,
        f"{report.dataset}: {many(len(report.damages), 'damage')} found; "
        f"{many(len(report.repaired), 'file')} repaired, "
        f"{many(len(report.failed), 'file')} not repaired; {report.seconds:.1f} s",
        wrong=report.failed,
    )


def _summary(report: "VerifyReport") -> str:
    parts = [] if report.damages else ["nothing is damaged"]
    if report.lost:
        parts.append(f"{report.lost:,} of {many(report.samples + report.lost, 'sample')} lost")
    if samples := len(report.damaged):
        shards = len({file for file, _ in report.damaged})
        parts.append(f"{many(samples, 'sample')} damaged in {many(shards, 'shard')}")
    if others := sum(damage.key is None for damage in report.damages):
        parts.append(f"{many(others, 'finding')} outside of samples")
    if report.unlisted:
        parts.append(f"{many(len(report.unlisted), 'file')} not in dataset.json")
    return ", ".join(parts)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.jobs
@options.limited
@options.reporting()
def index(folder: Path, jobs: int, limits: "Limits", output: Output) -> int:
    """Make a dataset of the WebDataset tars in FOLDER, which stay unchanged.

    An index is written beside each, and dataset.json into FOLDER. Tars in folders below are splits
    by these folders' names.
    """
    from packer.inspect.index import index as run

    report = run(folder, jobs, output.progress, limits)
    name_files("rejected", report.rejected)
    return output.report(
        report,
        f"{report.dataset}: {many(report.samples, 'sample')} in {many(report.classes, 'class')}, "
        f"{many(report.shards, 'tar')}, {report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
        f"{many(len(report.rejected), 'member')} rejected, "
        f"{many(report.renamed, 'key')} made unique",
        wrong=report.rejected,
    )


@click.command()
@options.place
@click.option(
    "--to", "tool", required=True, type=click.Choice(["dali", "wids", "energon"]), help="The tool."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the index files to this folder, to be copied to the tars. Required for a URL.",
)
@click.option("--overwrite", is_flag=True, help="Replace existing index files of this tool.")
@options.reporting()
def export(place: Path | str, tool: str, out: Path | None, overwrite: bool, output: Output) -> int:
    """Write the index files with which another tool reads DATASET."""
    from packer.inspect.export import export as run
    from packer.storage.dataset import finished

    if is_url(place) and out is None:
        raise click.UsageError(
            "Index files cannot be written to a store. Pass --out FOLDER, and upload its files "
            "to the folder of the shards."
        )
    with finished(place, output.progress) as dataset:
        files, notes = run(dataset, tool, overwrite, output.progress, out)
    line = f"{out or place}: {many(len(files), 'file')} for {tool}: {listed(files, 3)}"
    found = {"dataset": str(place), "files": files, "remarks": notes}
    return output.report(found, [line, *notes])


@click.command()
@options.place
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--split", help="Extract only this split.")
@options.jobs
@click.option("--overwrite", is_flag=True, help="Replace files in OUT that have other content.")
@options.reporting()
def extract(
    place: Path | str, out: Path, split: str | None, jobs: int, overwrite: bool, output: Output
) -> int:
    """Write the files of DATASET to the folder OUT, under their original names.

    To continue an interrupted run, run the same command again.
    """
    from packer.inspect.extract import extract as run
    from packer.storage.dataset import finished

    with finished(place, output.progress, is_whole=True) as dataset:
        report = run(dataset, out, jobs, split, overwrite, output.progress)
    name_files("not written", report.refused)
    return output.report(
        report,
        f"{report.out}: {many(report.written, 'file')} written, {report.present} were there, "
        f"{len(report.refused)} not written, {report.bytes / 1e6:.1f} MB, "
        f"{report.seconds:.1f} s{''.join(f'; {note}' for note in _notes(report))}",
        wrong=report.refused,
    )


def _notes(report: "ExtractReport") -> Iterator[str]:
    keyed = (
        "written by the keys of their samples (folders of labels and lists of annotations are not "
        "restored; class names are in dataset.json)"
    )
    for count, noun, text in (
        (report.tiled, "tiled JPEG", "with the original's pixels in other bytes"),
        (report.banded, "banded PNG", "with the original's pixels in other bytes"),
        (report.raw, "raw image", "written as PNG"),
        (report.members, "member", keyed),
        (report.unlabelled, "sample", "without the class in the file's name"),
        (report.unsplit, "sample", "without the split in the file's name"),
    ):
        if count:
            yield f"{many(count, noun)} {text}"
    if report.reencoded:
        yield "images were resized or re-encoded when they were packed"
    if report.resized:
        yield (
            f"{many(report.resized, 'image')} of another size than in the source, whose pixels the "
            "numbers of annotations count"
        )
