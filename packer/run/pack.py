"""`packer pack`, the dataset or a part of it: scan, plan, write, commit."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, UnusableInput
from packer.layouts.interpretation import Interpretation
from packer.options.declared import PackOptions, RunOptions
from packer.plan.prepare import prepare
from packer.plan.scan import numbered
from packer.plan.work import RunGuard, Work, tars
from packer.progress import QUIET, Progress
from packer.run.destination import Destination, ignore
from packer.run.json_columns import json_of_source, refuse_unknown_columns
from packer.run.log import Note
from packer.run.parts import share
from packer.run.report import (
    PackReport,
    PartReport,
    finish,
    manifest_of,
    repaired,
    without_labels,
)
from packer.run.run import Run
from packer.run.write_missing import (
    all_rejected,
    packed_before,
    packed_from,
    refusal,
    refuse_other_options,
    stops_at_once,
    write_missing,
    written_of,
)
from packer.samples.labels import of_items
from packer.shards.builder import Rejections
from packer.shards.executors import connected
from packer.shards.shard_writer import Written, index_of, refuse_repeated_keys, remove_shard
from packer.storage.source import LocalSource, StoreSource, open_source, remove_unpacked
from packer.words import listed, many, option
from reader.format import Index, Manifest
from reader.store.urls import is_url

Tell = Callable[[Rejections], None]


def run(
    src: Path | StoreSource | Interpretation,
    to: Destination,
    options: PackOptions,
    how: RunOptions,
    progress: Progress = QUIET,
    announce: Note = ignore,
    tell: Tell = lambda files: None,
) -> PackReport | PartReport:
    """Pack `src` into the dataset `to`, or write a part of it; finish what an earlier run began.

    Before anything is packed, `announce` is called with the interpretation of the source in a
    sentence, and `tell` with the files that the scan rejects. If rejected files stop the run,
    nothing is committed: nothing is packed if the source may be misread, or in a part; otherwise
    all images are packed, so that `Rejected` names all of them. A part commits nothing.
    """
    began = time.monotonic()
    keys_of = how.keys_of if is_url(how.keys_of) else os.path.realpath(how.keys_of or "/")
    if keys_of == to.name:
        raise UnusableInput(
            f"{to.name} is the dataset of {option('keys_of')}. Choose another destination."
        )
    if isinstance(src, StoreSource) and not (
        how.part or how.append or how.overwrite or how.keys_of
    ):
        folder = packed_from(src, to, options, how.classes)
        if folder is not None:
            remark = (
                f"Up to date: {src.name} lists the same objects as when the dataset was "
                "packed. Nothing was fetched."
            )
            return finish(to, Manifest.load(folder), written_of(folder), began, remarks=[remark])
    with ExitStack() as stack:
        keeps = how.part is None or not to.is_done
        opened = open_source(src, progress, to.folder, to.name, keeps=keeps)
        source, spool = stack.enter_context(opened)
        name = source.name if isinstance(source, LocalSource) else source.what
        place = name if how.keys_of is None else f"{name} for {keys_of}"
        if (base := to.base() if how.append else None) is not None:
            refuse_other_options(to, base, options)
        scan = partial(
            prepare, source, options, progress, how.classes, base, spool=spool, keys_of=how.keys_of
        )
        if how.part is not None:
            asked = Run.asked(place, options, how.classes)
            return _pack_part(to, how, asked, scan, progress, announce, began)
        work = scan()
        committed = base if how.append else None if how.overwrite else packed_before(to, work)
        is_new = committed is None or (how.append and len(work.plan) > 0)
        if is_new:
            if base is None:
                refuse_unknown_columns(options.columns, json_of_source(work))
            asked = Run.asked(f"{place}{work.scanned.facts.identity}", options, how.classes).of(
                work
            )
            stops = _warn_of_rejected(work, to, how, progress, announce, tell)
            engine = stack.enter_context(connected(how.executor))
            held = to.hold(asked, how.overwrite, work.base, progress.note)
            guard = RunGuard(stack.enter_context(held), asked.versions)
            announce(work.announcement)
            written, count = write_missing(
                work, to, range(len(work.plan)), guard, how, engine, progress, is_refused=stops
            )
            content = _content(work, to, written, how, name)
        else:
            assert committed is not None
            announce(work.announcement)
            content, written, count = Manifest.load(committed), written_of(committed), 0
        # For other sources the scan has said it.
        unlabelled = without_labels(written.labels) if work.scanned.facts.is_late else []
        skipped = work.scanned.listing.skipped
        report = finish(
            to,
            content,
            written,
            began,
            progress if is_new else None,
            reading=work.reading,
            command=work.command,
            remarks=[
                *(*work.remarks, *_lost_classes(work, written), *unlabelled),
                *_how_to_add(work, rejected := all_rejected(work, written)),
            ],
            shards_written=min(count, len(written.entries)),  # without those that were dropped
            rejected=rejected,
            ignored=[(item.name, item.reason) for item in skipped if item.ignored],
        )
    remove_unpacked(to.folder)
    if isinstance(src, StoreSource):
        src.forget()
    return report


def _pack_part(
    to: Destination,
    how: RunOptions,
    asked: Run,
    scan: Callable[[], Work],
    progress: Progress,
    announce: Note,
    began: float,
) -> PartReport:
    part, is_done, written, count = how.part, to.is_done, Written(), 0
    assert part is not None

    def checked(work: Work) -> Work:
        refuse_unknown_columns(work.options.columns, json_of_source(work))
        if not how.skips and (by_scan := all_rejected(work)):
            raise refusal(work, by_scan, written=False)
        return work

    with ExitStack() as stack:
        if is_done:
            work = scan()
            packed_before(to, work)
            announce(work.announcement)
        else:
            engine = stack.enter_context(connected(how.executor))
            held = share(to, part, asked, lambda: checked(scan()), progress.note)
            work, watched = stack.enter_context(held)
            announce(work.announcement)
            checked(work)  # another part has scanned, which skips what is rejected
            numbers, guard = part.shards(len(work.plan)), RunGuard(watched, asked.versions)
            written, count = write_missing(work, to, numbers, guard, how, engine, progress)
    shards = part.shards(len(work.plan))
    return PartReport(
        reading=work.reading,
        part=str(part),
        dataset=to.name,
        samples=sum(len(work.plan.shard(number)) for number in shards),
        shards=len(shards),
        shards_written=count,
        missing=0 if is_done else to.missing(tars(work, to.folder)),
        committed=is_done,
        seconds=time.monotonic() - began,
        rejected=sorted(written.rejected),
        untiled=sorted(written.untiled),
        unbanded=sorted(written.unbanded),
    )


def _warn_of_rejected(
    work: Work, to: Destination, how: RunOptions, progress: Progress, announce: Note, tell: Tell
) -> bool:
    """Name what the scan rejects; return whether nothing can be committed for it."""
    by_scan = all_rejected(work)
    if not by_scan:
        return False
    if not how.skips and stops_at_once(work, by_scan):
        announce(work.reading)
        raise refusal(work, by_scan, written=False)
    tell(by_scan)
    if not how.skips:
        kept = ", and finished shards are kept" if to.holds_all else ""
        progress.note(
            f"{many(len(by_scan), 'file')} rejected, so nothing will be committed. Packing "
            f"continues to find all other bad files in this run{kept}. To stop, press Ctrl-C."
        )
    return not how.skips


def _content(work: Work, to: Destination, written: Written, how: RunOptions, name: str) -> Manifest:
    """Return the manifest; shards without samples are dropped from what is added."""
    if not how.append and not any(entry.samples for entry in written.entries.values()):
        files = all_rejected(work, written)
        raise NothingToPack(
            f"{name} has no image. Nothing was committed.",
            files,
        )
    dropped = _drop_empty_shards(to.folder, written) if how.append else []
    if work.scanned.facts.is_keyed:
        refuse_repeated_keys(to.folder, written.entries)
    rejected = all_rejected(work, written)
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.options.policy,
        rejected=rejected,
        unindexed=work.scanned.listing.rejected + dropped,  # no index has them
        before=work.rejected_before,
        gone=repaired(work.rejected_before, _packed_files(work, rejected)),
        reading=work.reading,
        boxes={**work.scanned.facts.boxes, **of_items(work.options.source)},
        colors=work.scanned.facts.mask_colors,
        options=work.options.dump(),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
        images=work.scanned.facts.has_images,
    )


def _packed_files(work: Work, rejected: Rejections) -> Iterator[str]:
    """Yield the files of the samples that are packed now."""
    lost, files = {name for name, _ in rejected}, work.scanned.files
    for sample in work.scanned.listing if work.rejected_before else ():
        if sample.name not in lost:
            yield from (sample.name, *files.member_files(sample))


def _how_to_add(work: Work, rejected: Rejections) -> list[str]:
    """Return a sentence on how rejected files are added once they are repaired."""
    skipped = work.scanned.listing.skipped
    if len(rejected) == sum(item.repeats for item in skipped) or work.scanned.facts.is_late:
        return []
    added = option("append" if work.scanned.facts.has_images else "overwrite", True)
    return [f"To add rejected files after you repair them, run the same command with {added}."]


def _lost_classes(work: Work, written: Written) -> list[str]:
    """Return a sentence on the classes whose every file was rejected when it was read."""
    known = len(work.base.classes) if work.base else 0
    labels = {*np.unique(work.scanned.listing.labels).tolist()}.difference(written.labels)
    lost = [work.scanned.classes[label] for label in sorted(labels) if label >= known]
    sentence = "These classes have no images; they keep their numbers"
    return [f"{sentence}: {listed(lost, EXAMPLES)}."] if lost else []


def _drop_empty_shards(dst: Path, written: Written) -> Rejections:
    """Remove shards without samples, which each append would write; return their rejections."""
    rejected: Rejections = []
    for file in [file for file, entry in written.entries.items() if not entry.samples]:
        rejected += Index(index_of(dst / file), mapped=False).rejected
        remove_shard(dst / file)
        del written.entries[file]
    return rejected


def _classes(work: Work, written: Written) -> tuple[str, ...]:
    """Return the class names; late sources may have numbers, which are known only now."""
    known = work.base.classes if work.base else ()
    if work.scanned.classes or not work.scanned.facts.is_late:
        return work.scanned.classes
    names = numbered(written.labels)
    if len(names) <= len(known):
        return known
    if known != names[: len(known)]:
        raise UnusableInput(
            f"The largest label is {len(names) - 1}, and {len(known)} classes have names. Pass "
            "the names of all classes as classes=[...]."
        )
    return names
