"""The report of packing, read from the indexes of the finished shards.

An index names what was rejected while its shard was written. dataset.json names the first thousand
of the other files, most of them rejected by the scan, and counts all by reason.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packer import __version__
from packer.errors import pattern_of
from packer.images.encode import Policy, transcoders
from packer.plan.work import all_versions
from packer.progress import Progress
from packer.run.destination import Destination
from packer.samples.labels import Encodings, joined
from packer.shards.frames import frame_lines
from packer.shards.shard_writer import Written
from packer.words import shortened
from reader.format import Manifest, MaskColors, ShardEntry
from reader.format.sizes import SizeBounds, united

Named = tuple[str, str]  # a file and the reason

_MOST_FILES = 1000
_MOST_REASONS = 100
_LONGEST = 500  # characters of a name or a reason
_FURTHER = "further reasons"
_NOT_KEPT = "the packer that rejected it kept no reason"


@dataclass(frozen=True)
class PackReport:
    """The result of packing: every file of the source is a sample, rejected or ignored.

    Attributes:
        reading: the interpretation of the source, in a sentence.
        remarks: further sentences on it.
        splits: samples of each split; empty without splits.
        untiled: (name, reason) of the JPEGs that could not be tiled and are stored as they were.
        unbanded: the same of PNGs that could not be banded.
        dropped: images of the dataset by what they have and no reader shows, such as "3 pages; the
            first is used".
        command: the command with the interpretation as explicit options; empty if no template
            can.
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
    command: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PartReport:
    """The result of one part, such as "3/64"; all but `missing` and `committed` is of the part."""

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
    unbanded: list[tuple[str, str]]


def without_labels(labels: Collection[int]) -> list[str]:
    some = -1 in labels and len(labels) > 1
    return ["Some samples have no label: a Loader returns -1 for them."] * some


def manifest_of(
    written: Written,
    entries: Iterable[ShardEntry],
    base: Manifest | None,
    policy: Policy,
    *,
    rejected: Collection[Named],
    unindexed: Collection[Named] = (),
    before: frozenset[Named] = frozenset(),
    gone: frozenset[Named] = frozenset(),
    reading: str,
    boxes: Encodings,
    colors: Mapping[str, MaskColors],
    **rest: Any,
) -> Manifest:
    """Return the manifest of the shards that are written, in the order of `entries`, and of `base`.

    No index names the files `unindexed`, some of those that were `rejected` now; `base` names those
    `before` already, which are not counted twice, and drops those that are `gone`, see `repaired`.
    """
    fields = written.fields.union(base.fields if base else ())
    new = [item for item in unindexed if item not in before]
    return Manifest(
        packer=__version__,
        fields=tuple(sorted(fields)),
        shards=(*(base.shards if base else ()), *entries),
        rejected=sum(file not in before for file in rejected)
        + (base.rejected if base else 0)
        - len(gone),
        rejections=kept_rejections(new, base, gone),
        reading=base.reading if base and base.reading else reading,
        boxes={e: one for e, one in joined(base, "boxes", boxes).items() if e in fields},
        mask_colors={
            e: one for e, one in joined(base, "mask_colors", colors).items() if e in fields
        },
        transcoders=all_versions(transcoders(policy), base),
        dropped=dict(sorted((Counter(base.dropped if base else {}) + written.dropped).items())),
        sizes=_sizes(written, base),
        **rest,
    )


def _sizes(written: Written, base: Manifest | None) -> dict[str, SizeBounds]:
    """Return the bounds by split, but not of a split whose earlier shards have none."""
    before = base.sizes if base else {}
    lacking = {s.split for s in base.shards if s.samples} - before.keys() if base else set()
    found = united(before, written.sizes)
    return {split: found[split] for split in sorted(found.keys() - lacking)}


def finish(
    to: Destination,
    content: Manifest,
    written: Written,
    began: float,
    progress: Progress | None = None,
    **fields: Any,
) -> PackReport:
    if progress is None:
        to.forget(content)
    else:
        to.commit(content, progress)
    usual = {"reading": content.reading, "shards_written": 0, "rejected": [], "ignored": []}
    fields["remarks"] = [*fields["remarks"], *frame_lines(written.frames)]
    return PackReport(
        dataset=to.name,
        samples=sum(shard.samples for shard in content.shards),
        classes=len(content.classes),
        splits={name: count for name, count in content.split_samples.items() if name},
        shards=len(content.shards),
        bytes=sum(shard.bytes + shard.index_bytes for shard in content.shards),
        seconds=time.monotonic() - began,
        untiled=sorted(written.untiled),
        unbanded=sorted(written.unbanded),
        dropped=content.dropped,
        **{**usual, **fields},
    )


@dataclass(frozen=True)
class RejectedFiles:
    count: int = 0
    # Files by reason, the most frequent first; names and numbers in a reason are "...".
    reasons: Mapping[str, int] = field(default_factory=dict)
    files: tuple[Named, ...] = ()  # the first thousand, by name


def rejected_files(content: Manifest, of_indexes: Collection[Named]) -> RejectedFiles:
    named, since = _unindexed_files(content), content.packed_since
    of_indexes = [file for file in of_indexes if file not in since]
    if sum(_reasons(content).values()) + len(of_indexes) > content.rejected:
        of_indexes = {*of_indexes}.difference(named)  # an append names again what it rejects
    reasons = _counted(_reasons(content), of_indexes)
    if (unknown := content.rejected - reasons.total()) > 0:
        reasons[_NOT_KEPT] = unknown
    files = sorted([*named, *of_indexes])
    return RejectedFiles(reasons.total(), _bounded(reasons), tuple(files[:_MOST_FILES]))


def kept_rejections(
    files: Collection[Named], base: Manifest | None = None, gone: frozenset[Named] = frozenset()
) -> dict[str, Any]:
    """Return what dataset.json keeps of `files`, which neither an index nor `base` names.

    Those that are `gone` are packed now; `base` or its indexes name them.
    """
    short = [(shortened(name, _LONGEST), shortened(reason, _LONGEST)) for name, reason in files]
    before = _unindexed_files(base) if base else []
    packed = sorted((base.packed_since if base else set()) | gone.difference(before))
    named = sorted([*(file for file in before if file not in gone), *short])
    reasons = _counted(_reasons(base) if base else {}, files)
    reasons -= _counted({}, gone.intersection(before))
    kept = {"reasons": _bounded(reasons), "files": [list(item) for item in named[:_MOST_FILES]]}
    kept["packed"] = [list(item) for item in packed]
    return {name: found for name, found in kept.items() if found}


def repaired(before: frozenset[Named], packed: Iterable[str]) -> frozenset[Named]:
    """Return those that were rejected `before` and whose files are among the `packed` ones.

    The reason of a row of a list begins with its image, as `Row.rejected` spells it.
    """
    named: dict[str, list[Named]] = {}
    for name, reason in before:
        image = reason[: reason.find(f"{reason[:1]}: ", 1) + 1]  # in quotes
        for key in (name, image):
            named.setdefault(key, []).append((name, reason))
    keys = (key for name in packed for key in (name, repr(name)))
    return frozenset(file for key in keys if key in named for file in named[key])


def _unindexed_files(content: Manifest) -> list[Named]:
    return [(name, reason) for name, reason in content.rejections.get("files", ())]


def _reasons(content: Manifest) -> Mapping[str, int]:
    reasons: Mapping[str, int] = content.rejections.get("reasons", {})
    return reasons


def _counted(reasons: Mapping[str, int], files: Iterable[Named]) -> Counter[str]:
    patterns = (shortened(pattern_of(reason), _LONGEST) for _, reason in files)
    return Counter(reasons) + Counter(patterns)


def _bounded(reasons: Counter[str]) -> dict[str, int]:
    """Return the most frequent reasons, the others as one; sort equal counts by text."""
    order = sorted(reasons.items(), key=lambda item: (item[0] == _FURTHER, -item[1], item[0]))
    rest = sum(count for _, count in order[_MOST_REASONS:])
    return dict(order[:_MOST_REASONS]) | ({_FURTHER: rest} if rest else {})
