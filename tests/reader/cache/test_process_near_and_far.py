"""Every pixel and label is the same from a folder, a store, and a cache that holds some or all."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import AUGMENT, digest
from PIL import Image
from store_server import StoreServer, serving

import reader
from reader import Dataset, Loader

pytestmark = pytest.mark.usefixtures("needs_store", "no_leftovers")

COUNT = 44
TOGETHER = 12  # samples of a step of all ranks

ORDERS: dict[str, dict[str, Any]] = {
    "shuffled": {"shuffle": True},
    "by blocks": {"shuffle": reader.BlockShuffle(2)},
    "in streams": {"shuffle": reader.BlockShuffle(1, streams=12)},
    "in buckets": {"shuffle": reader.AspectBuckets(4)},
    "weighted": {"sampler": reader.Weighted([1 + number % 5 for number in range(COUNT)])},
    "by numbers": {"sampler": [*range(40, 3, -1)]},
}
AT_FIRST = [*zip(ORDERS, (2, 1, 2, 1, 1, 4), strict=True)]


@pytest.fixture
def folder(
    write_samples: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """44 JPEGs with masks and labels, in 5 shards."""
    samples = {
        f"{number:02d}": {
            "jpg": encode(make_image(number, 40 + number, 60), "JPEG"),
            "mask.png": encode(make_image(-number % 99, 40 + number, 60, "L"), "PNG"),
        }
        for number in range(COUNT)
    }
    return write_samples(samples, shard_samples=10, labels=[n % 7 for n in range(COUNT)])


@pytest.fixture
def server(folder: Path) -> Iterator[StoreServer]:
    with serving(folder) as server:
        yield server


def loaders(dataset: Any, world_size: int, order: dict[str, Any]) -> Sequence[Loader]:
    """One for each rank: two views of images and masks, and all that tells samples apart."""
    return [
        Loader(
            dataset,
            batch_size=TOGETHER // world_size,
            workers=int(world_size < 3),  # or here: many processes take their time to start
            transforms=AUGMENT,
            views=2,
            fields=("image", reader.Mask("mask.png"), "label", "index", "key", "valid"),
            rank=rank,
            world_size=world_size,
            **order,
        )
        for rank in range(world_size)
    ]


@contextmanager
def open_loaders(dataset: Any, world_size: int, order: dict[str, Any]) -> Iterator[Any]:
    with ExitStack() as stack:
        yield [stack.enter_context(one) for one in loaders(dataset, world_size, order)]


def epochs(dataset: Any, world_size: int, order: dict[str, Any], count: int = 2) -> list[list[str]]:
    """A checksum of each batch, of each epoch's steps of all ranks."""
    with open_loaders(dataset, world_size, order) as ranks:
        return [
            [digest([batch]) for step in zip(*ranks, strict=True) for batch in step]
            for _ in range(count)
        ]


@pytest.mark.parametrize(
    ("order", "world_size"),
    [
        pytest.param(*one, marks=[pytest.mark.slow] * (one not in AT_FIRST))
        for one in itertools.product(ORDERS, (1, 2, 3, 4))
    ],
)
def test_batches_are_the_same_from_a_folder_a_store_and_a_cache_in_part_and_whole(
    folder: Path, server: StoreServer, tmp_path: Path, world_size: int, order: str
) -> None:
    expected = epochs(folder, world_size, ORDERS[order])
    cold = Dataset(server.url, cache_dir=tmp_path / "cold")
    assert epochs(cold, world_size, ORDERS[order]) == expected
    fetched = sum(stop - first for _, first, stop in server.tars)
    assert fetched <= sum(path.stat().st_size for path in folder.rglob("*.tar"))
    for number in range(COUNT):  # the rest, of an order that repeats some
        cold[number]
        cold.read(number, "mask.png")
    asked = len(server.tars)
    assert epochs(cold, world_size, ORDERS[order]) == expected
    assert len(server.tars) == asked

    half = Dataset(server.url, cache_dir=tmp_path / "half")
    for number in range(0, COUNT, 2):
        half[number]
    before = len(server.tars)
    assert epochs(half, world_size, ORDERS[order], count=1) == expected[:1]
    assert before < len(server.tars)
    for dataset in (cold, half):
        dataset.fetching.close()


def rows(batches: Sequence[Any]) -> set[str]:
    """A checksum of each row that is not a padding."""
    return {
        digest([[[view[row] for view in views], [m[row] for m in masks], *(f[row] for f in rest)]])
        for views, masks, *rest in batches
        for row in np.flatnonzero(rest[-1]).tolist()
    }


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(
            order, id=name, marks=[pytest.mark.slow] * (name not in ("by blocks", "weighted"))
        )
        for name, order in ORDERS.items()
    ],
)
def test_a_run_goes_on_near_or_far_on_any_number_of_ranks(
    folder: Path, server: StoreServer, tmp_path: Path, order: dict[str, Any]
) -> None:
    with open_loaders(folder, 1, order) as [loader]:
        expected = [rows([batch]) for _ in range(2) for batch in loader]
    store = Dataset(server.url, cache_dir=tmp_path / "cache")
    found: list[set[str]] = []
    state = None
    for place, world_size, steps in (
        (folder, 1, 1),
        (store, 4, 1),
        (folder, 2, 3),
        (store, 3, 2),
        (folder, 4, 99),
    ):
        with open_loaders(place, world_size, order) as ranks:
            for loader in ranks:
                if state is not None:
                    loader.load_state_dict(state)
            done = 0
            while done < steps and len(found) < len(expected):
                for step in zip(*ranks, strict=True):
                    found.append(rows(step))
                    states = [loader.state_dict() for loader in ranks]
                    assert states == states[:1] * world_size
                    state, done = states[0], done + 1
                    if done == steps:
                        break
    assert found == expected
    store.fetching.close()
