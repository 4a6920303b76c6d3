"""A board in shared memory on which each worker records its current sample.

The parent can read it also after a worker hangs or dies, and recording costs a worker two stores
into memory. Each slot has one writer, and stores of eight bytes are atomic. A reader may briefly
see a task with another task's sample.
"""

import mmap
import os
from typing import NamedTuple

from reader.batch.ring import unnamed_file

_SLOTS = 1024  # more workers share slots


class CurrentSample(NamedTuple):
    task: int
    sample: int


class WorkerSlot:
    def __init__(self, words: "memoryview[int]") -> None:
        self._words = words

    def begin(self, task: int, sample: int) -> None:
        self._words[1] = sample + 1
        self._words[0] = task + 1

    def turn_to(self, sample: int) -> None:
        self._words[1] = sample + 1

    def end(self) -> None:
        self._words[0] = self._words[1] = 0

    def read(self) -> CurrentSample:
        return CurrentSample(self._words[0] - 1, self._words[1] - 1)


class ProgressBoard:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._words = memoryview(mmap.mmap(descriptor, 16 * _SLOTS)).cast("q")

    @classmethod
    def create(cls) -> "ProgressBoard":
        descriptor = unnamed_file(16 * _SLOTS)
        try:
            return cls(descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    def slot(self, number: int) -> WorkerSlot:
        begin = 2 * (number % _SLOTS)
        return WorkerSlot(self._words[begin : begin + 2])

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
