"""A dataset on disk: sample numbers to shards and rows."""

import contextlib
import copy
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reader.checks import check
from reader.dataset.arguments import OF_DATASET
from reader.dataset.as_torch import LikeTorchDataset
from reader.dataset.as_webdataset import Source
from reader.dataset.coco import coco_target
from reader.dataset.open_shards import OpenShards, open_shard
from reader.dataset.places import Places, Subset, Texts, chosen_by
from reader.dataset.shard import Shard
from reader.dataset.shared_memory import Holding, hold
from reader.dataset.tar_bytes import ReadBuffer
from reader.decode.stored import StoredImage
from reader.errors import ArgumentError, ReaderError
from reader.format import Index, Limits, Manifest, ShardEntry, ShardfeedError
from reader.format.errors import DecodeError
from reader.store.urls import is_url

if TYPE_CHECKING:
    from reader.cache.client import Fetching


class Dataset(LikeTorchDataset):
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
            cache_limit: bytes that this may take, or what a Loader caches of the dataset; None for
                what the system has available. Of a URL: bytes of disk that `cache_dir` may take,
                None for half of what is free.
            cache_dir: where samples are kept that come from a store, of all datasets, for all
                processes of the machine; None for the user's usual place.
            storage_options: of the store, by obstore's names: ``region``, ``endpoint``, ``token``
                ...; what they leave out is looked up in the environment.
            credential_provider: called for credentials, again when they expire, as obstore's are.
            limits: what a sample may ask for; one that asks for more is a SampleError.

        Raises:
            ArgumentError: there is no such split or sample, or an argument is not of its kind.
            ReaderError: it does not fit into memory.
            StoreError: the store or the cache does not let it be read.
            FormatError: there is no dataset, or it is damaged.
        """
        check(locals(), OF_DATASET)
        self.fetching: Fetching | None = None
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
        self._class_count = len(self.classes)
        self.splits = [name for name in manifest.splits if name]
        self.extensions = manifest.fields
        self.box_encodings = manifest.boxes
        self.places = Places.of([shard.samples for shard in self.shards])
        self._own = OpenShards()
        self._holding: Holding | None = None
        if cache is not None:
            self._holding = hold(self.folder, self.shards, self.fingerprint, cache_limit)
        if subset is not None:
            self._choose(subset)

    @property
    def source(self) -> str:
        """Where the dataset is: its folder, or its URL."""
        return str(self.folder) if self.fetching is None else self.fetching.url

    def lent(self) -> "Dataset":
        """This dataset for workers, who have no need of credentials."""
        other = copy.copy(self)
        if self.fetching is not None:
            other.fetching = self.fetching.lent()
        return other

    def __len__(self) -> int:
        return len(self.places)

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
                target = coco_target(shard.read(row, "json"))
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

    def whole(self, number: int) -> NDArray[Any]:
        """The pixels of a sample, uint8 (height, width, channels), without `transform`.

        Raises:
            IndexError: there is no such sample.
            SampleError: it cannot be read.
        """
        shard, row = self.locate(number)
        try:
            return self._own.decoder.whole(self.image_of(shard, row))
        except DecodeError as error:
            raise shard.error(row, str(error)) from error

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

        return FluidWrapper(Source(len(self), self.locate, self.extensions, shuffle))

    def _choose(self, subset: Subset) -> None:
        columns = partial(self.columns, "label", "height", "width")
        self.places = self.places.choose(chosen_by(subset, len(self), columns))

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of the shards' contents and order; copies and subsets have the same."""
        shards = "".join(f"{shard.samples} {shard.checksum}\n" for shard in self.shards)
        return hashlib.blake2b(shards.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @cached_property
    def class_to_idx(self) -> dict[str, int]:
        """Label of each class name."""
        return {name: label for label, name in enumerate(self.classes)}

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The label of every sample, int64."""
        return self.columns("label")["label"].astype(np.int64, copy=False)

    @property
    def targets(self) -> list[int]:
        """The labels as ImageFolder has them."""
        return self.labels.tolist()

    @cached_property
    def samples(self) -> list[tuple[str, int]]:
        """The (path, label) of every sample, as ImageFolder has them; the path as in `names`."""
        names = [name for shard in self.shards for name in self._index(shard).names()]
        if self.places.chosen is not None:
            names = [names[number] for number in self.places.chosen.tolist()]
        return list(zip(names, self.targets, strict=True))

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """`samples`, by ImageFolder's other name."""
        return self.samples

    def _index(self, shard: ShardEntry) -> Index:
        """Open the index of a shard, without its tar."""
        return Index.of_shard(self.folder, shard, self._class_count)

    def columns(self, *names: str) -> dict[str, NDArray[Any]]:
        """Columns of the index (see `reader.format`) over all samples, without opening a tar."""
        found: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        for shard in self.shards:
            columns = self._index(shard).columns
            for name in names:
                found[name].append(columns[name].copy())  # lets go of the mapping
        whole = {name: np.concatenate(parts or [np.empty(0)]) for name, parts in found.items()}
        if self.places.chosen is None:
            return whole
        return {name: column[self.places.chosen] for name, column in whole.items()}

    def sizes(self) -> set[tuple[int, int]]:
        """The distinct (height, width) of the images, as `ds[i]` gives them.

        Raises:
            ReaderError: all of them have more pixels than the limit.
        """
        found: set[tuple[int, int]] = set()
        for position, rows in self.places.rows():
            columns = self._index(self.shards[position]).columns
            names = ("height", "width", "orientation")
            height, width, orientation = (columns[name][rows].astype(np.int64) for name in names)
            turned = (orientation > 4) & self.upright
            both = np.where(turned, width << 32 | height, height << 32 | width)
            both = both[height * width <= self.limits.pixels]
            found.update((int(size) >> 32, int(size) & 0xFFFFFFFF) for size in _distinct(both))
        if not found and len(self):
            raise ReaderError(
                f"Every image of {self.folder} has more than {self.limits.pixels} pixels. "
                "Dataset(..., limits=reader.Limits(pixels=...)) allows more."
            )
        return found

    @property
    def keys(self) -> Sequence[str]:
        """The key of every sample, read from the indexes as it is asked for."""
        return Texts("key", len(self), self.locate)

    @property
    def names(self) -> Sequence[str]:
        """Where each image was found, relative to the source: ``"cat/0001.jpg"``; read likewise."""
        return Texts("name", len(self), self.locate)

    def read(self, number: int, ext: str) -> bytes:
        """The raw bytes of the member with extension `ext` of a sample.

        Raises:
            SampleError: it has no such member, or it cannot be read.
        """
        shard, row = self.locate(number)
        return shard.read(row, ext)

    @property
    def buffer(self) -> ReadBuffer:
        """What this thread reads into, with its account of the reading."""
        return self._own.buffer

    def locate(self, number: int) -> tuple[Shard, int]:
        """The opened shard of a sample, and its row there.

        Raises:
            IndexError: there is no such sample.
            TypeError: it is not a number.
        """
        try:
            number = index(number)
        except TypeError:
            raise TypeError(f"a sample's number is an integer, not {number!r}") from None
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"sample {number} of a dataset of {count}")
        position, row = self.places.find(number % count)
        return self._shard(position), row

    def describe(self, number: int, *, with_key: bool = True) -> str:
        """What to call a sample in an error: by number, key and tar.

        The key is left out where it cannot be read; without it no file is looked at.
        """
        key = ""
        if with_key:
            with contextlib.suppress(ShardfeedError):
                key = f"{self.keys[number]!r} "
        return (
            f"sample {number} {key}of {self.source}/{self.shards[self.places.find(number)[0]].file}"
        )

    def locate_all(
        self, numbers: NDArray[np.int64], turn_to: Callable[[int], None]
    ) -> Iterator[tuple[Shard, NDArray[np.int64] | slice, NDArray[np.int64]]]:
        """Each opened shard of some samples, which of `numbers` lie there, and their rows.

        Before each is opened, `turn_to` is called with the first sample that lies there. Where it
        is one shard, a slice says that all of them do.
        """
        for position, which, rows in self.places.find_all(numbers):
            turn_to(int(numbers[which][0]))
            yield self._shard(position), which, rows

    def image_of(self, shard: Shard, row: int) -> StoredImage:
        """The stored image, as the dataset is to show it: upright or not, in colour or grey."""
        image = shard.image(row)
        if not self.upright and image.orientation != 1:
            image = replace(image, orientation=1)
        return image if self.channels == image.depth else replace(image, depth=self.channels)

    def _shard(self, position: int) -> Shard:
        def opened(buffer: ReadBuffer) -> Shard:
            entry, held, fetching = self.shards[position], self._holding, self.fetching
            index = self._index(entry)
            return open_shard(
                self.folder, entry, position, buffer, self.limits, held, fetching, index
            )

        return self._own.get(position, opened)


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """As np.unique, which imports numpy.ma: a sixth of the time to the first batch."""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]
