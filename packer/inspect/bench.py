"""How many images a second a dataset gives on this machine: measured, by number of workers.

Each number of workers gets a loader of its own whose batches are thrown away, so the consumer is
never the limit. Measured is what follows the first batch and the start of all workers; storage is
read as warm as it is found, so the first number may have warmed it for the others.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reader import Statistics, Transform


@dataclass(frozen=True)
class Point:
    """What a number of workers gave."""

    workers: int
    statistics: "Statistics"

    @property
    def rate(self) -> float:
        """Images a second."""
        return self.statistics.images_per_second

    @property
    def cpu_share(self) -> float:
        """Of a core, what each worker used on average."""
        return self.statistics.cpu / max(self.statistics.worker_seconds, 1e-9)

    def line(self) -> str:
        """Its line of the table."""
        limit = self.statistics.bound_by
        return f"{self.workers:>7}{self.rate:>10.0f}{self.cpu_share:>11.0%}  {limit}"

    def content(self) -> dict[str, Any]:
        """Its part of the JSON."""
        return {
            "workers": self.workers,
            "images_per_second": round(self.rate, 1),
            "cpu_share": round(self.cpu_share, 3),
            "bound_by": self.statistics.bound_by,
            "bottleneck": self.statistics.bottleneck,
        }


def measure(
    dataset: Path | str,
    split: str | None,
    batch_size: int,
    seconds: float,
    workers: int,
    transform: str,
    size: tuple[int, int] = (224, 224),
) -> Point:
    """Read for `seconds` with so many workers, and at least one batch.

    Args:
        dataset: a folder, or a URL.
        split: of it; None for all.
        batch_size: samples.
        seconds: that are measured.
        workers: processes.
        transform: "rrc" for random crops, "center" for those of the centre.
        size: (height, width) that these give.
    """
    from reader import Loader  # brings torch

    with Loader(
        dataset,
        split=split,
        batch_size=batch_size,
        workers=workers,
        transforms=_transforms(transform, size),
        shuffle=True,
        epochs=None,
        fields=("image",),
    ) as loader:
        batches = iter(loader)
        next(batches)
        while (before := loader.statistics()).starting:
            next(batches)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            next(batches)
        return Point(workers, loader.statistics().since(before))


def _transforms(name: str, size: tuple[int, int]) -> "list[Transform]":
    from reader import CenterCrop, RandomHorizontalFlip, RandomResizedCrop, Resize

    if name == "rrc":
        return [RandomResizedCrop(size), RandomHorizontalFlip()]
    return [Resize(min(size) * 8 // 7), CenterCrop(size)]  # as 256 is to 224
