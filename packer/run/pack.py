"""`packer pack` on one screen: the five steps of a run, whatever it packs, and wherever to."""

import time

from packer.progress import QUIET, Progress
from packer.run.report import PackReport, PartReport
from packer.run.scopes import Whole
from packer.run.write_missing import write_missing
from packer.storage.source import AnySource, open_source


def run(src: AnySource, scope: Whole, show: Progress = QUIET) -> PackReport | PartReport:
    """Pack `src`, or a part of it, as `scope` says; finish what an earlier run began.

    ::

        open    the source, where this process can read it
        plan    its samples: scanned, refused, divided into shards; and
        hold    the destination, in which nobody else writes meanwhile
        write   the shards of the scope that are missing, on an engine
        end     with a commit, with a part's report, or because all was there

    If rejected files stop the run, nothing is committed: nothing is packed if the source may be
    misread, or in a part; otherwise all images are packed, so that `Rejected` names all of them.
    """
    began, to = time.monotonic(), scope.to
    if (report := scope.unread(src, began)) is not None:
        return report
    with (
        open_source(src, show, to.folder, to.name, keeps=scope.keeps_unpacked) as source,
        scope.hold(source, show) as held,
    ):
        show.announce(*held.work.announcement)
        written, count = write_missing(held, to, scope.how.jobs, scope.skips, show)
        ended = scope.end(held, written, count, show, began)
    scope.leave(src)
    return ended
