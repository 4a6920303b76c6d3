"""Assigns samples to shards, in order: pure arithmetic on the scan's columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from packer.plan.names import shard_name
from packer.samples.table import SampleTable
from reader.format import Manifest, tar
from reader.rng import GOLDEN, mix64

READERS = 64  # processes that may read at a time: 8 GPUs with 8 workers each
SIZES = (10**7, 2 * 10**7, 5 * 10**7, 10**8, 2 * 10**8, 5 * 10**8, 10**9)

_SLACK = 32  # a shard may end before it is full, by this part of its size


@dataclass(frozen=True)
class Plan:
    """Shard ``i`` holds the samples ``order[bounds[i]:bounds[i + 1]]`` of the listing."""

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]
    spans: NDArray[np.int64]  # bytes of each sample in a tar, at most; by its number in the listing
    files: tuple[str, ...]  # the tar of each shard, relative to the dataset
    splits: tuple[str, ...]  # the split of each shard

    def __len__(self) -> int:
        return len(self.files)

    def shard(self, number: int) -> NDArray[np.int64]:
        return self.order[self.bounds[number] : self.bounds[number + 1]]

    def tar_bytes(self, number: int) -> int:
        """Return the maximum size of a shard's tar if its images are stored unchanged."""
        return int(self.spans[self.shard(number)].sum()) + len(tar.END)


def plan_shards(
    listing: SampleTable,
    shard_size: int | None,
    shard_samples: int | None,
    seed: int | None,  # None keeps the source's order
    image_bytes: int | None = None,  # of each image, if not what it takes in the source
    first: Mapping[str, int] | None = None,  # the number of each split's first shard, otherwise 0
    existing_bytes: int = 0,  # bytes of shards that this is added to
) -> Plan:
    """Order the samples of each split and cut the order into shards.

    Both depend on the samples' keys and not on their places in the listing: where a sample is gone
    or has another size, the shards that do not hold it stay what they are, but for few beside it.
    (Where a number of samples fills the shards, one that is gone moves all that come after it.)
    """
    spans = spans_of(listing, image_bytes)
    if shard_size is None:
        shard_size, _ = default_shard_size(existing_bytes + int(spans.sum()))
    hashes = listing.key_hashes
    order: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    bounds = [0]
    files: list[str] = []
    shard_splits: list[str] = []
    for split, numbers in listing.by_split().items():
        if seed is not None:
            numbers = numbers[_shuffled_blocks(listing.blocks[numbers], hashes[numbers], seed)]
        begin = bounds[-1]
        ends = _shard_ends(spans[numbers], hashes[numbers], shard_size, shard_samples)
        begins = (first or {}).get(split, 0)
        order.append(numbers)
        bounds += [begin + end for end in ends]
        files += [shard_name(split, begins + number) for number in range(len(ends))]
        shard_splits += [split] * len(ends)
    return Plan(
        np.concatenate(order), np.array(bounds, np.int64), spans, tuple(files), tuple(shard_splits)
    )


def spans_of(listing: SampleTable, image_bytes: int | None = None) -> NDArray[np.int64]:
    """Return the bytes of each sample in a tar, at most; `image_bytes`: as in `plan_shards`."""
    # At most: members, their headers and padding.
    members = 2 + listing.member_counts  # the image and its class
    sizes = listing.sizes
    if image_bytes is not None:
        sizes = image_bytes + np.where(listing.member_counts > 0, sizes, 0)
    # An image and its class are padded exactly; of further members only the sum is known.
    spans = -(-sizes // tar.BLOCK) * tar.BLOCK + tar.BLOCK * (2 * members - 1)
    names = listing.name_lengths
    pax = np.where(names > 100, -(-(names + 20) // tar.BLOCK) + 1, 0)
    return spans + members * pax * tar.BLOCK


def _shard_ends(
    spans: NDArray[np.int64], hashes: NDArray[np.uint64], shard_size: int, shard_samples: int | None
) -> list[int]:
    # A shard that its size fills ends before the sample of the smallest hash among the last that
    # would fit: where one ends elsewhere than it did, the next one ends where it did all the same.
    sums = np.cumsum(spans)
    ends: list[int] = []
    start = before = 0
    while start < len(spans):
        space = shard_size - len(tar.END)
        stop = int(np.searchsorted(sums, before + space, side="right"))
        if shard_samples is not None and start + shard_samples <= stop:
            stop = start + shard_samples
        elif stop < len(spans):
            early = int(np.searchsorted(sums, before + space - space // _SLACK, side="right"))
            early = max(early, start + 1)
            if early < stop:
                stop = early + int(np.argmin(hashes[early : stop + 1]))
        start = max(stop, start + 1)
        before = int(sums[start - 1])
        ends.append(start)
    return ends


def _shuffled_blocks(
    blocks: NDArray[np.int64], hashes: NDArray[np.uint64], seed: int
) -> NDArray[np.int64]:
    """Return a permutation that keeps the samples of a block (not -1) together, and mixes them."""
    order = shuffled(hashes, seed)
    if (blocks < 0).all():
        return order
    known, block = np.unique(blocks, return_inverse=True)
    places = np.argsort(shuffled(known.astype(np.uint64), seed))
    return order[np.argsort(places[block[order]], kind="stable")]


def shuffled(hashes: NDArray[np.uint64], seed: int) -> NDArray[np.int64]:
    """Return a permutation of items with these hashes, in an order that only `seed` decides.

    Adding or removing items keeps the order of the others. They are sorted by the splitmix64 hash
    (Steele, Lea, Flood 2014) of (seed, hash), whatever numpy's version.
    """
    with np.errstate(over="ignore"):
        keys = hashes * np.uint64(GOLDEN) + np.uint64(mix64(seed % 2**64))
        return np.argsort(mix64(keys), kind="stable")


def shard_bytes(base: Manifest | None) -> int:
    """Return the bytes of the shards that new ones are added to."""
    return sum(shard.bytes for shard in base.shards) if base else 0


def default_shard_size(total: int) -> tuple[int, str]:
    """Return the largest round size that leaves a shard for each of 64 readers, and why.

    So shuffling windows, ranks and the workers of readers that divide whole shards (webdataset,
    DALI) have several to choose from in a small dataset, too. `total` counts the bytes of all.
    """
    fitting = [size for size in SIZES if size * READERS <= total]
    if not fitting:
        return SIZES[0], "smaller shards would cost more time to open than they save"
    if fitting[-1] == SIZES[-1]:
        return SIZES[-1], "larger shards are slower to copy and repair, without a benefit"
    return fitting[-1], f"{READERS} readers, as of 8 GPUs with 8 workers each, then have one each"
