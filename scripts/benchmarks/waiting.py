"""How much of its time a device has nothing to do because the next batch is not there."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import torch


class Waiting:
    """Measures over the loops that it is put around: ``for batch in waiting.over(batches)``.

    On a GPU the marks are CUDA events on its current stream, one before and one behind what the
    loop queues there for each batch: between two batches lies the time in which the GPU waited, for
    the copy or for the Python program. On other devices the marks are the clock's.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device  # which need not be the current one
        self._is_gpu = device.type == "cuda"
        self._marks: list[list[Any]] = []  # of each loop: begin, end, begin, end, ...

    def over(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches, with marks around what is done with each."""
        marks: list[Any] = []
        self._marks.append(marks)
        for batch in batches:
            marks.append(self._now())
            yield batch
            marks.append(self._now())

    def share(self) -> float:
        """Waited, of the time from the first batch to the end of the last, from 0 to 1."""
        if self._is_gpu:
            torch.cuda.synchronize(self._device)
        whole = waited = 0.0
        for marks in self._marks:
            complete = marks[: len(marks) // 2 * 2]  # a loop that was left has no last end
            if complete:
                whole += self._between(complete[0], complete[-1])
                waited += sum(map(self._between, complete[1:-1:2], complete[2::2]))
        return waited / whole if whole else 0.0

    def _now(self) -> Any:
        if not self._is_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def _between(self, begin: Any, end: Any) -> float:
        return begin.elapsed_time(end) if self._is_gpu else end - begin
