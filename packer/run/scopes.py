"""What one command packs: a whole dataset, one part of it, or an addition to one.

A scope answers which shards are its own and what they are added to, when the destination is held,
what rejected files mean before anything is packed, and what the end is. Nothing else knows them.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from packer.errors import UnusableInput
from packer.options.declared import PackOptions, RunOptions
from packer.options.part import Part
from packer.plan.plan import Plan
from packer.plan.prepare import prepare
from packer.plan.work import RunGuard, Work, tars
from packer.progress import Progress
from packer.run import committed, refusals
from packer.run.destination import Destination
from packer.run.parts import share
from packer.run.report import PackReport, PartReport, finish
from packer.run.run import Run
from packer.run.write_missing import Held
from packer.shards.executors import connected
from packer.shards.shard_writer import Written
from packer.storage.dataset import Finished
from packer.storage.source import AnySource, LocalSource
from packer.storage.unpacked import remove_unpacked
from packer.words import many, option
from reader.store.urls import is_url


def scope_of(to: Destination, options: PackOptions, how: RunOptions) -> "Whole":
    if how.part is not None:
        return PartOfWhole(to, options, how)
    return Addition(to, options, how) if how.append else Whole(to, options, how)


class Whole:
    """All shards of a dataset."""

    base: Finished | None = None  # the dataset that is added to
    reads = False  # whether the source has to be read, though its version may be known
    keeps_unpacked = True  # until the dataset is committed

    def __init__(self, to: Destination, options: PackOptions, how: RunOptions) -> None:
        self.to, self.options, self.how = to, options, how
        self.skips = how.on_error == "skip"
        self._keys_of = how.keys_of if is_url(how.keys_of) else os.path.realpath(how.keys_of or "/")
        if self._keys_of == to.name:
            raise UnusableInput(
                f"{to.name} is the dataset of ", option("keys_of"), ". Choose another destination."
            )

    def plan(self, source: LocalSource, show: Progress) -> Work:
        further = self.how.classes, self.base, self.how.keys_of
        return prepare(source, *self.options.planning, show, *further)

    def asked(self, source: LocalSource) -> Run:
        place = source.name if source.path else ""
        place += f" for {self._keys_of}" if self.how.keys_of else ""
        return Run.asked(place, self.options, self.how.classes)

    def unread(self, src: AnySource, began: float) -> PackReport | None:
        """Return the report if the source need not be read to know that it was packed."""
        if self.reads or self.how.overwrite or self.how.keys_of:
            return None
        found = committed.packed_from(src.version, self.to, self.options, self.how.classes)
        if found is None:
            return None
        remark = (
            f"Up to date: {src.name} lists the same objects as when the dataset was "
            "packed. Nothing was fetched."
        )
        return finish(self.to, found.content, committed.written_of(found), began, remarks=[remark])

    def committed(self, work: Work) -> Finished | None:
        """Return the dataset that is there if it is this one; raise if it is another."""
        if self.how.overwrite:
            return None
        return committed.packed_before(self.to, work, self.recorded(work))

    @contextmanager
    def hold(self, source: LocalSource, show: Progress) -> Iterator[Held]:
        work = self.plan(source, show)
        if (found := self.committed(work)) is not None:
            yield Held(work, committed=found)
            return
        is_refused = self.judge(work, show)
        run = self.asked(source).of(work)
        with (
            connected(self.how.executor) as engine,
            self.to.hold(run, self.how.overwrite, work.base, show.note) as log,
        ):
            yield Held(work, range(len(work.plan)), RunGuard(log, run.versions), engine, is_refused)

    def judge(self, work: Work, show: Progress) -> bool:
        """Name what the scan rejects; return whether nothing can be committed for it."""
        if self.base is None:
            refusals.refuse_unknown_columns(self.options.columns, refusals.json_of_source(work))
        if not (by_scan := refusals.all_rejected(work)):
            return False
        if not self.skips and refusals.stops_at_once(work, by_scan):
            show.announce(work.reading)
            raise refusals.refusal(work, by_scan, written=False)
        show.rejected(by_scan)
        if self.skips:
            return False
        kept = ", and finished shards are kept" if self.to.holds_all else ""
        show.note(
            f"{many(len(by_scan), 'file')} rejected, so nothing will be committed. Packing "
            f"continues to find all other bad files in this run{kept}. To stop, press Ctrl-C."
        )
        return True

    def end(
        self, held: Held, written: Written, count: int, show: Progress, began: float
    ) -> PackReport | PartReport:
        work, is_new = held.work, held.committed is None
        if held.committed is None:
            content = committed.content_of(work, written, self.to.folder, self.recorded(work))
        else:
            content, written = held.committed.content, committed.written_of(held.committed)
        rejected = refusals.all_rejected(work, written)
        return finish(
            self.to,
            content,
            written,
            began,
            show if is_new else None,
            reading=work.reading,
            command=show.written(work.command),
            remarks=[
                show.written(one)
                for one in (*work.remarks, *committed.remarks_on(work, written, rejected))
            ],
            shards_written=min(count, len(written.entries)),  # without those that were dropped
            rejected=rejected,
            ignored=[(name, show.written(why)) for name, why in work.scanned.listing.ignored],
        )

    def recorded(self, work: Work) -> dict[str, Any]:
        return replace(self.options, source=work.options).dump()

    def leave(self, src: AnySource) -> None:
        remove_unpacked(self.to.folder)
        src.forget()


class Addition(Whole):
    """New shards of a dataset, whose reading, classes, numbers, splits and size go on."""

    reads = True

    def __init__(self, to: Destination, options: PackOptions, how: RunOptions) -> None:
        self.base = to.base()
        super().__init__(to, committed.read_as(self.base, options), how)
        committed.refuse_other_options(self.base, self.options.dump())

    def committed(self, work: Work) -> Finished | None:
        return None if len(work.plan) else self.base


class PartOfWhole(Whole):
    """Every N-th shard of a dataset; other commands write the others, and the last one commits."""

    reads = True

    def __init__(self, to: Destination, options: PackOptions, how: RunOptions) -> None:
        super().__init__(to, options, how)
        assert how.part is not None
        self.part: Part = how.part
        self.is_done = to.is_done
        self.keeps_unpacked = not self.is_done

    @contextmanager
    def hold(self, source: LocalSource, show: Progress) -> Iterator[Held]:
        if self.is_done:
            work = self.plan(source, show)
            committed.packed_before(self.to, work, self.recorded(work))
            yield Held(work)
            return

        def judged() -> Work:
            self.judge(work := self.plan(source, show), show)
            return work

        asked = self.asked(source)
        with (
            connected(self.how.executor) as engine,
            share(self.to, self.part, asked, judged, show.note) as (work, log),
        ):
            self.judge(work, show)  # of another part, which may skip what is rejected
            yield Held(work, self._shards(work.plan), RunGuard(log, asked.versions), engine)

    def judge(self, work: Work, show: Progress) -> bool:
        refusals.refuse_unknown_columns(self.options.columns, refusals.json_of_source(work))
        if not self.skips and (by_scan := refusals.all_rejected(work)):
            raise refusals.refusal(work, by_scan, written=False)
        return False

    def end(
        self, held: Held, written: Written, count: int, show: Progress, began: float
    ) -> PartReport:
        plan, shards = held.work.plan, self._shards(held.work.plan)
        return PartReport(
            reading=held.work.reading,
            part=str(self.part),
            dataset=self.to.name,
            samples=sum(len(plan.shard(number)) for number in shards),
            shards=len(shards),
            shards_written=count,
            missing=0 if self.is_done else self.to.missing(tars(held.work, self.to.folder)),
            committed=self.is_done,
            seconds=time.monotonic() - began,
            rejected=sorted(written.rejected),
            untiled=sorted(written.untiled),
            unbanded=sorted(written.unbanded),
        )

    def leave(self, src: AnySource) -> None:
        """Leave what was fetched and decompressed to the other parts."""

    def _shards(self, plan: Plan) -> range:
        return self.part.shards(len(plan))
