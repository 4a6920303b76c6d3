"""What packing tells at its end, read from the indexes of the finished shards."""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from packer import __version__
from packer.images.encode import Policy, transcoders
from packer.plan.guard import all_versions
from packer.run.rejected import Named, kept
from packer.shards.written import Written
from reader.format import Manifest, ShardEntry


@dataclass(frozen=True)
class PackReport:
    """What became of a source: every file of it is a sample, rejected or ignored.

    Attributes:
        reading: what the source was understood as, in a sentence.
        remarks: further sentences on it.
        splits: samples of each split; empty without splits.
        untiled: (name, reason) of the JPEGs that could not be tiled and are stored as they were.
        unbanded: the same of PNGs that could not be banded.
    """

    __module__ = "packer"

    reading: str
    remarks: list[str]
    dataset: str
    samples: int
    classes: int
    splits: Mapping[str, int]
    shards: int
    shards_written: int
    bytes: int
    seconds: float
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]
    unbanded: list[tuple[str, str]]
    ignored: list[tuple[str, str]]


@dataclass(frozen=True)
class PartReport:
    """What became of one part.

    Attributes:
        reading: what the source was understood as, in a sentence.
        part: such as "3/64".
        samples, shards: of this part.
        missing: shards of the whole that are not there yet.
        committed: whether there is a dataset already.
        rejected, untiled: of this part, as those of `PackReport`.
    """

    reading: str
    part: str
    dataset: str
    samples: int
    shards: int
    shards_written: int
    missing: int
    committed: bool
    seconds: float
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]


def without_labels(labels: Collection[int]) -> list[str]:
    """What to tell where some samples have labels and others have not."""
    some = -1 in labels and len(labels) > 1
    return ["Some samples have no label: a Loader gives them -1."] * some


def manifest_of(
    written: Written,
    entries: Iterable[ShardEntry],
    base: Manifest | None,
    policy: Policy,
    *,
    rejected: Collection[Named],
    unindexed: Collection[Named] = (),
    before: Set[Named] = frozenset(),
    reading: str,
    **told: Any,
) -> Manifest:
    """The dataset of what is written, beside what there is already.

    Args:
        written: the shards.
        entries: theirs, in order.
        base: the dataset that they are added to.
        policy: what was done with images.
        rejected: files that were rejected now, with the reasons.
        unindexed: those of them that no index names.
        before: those that `base` names already: they are not counted twice.
        reading: what the source was understood as.
        told: the rest of a `Manifest`.
    """
    count = sum(item not in before for item in rejected)
    return Manifest(
        packer=__version__,
        fields=tuple(sorted(written.fields.union(base.fields if base else ()))),
        shards=(*(base.shards if base else ()), *entries),
        rejected=count + (base.rejected if base else 0),
        rejections=kept([item for item in unindexed if item not in before], base),
        reading=base.reading if base and base.reading else reading,
        transcoders=all_versions(transcoders(policy), base),
        **told,
    )


def report(name: str, content: Manifest, written: Written, **told: Any) -> PackReport:
    """The report on a dataset that is committed, with what else is `told`."""
    return PackReport(
        dataset=name,
        samples=sum(shard.samples for shard in content.shards),
        classes=len(content.classes),
        splits={name: count for name, count in content.split_samples.items() if name},
        shards=len(content.shards),
        bytes=sum(shard.bytes + shard.index_bytes for shard in content.shards),
        untiled=sorted(written.untiled),
        unbanded=sorted(written.unbanded),
        **told,
    )
