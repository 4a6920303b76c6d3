"""`packer pack`, the dataset or a part of it: scan, plan, write, commit."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, UnusableInput
from packer.layouts.interpretation import Interpretation
from packer.options.declared import PackOptions, RunOptions
from packer.options.part import Part
from packer.plan.prepare import prepare
from packer.plan.scan import numbered
from packer.plan.work import RunGuard, Work, tars
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.log import Note, ignore
from packer.run.parts import share
from packer.run.report import PackReport, PartReport, manifest_of, report, without_labels
from packer.run.run import Run
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
from packer.storage.source import LocalSource, StoreSource, open_source, remove_unpacked
from packer.words import listed, many
from reader.format import Index, Manifest


def run(
    src: Path | StoreSource | Interpretation,
    to: Destination,
    options: PackOptions,
    how: RunOptions,
    progress: Progress | None = None,
    announce: Note = ignore,
    tell: Callable[[Rejections], None] = lambda files: None,
) -> PackReport | PartReport:
    """Pack `src` into the dataset `to`, or write a part of it; finish what an earlier run began.

    Before anything is packed, `announce` is called with the sentence that says what the source was
    understood as, and `tell` with what the scan rejects. Where rejected files stop the run, nothing
    is committed: nothing is packed where the source may be misread, or in a part; otherwise all
    images are, so that `Rejected` names them all. A part commits nothing.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    part = how.part
    if isinstance(src, StoreSource) and part is None and not (how.append or how.overwrite):
        done = packed_from(src, to, options, how.classes, began)
        if done is not None:
            return done
    is_done, written, count = part is not None and to.is_done, Written(), 0
    with ExitStack() as stack:
        opened = open_source(src, progress, to.folder, to.name, keeps=not is_done)
        source, spool = stack.enter_context(opened)
        name = source.name if isinstance(source, LocalSource) else source.what
        if (base := to.base() if how.append else None) is not None:
            refuse_other_options(to, base, options)
        scan = partial(prepare, source, options, progress, how.classes, base, spool=spool)
        if part is not None and not is_done:
            asked = Run.asked(name, options, how.classes)
            engine = stack.enter_context(connected(how.executor))
            held = share(to, part, asked, lambda: _sound(scan(), how), progress.note)
            work, watched = stack.enter_context(held)
            guard, numbers = RunGuard(watched, asked.versions), part.shards(len(work.plan))
            announce(work.announcement)
            _sound(work, how)  # another part has scanned, which skips what is rejected
            written, count = write_missing(work, to, numbers, guard, how, engine, progress)
        else:
            work = scan()
            committed = base if how.append else None if how.overwrite else already_packed(to, work)
            if is_done or (committed is not None and not (how.append and len(work.plan))):
                announce(work.announcement)
                if committed is not None and part is None:
                    content = Manifest.load(committed)
                    written = written_of(committed, content)
                    to.forget(content)
            else:
                stops = _warn_of_rejected(work, to, how, progress, announce, tell)
                asked = Run.asked(f"{name}{work.scanned.facts.identity}", options, how.classes)
                engine = stack.enter_context(connected(how.executor))
                begun = to.hold(asked.of(work), how.overwrite, work.base, progress.note)
                guard = RunGuard(stack.enter_context(begun), asked.versions)
                announce(work.announcement)
                every = range(len(work.plan))
                written, count = write_missing(
                    work, to, every, guard, how, engine, progress, is_refused=stops
                )
                content = _commit(work, to, written, how, name, progress)
    if part is not None:
        return _part_report(work, to, part, written, count, is_done, began)
    remove_unpacked(to.folder)
    if isinstance(src, StoreSource):
        src.forget()
    # For other sources the scan has said it.
    unlabelled = without_labels(written.labels) if work.scanned.facts.is_late else []
    return report(
        to.name,
        content,
        written,
        began,
        reading=work.reading,
        command=work.command,
        remarks=[*work.remarks, *_lost_classes(work, written), *unlabelled],
        shards_written=min(count, len(written.entries)),  # without those that were dropped
        rejected=all_rejected(work, written),
        ignored=[(item.name, item.reason) for item in work.scanned.listing.skipped if item.ignored],
    )


def _sound(work: Work, how: RunOptions) -> Work:
    """Return the work of a part; raise if rejected files stop it."""
    if not how.skips and (by_scan := all_rejected(work)):
        raise refusal(work, by_scan, written=False)
    return work


def _warn_of_rejected(
    work: Work,
    to: Destination,
    how: RunOptions,
    progress: Progress,
    announce: Note,
    tell: Callable[[Rejections], None],
) -> bool:
    """Name what the scan rejects; return whether nothing can be committed for it."""
    by_scan = all_rejected(work)
    if not by_scan or how.skips:
        if by_scan:
            tell(by_scan)
        return False
    if may_be_misread(work, by_scan):
        announce(work.reading)
        raise refusal(work, by_scan, written=False)
    tell(by_scan)
    kept = ", and finished shards are kept" if to.holds_all else ""
    progress.note(
        f"{many(len(by_scan), 'file')} rejected, so nothing will be committed. Packing goes on to "
        f"find all others in the same run{kept}. Press Ctrl-C to stop."
    )
    return True


def _commit(
    work: Work, to: Destination, written: Written, how: RunOptions, name: str, progress: Progress
) -> Manifest:
    """Commit the dataset of all shards; those without samples are dropped from what is added."""
    if not how.append and not any(entry.samples for entry in written.entries.values()):
        files = all_rejected(work, written)
        raise NothingToPack(f"{name} holds no image. Nothing was committed.", files)
    dropped = _drop_empty_shards(to.folder, written) if how.append else []
    if work.scanned.facts.is_keyed:
        refuse_repeated_keys(to.folder, written.entries)
    content = _manifest(work, written, dropped)
    to.commit(content, progress)
    return content


def _part_report(
    work: Work,
    to: Destination,
    part: Part,
    written: Written,
    count: int,
    is_done: bool,
    began: float,
) -> PartReport:
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
    )


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
