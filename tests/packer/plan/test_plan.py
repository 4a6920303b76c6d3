from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from packer.keys import split_of
from packer.plan.plan import Plan, plan_shards, shuffled
from packer.samples.records import Sample
from packer.samples.table import SampleTable
from reader.format import tar

sizes = st.lists(st.integers(1, 200_000), max_size=60).map(lambda x: np.array(x, np.int64))
seeds = st.none() | st.integers(-(2**70), 2**70)


def plan_of(
    sizes: NDArray[np.int64], shard_size: int, shard_samples: int | None, seed: int | None
) -> Plan:
    listing = SampleTable()
    for number, size in enumerate(sizes.tolist()):
        listing.add(Sample(f"{number}.jpg", str(number), 0, size, 0))
    return plan_shards(listing, shard_size, shard_samples, seed)


def tar_bytes(images: NDArray[np.int64]) -> int:
    """What a tar of these images, each with a class, measures."""
    return sum(3 * tar.BLOCK + tar.padded(int(size)) for size in images) + len(tar.END)


@given(sizes, st.integers(1, 400_000), st.none() | st.integers(1, 20), seeds)
@settings(deadline=None)
def test_every_sample_is_in_one_shard_none_exceeds_a_cap_or_is_cut_short_without_need(
    sizes: NDArray[np.int64], shard_size: int, shard_samples: int | None, seed: int | None
) -> None:
    plan = plan_of(sizes, shard_size, shard_samples, seed)
    most = shard_samples or len(sizes)
    shards = [plan.shard(number) for number in range(len(plan))]
    assert sorted(int(number) for shard in shards for number in shard) == list(range(len(sizes)))
    for shard, following in zip_longest(shards, shards[1:]):
        assert 1 <= len(shard) <= most
        assert len(shard) == 1 or tar_bytes(sizes[shard]) <= shard_size
        if following is not None and len(shard) < most:
            assert tar_bytes(sizes[[*shard, following[0]]]) > shard_size - shard_size // 32


def test_without_a_seed_the_order_of_the_source_stays() -> None:
    plan = plan_of(np.full(100, 7), 10**9, 30, seed=None)
    assert plan.order.tolist() == list(range(100))
    assert [len(plan.shard(number)) for number in range(len(plan))] == [30, 30, 30, 10]


def test_a_sample_larger_than_a_shard_has_a_shard_of_its_own() -> None:
    plan = plan_of(np.array([10, 10**7, 10]), 10**5, None, seed=None)
    assert [plan.shard(number).tolist() for number in range(len(plan))] == [[0], [1], [2]]


def test_a_shard_size_beyond_all_bounds_gives_one_shard() -> None:
    assert len(plan_of(np.full(50, 1000), 10**30, None, seed=0)) == 1


def test_nothing_gives_no_shard() -> None:
    assert len(plan_of(np.empty(0, np.int64), 10**9, None, seed=0)) == 0


def test_the_seed_decides_the_order() -> None:
    hashes = np.arange(1000, dtype=np.uint64)
    orders = [shuffled(hashes, seed).tolist() for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3


def test_a_shuffle_leaves_few_neighbours_together() -> None:
    order = shuffled(np.arange(10_000, dtype=np.uint64), 0)
    assert (np.abs(np.diff(order)) == 1).sum() < 20
    assert abs(np.corrcoef(order, np.arange(10_000))[0, 1]) < 0.05


def test_the_shuffle_is_the_documented_one_whatever_the_version_of_numpy() -> None:
    def mix(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    keys = [mix((n * 0x9E3779B97F4A7C15 + mix(7)) % 2**64) for n in range(1, 201)]
    hashes = np.arange(1, 201, dtype=np.uint64)
    assert shuffled(hashes, 7).tolist() == sorted(range(200), key=keys.__getitem__)


@pytest.mark.parametrize("seed", [0, None])
@pytest.mark.parametrize("change", ["gone", "larger", "new"])
def test_a_change_of_one_sample_keeps_nearly_all_shards(seed: int | None, change: str) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(5_000, 200_000, 5_000).tolist()

    def shards(changed: int | None) -> set[tuple[str, ...]]:
        listing = SampleTable()
        for number, size in enumerate(sizes):
            key = str(number)
            if number == changed and change == "new":
                listing.add(Sample("new", "new", 0, size, 0))
            if number != changed or change != "gone":
                size += 70_000 * (number == changed and change == "larger")
                listing.add(Sample(key, key, 0, size, 0))
        plan = plan_shards(listing, 12_000_000, None, seed)
        return {tuple(listing[int(n)].key for n in plan.shard(s)) for s in range(len(plan))}

    before = shards(None)
    assert len(before) > 40
    for changed in (10, 1_200, 4_700):
        assert len(before - shards(changed)) <= 3


def test_members_and_long_names_are_counted_in() -> None:
    listing = SampleTable()
    for number in range(40):
        key = f"{number:03d}" * 60
        listing.add(Sample(key, key, 0, 900, 0, members=("json", "mask.png")))
    plan = plan_shards(listing, 40_000, None, seed=None)
    for number in range(len(plan)):
        assert plan.tar_bytes(number) <= 40_000
    # Six members of a name that needs a PAX record each, at their largest.
    assert plan.tar_bytes(0) > len(plan.shard(0)) * 4 * (2 + 1) * tar.BLOCK


def test_each_split_has_shards_of_its_own_numbers() -> None:
    listing = SampleTable()
    for number in range(30):
        listing.add(Sample(str(number), str(number), 0, 1, 0, split="ab"[number % 3 == 0]))
    plan = plan_shards(listing, 10**9, 8, seed=1, first={"b": 5})
    assert plan.files == (
        *(f"a/shard-{number:06d}.tar" for number in (0, 1, 2)),
        *(f"b/shard-{number:06d}.tar" for number in (5, 6)),
    )
    for number, split in enumerate(plan.splits):
        assert {listing[int(n)].split for n in plan.shard(number)} == {split}
    assert sorted(plan.order.tolist()) == list(range(30))


def test_a_shuffle_keeps_blocks_together_and_mixes_what_is_in_them() -> None:
    listing = SampleTable()
    for number in range(100):
        listing.add(Sample(str(number), str(number), 0, 1, 0, block=number // 10))
    order = plan_shards(listing, 10**9, None, seed=3).order
    blocks = [order[start : start + 10] for start in range(0, 100, 10)]
    assert all(len(set(block // 10)) == 1 for block in blocks)
    assert [int(block[0]) // 10 for block in blocks] != list(range(10))
    assert all((np.diff(block) != 1).any() for block in blocks)


def test_pixels_of_one_size_are_counted_as_such() -> None:
    listing = SampleTable()
    for number in range(10):
        listing.add(Sample(str(number), str(number), 0, 10**6, 0))
    plan = plan_shards(listing, 10**9, None, seed=None, image_bytes=3072)
    assert plan.tar_bytes(0) == 10 * (3072 + 3 * tar.BLOCK) + len(tar.END)


def test_shares_that_do_not_quite_make_one_still_place_every_key() -> None:
    assert {split_of(str(n), {"a": 0.5, "b": 0.4999}) for n in range(3000)} == {"a", "b"}
