"""The rejected files of a dataset: counted by reason, the first thousand named (pure).

An index names what was rejected while its shard was written. dataset.json names the other files,
most of them rejected by the scan.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packer.errors import pattern_of
from packer.words import shortened
from reader.format import Manifest

Named = tuple[str, str]  # a file and the reason

_MOST_FILES = 1000
_MOST_REASONS = 100
_LONGEST = 500  # characters of a name or a reason
_FURTHER = "further reasons"
_NOT_KEPT = "the packer that rejected it kept no reason"


@dataclass(frozen=True)
class RejectedFiles:
    """What a dataset keeps of the files that its source has and it lacks.

    Attributes:
        count: number of files.
        reasons: number of files by reason, the most frequent first; names and numbers in a reason
            are ``...``.
        files: the first thousand, by name.
    """

    count: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    files: tuple[Named, ...] = ()


def rejected_files(content: Manifest, of_indexes: Collection[Named]) -> RejectedFiles:
    """Join what dataset.json and its indexes name.

    Args:
        content: of dataset.json.
        of_indexes: what the indexes of its shards name.
    """
    named = unindexed_files(content)
    if sum(_reasons(content).values()) + len(of_indexes) > content.rejected:
        of_indexes = {*of_indexes}.difference(named)  # an append names again what it rejects
    reasons = _counted(_reasons(content), of_indexes)
    if (unknown := content.rejected - reasons.total()) > 0:
        reasons[_NOT_KEPT] = unknown
    files = sorted([*named, *of_indexes])
    return RejectedFiles(reasons.total(), _bounded(reasons), tuple(files[:_MOST_FILES]))


def kept(files: Collection[Named], base: Manifest | None = None) -> dict[str, Any]:
    """Return what dataset.json keeps of the files that no index names.

    Args:
        files: those that `base` does not name either.
        base: the dataset that is added to.
    """
    named = sorted([*(unindexed_files(base) if base else ()), *map(_shortened, files)])
    if not named:
        return {}
    reasons = _counted(_reasons(base) if base else {}, files)
    return {"reasons": _bounded(reasons), "files": [list(item) for item in named[:_MOST_FILES]]}


def unindexed_files(content: Manifest) -> list[Named]:
    """The files that dataset.json names."""
    return [(name, reason) for name, reason in content.rejections.get("files", ())]


def _reasons(content: Manifest) -> Mapping[str, int]:
    reasons: Mapping[str, int] = content.rejections.get("reasons", {})
    return reasons


def _counted(reasons: Mapping[str, int], files: Iterable[Named]) -> Counter[str]:
    """Add files to the counts of their reasons."""
    patterns = (shortened(pattern_of(reason), _LONGEST) for _, reason in files)
    return Counter(reasons) + Counter(patterns)


def _bounded(reasons: Counter[str]) -> dict[str, int]:
    """The most frequent reasons, the others as one; equal counts by the reason's text."""
    order = sorted(reasons.items(), key=lambda item: (item[0] == _FURTHER, -item[1], item[0]))
    rest = sum(count for _, count in order[_MOST_REASONS:])
    return dict(order[:_MOST_REASONS]) | ({_FURTHER: rest} if rest else {})


def _shortened(item: Named) -> Named:
    name, reason = item
    return shortened(name, _LONGEST), shortened(reason, _LONGEST)
