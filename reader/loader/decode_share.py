"""Choose the share of each batch that workers decode for ``decode="auto"``.

A GPU decodes the rest. Workers decode everything until a GPU's decoder is attached. Then they
decode half of each batch until the share is measured, once; a loaded state replaces the
measurement. The first rows of a batch are theirs, so the pixels of a position depend on the share
alone, not on any speed.
"""

from collections.abc import Callable
from typing import NamedTuple

from reader.gpu_decode.decoders import ChosenDecoder
from reader.monitoring.statistics import Statistics

_FIRST = 0.5
_SKIPPED, _MEASURED = 8, 16  # batches: caches fill and kernels are tuned first
_BUSY = 0.9  # share of their time that workers may need to keep up
_AT_ONCE = {"cpu": 1.0, "gpu": 0.0, "auto": 1.0}


class Seen(NamedTuple):
    """Measured seconds for an image."""

    workers: int
    drawing: float  # of a worker, to decode it
    other: float  # of a worker, for all else
    gpu: float  # of the GPU, to decode it
    step: float  # of the loop, without waiting for batches


def balanced(seen: Seen) -> float:
    """Return the largest share with which workers keep up with the loop, or else with the GPU."""
    drawing, other = max(seen.drawing, 1e-9) / seen.workers, seen.other / seen.workers
    with_gpu = (seen.gpu - other) / (seen.gpu + drawing)
    with_loop = (_BUSY * seen.step - other) / drawing
    return round(min(max(with_gpu, with_loop, 0.0), 1.0), 2)


class DecodeShare:
    """The share of one loader; the prefetcher's thread calls `decoded`, and the loop all else."""

    def __init__(self, decode: str) -> None:
        self.value = _AT_ONCE[decode]  # of a batch that is queued now
        self.settled: float | None = None  # measured or loaded; used while a decoder is attached
        self.delivered: float | None = None  # `settled` when the last delivered batch was queued
        self.decoder: ChosenDecoder | None = None
        self._is_auto = decode == "auto"
        self._batches = 0  # delivered since a decoder was attached
        self._since: Statistics | None = None
        self._images, self._seconds, self._waited = 0, 0.0, 0.0

    @property
    def is_measuring(self) -> bool:
        return self._is_auto and self.settled is None and self._can_decode

    @property
    def _can_decode(self) -> bool:
        return self.decoder is not None and self.decoder.function is not None

    def rows(self, rows: int) -> int:
        return round(self.value * rows)

    def attach(self, decoder: ChosenDecoder) -> bool:
        """Use a decoder from now on; return whether the share changes."""
        self.decoder = decoder
        return self._update()

    def load(self, share: float | None) -> bool:
        """Use the share of a state, if it has one; return whether the share changes."""
        if self._is_auto and share is not None:
            self.settled = self.delivered = share
        return self._update()

    def decoded(self, images: int, seconds: float) -> None:
        """Count images that the GPU decoded."""
        self._images, self._seconds = self._images + images, self._seconds + seconds

    def waited(self, seconds: float) -> None:
        """Count time in which the loop waited for the GPU's decoder."""
        self._waited += seconds

    def settle(self, look: Callable[[], Statistics]) -> None:
        """Count a delivered batch, and settle the share when enough of them are measured."""
        if not self.is_measuring:
            return
        self._batches += 1
        if self._batches == _SKIPPED:
            self._since = look()
            self._images, self._seconds, self._waited = 0, 0.0, 0.0
        if self._batches < _SKIPPED + _MEASURED or self._since is None or not self._images:
            return
        seen = look().since(self._since)
        loop, spent = seen.loop, seen.spent
        if spent.drawn:
            self.settled = balanced(
                Seen(
                    max(seen.now.workers, 1),
                    spent.drawing / spent.drawn,
                    (spent.busy - spent.drawing) / loop.samples,
                    self._seconds / self._images,
                    max(loop.elapsed - loop.waited - self._waited, 0.0) / loop.samples,
                )
            )
            self._update()

    def _update(self) -> bool:
        before = self.value
        if self._is_auto and self._can_decode:
            self.value = _FIRST if self.settled is None else self.settled
        return self.value != before
