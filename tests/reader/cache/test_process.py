"""What is fetched from a store: the same samples as from a folder, each once, checked."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from delivered import COUNT, CROP, digest, epoch_of
from store_server import StoreServer

import reader
from reader import Dataset, Loader
from reader.cache.client import FetchingConnection
from reader.cache.messages import Begin, GetCounts
from reader.cache.ranges import Spans, Window, kept_bytes
from reader.format import Index, Manifest
from reader.order.access import AccessPattern
from reader.order.shuffle import Sequential
from reader.order.steps import Steps

pytestmark = pytest.mark.usefixtures("needs_store", "no_leftovers")

Opened = Callable[..., Dataset]


def batches(dataset: Any, **options: Any) -> list[Any]:
    given = {"fields": ("image", "label", "index", "key"), "batch_size": 8, "transforms": [CROP]}
    return epoch_of(dataset, **{**given, "epochs": 2, **options})


def test_a_closed_loader_leaves_no_schedule_that_would_hold_up_another(opened: Opened) -> None:
    def connections() -> int:
        return len(psutil.Process().net_connections("unix"))

    dataset = opened()
    batches(dataset, workers=1)  # which also begins what later loaders use
    before = connections()
    loader = Loader(dataset, batch_size=2, shuffle=True, workers=1)
    next(iter(loader))
    assert connections() > before
    loader.close()
    assert connections() == before  # what a connection has begun ends with it


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_in_streams_ranks_of_several_machines_fetch_each_sample_once_between_them(
    packed: Path, server: StoreServer, tmp_path: Path, world_size: int
) -> None:
    tars = sum(path.stat().st_size for path in packed.glob("*.tar"))
    for rank in range(world_size):
        dataset = Dataset(server.url, cache_dir=tmp_path / str(rank))
        shuffle = reader.BlockShuffle(1, streams=4)
        share = {"rank": rank, "world_size": world_size, "epochs": 3}
        found, expected = (batches(d, shuffle=shuffle, **share) for d in (dataset, packed))
        assert digest(found) == digest(expected)
        dataset.fetching.close()
    fetched = sum(stop - first for _, first, stop in server.tars)
    # Of each epoch up to three samples belong to no stream, and up to one a rank pads its end.
    few = 3 * (3 + 1) * world_size * max(len(image) for image in images_of(packed))
    assert tars * 0.9 < fetched <= tars + (world_size > 1) * few


def images_of(folder: Path) -> list[bytes]:
    dataset = Dataset(folder)
    return [dataset.read(number, "jpg") for number in range(len(dataset))]


def test_a_worker_ahead_of_the_plan_has_its_whole_step_fetched_by_one_request(
    packed: Path, server: StoreServer, opened: Opened
) -> None:
    shards = Manifest.load(packed).shards
    sizes = tuple(shard.samples for shard in shards)
    ahead = AccessPattern(Sequential(COUNT), Steps(COUNT, 4, 0, 1, False), sizes)
    limit = kept_bytes(shards) + Window.of(ahead, shards).least
    dataset = opened(cache_limit=limit)
    line = FetchingConnection(dataset.fetching)
    line.ask(Begin(0, ahead, len(ahead.steps)), None)
    line.ask(GetCounts(), None)  # answered after all requests of the window have begun
    last = ahead.pieces(len(ahead.steps) - 1)[-1]
    dataset.fetching.want(last.shard, np.array([last.stop - 1]))
    spans = Spans.of(Index(packed / shards[last.shard].index))
    step = (f"/{shards[last.shard].file}", spans.begin[last.first], spans.end[last.stop - 1])
    assert last.stop - last.first > 1
    assert step in server.tars


def test_a_shard_that_is_damaged_in_the_store_is_told_of_its_samples(
    server: StoreServer, opened: Opened
) -> None:
    def flipped(handler: Any) -> None:
        handler.serve(lambda content: bytes(byte ^ 1 for byte in content))

    server.fault = lambda handler: flipped if handler.path.endswith("2.tar") else None
    with pytest.raises(
        reader.SampleError,
        match=re.escape(server.url)
        + "/shard-000002.tar: sample '.*' at byte .*: the store's bytes",
    ):
        batches(opened())
    options = {"on_error": "mask", "max_bad": 0.5, "fields": ("index", "valid", "image")}
    found = batches(opened(), epochs=1, **options)
    valid = torch.cat([batch[1] for batch in found])
    assert (~valid).nonzero().flatten().tolist() == list(range(20, 30))


def test_a_shard_that_was_replaced_in_mid_epoch_is_an_error_that_says_so(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    dataset[0]
    server.version = 2
    with pytest.raises(reader.StoreError, match=r"shard-000000\.tar: it was replaced"):
        dataset[1]


def test_statistics_tell_what_the_store_gave(server: StoreServer, opened: Opened) -> None:
    server.latency = 0.05
    with Loader(opened(), batch_size=8, workers=0, shuffle=True, transforms=[CROP]) as loader:
        list(loader)
        first = loader.statistics()
        asked = len(server.tars)
        list(loader)
        second = loader.statistics().since(first)
    assert (first.requests, first.fetched) == (asked, COUNT)
    assert first.fetched_bytes == sum(stop - begin for _, begin, stop in server.tars)
    assert first.waiting > 0
    assert (second.requests, second.fetched) == (0, 0)
    assert first.asking >= asked * server.latency
    assert re.search(rf"(?s)store .* in {asked} requests, .*workers waited", str(first))


def test_a_loop_that_waits_for_the_network_is_told_so_once(
    server: StoreServer, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reader.loader.prefetch._WARN_SECONDS", 0.1)
    server.latency = 0.5
    options = {"batch_size": 8, "workers": 0, "shuffle": True, "transforms": [CROP]}
    waits = pytest.warns(UserWarning, match=r"waits for the network: .* MB of http")
    with Loader(opened(), **options) as loader, waits as told:
        list(loader)
    assert len(told) == 1


def test_a_loop_over_what_is_in_the_cache_is_told_nothing(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    list(opened())
    monkeypatch.setattr("reader.loader.prefetch._WARN_SECONDS", 0.0)
    with Loader(opened(), batch_size=8, workers=0, shuffle=True, transforms=[CROP]) as loader:
        list(loader)
    assert not [told for told in recwarn if "network" in str(told.message)]
