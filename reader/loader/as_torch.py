"""The attributes of a torch DataLoader that scripts and trainers read.

The samplers are a view of the loader's own order: they give its sample numbers, and their
`set_epoch` sets the loader's.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from torch.utils.data import BatchSampler, Sampler, SequentialSampler

from reader.advice import unchangeable
from reader.errors import ReaderError
from reader.loader.arguments import LoaderConfig
from reader.loader.build import Parts
from reader.loader.epochs import EpochIterator, Epochs
from reader.order.resume import decode_share_of, position_of, state_at
from reader.order.sampled import GivenBatches, GivenOrder


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


# What cannot be set later. Lightning sets `worker_init_fn`, to seed what seed= already does.
_FIXED = LoaderConfig.__dataclass_fields__.keys() | {
    *("generator", "in_order", "multiprocessing_context", "persistent_workers"),
    *("pin_memory_device", "prefetch_factor", "transform"),
}


class LikeDataLoader:
    """What a loop reads of a DataLoader."""

    generator = None  # seed= determines what is drawn
    worker_init_fn = None
    multiprocessing_context = None
    prefetch_factor = None  # memory limits how many batches are decoded ahead
    pin_memory_device = ""
    in_order = True

    def __init__(self, config: LoaderConfig, parts: Parts) -> None:
        order, size = parts.order, int(config.batch_size)
        self._config = config
        self._epochs = epochs = parts.epochs(config)
        self._order_id = parts.dataset, order, parts.recipe.seed  # recorded in a state
        self._is_pinned = False  # by a CUDAPrefetcher
        self.dataset = parts.dataset
        is_given = isinstance(order, GivenOrder)
        self.batch_size: int | None = None if isinstance(order, GivenBatches) else size
        self.drop_last = bool(config.drop_last)
        self.collate_fn = config.collate_fn or own_batches
        self.timeout = config.patience
        is_shuffled = is_given or config.shuffle or config.sampler is not None
        own = OwnSampler(epochs) if is_shuffled else OwnSequentialSampler(epochs)
        is_users = is_given and config.batch_sampler is None
        self.sampler: Any = config.sampler if is_users else own
        self.batch_sampler: Any = config.batch_sampler
        if self.batch_sampler is None:
            self.batch_sampler = OwnBatchSampler(epochs, self.sampler, size, self.drop_last)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; arguments of the loader are refused, as by torch's DataLoader."""
        if "_is_made" in vars(self):
            self.check_settable(name, value)
        super().__setattr__(name, value)

    def check_settable(self, name: str, value: object) -> None:
        """Refuse to set an argument of a loader that is made.

        Raises:
            ArgumentError: `name` is one; its value would change nothing.
        """
        if name in _FIXED:
            raise unchangeable("Loader", name, value)

    @property
    def rank(self) -> int:
        """Rank of this process, for an iterator that begins now."""
        return self._epochs.plan.share.rank

    @property
    def world_size(self) -> int:
        """Number of ranks that read the dataset together, for an iterator that begins now."""
        return self._epochs.plan.share.world_size

    @property
    def num_workers(self) -> int:
        """Current number of worker processes."""
        return self._epochs.pipeline.statistics().workers

    @property
    def persistent_workers(self) -> bool:
        """Whether there are workers; they stay until `close`."""
        return self.num_workers > 0

    @property
    def pin_memory(self) -> bool:
        """Whether batches are in page-locked memory, by ``pin_memory=True`` or a CUDAPrefetcher."""
        return self._is_pinned or self._config.pin_memory

    def __len__(self) -> int:
        """Return the number of steps of a whole iteration."""
        return len(self._epochs.steps_of_all())

    def __iter__(self) -> EpochIterator:
        return self._epochs.begin()

    def set_epoch(self, epoch: int) -> None:
        """Make the next iterator deliver `epoch`, or the rest of it after a resume.

        An iterator that runs delivers its own epoch to the end, and the state follows it.
        """
        self._epochs.turn_to(epoch)

    def state_dict(self) -> dict[str, int | float | str | None]:
        """Return the position of the newest iterator; batches decoded ahead do not count.

        After `set_epoch` it is the beginning of that epoch, until an iterator that still runs
        delivers a batch.

        `position` counts the samples of `epoch` that all ranks together have taken, so it is the
        same on every rank. ``decode_share``, with ``decode="auto"`` once it is measured, is the
        share of each batch that workers decode. The other entries identify the dataset and the
        options.
        """
        with self._epochs.lock:
            position, share = self._epochs.settled(), self._epochs.pipeline.share.delivered
            return state_at(position, share, *self._order_id)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next iterator continue from the position of a `state_dict`.

        World size, batch size, workers and `decode` may have changed.

        Raises:
            ArgumentError: the state is of another dataset, or of options with another order.
        """
        with self._epochs.lock:
            position = position_of(state, *self._order_id)
            self._epochs.jump(position, decode_share_of(state))

    def __getitem__(self, number: object) -> NoReturn:
        """Refuse: a DataLoader was made with the loader as its dataset."""
        raise TypeError(
            "A reader.Loader cannot be indexed: it replaces the DataLoader, so iterate over it "
            "directly. To make a DataLoader, give it a reader.Dataset."
        )
