"""Batches in shared memory: slots of one anonymous file that workers fill and the parent lends.

Guarantees: the memory has no name, so nothing is left behind. A slot is reused only after every
array over it is gone. Only the parent changes a slot's state, in the order FREE -> FILLING (workers
write) -> READY (not yet delivered) -> LENT (arrays over it may exist) -> FREE.
"""

import mmap
import os
import tempfile
import time
import weakref
from collections import deque

import numpy as np

from reader.batch.layout import BatchArrays, BatchLayout, Bytes
from reader.errors import ReaderError
from reader.system import available_memory


def unnamed_file(size: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("shardfeed", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class RingMemory:
    """The mapped slots; parent and workers each map the same file."""

    def __init__(self, descriptor: int, slots: int, layout: BatchLayout) -> None:
        self.descriptor = descriptor
        self.slots = slots
        self.layout = layout
        self.bytes: Bytes = np.frombuffer(
            mmap.mmap(descriptor, slots * layout.slot_bytes), np.uint8
        )

    @classmethod
    def create(cls, slots: int, layout: BatchLayout) -> "RingMemory":
        size = slots * layout.slot_bytes
        needed = f"{slots} batches of {layout.slot_bytes:,} bytes in shared memory, {size:,} in all"
        # Without this check, the system would kill workers one by one when memory runs out.
        if size > (available := available_memory()):
            raise ReaderError(
                f"The loader needs {needed}, but {available:,} are available. Give a smaller "
                "batch_size= or batches_ahead=, or transforms that make smaller images."
            )
        try:
            descriptor = unnamed_file(size)
        except OSError as error:
            raise ReaderError(f"The loader needs {needed}: {error.strerror}.") from error
        try:
            return cls(descriptor, slots, layout)
        except OSError as error:
            os.close(descriptor)
            raise ReaderError(f"The loader needs {needed}: {error.strerror}.") from error

    def slot(self, number: int) -> Bytes:
        """Return a new array over one slot; arrays made from it keep it alive."""
        size = self.layout.slot_bytes
        # With a memoryview, arrays made from it keep this array alive, not just the memory.
        return np.frombuffer(self.bytes.data[number * size : (number + 1) * size], np.uint8)

    def close(self) -> None:
        """Close the file; the memory is freed with the last array over it."""
        os.close(self.descriptor)
        self.bytes = np.empty(0, np.uint8)


class Ring:
    def __init__(self, memory: RingMemory) -> None:
        self.memory = memory
        self._free = list(range(memory.slots))
        self._lent = 0
        self.copied = 0
        self.copying = 0.0
        self._returned: deque[int] = deque()  # filled by finalizers, in any thread

    def take(self) -> int | None:
        """Return a FREE slot, now FILLING; None if there is none."""
        self._reclaim()
        return self._free.pop() if self._free else None

    def release(self, slot: int) -> None:
        self._free.append(slot)

    def deliver(self, slot: int, rows: int) -> BatchArrays:
        """Return a READY slot's arrays, LENT until they are gone; a copy if too many are lent."""
        self._reclaim()
        if self._lent + 2 >= self.memory.slots:
            return self.copy_out(slot, rows)
        base = self.memory.slot(slot)
        self._lent += 1
        weakref.finalize(base, self._returned.append, slot).atexit = False
        arrays = self.memory.layout.arrays(base)
        return arrays if rows == self.memory.layout.rows else arrays.part(0, rows)

    def copy_out(self, slot: int, rows: int) -> BatchArrays:
        began = time.perf_counter()
        copy = self.memory.layout.arrays(self.memory.slot(slot)).part(0, rows).copy()
        self._free.append(slot)
        self.copied += 1
        self.copying += time.perf_counter() - began
        return copy

    def has_free(self) -> bool:
        self._reclaim()
        return bool(self._free)

    def _reclaim(self) -> None:
        while self._returned:
            self._free.append(self._returned.popleft())
            self._lent -= 1
