"""`packer pack --part`: some shards of a run that other commands write the rest of."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from packer.errors import Rejected
from packer.options.declared import PackOptions
from packer.plan.guard import Mandate
from packer.plan.prepare import prepare
from packer.plan.work import Work, tars
from packer.progress import Progress
from packer.run import log
from packer.run.destination import Destination
from packer.run.open_source import brought
from packer.run.pack import refusal
from packer.run.part import Part
from packer.run.run import Run
from packer.run.up_to_date import already_packed
from packer.run.write_missing import fill
from packer.shards.executors import connected
from packer.shards.jobs import Rejections
from packer.shards.written import Written
from packer.storage.decompress import beside
from packer.storage.source import StoreSource


@dataclass(frozen=True)
class PartReport:
    """What became of one part.

    Attributes:
        reading: what the source was understood as, in a sentence.
        part: such as "3/64".
        samples, shards: of this part.
        missing: shards of the whole that are not there yet.
        committed: whether there is a dataset already.
        rejected, untiled: of this part, as those of `PackReport`.
    """

    reading: str
    part: str
    dataset: str
    samples: int
    shards: int
    shards_written: int
    missing: int
    committed: bool
    seconds: float
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]


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
    announce: Callable[[str], None] = lambda sentence: None,
) -> PartReport:
    """Write the missing shards of `part`; `pack` writes what is missing of all, and commits.

    The arguments are those of `pack`.

    Raises:
        NothingToPack, Rejected, PackingFailed: as `pack` does.
        UnusableInput: `dst` holds something else, or others are at work on this part, or on all.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    to = dst if isinstance(dst, Destination) else Destination(Path(os.path.realpath(dst)))
    given = brought(src, to, progress)

    def scan() -> Work:
        work = prepare(given, options, progress, classes, spool=beside(to.folder))
        refuse(work, work.scanned.listing.rejected, written=False)
        return work

    def refuse(work: Work, rejected: Rejections, written: bool) -> None:
        if rejected and not skip_rejected:
            raise refusal(work, rejected, written)

    def reported(work: Work, count: int = 0, written: Written | None = None) -> PartReport:
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
            rejected=sorted(written.rejected) if written else [],
            untiled=sorted(written.untiled) if written else [],
        )

    if is_committed := to.is_done:
        work = prepare(given, options, progress, classes, spool=beside(to.folder))
        already_packed(to, work)  # else it is another dataset
        announce(work.reading)
        return reported(work)
    asked = Run.asked(given.name, options, classes)
    with (
        connected(executor) as engine,
        to.share(part, asked, scan, progress.note) as (work, journal),
    ):
        announce(work.reading)
        mandate = Mandate(journal, asked.versions)
        numbers = part.shards(len(work.plan))
        try:
            refuse(work, work.scanned.listing.rejected, written=False)
            filled = fill(work, to, numbers, mandate, jobs, engine, skip_rejected, progress)
            refuse(work, sorted(filled.written.rejected + filled.unread), written=True)
        except Rejected:
            (to.folder / log.STALE).touch()  # the source is to be mended
            raise
    return reported(work, filled.count, filled.written)
