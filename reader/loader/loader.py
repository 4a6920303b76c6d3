"""Batches for a training loop, as torch tensors.

A loader belongs to the process that made it; a process that unpickles it starts its own workers.
"""

import os
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import cloudpickle

from reader.advice import explained
from reader.dataset.dataset import Dataset
from reader.fields.field import Field, Sample
from reader.loader.arguments import LoaderConfig, MapBatch, TorchNames, dataset_of
from reader.loader.build import build
from reader.loader.collate import Collate
from reader.loader.for_prefetcher import ForPrefetcher
from reader.loader.from_torchvision import Pipeline
from reader.monitoring.statistics import Statistics
from reader.order.sampled import GivenOrder
from reader.order.samplers import BatchSampler, Sampler, Shuffle

if TYPE_CHECKING:
    from torch.utils.data import Subset
    from typing_extensions import Unpack

    from reader.look.sheet import Sheet


class Loader(ForPrefetcher):
    """An iterable over the decoded batches of a dataset; each ``iter(loader)`` is one epoch.

    A batch is a tuple in the order of `fields`:

    - ``image``: uint8 (B, 3, H, W), RGB, in channels_last memory; (B, 1, H, W) for
      ``Dataset(channels=1)``. Floats, if a ToTensor or Normalize is among the transforms. A list of
      B tensors (3, H, W) if the transforms give different sizes and `batch_size` is above 1.
    - ``label``: int64 (B,), -1 without labels. ``index``: int64 (B,), sample numbers.
    - ``source``: int64 (B,), the number of the dataset in a `Mix`, 0 without one.
    - ``valid``: bool (B,), False for rows that only pad the last step of a rank.
    - ``key``, ``name``: lists of B strings; a name is the path in the packed source.
    - ``size``: int64 (B, 2), height and width of the upright stored image.
    - ``geometry``: float32 (B, 2, 3), the matrix from x, y of the source's upright picture to the
      image.
    - ``right.png`` and other pictures in colour, except masks: as ``image``.
    - ``json``, ``txt``, ``npy``, ``mask.png``, ...: members, decoded by their extension. Arrays of
      one type and shape become one tensor (B, ...), anything else a list. See
      `reader.fields.members`.

    The last batch of an epoch may be shorter, unless `drop_last` is set. An iterator that ends
    before its first batch leaves its epoch to the next one.

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

    @explained("num_workers", "pin_memory", "persistent_workers")
    def __init__(
        self,
        dataset: "Dataset | str | os.PathLike[str] | Subset[Any]",
        batch_size: int = 1,
        *,
        split: str | None = None,
        transforms: Pipeline = (),
        views: int | Sequence[Pipeline] = 1,
        shuffle: Shuffle = False,
        sampler: Sampler | None = None,
        batch_sampler: BatchSampler | None = None,
        seed: int = 0,
        epoch_size: int | None = None,
        epochs: int | None = 1,
        workers: int | Literal["auto"] | None = None,
        batches_ahead: int | None = None,
        drop_last: bool = False,
        fields: Sequence[str | Field] = ("image", "label"),
        map_sample: Callable[[Sample], Sample | None] | None = None,
        map_batch: MapBatch | Sequence[MapBatch] | None = None,
        collate_fn: Collate | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        on_error: str = "raise",
        max_bad: float = 0.01,
        cache: Literal["decoded"] | None = None,
        decode: Literal["cpu", "gpu", "auto"] = "cpu",
        timeout: float = 0,
        **torch_names: "Unpack[TorchNames]",
    ) -> None:
        """Open the dataset, start the workers, and begin to decode the first epoch.

        Args:
            dataset: a Dataset, its folder or URL, a Mix, or torch's Subset of a Dataset or
                ConcatDataset of several.
            split: name of a split, if `dataset` is a folder or URL; None for all samples.
            batch_size: samples in a batch, on each rank; with a `batch_sampler` the largest number
                that a batch may have, or 1 to take it from the first epoch.
            transforms: applied in order; see `reader.transforms`. torchvision's transforms of the
                same names are accepted, and a script's Compose: with ToTensor, ToDtype or
                Normalize in it, images are float tensors, normalised.
            views: number of independent augmentations of each image, which is decoded once; or a
                list with the transforms of each view. All images must get one size. ``image``,
                masks, boxes, points, polygons and other pictures are then lists with an entry for
                each view.
            shuffle: True for a new order over the whole dataset in every epoch;
                BlockShuffle(shards) for long reads, with streams for several machines;
                AspectBuckets(batch_size) for batches of similar aspect ratio.
            sampler: Weighted(weights) or ClassBalanced() to draw with replacement,
                RepeatedAugmentation(3) to deliver each sample several times, a torch Sampler, or
                any sized iterable of sample numbers, iterated once per epoch. A sampler with
                `num_replicas` gives this rank's share. The loader calls its `set_epoch`; a script
                that calls it sets the loader's epoch.
            batch_sampler: any sized iterable of lists of sample numbers, each a batch of this rank,
                such as torch's. It replaces `shuffle`, `sampler` and `drop_last`. The loader calls
                its `set_epoch`, or its sampler's.
            seed: determines order and augmentation, together with the epoch.
            epoch_size: samples in an epoch, on all ranks together; None for all samples once. The
                next epoch continues where a shorter one stopped, and a longer one starts again, so
                that all samples come equally often.
            epochs: number of epochs that one iterator reads back to back; None: no end, and each
                iterator continues where the last one stopped.
            workers: number of processes; None for the cores that this process may use; "auto" to
                measure how many the loop needs (see `reader.loader.autoscale`). 0 decodes in this
                process on request, for debuggers, notebooks and profilers.
            batches_ahead: number of batches that all workers together decode ahead of the loop.
                Memory is reserved for two more. None: at least two chunks for each worker, and up
                to 16 batches within 64 MiB.
            drop_last: leave out the samples that do not fill a step.
            fields: the fields of a batch: names, Member, Mask, Bands, Boxes, Points, Polygons.
            map_sample: called in the workers with the dict of one sample, its image (H, W, 3);
                returns the dict with the same fields, or None to drop the sample like one that
                cannot be read. Values keep their type and shape; an image (H, W, 3) becomes
                (3, H, W). A field of one shape is one tensor; a batch with other shapes than the
                first is a list. It is called here once or twice to determine the shapes. To return
                a new key "mine", add ``"mine?"`` to the fields. With several views it gets lists of
                them, and each view of a returned list is batched.
            map_batch: called with each batch, and returns it; or MixUp, CutMix, a RandomChoice or
                RandomApply of these, or a list of functions and steps. A CUDAPrefetcher calls it
                with the normalised batch on the device.
            collate_fn: called with the list of samples, tuples of their fields, and returns the
                batch, such as `reader.pad_collate`. None: a tuple of fields as above.
            rank, world_size: None to read them from torch.distributed at every ``iter()``, or from
                torchrun's RANK and WORLD_SIZE before it is initialised.
            on_error: action for a sample that cannot be read. "raise": a SampleError at its batch;
                "substitute": the next readable sample of the order; "mask": a black image with
                label -1 and `valid` False, and None for `collate_fn`. Errors of your own functions
                are always raised.
            max_bad: share of an epoch's samples that may be substituted or masked, over the
                loader's life and on each rank, rounded up to whole samples; more is an error.
            cache: "decoded" to keep images that the first epoch decodes in memory, once for all
                processes of the machine, within the dataset's `cache_limit`. Outputs of the
                transforms are kept if they have one size and only mirroring differs between epochs;
                otherwise whole images, used for crops less than twice as large as their target.
                Pixels are the same.
            decode: "gpu" to decode on the GPU of a CUDAPrefetcher: ``image`` is then an
                `EncodedImages`, and workers only extract the crop's part of each JPEG. "auto": the
                workers decode the first images of each batch, and the GPU the rest; the share is
                measured in the first batches and kept in the state. Without a GPU, or before a
                CUDAPrefetcher uses it, the workers decode all.
            timeout: seconds without progress of any worker, or of `map_sample` here, after which a
                WorkerError names each worker's sample. 0: no limit, but a warning after 30. It is
                ignored with ``workers=0``.
            torch_names: `num_workers` and `pin_memory`, as in torch's DataLoader, and
                `persistent_workers`, without effect: workers stay until `close`.

        Raises:
            ArgumentError: an argument is invalid, or contradicts another one or the dataset.
            FormatError: there is no dataset, or it is damaged.
            SampleError: the first sample cannot be read, and its types and shapes are needed.
        """
        config = LoaderConfig(
            dataset=dataset,
            split=split,
            batch_size=batch_size,
            transforms=transforms,
            views=views,
            shuffle=shuffle,
            sampler=sampler,
            batch_sampler=batch_sampler,
            seed=seed,
            epoch_size=epoch_size,
            epochs=epochs,
            workers=workers,
            batches_ahead=batches_ahead,
            drop_last=drop_last,
            fields=fields,
            map_sample=map_sample,
            map_batch=map_batch,
            collate_fn=collate_fn,
            rank=rank,
            world_size=world_size,
            on_error=on_error,
            max_bad=max_bad,
            cache=cache,
            decode=decode,
            timeout=timeout,
            **torch_names,
        )
        self._parts = parts = build(config, dataset_of(dataset, split))
        super().__init__(config, parts)
        self.fields = parts.recipe.names
        self._is_made = True
        if not isinstance(parts.order, GivenOrder):  # it is read when an epoch begins
            self._epochs.decode_ahead()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments and the position; the receiver starts its own workers."""
        self._epochs.check_open()
        arguments = dict(vars(self._config))
        if isinstance(self._config.dataset, (str, os.PathLike)):
            arguments["dataset"] = self.dataset.source  # absolute
        place = self._epochs.position, self._epochs.pipeline.share.delivered
        return _reopened, (type(self), cloudpickle.dumps(arguments), *place)

    def __repr__(self) -> str:
        steps = "steps without end" if self.is_endless else f"{len(self):,} steps"
        size = self.batch_size or f"up to {self._parts.plan.batch_size}"
        order = ", ".join(
            f"{name}={what}" for name, what in self._parts.order.options(None).items()
        )
        share = f" on rank {self.rank} of {self.world_size}" if self.world_size > 1 else ""
        return (
            f"<{type(self).__name__} of {self.dataset!r}: {steps} of {size} samples"
            f"{share}, {order}, seed={self._parts.recipe.seed}, workers={self.num_workers}, "
            f"in epoch {self._epochs.position // self._parts.order.count}>"
        )

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def statistics(self) -> Statistics:
        """Return counts and times since the loader was made, and its bottleneck."""
        return self._epochs.pipeline.statistics()

    def preview(self, path: str | os.PathLike[str] | None = None) -> "Sheet":
        """Return a contact sheet of the first batch of the next iteration.

        The batch is made separately, in this process, and passed to `map_batch`; the loop's batches
        do not change. See `reader.show`.

        Args:
            path: file to write, as for `Sheet.save`; None for none.

        Example:
            >>> crop = reader.RandomResizedCrop(64)
            >>> with reader.Loader("shards", batch_size=4, transforms=[crop]) as loader:
            ...     loader.preview("batch.png")
            <reader.Sheet of 4 images, ... pixels>
        """
        with self._epochs.lock:
            self._epochs.check_open()
            sheet = self._parts.preview(self._config, self._epochs.upcoming())
        if path is not None:
            sheet.save(path)
        return sheet

    def padding_waste(self) -> float:
        """Return the share of padding pixels if `pad_collate` batches the first epoch's images."""
        return self._parts.padding_waste(self.world_size)

    @property
    def bad_samples(self) -> dict[int, str]:
        """The errors of the samples that were substituted or masked, by sample number."""
        return dict(self._epochs.pipeline.bad.reasons)

    def close(self) -> None:
        """End the workers. Delivered tensors stay valid."""
        with self._epochs.lock:
            self._epochs.pipeline.close()
            if not isinstance(self._config.dataset, Dataset) and self.dataset.fetching:
                self.dataset.fetching.close()


def _reopened(kind: type[Loader], arguments: bytes, position: int, share: float | None) -> Loader:
    loader = kind(**pickle.loads(arguments))
    loader._epochs.jump(position, share)
    return loader
