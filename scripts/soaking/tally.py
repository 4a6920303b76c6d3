"""What a soak has done so far, and what it found."""

from dataclasses import dataclass


class Violation(Exception):
    """Something that packer or reader promises did not hold; the text says what."""


@dataclass
class Tally:
    """Counts over all rounds.

    Attributes:
        packs, pack_kills: datasets that were packed, appended to or repaired while packer's
            processes were killed; and how often they were.
        epochs, kills, stops: epochs that were read; workers, or whole readers, that were killed
            meanwhile; workers that were stopped for a moment.
        samples: that were read and compared.
        lost, doubled, differing: samples that did not come, came twice, came as something else.
    """

    rounds: int = 0
    packs: int = 0
    pack_kills: int = 0
    epochs: int = 0
    kills: int = 0
    stops: int = 0
    samples: int = 0
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    hangs: int = 0

    def __str__(self) -> str:
        return (
            f"rounds {self.rounds:,}, packs {self.packs:,} (kills {self.pack_kills:,}), epochs "
            f"{self.epochs:,} (kills {self.kills:,}, stops {self.stops:,}), samples "
            f"{self.samples:,} read, lost {self.lost}, doubled {self.doubled}, "
            f"differing {self.differing}, hangs {self.hangs}"
        )
