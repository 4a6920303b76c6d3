"""A dataset on disk: sample numbers to shards and rows."""

import copy
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from reader.checks import check
from reader.dataset.arguments import OF_DATASET
from reader.dataset.as_torch import LikeTorchDataset
from reader.dataset.as_webdataset import shared_samples
from reader.dataset.numbered import NumberedSamples
from reader.dataset.open_shards import OpenShards, ShardFiles
from reader.dataset.places import Places, Subset, chosen_by
from reader.dataset.shared_memory import hold
from reader.errors import ArgumentError
from reader.format import Limits, Manifest
from reader.store.urls import is_url


class Dataset(LikeTorchDataset, NumberedSamples):
    """The samples of one split, by number.

    ``ds[i]`` is an (image, label) pair as torchvision's ImageFolder gives it: a (height, width, 3)
    uint8 RGB array, and an int (-1 where the dataset has no labels). It is a map-style dataset
    for torch's DataLoader, with any sampler, forked or spawned. Shards are opened when they are
    first needed and at most 128 stay open, in each thread that reads, fewer under a low
    ``ulimit -n``.

    Attributes:
        folder: where dataset.json lies.
        classes: class names in label order.
        splits: names of all splits that the dataset has, whichever of them this is; none where it
            is not divided.
        extensions: of the members that samples have.
        box_encodings: how members hold boxes, by extension, as far as dataset.json records it.
        places: where the samples lie.
        fetching: what brings the samples of a dataset in a store; None for a folder.

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

    def __init__(
        self,
        folder: str | os.PathLike[str],
        split: str | None = None,
        upright: bool = True,
        *,
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
            folder: holds dataset.json, ``~`` is the home directory; or the URL of such a place in a
                store: ``s3://``, ``gs://``, ``az://``, ``https://``, ``hf://datasets/...``,
                ``file://``.
            split: its name; None for a dataset without splits, or for all of them.
            upright: apply the EXIF orientation, so that the model sees what people see.
            subset: the samples that it has; see the method of that name.
            transform: called with the PIL image, as ImageFolder's is; ``ds[i]`` has what it gives.
            target_transform: called with the label, or what `target` asks for.
            target: "coco" for the image's annotations in place of its label, as torchvision's
                CocoDetection gives them: a list of dicts with COCO's own category ids.
            channels: 3 for RGB, 1 for grey: arrays (height, width, 1), a Loader's images are
                (B, 1, H, W), and `transform` gets PIL images of mode L, as of torchvision's MNIST.
            cache: "ram" to copy the shards into memory, once for all processes of the machine.
            cache_limit: bytes of memory for this, or for a Loader's cache; None for what the system
                has available. With a URL: bytes of disk for `cache_dir`; None for half of what is
                free.
            cache_dir: folder for samples from stores, of all datasets and processes of the machine;
                None for the user's usual place.
            storage_options: of the store, by obstore's names: ``region``, ``endpoint``, ``token``;
                the environment has the others.
            credential_provider: called for credentials, again when they expire, as obstore's are.
            limits: for one sample; one that exceeds them is a SampleError.

        Raises:
            ArgumentError: there is no such split or sample, or an argument is not of its kind.
            ReaderError: it does not fit into memory.
            StoreError: the store or the cache does not let it be read.
            FormatError: there is no dataset, or it is damaged.
        """
        check(locals(), OF_DATASET)
        self.fetching = None
        if is_url(folder):
            if cache is not None:
                raise ArgumentError('cache="ram" is for a folder; of a URL, cache_dir= is used.')
            from reader.cache.client import fetching  # few need it

            options = cache_dir, cache_limit, storage_options, credential_provider
            self.fetching = fetching(str(folder), split, *options)
            folder, cache_limit = self.fetching.folder, None
        elif (cache_dir, storage_options, credential_provider) != (None, None, None):
            raise ArgumentError(
                "cache_dir, storage_options and credential_provider are for the URL of a store, "
                f"not for the folder {os.fspath(folder)!r}."
            )
        self.folder = Path(os.path.expanduser(folder)).absolute()
        self.split = split
        self.upright = upright
        self.transform = transform
        self.target_transform = target_transform
        self.target = target
        self.channels = channels
        self.cache_limit = cache_limit
        self.limits = limits
        manifest = Manifest.load(self.folder)
        if split is not None and split not in manifest.splits:
            raise ArgumentError(f"{self.source} has no split {split!r}; {manifest.known_splits}.")
        self.shards = tuple(s for s in manifest.shards if split in (None, s.split))
        self.classes = list(manifest.classes)
        self.splits = [name for name in manifest.splits if name]
        self.extensions = manifest.fields
        self.box_encodings = manifest.boxes
        self.places = Places.of([shard.samples for shard in self.shards])
        self._own = OpenShards()
        held = None
        if cache is not None:
            held = hold(self.folder, self.shards, self.fingerprint, cache_limit)
        self._files = ShardFiles(
            self.folder, self.shards, len(self.classes), limits, held, self.fetching
        )
        if subset is not None:
            self._choose(subset)

    def lent(self) -> "Dataset":
        """This dataset for workers, who have no need of credentials."""
        other = copy.copy(self)
        if self.fetching is not None:
            other.fetching = self.fetching.lent()
            assert isinstance(self._files, ShardFiles)
            other._files = replace(self._files, fetching=other.fetching)
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
                target = _coco_target(shard.read(row, "json"))
            except ValueError as error:
                raise shard.error(row, f'its .json does not fit target="coco" ({error})') from error
        return pixels, target if self.target_transform is None else self.target_transform(target)

    def __getitems__(self, numbers: Sequence[int]) -> list[tuple[Any, Any]]:
        """Several samples, as torch's DataLoader asks for a batch."""
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
        """For notebooks: what it is, and some of its samples as they are stored."""
        from reader.dataset.page import page_of  # brings Pillow

        return page_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """All but what belongs to this process's threads, or is read from the indexes anew."""
        left_out = ("_own", "labels", "samples", "class_to_idx")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _own=OpenShards())

    def subset(self, subset: Subset) -> "Dataset":
        """Some of the samples, as a Dataset of its own: numbered anew, the classes as they are.

        Args:
            subset: sample numbers, in the order in which they are to come; or one bool for each
                sample; or a function from the columns ``label``, ``height`` and ``width`` (arrays)
                to that.

        Raises:
            ArgumentError: it is none of these, or there is no such sample.
        """
        other = copy.copy(self)
        other._choose(subset)
        return other

    def webdataset(self, shuffle: bool = False) -> Any:
        """The samples as a pipeline of the webdataset library, for code that has one.

        It begins where ``webdataset.WebDataset(urls)`` does: with dicts of ``__key__``, ``__url__``
        and the members' bytes by extension; ``.decode("pil")``, ``.to_tuple("jpg", "cls")``,
        ``.batched(64)`` and ``webdataset.WebLoader`` go on from there. An iteration has each sample
        of this split or subset once, over all nodes and DataLoader workers together.

        Args:
            shuffle: give each process's share in a new order in each iteration.

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
        columns = partial(self.columns, "label", "height", "width")
        self.places = self.places.choose(chosen_by(subset, len(self), columns))

    @cached_property
    def class_to_idx(self) -> dict[str, int]:
        """Label of each class name."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The labels as ImageFolder has them."""
        return self.labels.tolist()

    @cached_property
    def samples(self) -> list[tuple[str, int]]:
        """The (path, label) of every sample, as ImageFolder has them; the path as in `names`."""
        indexes = map(self._files.index, range(len(self.shards)))
        names = [name for index in indexes for name in index.names()]
        if self.places.chosen is not None:
            names = [names[number] for number in self.places.chosen.tolist()]
        return list(zip(names, self.targets, strict=True))

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """`samples`, by ImageFolder's other name."""
        return self.samples


# What `packer pack` adds, or names its own way.
_OF_PACKER = ("image", "boxes", "categories", "captions")


def _coco_target(data: bytes) -> list[dict[str, Any]]:
    """The annotations of an image, as its annotation file has them, category ids included."""
    content = json.loads(data)
    if not isinstance(content, dict) or "image" not in content or "categories" not in content:
        raise ValueError("it has no objects of a COCO annotation file")
    columns = {name: values for name, values in content.items() if name not in _OF_PACKER}
    if "boxes" in content:
        columns["bbox"] = content["boxes"]
    count = len(content["categories"])
    if count and "category_id" not in columns:
        raise ValueError("it was packed without the ids of categories: pack it again")
    return [
        {
            "image_id": content["image"]["id"],
            **{name: values[at] for name, values in columns.items() if values[at] is not None},
        }
        for at in range(count)
    ]
