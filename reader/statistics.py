"""What a loader did, and what held it back."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """Counts since the loader was made; times in seconds.

    Attributes:
        batches, samples: delivered.
        workers, restarts: worker processes, and how many were replaced because they died.
        slots, slot_bytes: the ring: batches it holds and bytes of each.
        copied: batches copied out because the consumer held on to too many.
        elapsed: between the first request for a batch and the last delivery.
        waited: of these, spent by the consumer waiting for a batch.
        busy: spent by all workers together on tasks.
        bad: samples that could not be read and were substituted or masked.
    """

    batches: int
    samples: int
    workers: int
    restarts: int
    slots: int
    slot_bytes: int
    copied: int
    elapsed: float
    waited: float
    busy: float
    bad: int = 0

    @property
    def bottleneck(self) -> str:
        """A sentence that says what to do about the speed."""
        if not self.elapsed or not self.batches:
            return "Nothing was read yet."
        waited = self.waited / self.elapsed
        busy = self.busy / (self.elapsed * self.workers)
        seen = f"workers busy {busy:.0%}, consumer waited {waited:.0%} of the time"
        if waited < 0.05:
            return f"consumer-bound: {seen}; the reader keeps up."
        if busy > 0.8:
            more = max(1, round(self.workers * waited / max(1 - waited, 0.1)))
            return f"decode-bound: {seen}; about {more} more workers would keep up."
        return f"start-up or storage: {seen}; neither side was at work all the time."
