"""What `packer pack` prints: its report, its plan, and why nothing was committed."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from packer.cli.output import name_files, name_ignored, print_json, say
from packer.words import many

if TYPE_CHECKING:
    from packer.options.declared import PackOptions
    from packer.progress import Progress
    from packer.run.destination import Destination
    from packer.run.report import PackReport, PartReport
    from packer.storage.source import StoreSource


def say_report(report: "PackReport", as_json: bool, quiet: bool) -> None:
    """What was packed; what was rejected has been named."""
    if as_json:
        print_json({"committed": True, **vars(report)})
    elif not quiet:
        for remark in report.remarks:
            say(remark, err=False)
        name_ignored(report.ignored)
        name_files("not tiled", report.untiled)
        name_files("not banded", report.unbanded)
        splits = "".join(f"{name} {count}, " for name, count in report.splits.items())
        kept = f", {many(len(report.untiled), 'JPEG')} not tiled" if report.untiled else ""
        if report.unbanded:
            kept += f", {many(len(report.unbanded), 'PNG')} not banded"
        say(
            f"{report.dataset}: {many(report.samples, 'sample')} in "
            f"{many(report.classes, 'class')}, {splits}"
            f"{many(report.shards, 'shard')} ({report.shards_written} written now), "
            f"{report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
            f"{many(len(report.rejected), 'file')} rejected, "
            f"{len(report.ignored)} ignored{kept}",
            err=False,
        )


def say_part(report: "PartReport", as_json: bool, quiet: bool) -> None:
    """What became of one part, and what is left for the others."""
    name_files("rejected", report.rejected)
    if as_json:
        print_json(vars(report))
    elif not quiet:
        name_files("not tiled", report.untiled)
        left = f"{many(report.missing, 'shard')} of the whole still missing"
        if report.committed:
            left = "the dataset is committed"
        elif not report.missing:
            left = "all shards are there: the command without --part commits them"
        say(
            f"{report.dataset}: part {report.part}, {many(report.samples, 'sample')} in "
            f"{many(report.shards, 'shard')} ({report.shards_written} written now), "
            f"{report.seconds:.1f} s; {many(len(report.rejected), 'file')} rejected; {left}",
            err=False,
        )


@contextmanager
def json_of_errors(as_json: bool, named: Collection[tuple[str, str]]) -> Iterator[None]:
    """Name the files for which nothing is committed and that are not `named`, as JSON, too."""
    from packer.errors import NothingToPack, Rejected

    try:
        yield
    except (NothingToPack, Rejected) as error:
        if isinstance(error, Rejected):  # the other one's text has them
            name_files("rejected", sorted(set(error.files).difference(named)))
        if as_json:
            print_json({"committed": False, "rejected": error.files})
        raise


def say_plan(
    src: "Path | StoreSource",
    to: "Destination",
    chosen: "PackOptions",
    names: list[str] | None,
    append: bool,
    scratch: Path | None,
    as_json: bool,
    progress: "Progress",
) -> int:
    """Print what would be written; the exit code."""
    from pathlib import Path

    from packer.errors import EXAMPLES
    from packer.plan.prepare import prepare
    from packer.plan.work import outline as outlined
    from packer.run.open_source import open_source

    with open_source(src, progress, to, scratch=scratch) as (source, spool):
        onto = to.base() if append else None
        work = prepare(source, chosen, progress, names, onto, spool=spool)
    outline = outlined(work, to.folder)
    if as_json:
        print_json(outline)
        return 1 if outline["rejected"] else 0
    say(work.reading, err=False)
    for remark in outline["remarks"]:
        say(remark, err=False)
    for split, count in outline["splits"].items():
        say(f"split {split}: {many(count, 'sample')}", err=False)
    classes = outline["classes"] if any(outline["classes"].values()) else {}
    for name in list(classes)[:EXAMPLES]:
        say(f"class {name}: {many(classes[name], 'sample')}", err=False)
    if more := len(classes) - min(len(classes), EXAMPLES):
        say(f"and {more} more, {many(len(classes), 'class')} in all", err=False)
    name_files("rejected", outline["rejected"])
    needed = outline["bytes_needed"]
    nothing = "Nothing was" if isinstance(src, Path) else "Nothing else was"
    say(
        f"{many(outline['samples'], 'sample')}, {many(len(outline['shards']), 'shard')}, "
        f"{'an unknown size' if needed is None else f'{needed / 1e6:.1f} MB'} on a disk with "
        f"{outline['bytes_free'] / 1e9:.1f} GB free. {nothing} written, and no image opened.",
        err=False,
    )
    return 1 if outline["rejected"] else 0
