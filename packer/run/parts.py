"""Parts of one run, which share its destination and the scan of its source.

The first part scans while the others wait, and begins the run in the log; the others map what it
has found. A part without others may also begin the run again where the source has been mended, and
remove what killed processes have left.

The kept scan has the samples in the order of the shards, in columns at multiples of 64 bytes, then
a pickle of all else, then its position, and its checksum: a truncated file lacks it. A pickle
is read only if it is this very user's, and no other user could write it.
"""

import fcntl
import mmap
import os
import pickle
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from packer.errors import Rejected, UnusableInput
from packer.files.snapshot import Watched
from packer.options.part import Part
from packer.plan.work import Work
from packer.run.destination import KEPT_SCAN, STALE, Destination
from packer.run.log import Note, read
from packer.run.run import Run, busy, hold_part
from packer.storage.folder import ALL, SHARED, open_lock, still_exists, try_lock, wait_for_lock

_END = struct.Struct("<8sQQQ")
_MAGIC = b"kept:001"
_ALIGNED = 64


@contextmanager
def share(
    to: Destination, part: Part, asked: Run, scan: Callable[[], Work], note: Note
) -> Iterator[tuple[Work, Watched]]:
    """Hold `part` of the run in a folder; the body writes its shards.

    `asked` is the run before `scan`; `note` is called with why it takes time.
    """
    folder = to.folder
    stale = folder / STALE
    with hold_part(folder, part), ExitStack() as held:
        with _scanning(folder, note) as kept:
            file = held.enter_context(open_lock(to.path))
            held.callback(_leave, to, file)
            is_alone = try_lock(file, ALL)
            if not is_alone and not try_lock(file, SHARED):
                raise busy(folder, part)
            found = read(file)
            if found is not None and not asked.mends(found):
                raise asked.refusal(folder, found)
            work = _load(kept, found) if found is not None and not stale.exists() else None
            if found is None or work is None:
                if not is_alone:
                    changed = "The source has changed after parts of it were packed."
                    raise UnusableInput(f"{changed} {busy(folder, part)}")
                work = scan()
                found = asked.of(work)
                to.begin(file, found, note=note)
                _save(kept, found, work)
                stale.unlink(missing_ok=True)
            if is_alone:
                to.remove_temporaries(work.plan.splits)
                if not try_lock(file, SHARED):
                    raise busy(folder, part)
        try:
            to.claim(found, False, None, note)
            yield work, Watched.of(to.path)
        except Rejected:
            stale.touch()  # the source is to be mended: scan it again
            raise


@contextmanager
def _scanning(folder: Path, note: Note) -> Iterator[Any]:
    """Hold the file of the kept scan, so that one part at a time checks if it has to scan."""
    waits = "Waiting for the part that scans the source."
    with wait_for_lock(folder / KEPT_SCAN, lambda: note(waits), mode=0o600) as file:
        try:
            yield file
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # which a mapping would hold on to


def _leave(to: Destination, file: Any) -> None:
    if not os.fstat(file.fileno()).st_size and try_lock(file, ALL) and still_exists(file):
        to.remove()


def _save(file: Any, run: Run, work: Work) -> None:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(_by_shards(work), 5, buffer_callback=buffers.append)
    places = []
    with open(os.dup(file.fileno()), "wb") as stream:
        stream.truncate(0)
        stream.seek(0)
        for buffer in buffers:
            with buffer.raw() as raw:
                stream.write(bytes(-stream.tell() % _ALIGNED))
                places.append((stream.tell(), len(raw)))
                stream.write(raw)
        rest, at = pickle.dumps((run, places, head)), stream.tell()
        stream.write(rest)
        stream.write(_END.pack(_MAGIC, at, len(rest), xxhash.xxh3_64_intdigest(rest)))
        stream.flush()
        os.fsync(stream.fileno())


def _load(file: Any, run: Run) -> Work | None:
    """Return the scan that `run` was made of; None if the open `file` does not hold it."""
    status = os.fstat(file.fileno())
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise UnusableInput(
            f"{file.name} belongs to another user, or other users can write it. Pack all parts "
            "as one user. If the file is left from another run, remove it."
        )
    if status.st_size < _END.size:
        return None
    content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    magic, at, size, digest = _END.unpack(content[-_END.size :])
    rest = content[at : at + size]
    if magic != _MAGIC or xxhash.xxh3_64_intdigest(rest) != digest:
        return None
    kept, places, head = pickle.loads(rest)
    if kept != run:
        return None
    columns = [content[start : start + length] for start, length in places]
    work: Work = pickle.loads(head, buffers=columns)
    return work


def _by_shards(work: Work) -> Work:
    """Put samples into the order of the shards, and leave out what only the scan needs.

    That are ignored files, and what remarks on samples without labels are made of.
    """
    listing, plan = work.scanned.listing.take(work.plan.order), work.plan
    listing.skipped = [item for item in work.scanned.listing.skipped if not item.ignored]
    facts = replace(work.scanned.facts, unlabelled=tuple)
    return replace(
        work,
        scanned=replace(work.scanned, listing=listing, facts=facts),
        plan=replace(plan, order=np.arange(len(plan.order)), spans=plan.spans[plan.order]),
    )
