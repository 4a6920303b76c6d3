"""The orders of a user's own sampler, or batch sampler: iterated once an epoch, and looked up."""

from collections.abc import Iterable, Sized
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from reader.checks import is_integer
from reader.dataset.places import described, sample_number
from reader.errors import ArgumentError
from reader.order.shuffle import Numbers, Order

_KEPT_EPOCHS = 2  # the one that is read and the one that is decoded ahead


class Sampled(Order):
    argument = "sampler"
    unit = "numbers"
    is_given = True

    def __init__(self, sampler: Any, total: int) -> None:
        if isinstance(sampler, (str, bytes)) or not isinstance(sampler, Iterable):
            what = "sample numbers" if self.unit == "numbers" else "lists of sample numbers"
            raise ArgumentError(f"{self.argument} is an iterable of {what}, not {sampler!r:.200}.")
        if not isinstance(sampler, Sized):
            raise ArgumentError(f"A {self.argument} has a length; {sampler!r:.200} has none.")
        self._sampler = sampler
        self._total = total
        # What is told the epoch: a BatchSampler leaves that to its sampler.
        places = (sampler, getattr(sampler, "sampler", None))
        self._timed = next((place for place in places if hasattr(place, "set_epoch")), None)
        self._told = self._epoch_of_sampler  # the one that it was given last
        self._epochs: dict[int, tuple[Any, str]] = {}  # what it gave, and what that is
        self.count = len(sampler)

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        return self.given(epoch)[positions]

    def begin(self, epoch: int) -> None:
        self.given(epoch)

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`. With `set_epoch`, only type and length are compared."""
        numbers = f"{len(self._sampler)} {self.unit}"
        if epoch is not None and self._timed is None:
            self.given(epoch)
            numbers = self._epochs[epoch][1]
        return {self.argument: f"{type(self._sampler).__name__} of {numbers}"}

    def newly_set(self) -> int | None:
        """Return the epoch that a script set on the sampler since it was asked, or None."""
        before, self._told = self._told, self._epoch_of_sampler
        return self._told if is_integer(self._told) and self._told != before else None

    @property
    def _epoch_of_sampler(self) -> Any:
        return getattr(self._timed, "epoch", None)

    def given(self, epoch: int) -> Any:
        if epoch not in self._epochs:
            if self._timed is not None:
                self._timed.set_epoch(epoch)
                self._told = self._epoch_of_sampler
            self._epochs[epoch] = self._read()
            for old in [*self._epochs][:-_KEPT_EPOCHS]:
                del self._epochs[old]
        return self._epochs[epoch][0]

    def _read(self) -> tuple[Any, str]:
        numbers = map(partial(sample_number, total=self._total), self._sampler)
        indices = np.fromiter(islice(numbers, self.count + 1), np.int64)
        self._check_length(len(indices))
        return indices, described(indices)

    def _check_length(self, found: int) -> None:
        length = len(self._sampler)
        if found != length:
            gave = "more" if found > length else found
            raise ArgumentError(f"The {self.argument} has length {length} and gave {gave}.")


class SampledBatches(Sampled):
    """The order of a batch sampler: position p is number ``p % size`` of batch ``p // size``."""

    argument = "batch_sampler"
    unit = "batches"

    def __init__(self, batch_sampler: Any, total: int, size: int | None) -> None:
        super().__init__(batch_sampler, total)
        self._most = size
        numbers, ends = self.given(0)
        self.batch_size = int(np.diff(ends).max(initial=1)) if size is None else size
        self._most = self._size = self.batch_size
        self._total_first = len(numbers)
        self.count *= self._size

    @property
    def epoch_samples(self) -> int:
        return self._total_first

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        numbers, ends = self.given(epoch)
        batches, inside = np.divmod(positions, self._size)
        # What stands beyond a batch's end follows in the epoch; no step consists of it.
        found: Numbers = numbers[(ends[batches] + inside) % len(numbers)]
        return found

    def length(self, position: int) -> int:
        """Samples of the batch that begins at a position, counted over all epochs."""
        epoch, inside = divmod(position, self.count)
        _, ends = self.given(epoch)
        batch = inside // self._size
        return int(ends[batch + 1] - ends[batch])

    def _read(self) -> tuple[Any, str]:
        parts = []
        for batch in islice(self._sampler, len(self._sampler) + 1):
            if isinstance(batch, (str, bytes)) or not isinstance(batch, Iterable):
                raise ArgumentError(
                    f"A batch_sampler gives lists of sample numbers, not {batch!r:.200}."
                )
            numbers = (sample_number(number, self._total, self.argument) for number in batch)
            parts.append(np.fromiter(numbers, np.int64))
            if not len(parts[-1]):
                raise ArgumentError("The batch_sampler gives a batch without samples.")
            if self._most is not None and len(parts[-1]) > self._most:
                raise ArgumentError(
                    f"The batch_sampler gives a batch of {len(parts[-1])} samples, and there is "
                    f"room for {self._most}, as many as the first epoch's largest had: "
                    "batch_size= says how many a batch may have."
                )
        self._check_length(len(parts))
        every = np.concatenate(parts or [np.empty(0, np.int64)])
        ends = np.cumsum([0, *map(len, parts)])
        what = f"{len(parts)} batches of {described(np.concatenate([every, ends]))}"
        return (every, ends), what
