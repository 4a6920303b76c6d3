"""The attributes of a torch DataLoader that scripts and trainers read.

The samplers are a view of the loader's own order: they give its sample numbers, and their
`set_epoch` sets the loader's.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from torch.utils.data import BatchSampler, Sampler, SequentialSampler

from reader.errors import ReaderError
from reader.loader.epochs import Epochs


class LikeDataLoader:
    """Attributes of a DataLoader that are constant for a Loader."""

    generator = None  # seed= determines what is drawn
    worker_init_fn = None
    multiprocessing_context = None
    prefetch_factor = None  # memory limits how many batches are decoded ahead
    pin_memory_device = ""
    in_order = True

    def __getitem__(self, number: object) -> NoReturn:
        """Refuse: a DataLoader was made with the loader as its dataset."""
        raise TypeError(
            "A reader.Loader cannot be indexed: it replaces the DataLoader, so iterate over it "
            "directly. To make a DataLoader, give it a reader.Dataset."
        )


class OwnSampler(Sampler[int]):
    """The sample numbers of this rank's next iteration, in order."""

    def __init__(self, epochs: Epochs) -> None:
        self._epochs = epochs

    def __len__(self) -> int:
        self._epochs.steps_of_all()  # raises if there is no end
        return self._epochs.upcoming().samples

    def __iter__(self) -> Iterator[int]:
        order = self._epochs.plan.order
        for step in self._epochs.upcoming():
            epochs, inside = np.divmod(step.positions[: step.valid], order.count)
            for epoch in range(epochs[0], epochs[-1] + 1) if step.valid else ():
                yield from order.samples(inside[epochs == epoch], epoch).tolist()

    def set_epoch(self, epoch: int) -> None:
        """Make iteration number `epoch` the loader's next one."""
        self._epochs.turn_to_iteration(epoch)


class OwnSequentialSampler(OwnSampler, SequentialSampler):
    """The same without shuffling; Lightning requires this class to overfit."""


class OwnBatchSampler(BatchSampler):
    """The sample numbers of each batch of the next iteration."""

    def __init__(self, epochs: Epochs, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__(sampler, batch_size, drop_last)
        self._epochs = epochs

    def set_epoch(self, epoch: int) -> None:
        self._epochs.turn_to_iteration(epoch)


def own_batches(samples: object) -> NoReturn:
    """Stand in for a missing `collate_fn`; only a DataLoader made of a Loader's parts calls it."""
    raise ReaderError(
        "A DataLoader was made of a reader.Loader's dataset and batch_sampler (accelerate's "
        "skip_first_batches and the Hugging Face Trainer do this to resume). It would deliver "
        "whole images without the loader's transforms. Resume the loader itself: save "
        "loader.state_dict() with the checkpoint, call loader.load_state_dict(state), and pass "
        "ignore_data_skip=True to the Trainer."
    )
