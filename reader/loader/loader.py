"""Batches for a training loop, as torch tensors; every iterator is the next epoch.

The loader belongs to the process that made it; one that receives it pickled has workers of its own.
"""

import os
import pickle
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal

import cloudpickle

from reader.dataset.dataset import Dataset
from reader.loader.arguments import LoaderConfig, TorchNames, dataset_of
from reader.loader.as_torch import (
    LikeDataLoader,
    OwnBatchSampler,
    OwnSampler,
    OwnSequentialSampler,
    own_batches,
)
from reader.loader.build import build
from reader.loader.collate import Collate
from reader.loader.epochs import EpochIterator
from reader.monitoring.statistics import Statistics
from reader.order.buckets import padding_waste
from reader.order.resume import position_of, state_at
from reader.order.samplers import BatchSampler, Sampler, Shuffle
from reader.order.steps import Steps
from reader.samples.boxes import Boxes
from reader.samples.fields import Field, name_of
from reader.samples.sample import Sample
from reader.transforms import Transform

if TYPE_CHECKING:
    from torch.utils.data import Subset
    from typing_extensions import Unpack

    from reader.look.sheet import Sheet


class Loader(LikeDataLoader):
    """Iterates over a dataset in decoded batches; every ``iter(loader)`` is the next epoch.

    A batch is a tuple in the order of `fields`:

    - ``image``: uint8 (B, 3, H, W) in channels_last memory, RGB; (B, 1, H, W) of a
      ``Dataset(channels=1)``. Where the transforms leave different sizes and `batch_size` is above
      1, a list of B tensors (3, H, W).
    - ``label``: int64 (B,), -1 without labels. ``index``: int64 (B,), sample numbers.
    - ``source``: int64 (B,), the number of the dataset in a `Mix`, 0 without one.
    - ``valid``: bool (B,), False for rows that only pad the last step of a rank.
    - ``key``, ``name``: lists of B strings; a name is the path in the source that was packed.
    - ``size``: int64 (B, 2), height and width of the upright source.
    - ``right.png`` and other pictures with colours, but masks: as ``image``.
    - ``json``, ``txt``, ``npy``, ``mask.png``, ...: members, decoded by their extension. Arrays of
      one type and shape come as one tensor (B, ...), anything else as a list. See
      `reader.samples.fields`.

    The last batch of an epoch may be shorter, unless `drop_last`. An iterator that is gone before
    its first batch leaves its epoch to the next one: some trainers try whether there is one.

    Example:
        >>> with reader.Loader(
        ...     "shards",
        ...     split="train",
        ...     batch_size=8,
        ...     shuffle=True,
        ...     drop_last=True,
        ...     transforms=[reader.RandomResizedCrop(64), reader.RandomHorizontalFlip()],
        ... ) as loader:
        ...     for images, labels in loader:
        ...         print(images.shape, labels.dtype)
        torch.Size([8, 3, 64, 64]) torch.int64
        torch.Size([8, 3, 64, 64]) torch.int64
    """

    __module__ = "reader"

    def __init__(
        self,
        dataset: "Dataset | str | os.PathLike[str] | Subset[Any]",
        *,
        split: str | None = None,
        batch_size: int = 1,
        transforms: Sequence[Transform] = (),
        views: int | Sequence[Sequence[Transform]] = 1,
        shuffle: Shuffle = False,
        sampler: Sampler | None = None,
        batch_sampler: BatchSampler | None = None,
        seed: int = 0,
        epoch_size: int | None = None,
        epochs: int | None = 1,
        workers: int | Literal["auto"] | None = None,
        batches_ahead: int | None = None,
        drop_last: bool = False,
        fields: Sequence[Field] = ("image", "label"),
        map_sample: Callable[[Sample], Sample] | None = None,
        map_batch: Callable[[Any], Any] | None = None,
        collate_fn: Collate | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        on_error: str = "raise",
        max_bad: float = 0.01,
        cache: Literal["decoded"] | None = None,
        decode: Literal["cpu", "gpu"] = "cpu",
        timeout: float = 0,
        **torch_names: "Unpack[TorchNames]",
    ) -> None:
        """Open the dataset, start the workers, and let them begin with the first epoch.

        Args:
            dataset: a Dataset, the folder or URL of one, a Mix, or torch's Subset of a Dataset or
                ConcatDataset of some.
            split: of the folder.
            batch_size: samples a batch, on each rank; with a `batch_sampler` the most that one may
                have, 1 for as many as those of its first epoch.
            transforms: applied in turn; see `reader.transforms`. torchvision's of the same names
                are accepted, also in its Compose.
            views: number of independent augmentations of each image, decoded once; or the
                transforms of each view, which give all images one size. ``image`` and what follows
                it (masks, boxes, further pictures) are then lists with an entry for each view.
            shuffle: a new order over the whole dataset in every epoch; BlockShuffle(shards) for
                long reads, with streams for several machines; AspectBuckets(batch_size) for batches
                of like aspect ratio.
            sampler: Weighted(weights) or ClassBalanced(), to draw with replacement; or a torch
                Sampler, or any sized iterable of sample numbers, iterated once an epoch. One with
                `num_replicas` has chosen this rank's share. Its `set_epoch` is called with each
                epoch; a script that calls it itself turns the loader to that epoch.
            batch_sampler: torch's, in place of `shuffle`, `sampler` and `drop_last`: any sized
                iterable of lists of sample numbers, each a batch of this rank. Its `set_epoch`, or
                its sampler's, is called likewise.
            seed: determines, with the epoch, order and augmentation.
            epoch_size: samples of an epoch, of all ranks; None for as many as there are. The next
                epoch continues where a shorter one stopped, and a longer one begins the dataset
                again, so that all samples come equally often.
            epochs: number of epochs that one iterator reads back to back; None: forever, each
                iterator from where the last one was left.
            workers: processes; None for the cores this process may use; "auto" to measure how many
                the loop needs: see `reader.loader.autoscale`. 0 decodes in this very process, when
                a batch is asked for: for debuggers, notebooks, profilers.
            batches_ahead: number of batches that all workers together decode ahead of the loop.
                Memory is reserved for two more. None: at least two chunks for each worker, and up
                to 16 batches within 64 MiB.
            drop_last: leave out the samples that do not fill a step.
            fields: what a batch consists of: names, Member, Mask, Boxes.
            map_sample: called in the workers with the dict of one sample, its image (H, W, 3);
                returns the dict with the same fields. Values arrive in their own type and shape, an
                image (H, W, 3) as (3, H, W). A field of one shape is one tensor; a batch with a
                shape unlike the first is a list. To learn the shapes it is called here, once or
                twice. Its own key "mine" arrives if ``"mine?"`` is among the fields. With several
                views it gets lists of them, and each view of a list that it returns is batched.
            map_batch: called with each batch, and returns it; by a CUDAPrefetcher with the batch
                that it has normalised, on the device.
            collate_fn: called with the list of samples, tuples of their fields, to make the batch
                of them; `reader.pad_collate` for one. None: a tuple of fields as above.
            rank, world_size: None to ask torch.distributed at every ``iter()``, or, before that is
                initialised, the RANK and WORLD_SIZE of torchrun.
            on_error: for a sample that cannot be read. "raise": a SampleError at its batch;
                "substitute": the next readable one of the order takes its place; "mask": a black
                image with label -1 and `valid` False, and None for `collate_fn`. Errors of your own
                callables are always raised.
            max_bad: share of an epoch's samples that may be substituted or masked, over the
                loader's life and on each rank, rounded up to whole samples; more is an error.
            cache: "decoded" to keep what the first epoch decodes, once for all processes of the
                machine, within the dataset's `cache_limit`: what the transforms show, if that has
                one size and is the same in every epoch but for mirroring; otherwise whole images,
                used where a crop is less than twice as large as its target. Pixels are the same.
            decode: "gpu" to decode on the GPU of a CUDAPrefetcher: ``image`` is then an
                `EncodedImages`, and workers only cut out of each JPEG what its crop shows.
            timeout: seconds in which no worker finishes a sample, or `map_sample` takes here, until
                a WorkerError names what each of them holds. 0: no end, but a warning after 30. It
                is ignored with ``workers=0``.
            torch_names: `num_workers` and `pin_memory`, as torch's DataLoader has them.

        Raises:
            ArgumentError: an argument is not of its kind or cannot be met.
            FormatError: there is no dataset, or it is damaged.
            SampleError: the first sample cannot be read, and it is needed to tell types and shapes.
        """
        given = dict(locals())
        known = LoaderConfig.__match_args__  # its fields
        config = LoaderConfig(**{name: given[name] for name in known if name in given})
        self._config = config = config.resolved(torch_names)
        self.dataset = opened = dataset_of(dataset, split)
        self._parts = parts = build(config, opened)
        self._epochs = parts.epochs(config)
        self._pipeline = self._epochs.pipeline
        self._order = order = parts.order
        self._order_id = opened, order, parts.recipe.seed  # what a state belongs to
        is_given = order.is_given  # which gives its numbers when an epoch begins
        self.batch_size: int | None = None if order.batch_size else int(batch_size)
        self.drop_last = bool(drop_last)
        self.collate_fn = collate_fn or own_batches
        self.timeout = config.patience
        self.fields = tuple(map(name_of, fields))
        self.map_batch = map_batch
        self.batch_fields = None if collate_fn else self.fields  # None: any batch is possible
        self.decode = decode
        self.channels = None if map_sample else opened.channels  # of the images, if that is known
        self._is_pinned = False
        places = [at for at, column in enumerate(parts.schema.columns) if column.is_image]
        self.image_places = None if collate_fn else places
        own = OwnSampler if is_given or shuffle or sampler is not None else OwnSequentialSampler
        self.sampler: Any = own(self._epochs)
        self.batch_sampler: Any = batch_sampler
        if batch_sampler is None:
            self.sampler = sampler if is_given else self.sampler
            self.batch_sampler = OwnBatchSampler(
                self._epochs, self.sampler, int(batch_size), self.drop_last
            )
        if not is_given:
            self._epochs.decode_ahead()

    @property
    def rank(self) -> int:
        """Of this process, as an iterator that begins now would have it."""
        return self._parts.plan.share.rank

    @property
    def world_size(self) -> int:
        """Ranks that read the dataset together, as for `rank`."""
        return self._parts.plan.share.world_size

    @property
    def num_workers(self) -> int:
        """Processes that decode, now."""
        return self.statistics().workers

    @property
    def persistent_workers(self) -> bool:
        """Whether there are any: they stay until `close`."""
        return self.num_workers > 0

    @property
    def pin_memory(self) -> bool:
        """Whether batches lie in page-locked memory, by ``pin_memory=True`` or a CUDAPrefetcher."""
        return self._is_pinned or self._config.pin_memory

    def __len__(self) -> int:
        """Steps of a whole iteration."""
        return len(self._epochs.steps_of_all())

    @property
    def is_endless(self) -> bool:
        """Whether an iteration has no end, and the next one goes on where it was left."""
        return self._parts.plan.epochs is None

    def __iter__(self) -> EpochIterator:
        return self._epochs.begin()

    def __reduce__(self) -> tuple[Any, ...]:
        """A loader like this one, at its place, with workers of its own where it is received."""
        self._epochs.check_open()
        arguments = dict(vars(self._config))
        if isinstance(self._config.dataset, (str, os.PathLike)):
            arguments["dataset"] = self.dataset.source  # wherever that process works
        return _reopened, (type(self), cloudpickle.dumps(arguments), self._epochs.consumed)

    def __repr__(self) -> str:
        steps = "steps without end" if self.is_endless else f"{len(self):,} steps"
        size = self.batch_size or f"up to {self._parts.plan.batch_size}"
        order = ", ".join(f"{name}={what}" for name, what in self._order.options(None).items())
        share = f" on rank {self.rank} of {self.world_size}" if self.world_size > 1 else ""
        return (
            f"<{type(self).__name__} of {self.dataset!r}: {steps} of {size} samples"
            f"{share}, {order}, seed={self._parts.recipe.seed}, workers={self.num_workers}, "
            f"in epoch {self._epochs.consumed // self._order.count}>"
        )

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def set_epoch(self, epoch: int) -> None:
        """Make `epoch`, or the rest of it that is resumed, what the next iterator delivers."""
        self._epochs.turn_to(epoch)

    def state_dict(self) -> dict[str, int | str | None]:
        """Where the newest iterator is: what was delivered, not what is decoded ahead.

        `position` counts the samples of `epoch` that all ranks together have taken, so it is the
        same on every rank. The rest says which dataset and options it belongs to.
        """
        with self._epochs.lock:
            return state_at(self._epochs.consumed, *self._order_id)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iterator go on from `state_dict`'s place.

        World size, batch size and workers may be others than they were. The state of another
        dataset, or of options with another order, is an ArgumentError.
        """
        with self._epochs.lock:
            self._epochs.jump(position_of(state, *self._order_id))

    def statistics(self) -> Statistics:
        """What was done so far, and what holds it back."""
        return self._pipeline.statistics()

    def preview(self, path: str | os.PathLike[str] | None = None) -> "Sheet":
        """A contact sheet of the first batch of the next iteration, as it will be delivered.

        That batch is made once more for it, in this very process, and given to `map_batch`; what
        the loop gets stays as it is. See `reader.show`.

        Args:
            path: where to write it, as `Sheet.save` does; None: nowhere.

        Example:
            >>> crop = reader.RandomResizedCrop(64)
            >>> with reader.Loader("shards", batch_size=4, transforms=[crop]) as loader:
            ...     loader.preview("batch.png")
            <reader.Sheet of 4 images, ... pixels>
        """
        from reader.look.batch import show  # few need it, and it brings Pillow

        with self._epochs.lock:
            self._epochs.check_open()
            batch = self._parts.preview(self._config, self._epochs.upcoming())
        batch = batch if self.map_batch is None else self.map_batch(batch)
        members = (member.field for member in self._parts.recipe.members)
        boxes = next((field.format for field in members if isinstance(field, Boxes)), None)
        fields = self.fields if isinstance(batch, tuple) and self.batch_fields else None
        if fields is not None and len(fields) != len(batch):
            fields = None  # map_batch gives others
        sheet = show(batch, fields=fields, classes=self.dataset.classes, boxes=boxes or "xyxy")
        if path is not None:
            sheet.save(path)
        return sheet

    def padding_waste(self) -> float:
        """The share of the pixels that pad, if `pad_collate` batches the first epoch's images."""
        order, plan = self._order, self._parts.plan
        length = order.length if order.batch_size else None
        span = plan.batch_size * self.world_size
        steps = Steps(order.count, span, 0, 1, drop_last=False, length=length)
        recipe = self._parts.recipe
        return padding_waste(self.dataset, recipe.transforms, order, steps, recipe.seed)

    @property
    def bad_samples(self) -> dict[int, str]:
        """Why each sample that was substituted or masked could not be read, by its number."""
        return dict(self._pipeline.bad.reasons)

    def check_device(self, device: Any) -> None:
        """See that images that arrive as they are stored can be decoded on a device."""
        self._parts.schema.image.check_device(device)

    def page_lock(self, cuda: Any, cores: Set[int] = frozenset()) -> None:
        """Page-lock the batches' memory for a GPU, once; `CUDAPrefetcher` asks for it.

        A batch then has to be held until your own `non_blocking` copies of it have ended. Workers
        stay on `cores`, those near the GPU, if each can have one.
        """
        with self._epochs.lock:
            self._epochs.check_open()
            if not self._is_pinned:
                self._is_pinned = True
                self._pipeline.pin(cuda, cores)

    def close(self) -> None:
        """End the workers. Tensors that were delivered stay valid."""
        with self._epochs.lock:
            self._pipeline.close()
            if not isinstance(self._config.dataset, Dataset) and self.dataset.fetching:
                self.dataset.fetching.close()


def _reopened(kind: type[Loader], arguments: bytes, position: int) -> Loader:
    loader = kind(**pickle.loads(arguments))
    loader._epochs.jump(position)
    return loader
