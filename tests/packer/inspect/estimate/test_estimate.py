"""What is planned is what happens: counted by a server, and by loaders that read from it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_images import encode, make_image, write_files
from other_process import wait_until
from packing import run_pack
from store_server import StoreServer, serving

import reader
from packer.inspect.estimate.estimate import alternatives, estimate
from packer.inspect.estimate.reading import Known, Reading, Setting, Stored
from packer.storage.dataset import Finished
from reader import BlockShuffle, Dataset, Loader
from reader.cache.files import CachedFiles
from reader.cache.ranges import kept_bytes
from reader.format import Manifest
from reader.order.samplers import plain_order

STREAMS = BlockShuffle(1, streams=3)
SHUFFLES = {"global": True, "by blocks": BlockShuffle(2), "in streams": STREAMS, "none": False}
BATCH = 4


def stored_in(folder: Path) -> Stored:
    return Stored.of(Finished(folder, folder), None)


@pytest.fixture
def stored(packed: Path) -> Stored:
    return stored_in(packed)


@pytest.fixture
def server(packed: Path) -> Iterator[StoreServer]:
    with serving(packed) as server:
        yield server


def setting(**changes: Any) -> Setting:
    return replace(Setting(batch_size=BATCH, size=(32, 32)), **changes)


def loader_of(dataset: Dataset, plan: Setting, rank: int) -> Loader:
    return Loader(
        dataset,
        batch_size=plan.batch_size,
        shuffle=plan.shuffle,
        seed=plan.seed,
        drop_last=plan.drop_last,
        transforms=[reader.RandomResizedCrop(plan.size)],
        fields=("image", "index", "valid"),
        workers=0,
        rank=rank,
        world_size=plan.world_size,
    )


@pytest.mark.usefixtures("needs_store")
@pytest.mark.parametrize("shuffle", SHUFFLES.values(), ids=list(SHUFFLES))
@pytest.mark.parametrize("nodes", [1, 3])
def test_requests_and_bytes_are_those_that_a_server_counts_and_batches_those_of_a_loader(
    stored: Stored, server: StoreServer, tmp_path: Path, shuffle: Any, nodes: int
) -> None:
    plan = setting(shuffle=shuffle, nodes=nodes, epochs=3)
    expected = estimate(stored, plan)
    dataset = Dataset(server.url, cache_dir=tmp_path / "cache")
    opened = [request for request in server.asked if not request[0].endswith(".tar")]
    assert (len(opened), sum(stop - first for _, first, stop in opened)) == expected.opening
    requests = np.cumsum([epoch.requests for epoch in expected.traffic]).tolist()
    # Whoever asks for what is not there yet has it fetched by a request of its own: so nobody does.
    with loader_of(dataset, plan, 0) as loader:
        first, batches = [], iter(loader)
        for step in range(expected.steps):
            wait_until(lambda step=step: is_fetched(dataset, plan, step))
            first.append(next(batches))
        assert next(batches, None) is None
        wait_until(lambda: len(server.tars) >= requests[1])  # the next epoch is fetched ahead
        assert len(list(loader)) == expected.steps
        wait_until(lambda: len(server.tars) >= requests[2])
    dataset.fetching.close()
    assert len(server.tars) == requests[2]
    fetched = sum(stop - first for _, first, stop in server.tars)
    assert fetched == sum(epoch.bytes for epoch in expected.traffic)
    assert expected.samples == sum(int(valid.sum()) for _, _, valid in first)
    assert expected.mixing == pytest.approx(np.mean([shards_of(dataset, b) for b in first]))


def is_fetched(dataset: Dataset, plan: Setting, step: int) -> bool:
    """Whether all that the first rank reads in a step of the first epoch is in the cache."""
    stored = stored_in(dataset.folder)
    ahead = Reading(stored, plan, plain_order(plan.shuffle, plan.seed, stored.sizes), 0).aheads[0]
    places = ahead.rows(step, step + 1).place
    files = CachedFiles.of(dataset.folder, Manifest.load(dataset.folder))
    present = [files.presence(number).present() for number in range(len(files.shards))]
    return bool(np.concatenate(present)[places].all())


def shards_of(dataset: Dataset, batch: Any) -> int:
    """How many shards the samples of a batch lie in."""
    return len({dataset.places.find(number)[0] for number in batch[1].tolist()})


@pytest.mark.parametrize("shuffle", SHUFFLES.values(), ids=list(SHUFFLES))
@pytest.mark.parametrize("drop_last", [False, True])
def test_steps_and_padding_are_of_loaders(packed: Path, shuffle: Any, drop_last: bool) -> None:
    plan = setting(shuffle=shuffle, nodes=3, ranks=2, epochs=1, drop_last=drop_last)
    expected = estimate(stored_in(packed), plan)
    valid = []
    for rank in range(plan.world_size):
        with loader_of(Dataset(packed), plan, rank) as loader:
            batches = list(loader)
        assert len(batches) == expected.steps
        valid.append([row for batch in batches for row in batch[2].tolist()])
    assert expected.samples == sum(valid[0])
    assert expected.padding == sum(not row for rows in valid for row in rows)
    assert expected.dropped == len(Dataset(packed)) - sum(map(sum, valid))


@pytest.mark.slow
@pytest.mark.usefixtures("needs_store")
@pytest.mark.parametrize("shuffle", [True, False], ids=["global", "none"])
def test_a_full_cache_gives_up_what_is_needed_last(tmp_path: Path, shuffle: bool) -> None:
    for number in range(400):
        image = encode(make_image(number, 180 + number % 40, 240), "JPEG", quality=95)
        write_files(tmp_path / "images", {f"{'ab'[number % 2]}/{number}.jpg": image})
    packed = tmp_path / "shards"
    run_pack(tmp_path / "images", packed, shard_samples=50)
    stored = stored_in(packed)
    limit = stored.index_bytes + stored.disk_bytes // 2 + 300_000
    plan = setting(shuffle=shuffle, epochs=4, cache_limit=limit, batch_size=2)
    expected = estimate(stored, plan)
    with serving(packed) as server:
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=limit)
        with loader_of(dataset, plan, 0) as loader:
            requests = []
            for _ in range(plan.epochs):
                list(loader)
                requests.append(loader.statistics().requests)
        dataset.fetching.close()
    planned = [epoch.requests for epoch in expected.traffic]
    # Something of the epoch that follows has been fetched by the end of each.
    assert np.diff(requests) == pytest.approx(planned[1:], rel=0.2)


def test_alternatives_say_what_does_not_fit(stored: Stored) -> None:
    plan = setting(cache_limit=kept_bytes(stored.shards) + 160_000)
    others = dict(alternatives(stored, plan, estimate(stored, plan)))
    assert others["--shuffle block:4"] is None


def test_what_would_change_nothing_is_no_alternative(stored: Stored) -> None:
    plan = setting()
    found = estimate(stored, plan)
    assert "--workers 2" not in dict(alternatives(stored, plan, found))  # nobody said how fast
    known = setting(rate=Known(10.0))
    others = dict(alternatives(stored, known, estimate(stored, known)))
    assert others["--workers 2"].seconds == pytest.approx(len(stored) / 10)
    alone = setting(shuffle=BlockShuffle(4))
    assert list(dict(alternatives(stored, alone, estimate(stored, alone)))) == ["--shuffle global"]


@pytest.mark.parametrize(("cores", "is_named"), [(101, False), (104, False), (106, True)])
def test_a_change_of_few_percent_is_not_named(stored: Stored, cores: int, is_named: bool) -> None:
    known = setting(rate=Known(10.0), workers=100, cores=cores)
    found = dict(alternatives(stored, known, estimate(stored, known)))
    assert ("--workers 200" in found) == is_named


@pytest.mark.parametrize(("cores", "times"), [(2, None), (3, 1.5), (8, 2)])
def test_workers_are_no_faster_than_cores(stored: Stored, cores: int, times: float | None) -> None:
    known = setting(rate=Known(10.0), ranks=2, cores=cores)
    other = dict(alternatives(stored, known, estimate(stored, known))).get("--workers 2")
    assert (other and other.seconds) == (times and pytest.approx(2 * len(stored) / 10 / times))


def test_an_epoch_takes_a_request_at_least_and_none_where_all_is_cached(stored: Stored) -> None:
    plan = setting(latency=Known(7.0), bandwidth=Known(1e12))
    cold, warm = estimate(stored, plan).times
    assert cold.longest is not None
    assert cold.longest >= 7
    assert warm.seconds == {}


def test_the_longest_of_what_is_known_bounds_the_time(stored: Stored) -> None:
    assert estimate(stored, setting()).seconds is None
    known = {"rate": Known(10.0), "bandwidth": Known(1e9), "latency": Known(0.1)}
    slow = estimate(stored, setting(**known))
    assert [took.bound_by for took in slow.times] == ["decode", "decode"]
    assert slow.seconds == pytest.approx(2 * len(stored) / 10)
    far = estimate(stored, setting(**{**known, "latency": Known(1e6)})).times
    assert [took.bound_by for took in far] == ["store, requests", "decode"]  # it is all cached


def test_fewer_samples_than_a_batch_are_no_step_where_the_last_is_dropped(stored: Stored) -> None:
    plan = setting(batch_size=1000, drop_last=True)
    found = estimate(stored, plan)
    assert (found.steps, found.samples, found.mixing, found.dropped) == (0, 0, 0, 39)
    assert [moved.requests for moved in found.traffic] == [0, 0]
