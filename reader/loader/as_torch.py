"""What scripts and trainers read of a torch DataLoader, as a Loader has it.

`LikeDataLoader` has the names that only say something; the samplers are a view of the loader's own
order, for those who ask for its numbers or tell it the epoch.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from torch.utils.data import BatchSampler, Sampler, SequentialSampler

from reader.errors import ReaderError
from reader.loader.epochs import Epochs


class LikeDataLoader:
    """Names of a DataLoader for which a Loader has nothing to decide."""

    generator = None  # seed= determines what is drawn
    worker_init_fn = None
    multiprocessing_context = None
    prefetch_factor = None  # batches are decoded ahead as far as their memory allows
    pin_memory_device = ""
    in_order = True

    def __getitem__(self, number: object) -> NoReturn:
        """Of a DataLoader that was made of the loader, who asks its dataset for samples."""
        raise TypeError(
            "A reader.Loader has no samples by number: it is what a DataLoader is, so iterate over "
            "it as it is. To make a DataLoader, give it a reader.Dataset."
        )


class OwnSampler(Sampler[int]):
    """The sample numbers that this rank's next iteration of a loader has, in their order."""

    def __init__(self, epochs: Epochs) -> None:
        self._epochs = epochs

    def __len__(self) -> int:
        self._epochs.steps_of_all()  # or there is no end
        return self._epochs.upcoming().samples

    def __iter__(self) -> Iterator[int]:
        order = self._epochs.plan.order
        for step in self._epochs.upcoming():
            epochs, inside = np.divmod(step.positions[: step.valid], order.count)
            for epoch in range(epochs[0], epochs[-1] + 1) if step.valid else ():
                yield from order.samples(inside[epochs == epoch], epoch).tolist()

    def set_epoch(self, epoch: int) -> None:
        """Make `epoch` the loader's next iteration, as trainers count these."""
        self._epochs.turn_to_iteration(epoch)


class OwnSequentialSampler(OwnSampler, SequentialSampler):
    """The same where nothing is shuffled; Lightning refuses to overfit without a sign of that."""


class OwnBatchSampler(BatchSampler):
    """The numbers of each batch that the next iteration has."""

    def __init__(self, epochs: Epochs, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__(sampler, batch_size, drop_last)
        self._epochs = epochs

    def set_epoch(self, epoch: int) -> None:
        self._epochs.turn_to_iteration(epoch)


def own_batches(samples: object) -> NoReturn:
    """`collate_fn` of a Loader without one: who calls it has made a DataLoader of its parts."""
    raise ReaderError(
        "A DataLoader was made of a reader.Loader's dataset and batch_sampler, as accelerate's "
        "skip_first_batches does, and the Hugging Face Trainer to resume: it would deliver whole "
        "images without the loader's transforms. Let the loader itself go on, by "
        "loader.load_state_dict(state) of what loader.state_dict() said when the checkpoint was "
        "saved, and give the Trainer ignore_data_skip=True."
    )
