"""What a rule finds: a sentence, and samples that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Weight = Literal["wrong", "doubtful", "notable"]
WEIGHTS: tuple[Weight, ...] = ("wrong", "doubtful", "notable")

SHOWN = 12  # samples of a finding, as pictures
SHOWN_GROUPS = 8
SHOWN_OF_GROUP = 4
_ALIKE = ("leakage", "contradicting", "duplicates")


@dataclass(frozen=True)
class Finding:
    """Something that deserves a look.

    Attributes:
        kind: a word that scripts know it by.
        weight: wrong: no training can want it; doubtful: somebody should decide; notable: it may
            well be meant.
        title: a few words.
        sentence: what was found, how much of it, and what to do.
        count: samples, classes or files that it is about.
        groups: numbers of all samples that show it, of classes one each; of samples that are
            alike a group each, else one group.
        lines: (name, text) of what has no picture.
    """

    kind: str
    weight: Weight
    title: str
    sentence: str
    count: int
    groups: list[list[int]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def samples(self) -> list[int]:
        """All samples that show it."""
        return [number for group in self.groups for number in group]

    @property
    def is_of_groups(self) -> bool:
        """Whether it is about samples that are alike."""
        return self.kind.endswith(_ALIKE)

    @property
    def shown(self) -> list[list[int]]:
        """The first of its samples, by group, of which there are pictures."""
        most = SHOWN_OF_GROUP if self.is_of_groups else SHOWN
        return [group[:most] for group in self.groups[:SHOWN_GROUPS]]


def gravest_first(finding: Finding) -> tuple[int, bool, int]:
    """Sorts by weight; then leakage comes first, as no result can be trusted, then by count."""
    is_leakage = finding.kind.endswith("leakage")
    return WEIGHTS.index(finding.weight), not is_leakage, -finding.count


def examples(numbers: NDArray[np.int64] | Sequence[int]) -> list[list[int]]:
    """These samples as one group."""
    return [[int(number) for number in numbers]] if len(numbers) else []
