"""How much of its time a device has nothing to do because the next batch is not there."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import torch


class Waiting:
    """Measures over the loop that it is put around: ``for batch in waiting.over(batches)``.

    On a GPU the marks are CUDA events on its current stream, one before and one behind what the
    loop queues there for each batch: between two batches lies the time in which the GPU waited, for
    the copy or for the Python program. On other devices the marks are the clock's.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device  # which need not be the current one
        self._marks: list[Any] = []  # begin, end, begin, end, ...

    def over(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches, with marks around what is done with each."""
        for batch in batches:
            self._marks.append(self._now())
            yield batch
            self._marks.append(self._now())

    def share(self) -> float:
        """Waited, of the time from the first batch to the end of the last, from 0 to 1."""
        synchronise(self._device)
        waited = sum(map(self._between, self._marks[1:-1:2], self._marks[2::2]))
        return waited / self._between(self._marks[0], self._marks[-1])

    def _now(self) -> Any:
        if self._device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def _between(self, begin: Any, end: Any) -> float:
        return begin.elapsed_time(end) if self._device.type == "cuda" else end - begin


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
