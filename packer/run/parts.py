"""How parts of one run share its destination, and the one scan of its source.

The first part at work scans while the others wait, and begins the run in the journal; the others
take over what it has found. Who is alone at work may also do what needs that: begin the run anew
where the source has been mended, and remove what killed processes have left.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.plan.work import Work
from packer.run import kept_scan, log
from packer.run.part import Part, busy, only
from packer.run.run import Run
from packer.storage import lock


@contextmanager
def sharing(
    folder: Path, part: Part, asked: Run, scan: Callable[[], Work], note: Callable[[str], None]
) -> Iterator[tuple[Work, Watched]]:
    """Hold `part` of the run in `folder`; the body writes its shards.

    Args:
        folder: the destination.
        part: to be written.
        asked: the run, as it is known before the scan.
        scan: scans the source.
        note: is told why it takes time.

    Raises:
        UnusableInput: the part, or all of it, is another process's, or the run is another one.
    """
    path = folder / log.JOURNAL
    with only(folder, part), ExitStack() as held:
        with _scanning(folder, note) as kept:
            file = held.enter_context(lock.opened(path))
            held.callback(_leave, folder, file)
            is_alone = lock.take(file, lock.ALL)
            if not is_alone and not lock.take(file, lock.SHARED):
                raise busy(folder, part)
            found = log.read(file)
            if found is not None and not asked.mends(found):
                raise log.not_this(folder, found, asked)
            work = None
            if found is not None and not (folder / log.STALE).exists():
                work = kept_scan.load(kept, found)
            if work is None and not is_alone:
                at_work = busy(folder, part)
                raise UnusableInput(
                    f"The source has changed since parts of it were packed. {at_work}"
                )
            if work is None:
                work = scan()
                run = asked.of(work)
                log.begin(folder, file, run, note=note)
                kept_scan.save(kept, run, work)
                (folder / log.STALE).unlink(missing_ok=True)
            if is_alone:
                log.remove_temporaries(folder, work.plan.splits)
                if not lock.take(file, lock.SHARED):
                    raise busy(folder, part)
        yield work, Watched.of(path)


def scan_again(folder: Path) -> None:
    """Have the next part that is alone scan the source anew: it is to be mended."""
    (folder / log.STALE).touch()


@contextmanager
def _scanning(folder: Path, note: Callable[[str], None]) -> Iterator[Any]:
    """The file of the kept scan, held so that one part at a time looks whether it has to scan."""
    while True:
        with lock.opened(folder / log.KEPT_SCAN, mode=0o600) as file:
            if not lock.take(file, lock.ALL):
                note("Waiting for the part that scans the source.")
                fcntl.flock(file, fcntl.LOCK_EX)
            if lock.is_there(file):
                try:
                    yield file
                finally:
                    fcntl.flock(file, fcntl.LOCK_UN)  # which a mapping would hold on to
                return


def _leave(folder: Path, file: Any) -> None:
    """Leave nothing behind where nothing was begun."""
    if not os.fstat(file.fileno()).st_size and lock.take(file, lock.ALL) and lock.is_there(file):
        log.remove_state(folder)
