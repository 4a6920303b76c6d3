"""`packer pack`: scan, plan, write, commit."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, Rejected, UnusableInput
from packer.options.declared import PackOptions
from packer.plan.guard import Mandate
from packer.plan.prepare import prepare
from packer.plan.work import Work
from packer.planning.scan import numbered
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.open_source import brought, whole
from packer.run.repeated_keys import refuse_repeated_keys
from packer.run.report import PackReport, manifest_of, report, without_labels
from packer.run.run import Run
from packer.run.up_to_date import already_packed, packed_from, read, refuse_other_options
from packer.run.write_missing import fill
from packer.shards.executors import connected
from packer.shards.jobs import Rejections
from packer.shards.shard_writer import index_of, remove_shard
from packer.shards.written import Written
from packer.sources.folder.shape import listed
from packer.sources.given import Given
from packer.sources.objects import of_items
from packer.sources.reading import Reading
from packer.storage.decompress import beside, forget_unpacked
from packer.storage.source import StoreSource
from packer.words import many
from reader.format import Index, Manifest


def pack(
    src: Path | StoreSource | Reading,
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
    announce: Callable[[str], None] = lambda sentence: None,
    tell: Callable[[Rejections], None] | None = None,
) -> PackReport:
    """Pack `src` into the dataset `dst`, or finish what an earlier run began.

    Args:
        src: a path, or a place in a store; or what is understood already.
        dst: a folder, or a place in a store.
        jobs: processes; with an executor that does not tell its workers, their number.
        executor: where shards are packed, see `connected`; None: in processes of this machine.
        announce: is given the sentence that says what the source was understood as, before
            anything is packed or rejected.
        tell: is given what the scan rejects, before anything is packed.

    Raises:
        NothingToPack: the source holds no image.
        UnusableInput: `dst` holds something else.
        Rejected: files were rejected and `skip_rejected` is not set; nothing is committed. Where
            these suggest that the source is misread nothing is packed; else it names what the scan
            and the packing of all images reject.
        PackingFailed: writing failed; the same call continues.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    to = dst if isinstance(dst, Destination) else Destination(Path(os.path.realpath(dst)))
    if isinstance(src, StoreSource) and not (append or overwrite):
        done = packed_from(src, to, options, classes, began)
        if done is not None:
            return done
    given = src if isinstance(src, Reading) else brought(src, to, progress)
    name = given.name if isinstance(given, Given) else given.what
    base = to.base() if append else None
    if base is not None:
        refuse_other_options(to, base, options)
    spool = beside(to.folder)
    work = prepare(whole(given, to, progress), options, progress, classes, base, spool=spool)
    there = base if append else None if overwrite else already_packed(to, work)
    if there is not None and not (append and len(work.plan)):
        announce(work.reading)
        content = Manifest.load(there)
        count, written = 0, read(there, content)
        to.forget(content)
        rejected = _rejected(work, written)
    else:
        by_scan = _rejected(work)
        stops = bool(by_scan) and not skip_rejected
        if stops and may_be_misread(work, by_scan):
            announce(work.reading)
            raise refusal(work, by_scan, written=False)
        if by_scan and tell is not None:
            tell(by_scan)
        if stops:
            look_on(by_scan, to.holds_all, progress)
        run = Run.asked(f"{name}{work.scanned.facts.identity}", options, classes).of(work)
        with (
            connected(executor) as engine,
            to.hold(run, overwrite, work.base, progress.note) as watched,
        ):
            announce(work.reading)
            mandate = Mandate(watched, run.versions)
            numbers = range(len(work.plan))
            filled = fill(
                work, to, numbers, mandate, jobs, engine, skip_rejected, progress, is_refused=stops
            )
            written, count = filled.written, filled.count
            rejected = sorted(_rejected(work, written) + filled.unread)
            if filled.unread or (rejected and not skip_rejected):
                raise refusal(work, rejected, written=to.holds_all or not stops)
            if not append and not any(entry.samples for entry in written.entries.values()):
                raise NothingToPack(f"{name} holds no image. Nothing was committed.", rejected)
            dropped = _drop_empty_shards(to.folder, written) if append else []
            count = min(count, len(written.entries))  # without those that were dropped
            if work.scanned.facts.is_keyed:
                refuse_repeated_keys(to.folder, written.entries)
            content = _manifest(work, written, dropped)
            to.commit(content, progress)
    forget_unpacked(to.folder)
    if isinstance(src, StoreSource):
        src.forget()
    unlabelled = []
    if work.scanned.facts.is_late:  # of others the scan has told it
        unlabelled = without_labels(written.labels)
    return report(
        to.name,
        content,
        written,
        reading=work.reading,
        remarks=[*work.remarks, *_lost_classes(work, written), *unlabelled],
        shards_written=count,
        seconds=time.monotonic() - began,
        rejected=rejected,
        ignored=[(item.name, item.reason) for item in work.scanned.listing.skipped if item.ignored],
    )


def _rejected(work: Work, written: Written | None = None) -> Rejections:
    """What the scan rejected, and what was rejected of the shards that are written."""
    return sorted(work.scanned.listing.rejected + (written.rejected if written else []))


def look_on(rejected: Rejections, keeps: bool, progress: Progress) -> None:
    """Say why a run goes on that cannot be committed, and whether it `keeps` its shards."""
    kept = ", and finished shards are kept" if keeps else ""
    progress.note(
        f"{many(len(rejected), 'file')} rejected, so nothing will be committed. Packing goes on to "
        f"find all others in the same run{kept}. Press Ctrl-C to stop."
    )


def may_be_misread(work: Work, files: Rejections) -> bool:
    """Whether the rejected files suggest another reading of the source: many, or strays."""
    listing = work.scanned.listing
    if work.scanned.facts.is_late:
        return False
    by_scan = [item for item in listing.skipped if not item.ignored]
    count = len(listing) + int(listing.member_counts.sum()) + len(by_scan)
    return 2 * len(files) > count or not all(item.damaged for item in by_scan)


def refusal(work: Work, files: Rejections, written: bool) -> Rejected:
    """Return the error for rejected files: a few are damaged, or the source may be misread."""
    noun = "item" if work.scanned.facts.is_late else "file"
    return Rejected(files, written, damaged=not may_be_misread(work, files), noun=noun)


def _lost_classes(work: Work, written: Written) -> list[str]:
    """A sentence on the classes whose every file was rejected when it was read.

    The labels are written by then, so that these classes keep their numbers.
    """
    classes = work.scanned.classes
    known = len(work.base.classes) if work.base else 0
    lost = [
        classes[label]
        for label in np.unique(work.scanned.listing.labels).tolist()
        if label >= known and label not in written.labels
    ]
    if not lost:
        return []
    return [
        "No file of these classes is an image; they keep their numbers and have no samples: "
        f"{listed(lost, EXAMPLES)}."
    ]


def _drop_empty_shards(dst: Path, written: Written) -> Rejections:
    """Remove shards without samples: each append would make them again.

    Returns:
        The files that were rejected from them.
    """
    rejected: Rejections = []
    for file in [entry.file for entry in written.entries.values() if not entry.samples]:
        rejected += Index(index_of(dst / file), mapped=False).rejected
        remove_shard(dst / file)
        del written.entries[file]
    return rejected


def _classes(work: Work, written: Written) -> tuple[str, ...]:
    """The class names; those of numbers that only reading the source has told."""
    there = work.base.classes if work.base else ()
    if work.scanned.classes or not work.scanned.facts.is_late:
        return work.scanned.classes
    names = numbered(written.labels)
    if len(names) <= len(there):
        return there
    if there != names[: len(there)]:
        raise UnusableInput(
            f"The largest label is {len(names) - 1}, and {len(there)} classes have names: give "
            "those of all as classes=[...]."
        )
    return names


def _manifest(work: Work, written: Written, dropped: Rejections) -> Manifest:
    """The manifest; no index names the files in `dropped`."""
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.options.policy,
        rejected=_rejected(work, written),
        unindexed=work.scanned.listing.rejected + dropped,
        before=work.rejected_before,
        reading=work.reading,
        boxes={**work.scanned.facts.boxes, **of_items(work.options.source)},
        options=work.options.dump(),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
    )
