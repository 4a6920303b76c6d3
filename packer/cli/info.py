"""`packer info` and `packer report`: what a dataset consists of."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import Output
from packer.errors import EXAMPLES, pattern_of
from packer.inspect.report import SAMPLES
from packer.words import LONGEST_NAME, NAMED, abridged, dropped_lines, in_bytes, listed, many

if TYPE_CHECKING:
    from packer.inspect.info import Info
    from packer.inspect.report.report import Reported

_BAR = 40
_MOST_CLASSES = 20


@click.command()
@options.place
@options.reporting()
def info(place: Path | str, output: Output) -> int:
    """Print the content of DATASET, from its indexes only."""
    from packer.inspect.info import info as run
    from packer.storage.dataset import finished

    with finished(place) as dataset:
        found = run(dataset)
    return output.report(found, _lines(found))


def _lines(found: "Info") -> Iterator[str]:
    yield (
        f"{found.dataset}: {many(found.samples, 'sample')} in {many(found.shards, 'shard')}, "
        f"{in_bytes(found.bytes)} and {in_bytes(found.index_bytes)} of indexes; "
        f"{many(found.rejected, 'file')} rejected; packed by version {found.packer}"
    )
    yield from _rejected(found)
    if list(found.splits) != [""]:
        for name, split in found.splits.items():
            held = f"{many(split.samples, 'sample')} in {many(split.shards, 'shard')}"
            yield f"split {name or '(none)'}: {held}, {in_bytes(split.bytes)}"
    formats = ", ".join(f"{count} {name}" for name, count in found.formats.items())
    images = f"{formats or 'none'}; {found.tiled} JPEGs tiled, {found.banded} PNGs banded"
    yield f"images: {images if found.images else 'in another dataset'}"
    yield from dropped_lines(found.dropped)
    if found.members:
        yield "members: " + ", ".join(f"{n} .{ext}" for ext, n in found.members.items())
    if found.columns:
        yield "columns of the JSON: " + ", ".join(
            f"{n} {path}" for path, n in found.columns.items()
        )
    if not found.images:
        return
    yield from _chart("shorter side, pixels", found.short_sides)
    yield from _chart("width / height", found.aspects)
    yield from _classes(found)
    yield f"all images decoded: {in_bytes(found.decoded_bytes)}"
    yield "a batch of 256 in memory: " + _sizes(found.batch_bytes)
    yield "a batch of 256 x 224 x 224 on the GPU: " + _sizes(found.gpu_batch_bytes)
    yield f"usual shard size: {in_bytes(found.shard_size)} ({found.shard_size_reason})"


def _rejected(found: "Info") -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for name, reason in found.rejected_files:
        names.setdefault(pattern_of(reason), []).append(name)
    for reason, count in list(found.rejected_reasons.items())[:EXAMPLES]:
        shown = names.get(reason, [])[:NAMED]
        more = f" and {count - len(shown):,} more" if shown and count > len(shown) else ""
        examples = f" ({', '.join(shown)}{more})" if shown else ""
        yield f"rejected: {many(count, 'file')}: {reason}{examples}"
    if (further := len(found.rejected_reasons) - EXAMPLES) > 0:
        yield f"  and {many(further, 'further reason')}; --json has them"


def _classes(found: "Info") -> Iterator[str]:
    title = many(len(found.classes), "class")
    if found.samples and found.classes and not any(found.classes.values()):
        names = listed(found.classes, _MOST_CLASSES)
        yield f"{title}, those of boxes: {names}; no sample has one of its own"
        return
    title += f", {many(found.unlabeled, 'sample')} without one"
    counts = sorted(found.classes.items(), key=lambda item: -item[1])
    yield from _chart(title, dict(counts[:_MOST_CLASSES]))
    if rest := [count for _, count in counts[_MOST_CLASSES:]]:
        yield f"  and {len(rest)} more, {rest[-1]} to {rest[0]} samples each; --json names all"


def _chart(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    yield f"{title}:"
    names = [abridged(name, LONGEST_NAME) for name in counts]
    longest = max(map(len, names), default=0)
    most = max(counts.values(), default=0) or 1
    for name, count in zip(names, counts.values(), strict=True):
        yield f"  {name:{longest}}  {count:>9}  {'#' * -(-_BAR * count // most)}"


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{in_bytes(size)} {name}" for name, size in sizes.items())


@click.command()
@options.place
@click.option(
    *("--output", "-o", "out"),
    required=True,
    metavar="FILE.html",
    type=options.new_file,
    help="Page to write. An existing report is replaced.",
)
@options.count(
    "--samples",
    default=SAMPLES,
    help="Most samples to read pixels, boxes and masks of. Other figures come from the indexes "
    "of all samples.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the choice of these samples.",
)
@options.declared(
    "box_format",
    help="Format of the boxes. Default: the one in dataset.json; boxes of unknown format are "
    "not shown.",
)
@click.option(
    "--normalized",
    is_flag=True,
    help="Read boxes as fractions of the image. Default: as recorded in dataset.json.",
)
@options.jobs
@options.reporting()
def report(place: Path | str, out: Path, jobs: int, output: Output, **given: Any) -> int:
    """Write a page that shows DATASET: samples, distributions, and findings."""
    from packer.inspect.report.report import report as run

    return print_reported(run(place, out, jobs, progress=output.progress, **given), output)


def print_reported(made: "Reported", output: Output) -> int:
    lines = [f"{one.weight}: {one.title}: {one.sentence}" for one in made.findings]
    lines.append(
        f"{made.page}: {many(made.samples, 'sample')}, {made.looked:,} looked at, "
        f"{many(len(made.findings), 'finding')}, {made.bytes / 1e6:.1f} MB, {made.seconds:.1f} s"
    )
    is_damaged = any(finding.kind == "damaged" for finding in made.findings)
    return output.report(made, lines, wrong=is_damaged)
