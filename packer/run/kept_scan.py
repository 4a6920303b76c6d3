"""What the first part of a run has found in the source, kept for the other parts.

A scan of ten million files takes minutes, and gigabytes of memory. The file holds the samples in
the order of the shards, in columns; a part maps it, and reads those of its own shards alone.

::

    columns, each from a multiple of 64 bytes on
    a pickle of all else
    where that lies, and its checksum: what is cut short lacks it

It is a pickle, so it is read only where it is this very user's, and nobody else could write it.
"""

import mmap
import os
import pickle
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import xxhash

from packer.errors import UnusableInput
from packer.plan.work import Work
from packer.run.run import Run

_END = struct.Struct("<8sQQQ")
_MAGIC = b"kept:001"
_ALIGNED = 64


def save(file: Any, run: Run, work: Work) -> None:
    """Write the scan that `run` was made of to the open `file`.

    Raises:
        OSError: it cannot be written.
    """
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


def load(file: Any, run: Run) -> Work | None:
    """The scan that `run` was made of; None if the open `file` does not hold it.

    Raises:
        UnusableInput: another user may have written it.
    """
    status = os.fstat(file.fileno())
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise UnusableInput(
            f"{file.name} belongs to another user, or others may write it: all parts are packed "
            "by one user. Remove it if it is left from another run."
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
    """The same with samples in the order of the shards, and of what is skipped the rejected."""
    listing, plan = work.scanned.listing.take(work.plan.order), work.plan
    listing.skipped = [item for item in work.scanned.listing.skipped if not item.ignored]
    return replace(
        work,
        scanned=replace(work.scanned, listing=listing),
        plan=replace(plan, order=np.arange(len(plan.order)), spans=plan.spans[plan.order]),
    )
