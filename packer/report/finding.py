"""What a rule finds: a sentence, and samples that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Weight = Literal["wrong", "doubtful", "notable"]
WEIGHTS: tuple[Weight, ...] = ("wrong", "doubtful", "notable")

SHOWN = 12  # samples of a finding
SHOWN_GROUPS = 8
SHOWN_OF_GROUP = 4


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
        groups: numbers of samples that show it; of likeness a group each, else one group.
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


def examples(numbers: NDArray[np.int64] | Sequence[int]) -> list[list[int]]:
    """The first of these samples, as one group."""
    return [[int(number) for number in numbers[:SHOWN]]] if len(numbers) else []
