"""What loaders deliver, and transforms that let something happen in a worker."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from reader import (
    CenterCrop,
    Dataset,
    Geometry,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Transform,
)
from reader.rng import SampleRandom

Write = Callable[..., Path]  # a fixture that makes a dataset of what it is given
COUNT = 39
CROP = CenterCrop((48, 64))  # no image is smaller
AUGMENT = (RandomResizedCrop((24, 32)), RandomHorizontalFlip())
EVERYTHING = ("image", "label", "index", "valid", "key")


def load(folder: Any, **options: Any) -> Loader:
    """A loader in this process that delivers numbers of samples, in batches of four."""
    given = {"batch_size": 4, "workers": 0, "transforms": [CenterCrop(8)], "fields": ("index",)}
    return Loader(folder, **{**given, **options})


def epoch_of(dataset: Any, **options: Any) -> list[Any]:
    """The batches of a loader, in this process unless there are to be workers."""
    with Loader(dataset, **{"workers": 0, **options}) as loader:
        return list(loader)


def only(dataset: Any, **options: Any) -> Any:
    """The only batch of a loader."""
    (batch,) = epoch_of(dataset, **options)
    return batch


def digest(batches: Iterable[Sequence[Any]]) -> str:
    """A checksum of all that is in the batches, and of their order."""
    found = hashlib.sha256()
    for batch in batches:
        for field in batch:
            if isinstance(field, torch.Tensor):
                found.update(field.numpy().tobytes())
            elif isinstance(field, (list, tuple)):
                found.update(digest([field]).encode())
            else:
                found.update(repr(field).encode())
    return found.hexdigest()


def indexes(batches: Iterable[Sequence[Any]], field: int = 0) -> list[int]:
    return [number for batch in batches for number in batch[field].tolist()]


def augmented(packed: Path, **options: Any) -> Loader:
    """A loader of which order and pixels are drawn, and all fields are told."""
    arguments: dict[str, Any] = {
        "batch_size": 4,
        "workers": 1,
        "transforms": AUGMENT,
        "shuffle": True,
        "seed": 5,
        "fields": EVERYTHING,
    }
    return Loader(packed, **{**arguments, **options})


def damage(folder: Path, number: int) -> None:
    """Overwrite a sample's image with zeros."""
    shard, row = Dataset(folder).locate(number)
    offset, size = (int(shard.index.columns[name][row]) for name in ("offset", "size"))
    with shard.path.open("r+b") as file:
        file.seek(offset)
        file.write(bytes(size))


def slow(seconds: float = 0.005) -> Transform:
    class Slow:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            time.sleep(seconds)

    return Slow()


def in_a_worker(act: Callable[[Geometry], None]) -> Transform:
    """A transform that calls `act` with the geometry, but not in this process."""
    parent = os.getpid()

    class Act:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            if os.getpid() != parent:
                act(geometry)

    return Act()
