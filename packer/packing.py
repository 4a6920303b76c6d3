"""`packer pack`: scan, plan, write, commit."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, Rejected, UnusableInput
from packer.planning.mandate import Mandate
from packer.planning.options import PackOptions
from packer.planning.prepare import prepare
from packer.planning.scan import numbered
from packer.planning.work import Work
from packer.progress import Progress
from packer.sources.folder.shape import listed
from packer.sources.python.dataset import DatasetSource
from packer.sources.reading import Reading
from packer.writing.destination import Destination
from packer.writing.fill import fill
from packer.writing.jobs import Rejections
from packer.writing.repeats import refuse_repeated_keys
from packer.writing.report import PackReport, Written, manifest_of, report, without_labels
from packer.writing.run import Run
from packer.writing.runners.connect import connected
from packer.writing.shard_writer import remove_shard
from packer.writing.unpacked import forget_unpacked, unpacked
from reader.format import Manifest, manifest


def pack(
    src: Path | Reading,
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
        src: a path; or what is understood already.
        dst: a folder, or a place in a store.
        jobs: processes; with an executor that does not tell its workers, their number.
        executor: where shards are packed, see `connected`; None: in processes of this machine.
        announce: is given the sentence that says what the source was understood as, before
            anything is packed or rejected.
        tell: is given what the scan rejects, before anything is packed without it.

    Raises:
        NothingToPack: the source holds no image.
        UnusableInput: `dst` holds something else.
        Rejected: files were rejected and `skip_rejected` is not set; nothing is committed.
        PackingFailed: writing failed; the same call continues.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    to = dst if isinstance(dst, Destination) else Destination(Path(os.path.realpath(dst)))
    name = apart(src, to.folder) if isinstance(src, Path) else src.what
    if isinstance(name, Path):
        src = unpacked(name, to.folder, progress)
    base = to.base() if append else None
    if base is not None:
        _refuse_other_options(to, base, options)
    work = prepare(src, options, progress, classes, onto=base)
    there = base if append else None if overwrite else already_packed(to, work)
    if there is not None and not (append and len(work.plan)):
        announce(work.reading)
        content = Manifest.load(there)
        count, written = 0, _read(there, content)
        to.forget(content)
        rejected = _rejected(work, written)
    else:
        by_scan = _rejected(work)
        if by_scan and not skip_rejected:
            announce(work.reading)
            raise refusal(work, by_scan, written=False)
        if by_scan and tell is not None:
            tell(by_scan)
        run = Run.asked(f"{name}{work.scanned.identity}", options, classes).of(work)
        with (
            connected(executor) as engine,
            to.packing(run, overwrite, work.base, progress.note) as watched,
        ):
            announce(work.reading)
            mandate = Mandate(watched, run.versions)
            numbers = range(len(work.plan))
            filled = fill(work, to, numbers, mandate, jobs, engine, skip_rejected, progress)
            written, count = filled.written, filled.count
            rejected = sorted(_rejected(work, written) + filled.unread)
            if filled.unread or (rejected and not skip_rejected):
                raise refusal(work, rejected, written=True)
            if not append and not any(entry.samples for entry in written.entries.values()):
                raise NothingToPack(f"{name} holds no image. Nothing was committed.", rejected)
            if append:
                _drop_empty_shards(to.folder, written)
            if isinstance(source := work.scanned.source, DatasetSource) and source.probed.keyed:
                refuse_repeated_keys(to.folder, written.entries)
            content = _manifest(work, written, len(rejected))
            to.commit(content, progress)
    if isinstance(name, Path):
        forget_unpacked(name, to.folder)
    unlabelled = []
    if isinstance(work.scanned.source, DatasetSource):  # of others the scan has told it
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


def apart(src: Path, dst: Path) -> Path:
    """The source without links.

    Raises:
        UnusableInput: the destination lies in it.
    """
    src = Path(os.path.realpath(src))
    if dst == src or src in dst.parents:
        raise UnusableInput(
            f"{dst} lies inside {src}, the folder to be packed. Choose another place."
        )
    return src


def _refuse_other_options(to: Destination, base: Path, options: PackOptions) -> None:
    if differing := _differing(Manifest.load(base), options):
        raise UnusableInput(
            f"{to.name} was packed with other options: {differing}. Repeat them to append to it "
            "(dataset.json names them)."
        )


def already_packed(to: Destination, work: Work) -> Path | None:
    """The folder of `to.committed`, if an earlier run of the same command has committed it.

    Raises:
        UnusableInput: it is a dataset of other options or another source.
    """
    if (there := to.committed) is None:
        return None
    content = Manifest.load(there)
    classes = work.scanned.classes
    if differing := _differing(content, work.options):
        made, add = f"made with other options: {differing}", ""
    elif (
        content.source != work.scanned.fingerprint
        or (classes and content.classes != classes)
        or work.scanned.listing.newest_ns > (there / manifest.FILENAME).stat().st_mtime_ns
    ):
        made = "made with the same options from another source, or the source has changed since"
        add = ", give --append to add what is new"
    else:
        return there
    raise UnusableInput(
        f"{to.name} already holds a dataset, {made}. Choose another destination{add}, or give "
        "--overwrite to replace it."
    )


def _differing(content: Manifest, options: PackOptions) -> str:
    """Each option that is not as in a dataset, with both values; "" if all are the same."""
    there, now = _flat(content.options), _flat(options.dump())
    return ", ".join(
        f"{name} ({json.dumps(there.get(name))} there, {json.dumps(now.get(name))} now)"
        for name in sorted(there.keys() | now.keys())
        if there.get(name) != now.get(name)
    )


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, those of the source and the limits among the others."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        is_group = name in ("source", "limits") and isinstance(value, Mapping)
        found |= value if is_group else {name: value}
    return found


def _read(dst: Path, content: Manifest) -> Written:
    written = Written()
    for shard in content.shards:
        written.add(Written.of(dst / shard.file, shard.split))
    return written


def _rejected(work: Work, written: Written | None = None) -> Rejections:
    """What the scan rejected, and what was rejected of the shards that are written."""
    return sorted(work.scanned.listing.rejected + (written.rejected if written else []))


def refusal(work: Work, files: Rejections, written: bool) -> Rejected:
    """What says that files were rejected: few are damaged, or the source was misread."""
    listing = work.scanned.listing
    by_scan = [item for item in listing.skipped if not item.ignored]
    few = 2 * len(files) <= len(listing) + len(by_scan)
    if isinstance(work.scanned.source, DatasetSource):  # which nobody can misread
        return Rejected(files, written, noun="item")
    return Rejected(files, written, damaged=few and all(item.damaged for item in by_scan))


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


def _drop_empty_shards(dst: Path, written: Written) -> None:
    """What is rejected is rejected again at every append; it leaves no trace in the dataset."""
    for file in [entry.file for entry in written.entries.values() if not entry.samples]:
        remove_shard(dst / file)
        del written.entries[file]


def _classes(work: Work, written: Written) -> tuple[str, ...]:
    """The class names; those of numbers that only reading the source has told."""
    there = work.base.classes if work.base else ()
    if work.scanned.classes or not isinstance(work.scanned.source, DatasetSource):
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


def _manifest(work: Work, written: Written, rejected: int) -> Manifest:
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.options.policy,
        rejected=rejected,
        reading=work.reading,
        options=work.options.dump(),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
    )
