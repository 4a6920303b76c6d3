"""What an epoch delivered, against what it should deliver."""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import reader
from soaking.ground import Tally, Violation

FIELDS = ("image", "label", "index", "key", "valid")
PIPELINES: dict[str, list[reader.Transform]] = {
    "random": [reader.RandomResizedCrop(48), reader.RandomHorizontalFlip()],
    "centre": [reader.Resize(56), reader.CenterCrop(48)],
    "whole": [],
}


@dataclass(frozen=True)
class Reading:
    """What determines an epoch, however it is read."""

    shards: str
    pipeline: str = "random"
    shuffle: str = "all"
    seed: int = 0
    epoch: int = 0
    on_error: str = "raise"

    def open(self, in_memory: bool = False, **how: Any) -> reader.Loader:
        """Return a loader that begins with this epoch; how should not matter."""
        shuffles: dict[str, Any] = {"all": True, "blocks": reader.BlockShuffle(2), "none": False}
        loader = reader.Loader(
            reader.Dataset(self.shards, cache="ram" if in_memory else None),
            transforms=PIPELINES[self.pipeline],
            shuffle=shuffles[self.shuffle],
            seed=self.seed,
            fields=FIELDS,
            on_error=self.on_error,
            max_bad=1.0,
            **how,
        )
        loader.set_epoch(self.epoch)
        return loader

    def is_over(self, state: dict[str, Any] | None) -> bool:
        """Return whether a loader's state lies behind this epoch."""
        return state is not None and int(state["epoch"]) > self.epoch


class Row(NamedTuple):
    """A sample as it was delivered: its number, and a checksum of pixels, label and key."""

    number: int
    checksum: int


def rows(batch: Any) -> Iterator[Row]:
    """Yield the samples of a batch of `FIELDS`, without those that pad it."""
    images, labels, indices, keys, valid = batch
    for image, label, index, key, is_valid in zip(
        images, labels.tolist(), indices.tolist(), keys, valid.tolist(), strict=True
    ):
        if is_valid:
            if image.is_floating_point():  # as a prefetcher gives it
                image = image.mul(255).round().byte()
            yield row_of(index, image.permute(1, 2, 0).contiguous().cpu().numpy(), label, key)


def row_of(number: int, pixels: Any, label: int, key: str) -> Row:
    """Return the row of a sample with these pixels, uint8 (H, W, 3)."""
    return Row(number, zlib.crc32(f"{pixels.shape} {label} {key}".encode(), zlib.crc32(pixels)))


@cache
def undisturbed(reading: Reading) -> list[Row]:
    """Return the rows that one worker gives that reads undisturbed, in order."""
    with reading.open(batch_size=16, workers=1) as loader:
        return [row for batch in loader for row in rows(batch)]


def expect_same(expected: Iterable[Row], found: Iterable[Row], tally: Tally, what: object) -> None:
    """Compare what an epoch should deliver, in any order, with what it did; count in `tally`."""
    wanted, got = Counter(expected), Counter(found)
    tally["samples"] += got.total()
    if wanted == got:
        return
    missing, more = (
        Counter(row.number for row in rest.elements()) for rest in (wanted - got, got - wanted)
    )
    kinds = (missing - more, more - missing, missing & more)
    lost, doubled, differing = (sorted(kind.elements()) for kind in kinds)
    tally["lost"] += len(lost)
    tally["doubled"] += len(doubled)
    tally["differing"] += len(differing)
    raise Violation(f"{what}: lost {lost}, doubled {doubled}, differing {differing}")


def expect_order(expected: list[Row], found: list[Row], what: object) -> None:
    for position, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            text = f"sample {other.number} came at position {position}, not {one.number}"
            raise Violation(f"{what}: {text}")
