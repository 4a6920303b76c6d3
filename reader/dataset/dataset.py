"""A dataset on disk: sample numbers to shards and rows."""

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from reader.advice import explained
from reader.checks import check
from reader.dataset.arguments import OF_DATASET
from reader.dataset.as_torch import LikeTorchDataset
from reader.dataset.as_webdataset import shared_samples
from reader.dataset.coco_target import coco_target
from reader.dataset.joined import Join, joined, located, named_places
from reader.dataset.locator import SampleLocator, Subset, chosen_by
from reader.dataset.numbered import NumberedSamples
from reader.dataset.open_shards import OpenShards
from reader.dataset.shared_memory import hold
from reader.dataset.sources import ShardSource, shards_of
from reader.errors import ArgumentError
from reader.format import Limits, Manifest
from reader.store.urls import is_url


class Dataset(LikeTorchDataset, NumberedSamples):
    """The samples of one split, by number.

    ``ds[i]`` is an (image, label) pair, as in torchvision's ImageFolder: a (height, width, 3) uint8
    RGB array, and an int (-1 without labels). It is a map-style dataset for torch's DataLoader,
    with any sampler, forked or spawned. Shards are opened on first use. At most 128 stay open in
    each reading thread, in a Loader's workers as many as the system allows, and fewer under a low
    ``ulimit -n``.

    Attributes:
        folder: the folder that has dataset.json.
        classes: class names in label order.
        splits: names of all splits of the dataset; empty if it has none.
        extensions: extensions of the samples' members.
        box_encodings: encodings of boxes in dataset.json, by extension.
        mask_colors: colours of classes in dataset.json, by the extension of masks: each has
            `colors` and `names`.
        places: shards and rows of the samples.
        fetching: client of the process that fetches from a store; None for a folder.

    Example:
        >>> dataset = reader.Dataset("shards", split="train")
        >>> image, label = dataset[0]
        >>> image.shape, dataset.classes[label]
        ((60, 80, 3), '...')
        >>> cats = dataset.subset(lambda columns: columns["label"] == 0)
        >>> len(dataset), len(cats)
        (20, 10)
    """

    __module__ = "reader"

    @explained()
    def __init__(
        self,
        folder: str | os.PathLike[str],
        split: str | None = None,
        upright: bool = True,
        *,
        join: Join | None = None,
        subset: Subset | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        target: Literal["coco"] | None = None,
        channels: Literal[3, 1] = 3,
        cache: Literal["ram"] | None = None,
        cache_limit: int | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
        credential_provider: Callable[..., Any] | None = None,
        limits: Limits = Limits(),  # noqa: B008  # frozen
    ) -> None:
        """Open the dataset.

        Args:
            folder: folder that has dataset.json, ``~`` is the home directory; or its URL in a
                store: ``s3://``, ``gs://``, ``az://``, ``https://``, ``hf://datasets/...``,
                ``file://``.
            split: name of the split; None for all samples.
            upright: apply the EXIF orientation.
            join: folder or URL of a dataset with further members for the same samples, which
                `packer pack --keys-of` packs; or a list of them. In a dict, such as
                ``{"teacher": "logits"}``, the member ``npy`` becomes ``teacher.npy``.
            subset: samples to choose; see the method of that name.
            transform: called with the PIL image, as in ImageFolder; ``ds[i]`` has its result.
            target_transform: called with the label, or with the annotations of `target`.
            target: "coco" for the image's annotations instead of its label, as in torchvision's
                CocoDetection: a list of dicts with COCO's own category ids.
            channels: 3 for RGB, 1 for grey: arrays (height, width, 1), a Loader's images are
                (B, 1, H, W), and `transform` gets PIL images of mode L, as in torchvision's MNIST.
            cache: "ram" to copy the shards into memory, once for all processes of the machine;
                those of `join` stay on disk.
            cache_limit: bytes of memory for this, or for a Loader's cache; None for the available
                memory. With a URL, also in `join`: bytes of disk for `cache_dir`; None for half of
                the free space.
            cache_dir: folder for samples from stores, of all datasets and processes of the machine;
                None for the user's cache folder.
            storage_options: options of the store, by obstore's names: ``region``, ``endpoint``,
                ``token``; others are read from the environment.
            credential_provider: function that returns credentials, as for obstore; called again
                when they expire.
            limits: limits of one sample; a sample that exceeds them is a SampleError.

        Raises:
            ArgumentError: an argument is invalid, or the split or a sample does not exist, or
                `join` is for other samples.
            ReaderError: the shards do not fit into memory.
            StoreError: the store or the cache cannot be read.
            FormatError: there is no dataset, or it is damaged.
        """
        check(locals(), OF_DATASET)
        in_store, further = is_url(folder), named_places(join)
        if in_store and cache is not None:
            raise ArgumentError('cache="ram" is for a folder. For a URL, use cache_dir=.')
        of_store = cache_dir, storage_options, credential_provider
        places = [folder, *(place for _, place in further)]
        if not any(map(is_url, places)) and of_store != (None, None, None):
            raise ArgumentError(
                "cache_dir=, storage_options= and credential_provider= are for the URL of a store, "
                f"not for the folder {os.fspath(folder)!r}. Leave them out."
            )
        is_of_disk = in_store or (cache is None and any(map(is_url, places)))
        limit, cache_limit = (cache_limit, None) if is_of_disk else (None, cache_limit)
        stores = cache_dir, limit, storage_options, credential_provider
        self.folder, self.fetching = located(folder, split, *stores)
        self.split = split
        self.upright = upright
        self.transform = transform
        self.target_transform = target_transform
        self.target = target
        self.channels = channels
        self.cache_limit = cache_limit
        self.limits = limits
        manifest = Manifest.load(self.folder)
        manifest.check_images(self.source)
        if split is not None and split not in manifest.splits:
            raise ArgumentError(f"{self.source} has no split {split!r}; {manifest.known_splits}.")
        self.shards = tuple(s for s in manifest.shards if split in (None, s.split))
        self.classes = list(manifest.classes)
        self.splits = [name for name in manifest.splits if name]
        self.extensions = manifest.fields
        self.box_encodings, self.mask_colors = manifest.boxes, manifest.mask_colors
        self.recorded_sizes = manifest.size_bounds(split)
        self.is_raw = manifest.options.get("raw") is not None
        self.places = SampleLocator.of([shard.samples for shard in self.shards])
        self._own = OpenShards()
        held = None
        if cache is not None:
            held = hold(self.folder, self.shards, self.fingerprint, cache_limit)
        own = shards_of(self.folder, manifest, split, limits, held, self.fetching)
        self._source: ShardSource = own
        if further:
            others = [(prefix, *located(place, split, *stores)) for prefix, place in further]
            self._source, described = joined(own, manifest, split, others)
            self.extensions, self.box_encodings, self.mask_colors = described
        if subset is not None:
            self._choose(subset)

    def for_workers(self) -> "Dataset":
        """Return this dataset for workers, without credentials."""
        other = copy.copy(self)
        other._source = self._source.for_workers()
        if self.fetching is not None:
            [(other.fetching, _), *_] = other._source.fetchings
        return other

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        pixels: Any = self.whole(number)
        shard, row = self.locate(number)
        if self.transform is not None:
            from PIL import Image  # workers should start fast

            pixels = self.transform(
                Image.fromarray(pixels if self.channels == 3 else pixels[..., 0])
            )
        target: Any = int(shard.index.columns["label"][row])
        if self.target is not None:
            try:
                image = self.image_of(shard, row)
                target = coco_target(shard.read(row, "json"), image, shard.index.columns, row)
            except (TypeError, ValueError) as error:
                reason = f'its .json does not fit target="coco" ({error})'
                raise shard.error(row, reason, "json") from error
        return pixels, target if self.target_transform is None else self.target_transform(target)

    def __getitems__(self, numbers: Sequence[int]) -> list[tuple[Any, Any]]:
        """Return several samples; torch's DataLoader calls this for a batch."""
        for number in numbers:  # the system reads one while another is decoded
            shard, row = self.locate(number)
            shard.read_ahead(row, 0, int(shard.index.columns["size"][row]))
        return [self[number] for number in numbers]

    def __repr__(self) -> str:
        split = "" if self.split is None else f", split={self.split!r}"
        total, classes, shards = self.places.total, len(self.classes), len(self.shards)
        count = f"{total:,}" if self.places.chosen is None else f"{len(self):,} of {total:,}"
        of = f"{count} samples in {classes:,} classes, {shards:,} shard{'s' * (shards != 1)}"
        if self.split is None and (
            splits := dict.fromkeys(s.split for s in self.shards if s.split)
        ):
            of += f", of the splits {', '.join(splits)}"
        return f"<{type(self).__name__}({self.source!r}{split}): {of}>"

    def _repr_html_(self) -> str:
        """Return a page for notebooks, with some samples."""
        from reader.dataset.page import page_of  # brings Pillow

        return page_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the state of threads, and what can be read from the indexes again."""
        left_out = ("_own", "labels", "size_bounds", "samples", "class_to_idx")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _own=OpenShards())

    def subset(self, subset: Subset) -> "Dataset":
        """Return some of the samples as a Dataset, numbered from 0, with the same classes.

        Args:
            subset: sample numbers in order; or one bool for each sample; or a function that returns
                these bools for the columns of the index, arrays by name: ``label``, ``height``,
                ``key``, or those packed with ``--column``; see `columns`.

        Raises:
            ArgumentError: `subset` is none of these, or a sample does not exist.
        """
        other = copy.copy(self)
        other._choose(subset)
        return other

    def webdataset(self, shuffle: bool = False) -> Any:
        """Return the samples as a pipeline of the webdataset library.

        It replaces ``webdataset.WebDataset(urls)``, and yields dicts of ``__key__``, ``__url__``
        and the members' bytes by extension, for ``.decode("pil")``, ``.to_tuple("jpg", "cls")``,
        ``.batched(64)`` and ``webdataset.WebLoader``. An iteration has each sample of this split or
        subset once, over all nodes and DataLoader workers together.

        Args:
            shuffle: shuffle each process's share in each iteration.

        Example:
            >>> pipeline = reader.Dataset("shards").webdataset().decode("rgb8")
            >>> image, label = next(iter(pipeline.to_tuple("jpg", "cls")))
            >>> image.shape, type(label)
            ((60, 80, 3), <class 'int'>)
        """
        from webdataset import FluidWrapper

        arguments = len(self), self.locate, self.extensions, shuffle
        return FluidWrapper(partial(shared_samples, *arguments))

    def _choose(self, subset: Subset) -> None:
        self.places = self.places.choose(chosen_by(subset, len(self), self.columns))

    @cached_property
    def class_to_idx(self) -> dict[str, int]:
        """Label of each class name."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The labels as a list, as in ImageFolder."""
        # As numbers of the list below, which are the same objects for all samples: 8 bytes each.
        known = [*range(self.labels.max(initial=-1) + 1), -1]
        parts = np.array_split(self.labels, len(self.labels) // _AT_ONCE + 1)
        return [known[label] for part in parts for label in part.tolist()]

    @cached_property
    def samples(self) -> list[tuple[str, int]]:
        """The (path, label) of every sample, as in ImageFolder; the path as in `names`."""
        indexes = map(self._source.index, range(len(self.shards)))
        names = [name for index in indexes for name in index.names()]
        if self.places.chosen is not None:
            names = [names[number] for number in self.places.chosen.tolist()]
        return list(zip(names, self.targets, strict=True))

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """`samples`, by ImageFolder's other name."""
        return self.samples


_AT_ONCE = 1 << 16  # labels
