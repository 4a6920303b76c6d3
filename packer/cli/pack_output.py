"""The output of `packer pack`: report, plan, interpretation of the source, and errors."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from packer.cli.output import Output, echo, name_files, name_ignored, print_json
from packer.errors import EXAMPLES
from packer.progress import Progress
from packer.words import Shell, dropped_lines, in_bytes, many

if TYPE_CHECKING:
    from packer.options.declared import PackOptions, RunOptions
    from packer.plan.work import Work
    from packer.run.report import PackReport, PartReport
    from packer.run.scopes import Whole
    from packer.samples.records import Reader, Sample
    from packer.storage.source import AnySource

_SHOWN = 5  # samples
_LONGEST = 300  # characters of a member


class Announcing(Progress):
    """Progress that prints what a source is read as, and names what the scan rejects."""

    def __init__(self, output: Output, caller: Shell) -> None:
        super().__init__(output.quiet, caller=caller)
        self.announced: list[str] = []
        self.named: list[tuple[str, str]] = []  # rejected files
        self._is_silent = output.is_silent

    def announce(self, *lines: str) -> None:
        new = [*map(self.written, lines)]
        self.announced += new
        for line in () if self._is_silent else new:
            echo(line, err=False)

    def rejected(self, files: Collection[tuple[str, str]]) -> None:
        self.named.extend(files)
        name_files("rejected", files)


def report_lines(report: "PackReport", announced: Collection[str] = ()) -> Iterator[str]:
    yield from (remark for remark in report.remarks if remark not in announced)
    name_ignored(report.ignored)
    name_files("not tiled", report.untiled)
    name_files("not banded", report.unbanded)
    yield from dropped_lines(report.dropped)
    splits = "".join(f"{name} {count}, " for name, count in report.splits.items())
    kept = f", {many(len(report.untiled), 'JPEG')} not tiled" if report.untiled else ""
    if report.unbanded:
        kept += f", {many(len(report.unbanded), 'PNG')} not banded"
    yield (
        f"{report.dataset}: {many(report.samples, 'sample')} in {many(report.classes, 'class')}, "
        f"{splits}{many(report.shards, 'shard')} ({report.shards_written} written now), "
        f"{report.bytes / 1e6:.1f} MB, {report.seconds:.1f} s; "
        f"{many(len(report.rejected), 'file')} rejected, {len(report.ignored)} ignored{kept}"
    )


def part_lines(report: "PartReport") -> Iterator[str]:
    name_files("not tiled", report.untiled)
    name_files("not banded", report.unbanded)
    left = f"{many(report.missing, 'shard')} of the dataset still missing"
    if report.committed:
        left = "the dataset is committed"
    elif not report.missing:
        left = "all shards are written: to commit them, run the command without --part"
    yield (
        f"{report.dataset}: part {report.part}, {many(report.samples, 'sample')} in "
        f"{many(report.shards, 'shard')} ({report.shards_written} written now), "
        f"{report.seconds:.1f} s; {many(len(report.rejected), 'file')} rejected; {left}"
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


def print_plan(src: "AnySource", scope: "Whole", output: Output, caller: Shell) -> int:
    from packer.plan.work import outline, refuse_full_disk, tars
    from packer.shards.shard_writer import is_finished
    from packer.storage.source import open_source

    to, scratch = scope.to, scope.how.scratch
    with open_source(src, output.progress, to.folder, to.name, scratch=scratch) as source:
        work = scope.plan(source, output.progress)
        found = outline(work, to.folder)
    nothing = "Nothing was" if src.path else "Apart from that, nothing was"
    lines = chain(map(caller.written, work.announcement), _plan_lines(found, nothing))
    shown = _understood(work, caller) | found
    code = Output(output.as_json).report(shown, lines, wrong=found["rejected"])
    missing = [n for n, tar in enumerate(tars(work, to.folder)) if not is_finished(tar)]
    refuse_full_disk(work, to.folder, to.at_a_time(missing, scope.how.jobs))
    return code


def _plan_lines(found: dict[str, Any], nothing: str) -> Iterator[str]:
    yield from (f"split {name}: {many(n, 'sample')}" for name, n in found["splits"].items())
    classes = found["classes"] if any(found["classes"].values()) else {}
    for name in list(classes)[:EXAMPLES]:
        yield f"class {name}: {many(classes[name], 'sample')}"
    if more := len(list(classes)[EXAMPLES:]):
        yield f"and {more} more, {many(len(classes), 'class')} in all"
    name_ignored(found["ignored"])
    name_files("rejected", found["rejected"])
    needed = found["bytes_needed"]
    yield (
        f"{many(found['samples'], 'sample')}, {many(len(found['shards']), 'shard')}, "
        f"{'an unknown size' if needed is None else in_bytes(needed)} on a disk with "
        f"{in_bytes(found['bytes_free'])} free. {nothing} written, and no image was opened."
    )


def print_explained(
    src: "AnySource", options: "PackOptions", how: "RunOptions", output: Output, caller: Shell
) -> int:
    from packer.plan.prepare import prepare
    from packer.storage.source import open_source

    with open_source(src, output.progress, scratch=how.scratch) as source:
        further = how.classes, None, how.keys_of
        work = prepare(source, *options.planning, output.progress, *further)
        files, listing, classes = work.scanned.files, work.scanned.listing, work.scanned.classes
        total = len(listing)
        if not work.scanned.has_images:
            total = int((listing.member_counts > 0).sum())  # those without members come last
        count = min(_SHOWN, total)
        numbers = [(2 * shown + 1) * total // (2 * count) for shown in range(count)]
        samples = [_sample(files, listing[number], classes) for number in numbers]
    for sample in samples:
        sample["members"] |= dict.fromkeys(sorted(listing.members.keys() - sample["members"]))
    content: dict[str, Any] = {
        **_understood(work, caller),
        "samples": samples,
        "rejected": listing.rejected,
        "ignored": listing.ignored,
    }

    def lines() -> Iterator[str]:
        yield from map(caller.written, work.announcement)
        for sample in samples:
            label = "no class" if sample["class"] is None else f"class {sample['class']}"
            split = f", split {sample['split']}" if sample["split"] else ""
            yield f"{sample['name']}: {label}{split}, {sample['image']}"
            for ext, text in sample["members"].items():
                yield f"  {ext}: {'none' if text is None else text}"
        name_ignored(content["ignored"])
        name_files("rejected", listing.rejected)

    return Output(output.as_json).report(content, lines(), wrong=listing.rejected)


def _understood(work: "Work", caller: Shell) -> dict[str, Any]:
    remarks = [*map(caller.written, work.remarks)]
    return {"reading": work.reading, "command": caller.written(work.command), "remarks": remarks}


def _sample(files: "Reader", sample: "Sample", classes: tuple[str, ...]) -> dict[str, Any]:
    from packer.errors import BadImage

    found: dict[str, Any] = {
        "name": sample.name,
        "class": classes[sample.label] if sample.label >= 0 else None,
        "split": sample.split,
        "members": {},
    }
    try:
        content = files.read(sample)
    except BadImage as error:
        return found | {"image": f"cannot be read: {error}"}
    image = content.image
    shape = " x ".join(map(str, getattr(image, "shape", ())))
    found["image"] = f"pixels, {shape}" if shape else "image in another dataset"
    if isinstance(image, bytes):
        found["image"] = _described(image)
    found["members"] = {ext: _described(data, ", {}") for ext, data in content.members.items()}
    return found


def _described(data: bytes, pixels: str = "") -> str:
    """Return what an image is, with its mode in `pixels`, or the beginning of a text."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            mode = pixels.format(_mode(image.mode))
            return f"{image.format} of {image.width} x {image.height}{mode}"
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        pass
    if b"\0" in data[:_LONGEST]:
        return f"{len(data)} bytes"
    text = " ".join(data[: 4 * _LONGEST].decode(errors="replace").split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _mode(mode: str) -> str:
    from packer.images.probe import ONE_CHANNEL

    bits = 16 if mode.startswith("I;16") else {"1": 1, "I": 32, "F": 32}.get(mode, 8)
    name = "palette" if mode == "P" else "grey" if mode in ONE_CHANNEL else mode
    return f"{name}, {bits} bit{'s' * (bits != 1)} a value"
