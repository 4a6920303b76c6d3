"""The rules for a loader's arguments, except for those that need the dataset."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    refuse_unknown,
)
from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.errors import ArgumentError
from reader.fields.field import Field, Sample
from reader.loader.collate import Collate
from reader.loader.from_torchvision import as_own
from reader.order.samplers import BatchSampler, Sampler, Shuffle
from reader.system import most_workers, usable_cores
from reader.transforms import Transform


class TorchNames(TypedDict, total=False):
    """Keywords of torch's DataLoader that a Loader also accepts."""

    num_workers: int
    pin_memory: bool  # for a loop without a CUDAPrefetcher, if there is a GPU


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
    "map_batch": FUNCTION,
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
}

_OF_TORCH: dict[str, Rule] = {
    "num_workers": (lambda given: is_integer(given) and given >= 0, "an integer of at least 0"),
    "pin_memory": FLAG,
}

_OF_DATASET = 'reader.Loader(reader.Dataset("shards", {name}={value}))'

# Replacements for keywords of torch's DataLoader, of a Dataset and of other loaders.
_ELSEWHERE = {
    "prefetch_factor": (
        "write batches_ahead={value}, the batches that all workers together decode ahead"
    ),
    "in_order": "leave it out, batches always come in order",
    "pin_memory_device": "leave it out, and give pin_memory=True or use a reader.CUDAPrefetcher",
    "persistent_workers": "leave it out, the workers stay until close()",
    "multiprocessing_context": "leave it out, the Loader chooses how its workers start",
    "num_samples": "write epoch_size={value}, the samples of an epoch",
    "generator": "write seed=0, which determines order and augmentation",
    "worker_init_fn": "leave it out, seed= determines what map_sample draws",
    "transform": (
        "write transforms=[reader.Resize(256), ...], or map_sample=function, called with the dict "
        "of each sample"
    ),
    "weights": "write sampler=reader.Weighted(weights) or sampler=reader.ClassBalanced()",
    "decoders": 'write fields=("image", reader.Member("exr", decode=function))',
    "target_transform": "write map_sample=function, called with the dict of each sample",
}
for _name in ("subset", "upright", "limits", "channels", "target", "cache_limit"):
    _ELSEWHERE[_name] = f"write {_OF_DATASET}"
for _name in ("cache_dir", "storage_options", "credential_provider"):
    _ELSEWHERE[_name] = f"write {_OF_DATASET} with the URL of the dataset"


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
    transforms: Sequence[Transform]
    views: int | Sequence[Sequence[Transform]]
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
    map_batch: Callable[[Any], Any] | None
    collate_fn: Collate | None
    rank: int | None
    world_size: int | None
    on_error: str
    max_bad: float
    cache: str | None
    decode: str
    timeout: float
    pin_memory: bool = False

    def __post_init__(self) -> None:
        check(vars(self), _OF_LOADER)
        if self.batch_sampler is not None:
            for name in ("shuffle", "sampler", "drop_last", "rank", "epoch_size"):
                if getattr(self, name) is not None and getattr(self, name) is not False:
                    raise ArgumentError(
                        "A batch_sampler chooses the samples of this rank's batches. Leave out "
                        f"{name}=."
                    )
        most = most_workers()
        if is_count(self.workers) and self.workers > most:  # type: ignore[operator]
            raise ArgumentError(
                f"workers={self.workers} is too many for {os.cpu_count()} cores and would "
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
        return usable_cores() if self.workers is None else int(self.workers)

    @property
    def patience(self) -> float:
        """Seconds without progress of the workers before an error; 0 for no limit."""
        return self.timeout if self.processes != 0 else 0

    def resolved(self, torch_names: Mapping[str, Any]) -> "LoaderConfig":
        if unknown := {n: value for n, value in torch_names.items() if n not in _OF_TORCH}:
            refuse_unknown("Loader", unknown, [*vars(self), *_OF_TORCH], _ELSEWHERE)
            names = ", ".join(map(repr, unknown))
            raise TypeError(f"Loader.__init__() got an unexpected keyword argument {names}")
        check(torch_names, {name: _OF_TORCH[name] for name in torch_names})
        workers = torch_names.get("num_workers", self.workers)
        if self.workers not in (None, workers):
            raise ArgumentError(
                f"workers={self.workers!r} and num_workers={workers} contradict each other. Give "
                "one of them."
            )
        pin_memory = bool(torch_names.get("pin_memory", False))
        return replace(self, workers=workers, pin_memory=pin_memory)


def view_pipelines(
    transforms: Sequence[Transform], views: int | Sequence[Sequence[Transform]]
) -> tuple[tuple[Transform, ...], ...]:
    transforms = as_own(transforms)
    if not (is_count(views) or (isinstance(views, Sequence) and views)):
        raise ArgumentError(
            "views is an integer of at least 1, or a list of transforms for each view, not "
            f"{views!r:.200}."
        )
    pipelines = (
        list(map(as_own, views)) if isinstance(views, Sequence) else [transforms] * int(views)
    )
    for pipeline in (transforms, *pipelines):
        if not isinstance(pipeline, Sequence) or not all(map(_is_transform, pipeline)):
            raise ArgumentError(
                "transforms is a list of reader's transforms, of torchvision's that have the same "
                f"names, or of objects with an apply method, not {pipeline!r:.200}. Leave it out "
                "for none. Call torchvision's other transforms and albumentations' in map_sample=."
            )
    if transforms and isinstance(views, Sequence):
        raise ArgumentError("Give the transforms of each view in views=, and no transforms=.")
    return tuple(tuple(pipeline) for pipeline in pipelines)


def _is_transform(given: object) -> bool:
    """Whether it is one of ours: other libraries' also have an `apply`, but are callable."""
    return hasattr(given, "apply") and not callable(given)
