"""Several datasets as one: their samples one after the other, and how often each is to come."""

import copy
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from operator import or_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reader.advice import explained
from reader.checks import FLAG, Rule, brief, check, is_number, one_of
from reader.dataset.as_torch import READ_ALIKE
from reader.dataset.dataset import Dataset
from reader.dataset.locator import SampleLocator
from reader.dataset.open_shards import OpenShards
from reader.dataset.sources import RelabelledShards, SeveralShards
from reader.errors import ArgumentError

Entry = Dataset | tuple[Dataset, float]
Classes = tuple[list[str], list[NDArray[np.int64] | None]]  # and what a dataset's labels become

_RULES: dict[str, Rule] = {
    "by": (one_of("proportion", "repeat", "choose"), '"proportion", "repeat" or "choose"'),
    "replacement": FLAG,
    "classes": (one_of("join", "apart"), '"join" or "apart"'),
}


class Mix(Dataset):
    """Several datasets as one, for a Loader, with a number for each: how often it comes.

    It is a Dataset: ``mix[i]`` and ``len(mix)`` have each sample of each dataset once, one dataset
    after the other, and without numbers a Loader delivers that. With numbers, an epoch of a Loader
    has `counts` samples of each, dealt out evenly: any part of an epoch has every dataset's share,
    to within a few samples. Each dataset is shuffled separately by `shuffle`, and continues in
    the next epoch where it stopped, so its samples come equally often. The field ``"source"`` is
    the place of a sample's dataset in `parts` and `source_names`.

    Attributes:
        parts: the datasets.
        source_names: of the datasets, in their order; "0", "1", ... if none were given.
        classes: class names in label order.

    Example:
        >>> train, val = reader.Dataset("shards", "train"), reader.Dataset("shards", "val")
        >>> mix = reader.Mix({"train": (train, 0.5), "val": (val, 0.5)})
        >>> mix.counts()
        {'train': 14, 'val': 14}
        >>> with reader.Loader(mix, batch_size=4, shuffle=True, fields=("source",)) as loader:
        ...     [int(source.sum()) for (source,) in loader]
        [2, 2, 2, 2, 2, 2, 2]
    """

    __module__ = "reader"

    _source: SeveralShards

    @explained()
    def __init__(
        self,
        datasets: Mapping[str, Entry] | Sequence[Entry],
        *,
        by: Literal["proportion", "repeat", "choose"] = "proportion",
        replacement: bool = False,
        classes: Literal["join", "apart"] = "join",
    ) -> None:
        """Store the datasets.

        Args:
            datasets: a list of datasets, or of (dataset, number); or a dict of them by name. A
                dataset may be a subset, and the same one may come several times.
            by: what the numbers are. "proportion": shares of an epoch, which has as many samples as
                the mix, or ``Loader(epoch_size=)``. "repeat": how often an epoch has each sample of
                the dataset, such as 2 or 0.5. "choose": samples of the dataset in an epoch.
            replacement: draw each sample by chance; a dataset then has its share on average only.
            classes: "join" for one label for all classes of one name; "apart" for labels of its own
                for each dataset, with classes named ``"name/class"``.

        Raises:
            ArgumentError: an argument is not of its kind, or the datasets are opened differently.
        """
        check(locals(), _RULES)
        self.source_names, self.parts, self._amounts = _entries(datasets)
        self.is_weighted = self._amounts is not None
        self.is_drawn = bool(replacement)
        self._by = by if self.is_weighted else "repeat"
        first = self.parts[0]
        for part in self.parts:
            _check_alike(part, first)
        vars(self).update({name: getattr(first, name) for name in READ_ALIKE})
        self.fetching = self.split = None
        self.splits = []
        limits = [part.cache_limit for part in self.parts if part.cache_limit is not None]
        self.cache_limit = sum(limits) if limits else None
        self.shards = tuple(shard for part in self.parts for shard in part.shards)
        self.extensions = tuple(dict.fromkeys(e for part in self.parts for e in part.extensions))
        self.box_encodings = {e: b for part in self.parts for e, b in part.box_encodings.items()}
        self.mask_colors = {e: c for part in self.parts for e, c in part.mask_colors.items()}
        sizes = [part.recorded_sizes for part in self.parts if part.places.total]
        known = [one for one in sizes if one is not None]
        self.recorded_sizes = reduce(or_, known) if known and known == sizes else None
        self.is_raw = all(part.is_raw for part in self.parts)
        self.places = _joined([part.places for part in self.parts])
        joined = _apart if classes == "apart" else _by_name
        self.classes, self._labels = joined(self.source_names, self.parts)
        self._own = OpenShards()
        starts = accumulate((len(part.shards) for part in self.parts[:-1]), initial=0)
        pairs = enumerate(zip(self.parts, self._labels, strict=True))
        sources = (RelabelledShards(part._source, labels, n) for n, (part, labels) in pairs)
        self._source = SeveralShards(tuple(sources), tuple(starts))

    def counts(self, epoch_size: int | None = None, *, multiple: int = 1) -> dict[str, int]:
        """Return how many samples of each dataset an epoch has, by name.

        Args:
            epoch_size: samples of an epoch, as the Loader's; None for as many as the mix has.
            multiple: each count is one of this.

        Raises:
            ArgumentError: a dataset that is to come has no sample, or none in such an epoch.
        """
        lengths = self.lengths
        amounts = np.ones(len(lengths)) if self._amounts is None else np.array(self._amounts)
        total = len(self)
        if self._by != "proportion":
            amounts = amounts * (lengths if self._by == "repeat" else 1)
            total = round(amounts.sum())
        turns = (total if epoch_size is None else epoch_size) // multiple
        quotas = turns * amounts / max(amounts.sum(), 1e-300)
        found = np.floor(quotas).astype(np.int64)
        found[np.argsort(found - quotas, kind="stable")[: turns - found.sum()]] += 1
        for name, amount, length, count in zip(
            self.source_names, amounts, lengths, found, strict=True
        ):
            if amount and not (length and count):
                what = f"of an epoch of {turns * multiple:,}" if length else "to give"
                raise ArgumentError(
                    f"The dataset {name!r} of the Mix has no sample {what}: leave it out, or give "
                    "it a larger number or the Loader a larger epoch_size=."
                )
        return dict(zip(self.source_names, (found * multiple).tolist(), strict=True))

    def _joined(
        self, name: str, parts: Sequence[NDArray[Any] | None], rows: Sequence[int]
    ) -> NDArray[Any]:
        """Join a column of the indexes, which each dataset has; a member may be in some only."""
        is_field = any(part is not None and part.dtype.kind != "u" for part in parts)
        for dataset, (first, stop) in zip(self.parts, pairwise(self.edges), strict=True):
            own = parts[first:stop]
            if is_field and len(dataset) and all(part is None for part in own):
                raise ArgumentError(
                    f"{dataset.source}, a dataset of the Mix, has no column {name!r}, and others "
                    f"have. Pack it with `--column {name}`, or choose its samples before they are "
                    "mixed: reader.Mix([first.subset(...), second])."
                )
            if isinstance(dataset, Mix):
                dataset._joined(name, own, rows[first:stop])
        return super()._joined(name, parts, rows)

    @property
    def edges(self) -> list[int]:
        """The number of the first shard of each dataset, and that of all shards."""
        return [*self._source.starts, len(self.shards)]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Samples of each dataset."""
        if self.places.chosen is None:
            return np.diff(self.places.ends[self.edges])
        return np.bincount(self.sources(np.arange(len(self))), minlength=len(self.parts))

    @property
    def source(self) -> str:
        """Where the datasets are."""
        return ", ".join(part.source for part in self.parts)

    def for_workers(self) -> "Mix":
        other = copy.copy(self)
        other.parts = tuple(part.for_workers() for part in self.parts)
        other._source = self._source.for_workers()
        return other

    def sources(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        places = numbers if self.places.chosen is None else self.places.chosen[numbers]
        starts = self.places.ends[self.edges[:-1]]
        return np.searchsorted(starts, places, side="right") - 1


def _entries(given: Any) -> tuple[list[str], tuple[Dataset, ...], list[float] | None]:
    """Return the names, the datasets, and their numbers if they have any."""
    is_named = isinstance(given, Mapping)
    entries = list(given.values()) if is_named else given
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Sequence) or not entries:
        raise ArgumentError(
            "datasets is a list of reader.Dataset or of (dataset, number), or a dict of them by "
            f"name, not {given!r:.200}."
        )
    pairs = [entry if isinstance(entry, tuple) else (entry, None) for entry in entries]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], Dataset):
            raise ArgumentError(
                "A Mix is of datasets, reader.Dataset(folder), or of (dataset, number), not "
                f"{pair if len(pair) != 2 else pair[0]!r:.200}."
            )
        if getattr(pair[0], "is_weighted", False):
            raise ArgumentError(
                "A Mix with numbers cannot be a dataset of another Mix: give that one all datasets."
            )
    numbers = [number for _, number in pairs]
    names = list(map(str, given if is_named else range(len(pairs))))
    datasets = tuple(dataset for dataset, _ in pairs)
    if all(number is None for number in numbers):
        return names, datasets, None
    if not all(is_number(number) and number >= 0 for number in numbers) or not any(numbers):
        raise ArgumentError(
            "The numbers of a Mix are finite, at least 0 and not all 0, one for each dataset or "
            f"for none, not {brief(numbers)}."
        )
    return names, datasets, list(map(float, numbers))


def _check_alike(part: Dataset, first: Dataset) -> None:
    for name in READ_ALIKE:
        own, others = getattr(part, name), getattr(first, name)
        if own != others:
            raise ArgumentError(
                f"The datasets of a Mix are opened alike, but {part.source} has {name}={own!r} and "
                f"{first.source} has {name}={others!r}. Give both the same {name}=."
            )


def _joined(parts: Sequence[SampleLocator]) -> SampleLocator:
    found = SampleLocator.of([count for part in parts for count in part.counts])
    if all(part.chosen is None for part in parts):
        return found
    starts = accumulate((part.total for part in parts), initial=0)
    chosen = [
        start + (np.arange(part.total) if part.chosen is None else part.chosen.astype(np.int64))
        for part, start in zip(parts, starts, strict=False)
    ]
    return found.choose(np.concatenate(chosen))


def _by_name(names: Sequence[str], parts: Sequence[Dataset]) -> Classes:
    label_of = {name: 0 for part in parts for name in part.classes}
    label_of = {name: label for label, name in enumerate(label_of)}
    for part in parts:
        if label_of and not part.classes and (part.labels >= 0).any():
            raise ArgumentError(
                f"{part.source} has labels without class names, so they cannot be joined with "
                'those of the other datasets: give Mix(..., classes="apart").'
            )
    return list(label_of), [_labels([label_of[name] for name in part.classes]) for part in parts]


def _apart(names: Sequence[str], parts: Sequence[Dataset]) -> Classes:
    classes: list[str] = []
    labels = []
    for name, part in zip(names, parts, strict=True):
        own = part.classes or range(part.labels.max(initial=-1) + 1)
        labels.append(_labels(range(len(classes), len(classes) + len(own))))
        classes += [f"{name}/{one}" for one in own]
    return classes, labels


def _labels(labels: Sequence[int]) -> NDArray[np.int64] | None:
    """Return what each label becomes, and -1 for -1; None where all stay."""
    return None if list(labels) == list(range(len(labels))) else np.array([*labels, -1])
