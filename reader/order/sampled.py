"""The order of a user's own sampler or batch sampler, iterated once per epoch."""

from collections.abc import Iterable, Sized
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from reader.checks import brief, is_integer
from reader.dataset.locator import described, sample_number
from reader.errors import ArgumentError
from reader.order.shuffle import Numbers, Order

_KEPT_EPOCHS = 2  # the one that is read and the one that is decoded ahead


class GivenOrder(Order):
    """The order of a user's sampler, whose numbers are known only when an epoch begins."""

    argument = "sampler"
    unit = "numbers"

    def __init__(self, sampler: Any, total: int) -> None:
        if isinstance(sampler, (str, bytes)) or not isinstance(sampler, Iterable):
            what = "sample numbers" if self.unit == "numbers" else "lists of sample numbers"
            raise ArgumentError(f"{self.argument} is an iterable of {what}, not {sampler!r:.200}.")
        if not isinstance(sampler, Sized):
            raise ArgumentError(
                f"The {self.argument} has no length: {sampler!r:.200}. Give a list, or a class "
                "with __len__."
            )
        self._sampler = sampler
        self._total = total
        # A BatchSampler's sampler has the set_epoch.
        places = (sampler, getattr(sampler, "sampler", None))
        self._timed = next((place for place in places if hasattr(place, "set_epoch")), None)
        self._last_set = self._epoch_of_sampler
        self._epochs: dict[int, tuple[Any, str]] = {}  # numbers, and their description
        self.count = len(sampler)

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        return self.given(epoch)[positions]

    def begin(self, epoch: int) -> None:
        """Read the numbers of an epoch from the sampler."""
        self.given(epoch)

    def options(self, epoch: int | None) -> dict[str, str]:
        """Return what `Order.options` does; with `set_epoch`, only type and length."""
        numbers = f"{len(self._sampler)} {self.unit}"
        if epoch is not None and self._timed is None:
            self.given(epoch)
            numbers = self._epochs[epoch][1]
        return {self.argument: f"{type(self._sampler).__name__} of {numbers}"}

    def newly_set(self) -> int | None:
        """Return the epoch that a script has set on its sampler since the last call, or None."""
        before, now = self._last_set, self._epoch_of_sampler
        self._last_set = now
        return now if is_integer(now) and now != before else None

    @property
    def _epoch_of_sampler(self) -> Any:
        return getattr(self._timed, "epoch", None)

    def given(self, epoch: int) -> Any:
        if epoch not in self._epochs:
            if self._timed is not None:
                self._timed.set_epoch(epoch)
                self._last_set = self._epoch_of_sampler
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
            raise ArgumentError(
                f"The {self.argument} has length {length} and gave {gave}. Correct its __len__."
            )


class GivenBatches(GivenOrder):
    """The order of a batch sampler: position p is number ``p % size`` of batch ``p // size``.

    Its batches differ in length; the largest has `batch_size` samples.
    """

    argument = "batch_sampler"
    unit = "batches"

    def __init__(self, batch_sampler: Any, total: int, size: int | None) -> None:
        super().__init__(batch_sampler, total)
        self._most = size
        numbers, ends = self.given(0)
        self._most = self.batch_size = int(np.diff(ends).max(initial=1)) if size is None else size
        self.first_samples = len(numbers)  # of the first epoch
        self.count *= self.batch_size

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        numbers, ends = self.given(epoch)
        batches, inside = np.divmod(positions, self.batch_size)
        # Positions beyond a batch's end are never part of a step.
        found: Numbers = numbers[(ends[batches] + inside) % len(numbers)]
        return found

    def length(self, position: int) -> int:
        """Return the number of samples of the batch at a position, counted over all epochs."""
        epoch, inside = divmod(position, self.count)
        _, ends = self.given(epoch)
        batch = inside // self.batch_size
        return int(ends[batch + 1] - ends[batch])

    def _read(self) -> tuple[Any, str]:
        parts = []
        for batch in islice(self._sampler, len(self._sampler) + 1):
            if isinstance(batch, (str, bytes)) or not isinstance(batch, Iterable):
                raise ArgumentError(
                    f"A batch_sampler yields lists of sample numbers, not {brief(batch)}."
                )
            numbers = (sample_number(number, self._total, self.argument) for number in batch)
            parts.append(np.fromiter(numbers, np.int64))
            if not len(parts[-1]):
                raise ArgumentError("The batch_sampler yields an empty batch. Leave it out.")
            if self._most is not None and len(parts[-1]) > self._most:
                raise ArgumentError(
                    f"The batch_sampler yields a batch of {len(parts[-1])} samples, but memory is "
                    f"reserved for {self._most}. Set batch_size={len(parts[-1])} or more, the "
                    "largest batch of any epoch."
                )
        self._check_length(len(parts))
        every = np.concatenate(parts or [np.empty(0, np.int64)])
        ends = np.cumsum([0, *map(len, parts)])
        what = f"{len(parts)} batches of {described(np.concatenate([every, ends]))}"
        return (every, ends), what
