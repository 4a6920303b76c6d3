"""The rules for a loader's arguments, except for those that need the dataset."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from reader.checks import (
    FLAG,
    FUNCTION,
    NAME,
    Rule,
    check,
    is_count,
    is_integer,
    is_number,
    one_of,
    or_none,
)
from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.errors import ArgumentError
from reader.fields.field import Field, Sample
from reader.loader.collate import Collate
from reader.loader.from_torchvision import Pipeline, as_own
from reader.order.samplers import BatchSampler, Sampler, Shuffle
from reader.system import most_workers, usable_cores
from reader.transforms.batches.mixing import is_mixing
from reader.transforms.batches.output import Output
from reader.transforms.transform import Transform

MapBatch = Callable[[Any], Any] | Transform  # a function, or a step on batches


class TorchNames(TypedDict, total=False):
    """Keywords of torch's DataLoader that a Loader also accepts."""

    num_workers: int
    pin_memory: bool  # for a loop without a CUDAPrefetcher, if there is a GPU
    persistent_workers: bool  # without effect: workers stay until `close`


_OF_LOADER: dict[str, Rule] = {
    "split": NAME,
    "batch_size": (is_count, "an integer of at least 1"),
    "seed": (is_integer, "an integer"),
    "epoch_size": (or_none(is_count), "an integer of at least 1, or None"),
    "epochs": (or_none(is_count), "an integer of at least 1, or None for no end"),
    "workers": (
        lambda given: given is None or (is_integer(given) and given >= 0) or one_of("auto")(given),
        "an integer of at least 0, 'auto' or None",
    ),
    "batches_ahead": (or_none(is_count), "an integer of at least 1, or None"),
    "drop_last": FLAG,
    "map_sample": FUNCTION,
    "map_batch": (
        lambda given: given is None or all(map(_maps_batches, _listed(given))),
        "a function, reader.MixUp, reader.CutMix, a choice of these, a list of such, or None",
    ),
    "collate_fn": FUNCTION,
    "cache": (
        one_of(None, "decoded"),
        '"decoded" or None (to hold the shards in memory, give reader.Dataset cache="ram")',
    ),
    "on_error": (one_of("raise", "substitute", "mask"), "'raise', 'substitute' or 'mask'"),
    "max_bad": (lambda given: is_number(given) and 0 <= given <= 1, "a share from 0 to 1"),
    "decode": (one_of("cpu", "gpu", "auto"), "'cpu', 'gpu' or 'auto'"),
    "timeout": (
        lambda given: is_number(given) and given >= 0,
        "a number of seconds, 0 for no limit",
    ),
    "num_workers": (
        or_none(lambda given: is_integer(given) and given >= 0),
        "an integer of at least 0",
    ),
    "pin_memory": FLAG,
    "persistent_workers": FLAG,
}


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) and given else [given]


def _maps_batches(given: Any) -> bool:
    return callable(given) or is_mixing(given)


def dataset_of(dataset: Any, split: str | None) -> Dataset:
    """Return the dataset of a Loader's arguments; torch's Subset and ConcatDataset become ours."""
    if isinstance(dataset, (str, os.PathLike)):
        return Dataset(dataset, split)
    dataset = _chosen(dataset)
    if not isinstance(dataset, Dataset):
        raise ArgumentError(_instead_of(dataset))
    if split not in (None, dataset.split):
        raise ArgumentError(
            f"The dataset was opened with split={dataset.split!r}, not {split!r}. Write "
            f"reader.Loader(reader.Dataset({dataset.source!r}, {split!r}))."
        )
    for name in ("transform", "target_transform", "target"):
        if getattr(dataset, name) is not None:
            raise ArgumentError(
                f"A Loader does not apply the dataset's {name}=, which is for torch's DataLoader. "
                "Open the dataset without it, and give the Loader transforms= (reader's own) or "
                "map_sample= (a function of the sample, called in the workers)."
            )
    return dataset


def _chosen(dataset: Any) -> Any:
    if isinstance(dataset, Dataset):
        return dataset
    if hasattr(dataset, "indices") and hasattr(dataset, "dataset"):
        whole = _chosen(dataset.dataset)
        return whole.subset(dataset.indices) if isinstance(whole, Dataset) else whole
    parts = [_chosen(part) for part in getattr(dataset, "datasets", ())]
    if parts and all(isinstance(part, Dataset) for part in parts):
        if any(part.classes != parts[0].classes for part in parts):
            raise ArgumentError(
                "These datasets have different classes, so a label has several meanings: give the "
                "Loader reader.Mix(datasets), which joins classes by name, or "
                'reader.Mix(datasets, classes="apart").'
            )
        return Mix(parts)
    return dataset


def _instead_of(given: Any) -> str:
    parts = getattr(given, "datasets", given if isinstance(given, (list, tuple)) else None)
    is_several = isinstance(parts, Sequence) and any(
        isinstance(part, (Dataset, str, os.PathLike)) for part in parts
    )
    if is_several and parts:
        sources = {part.source if isinstance(part, Dataset) else str(part) for part in parts}
        begin = f"A Loader reads one dataset, not {len(parts)} of them. "
        if len(sources) == 1:
            source = sources.pop()
            return (
                f"{begin}reader.Loader({source!r}) reads all splits of this one, and "
                f"reader.Loader(reader.Dataset({source!r}).subset(numbers)) reads chosen samples."
            )
        return (
            f"{begin}To mix them, give it reader.Mix([reader.Dataset(first), "
            "reader.Dataset(second)]). Pack what is not packed: `packer pack SOURCE SHARDS`."
        )
    if hasattr(given, "__getitem__") and not isinstance(given, (bytes, Mapping)):
        return (
            f"A Loader reads a packed dataset, not a {type(given).__name__}. Pack it once: "
            'packer.pack(dataset, "shards"); then write reader.Loader("shards").'
        )
    return f"dataset is a reader.Dataset, or the folder or URL of one, not {given!r:.200}."


@dataclass(frozen=True)
class LoaderConfig:
    """A Loader's arguments, checked one by one and against each other."""

    dataset: Any
    split: str | None
    batch_size: int
    transforms: Pipeline
    views: int | Sequence[Pipeline]
    shuffle: Shuffle
    sampler: Sampler | None
    batch_sampler: BatchSampler | None
    seed: int
    epoch_size: int | None
    epochs: int | None
    workers: int | str | None
    batches_ahead: int | None
    drop_last: bool
    fields: Sequence[str | Field]
    map_sample: Callable[[Sample], Sample | None] | None
    map_batch: MapBatch | Sequence[MapBatch] | None
    collate_fn: Collate | None
    rank: int | None
    world_size: int | None
    on_error: str
    max_bad: float
    cache: str | None
    decode: str
    timeout: float
    num_workers: int | None = None
    pin_memory: bool = False
    persistent_workers: bool = True

    def __post_init__(self) -> None:
        check(vars(self), _OF_LOADER)
        if None not in (self.workers, self.num_workers) and self.workers != self.num_workers:
            raise ArgumentError(
                f"workers={self.workers!r} and num_workers={self.num_workers} contradict each "
                "other. Give one of them."
            )
        if self.batch_sampler is not None:
            for name in ("shuffle", "sampler", "drop_last", "rank", "epoch_size"):
                if getattr(self, name) is not None and getattr(self, name) is not False:
                    raise ArgumentError(
                        "A batch_sampler chooses the samples of this rank's batches. Leave out "
                        f"{name}=."
                    )
        most = most_workers()
        if (self.processes or 0) > most:
            raise ArgumentError(
                f"workers={self.processes} is too many for {os.cpu_count()} cores and would "
                f"exhaust the memory; at most {most} are possible here. Leave it out for one on "
                "each core."
            )
        if self.decode != "cpu" and self.cache == "decoded":
            raise ArgumentError(
                'cache="decoded" keeps images that workers decode; with '
                f'decode="{self.decode}" the GPU decodes them. Leave one of them out.'
            )

    @property
    def processes(self) -> int | None:
        """Number of worker processes; None to measure how many are needed."""
        if self.workers == "auto":
            return None
        wanted = self.num_workers if self.workers is None else self.workers
        return usable_cores() if wanted is None else int(wanted)

    @property
    def patience(self) -> float:
        """Seconds without progress of the workers before an error; 0 for no limit."""
        return self.timeout if self.processes != 0 else 0


def view_pipelines(
    transforms: Any, views: Any, channels: int
) -> tuple[tuple[tuple[Transform, ...], ...], Output | None]:
    """Return the transforms of each view, and what becomes of their images in a batch."""
    if not (is_count(views) or (isinstance(views, Sequence) and views)):
        raise ArgumentError(
            "views is an integer of at least 1, or a list of transforms for each view, not "
            f"{views!r:.200}."
        )
    own, output = as_own(transforms, channels)
    if not isinstance(views, Sequence):
        return (own,) * int(views), output
    if own or output:
        raise ArgumentError("Give the transforms of each view in views=, and no transforms=.")
    pipelines, outputs = zip(
        *(as_own(view, channels, f"views[{at}]") for at, view in enumerate(views)), strict=True
    )
    if len(set(outputs)) > 1:
        raise ArgumentError(
            "All views of a batch get one output, but views= describe several by what follows "
            "ToTensor, ToDtype or Normalize. End each of them in the same way."
        )
    return pipelines, outputs[0]
