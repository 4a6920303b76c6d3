"""`packer pack`, the dataset or a part of it: scan, plan, write, commit."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, Rejected, UnusableInput
from packer.layouts.interpretation import Interpretation
from packer.options.declared import PackOptions
from packer.plan.prepare import prepare
from packer.plan.scan import numbered
from packer.plan.work import RunGuard, Work, tars
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.log import STALE, Note, ignore
from packer.run.open_source import open_source, remove_unpacked
from packer.run.report import PackReport, PartReport, manifest_of, report, without_labels
from packer.run.run import Part, Run
from packer.run.write_missing import (
    all_rejected,
    already_packed,
    may_be_misread,
    packed_from,
    refusal,
    refuse_other_options,
    write_missing,
    written_of,
)
from packer.samples.labels import of_items
from packer.shards.builder import Rejections
from packer.shards.executors import connected
from packer.shards.shard_writer import Written, index_of, refuse_repeated_keys, remove_shard
from packer.storage.source import LocalSource, StoreSource
from packer.words import listed, many
from reader.format import Index, Manifest


def pack(
    src: Path | StoreSource | Interpretation,
    dst: Path | Destination,
    options: PackOptions,
    jobs: int,
    *,
    classes: Sequence[str] | None = None,
    append: bool = False,
    skip_rejected: bool = False,
    overwrite: bool = False,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    announce: Note = ignore,
    tell: Callable[[Rejections], None] | None = None,
) -> PackReport:
    """Pack `src` into the dataset `dst`, or finish what an earlier run began.

    Before anything is packed, `announce` is called with the sentence that says what the source was
    understood as, and `tell` with what the scan rejects. Without `skip_rejected` nothing is
    committed then: nothing is packed where the source may be misread; otherwise all images are, so
    that `Rejected` names them all.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    to = _destination(dst)
    if isinstance(src, StoreSource) and not (append or overwrite):
        done = packed_from(src, to, options, classes, began)
        if done is not None:
            return done
    with ExitStack() as stack:
        source, spool = stack.enter_context(open_source(src, progress, to, keeps=True))
        name = source.name if isinstance(source, LocalSource) else source.what
        if (base := to.base() if append else None) is not None:
            refuse_other_options(to, base, options)
        work = prepare(source, options, progress, classes, base, spool=spool)
        committed = base if append else None if overwrite else already_packed(to, work)
        if committed is not None and not (append and len(work.plan)):
            announce(work.announcement)
            content = Manifest.load(committed)
            count, written = 0, written_of(committed, content)
            to.forget(content)
            rejected = all_rejected(work, written)
        else:
            by_scan = all_rejected(work)
            stops = bool(by_scan) and not skip_rejected
            if stops and may_be_misread(work, by_scan):
                announce(work.announcement)
                raise refusal(work, by_scan, written=False)
            if by_scan and tell is not None:
                tell(by_scan)
            if stops:
                kept = ", and finished shards are kept" if to.holds_all else ""
                progress.note(
                    f"{many(len(by_scan), 'file')} rejected, so nothing will be committed. Packing "
                    f"goes on to find all others in the same run{kept}. Press Ctrl-C to stop."
                )
            run = Run.asked(f"{name}{work.scanned.facts.identity}", options, classes).of(work)
            engine = stack.enter_context(connected(executor))
            watched = stack.enter_context(to.hold(run, overwrite, work.base, progress.note))
            announce(work.announcement)
            how = RunGuard(watched, run.versions), jobs, engine, skip_rejected, progress
            written, count = write_missing(work, to, range(len(work.plan)), *how, is_refused=stops)
            rejected = all_rejected(work, written)
            if not append and not any(entry.samples for entry in written.entries.values()):
                raise NothingToPack(f"{name} holds no image. Nothing was committed.", rejected)
            dropped = _drop_empty_shards(to.folder, written) if append else []
            count = min(count, len(written.entries))  # without those that were dropped
            if work.scanned.facts.is_keyed:
                refuse_repeated_keys(to.folder, written.entries)
            content = _manifest(work, written, dropped)
            to.commit(content, progress)
    remove_unpacked(to.folder)
    if isinstance(src, StoreSource):
        src.forget()
    # For other sources the scan has said it.
    unlabelled = without_labels(written.labels) if work.scanned.facts.is_late else []
    return report(
        to.name,
        content,
        written,
        reading=work.reading,
        command=work.command,
        remarks=[*work.remarks, *_lost_classes(work, written), *unlabelled],
        shards_written=count,
        seconds=time.monotonic() - began,
        rejected=rejected,
        ignored=[(item.name, item.reason) for item in work.scanned.listing.skipped if item.ignored],
    )


def pack_part(
    src: Path | StoreSource,
    dst: Path | Destination,
    options: PackOptions,
    jobs: int,
    part: Part,
    *,
    classes: Sequence[str] | None = None,
    skip_rejected: bool = False,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    announce: Note = ignore,
) -> PartReport:
    """Write the missing shards of `part`; `pack` writes what is missing of all, and commits."""
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    to = _destination(dst)
    with ExitStack() as stack:
        source, spool = stack.enter_context(open_source(src, progress, to, keeps=not to.is_done))
        assert isinstance(source, LocalSource)
        written, count = Written(), 0

        def refuse(work: Work) -> Work:
            if not skip_rejected and (by_scan := all_rejected(work)):
                raise refusal(work, by_scan, written=False)
            return work

        def scan() -> Work:
            return refuse(prepare(source, options, progress, classes, spool=spool))

        if is_committed := to.is_done:
            work = prepare(source, options, progress, classes, spool=spool)
            already_packed(to, work)  # else it is another dataset
            announce(work.announcement)
        else:
            run = Run.asked(source.name, options, classes)
            engine = stack.enter_context(connected(executor))
            work, watched = stack.enter_context(to.share(part, run, scan, progress.note))
            announce(work.announcement)
            how = RunGuard(watched, run.versions), jobs, engine, skip_rejected, progress
            try:
                refuse(work)  # another part has scanned, which skips what is rejected
                written, count = write_missing(work, to, part.shards(len(work.plan)), *how)
            except Rejected:
                (to.folder / STALE).touch()  # the source is to be mended: scan it again
                raise
    shards = part.shards(len(work.plan))
    return PartReport(
        reading=work.reading,
        part=str(part),
        dataset=to.name,
        samples=sum(len(work.plan.shard(number)) for number in shards),
        shards=len(shards),
        shards_written=count,
        missing=0 if is_committed else to.missing(tars(work, to.folder)),
        committed=is_committed,
        seconds=time.monotonic() - began,
        rejected=sorted(written.rejected),
        untiled=sorted(written.untiled),
    )


def _destination(dst: Path | Destination) -> Destination:
    return dst if isinstance(dst, Destination) else Destination(Path(os.path.realpath(dst)))


def _lost_classes(work: Work, written: Written) -> list[str]:
    """Return a sentence on the classes whose every file was rejected when it was read."""
    known = len(work.base.classes) if work.base else 0
    labels = {*np.unique(work.scanned.listing.labels).tolist()}.difference(written.labels)
    lost = [work.scanned.classes[label] for label in sorted(labels) if label >= known]
    sentence = "No file of these classes is an image; they keep their numbers and have no samples"
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
            f"The largest label is {len(names) - 1}, and {len(known)} classes have names: give "
            "those of all as classes=[...]."
        )
    return names


def _manifest(work: Work, written: Written, dropped: Rejections) -> Manifest:
    """Return the manifest; no index has the files in `dropped`."""
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.options.policy,
        rejected=all_rejected(work, written),
        unindexed=work.scanned.listing.rejected + dropped,
        before=work.rejected_before,
        reading=work.reading,
        boxes={**work.scanned.facts.boxes, **of_items(work.options.source)},
        options=work.options.dump(),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
    )
