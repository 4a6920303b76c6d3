"""The way to a fetching process: from other processes, and when it dies."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delivered import CROP
from store_server import StoreServer
from torch.utils.data import DataLoader

import reader
from reader import Dataset, Loader

pytestmark = pytest.mark.usefixtures("needs_store", "own_server")


Opened = Callable[..., Dataset]
COUNT = 39


@pytest.mark.parametrize(
    ("context", "workers"), [("fork", 2), pytest.param("spawn", 1, marks=pytest.mark.slow)]
)
def test_workers_of_a_data_loader_read_what_their_parent_has_begun(
    packed: Path, server: StoreServer, opened: Opened, context: str, workers: int
) -> None:
    dataset = opened()
    dataset[0]
    dataset.transform = dataset.target_transform = None
    loader: Any = DataLoader(
        dataset, batch_size=None, num_workers=workers, multiprocessing_context=context
    )
    for (image, label), (expected, other) in zip(loader, Dataset(packed), strict=True):
        assert (image.numpy() == expected).all()
        assert label == other
    assert len(server.tars) == COUNT


def test_a_fetching_process_that_died_is_replaced_for_who_asks_for_single_samples(
    packed: Path, opened: Opened
) -> None:
    dataset = opened()
    dataset[0]
    os.kill(dataset.fetching.pid, signal.SIGKILL)
    assert (dataset[1][0] == Dataset(packed)[1][0]).all()


def test_a_timeout_covers_a_store_that_does_not_answer(server: StoreServer, opened: Opened) -> None:
    server.fault = lambda handler: server.stall if handler.path.endswith("2.tar") else None
    with (
        Loader(opened(), batch_size=5, workers=1, transforms=[CROP], timeout=1) as loader,
        pytest.raises(reader.WorkerError, match=r"sample 2\d .*shard-000002\.tar"),
    ):
        list(loader)


def test_a_fetching_process_that_dies_ends_an_epoch_with_an_error_and_the_next_one_is_whole(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    server.fault = lambda handler: server.stall if handler.path.endswith("2.tar") else None
    with Loader(dataset, batch_size=2, workers=2, transforms=[CROP]) as loader:
        iterator = iter(loader)
        next(iterator)
        os.kill(dataset.fetching.pid, signal.SIGKILL)
        with pytest.raises(reader.StoreError, match=r"sample '.*' of shard.* has died\. Start"):
            list(iterator)
        server.fault = lambda _: None
        assert sum(len(images) for images, _ in loader) == COUNT
    with Loader(dataset, batch_size=2, workers=2, transforms=[CROP]) as another:
        assert sum(len(images) for images, _ in another) == COUNT
