"""A cache that somebody or the system has damaged: it is used as far as it is sound."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from store_server import StoreServer

from reader import Dataset

pytestmark = pytest.mark.usefixtures("needs_store")

Opened = Callable[..., Dataset]
COUNT = 39


def read_all(dataset: Dataset) -> list[bytes]:
    found = [dataset[number][0].tobytes() for number in range(COUNT)]
    if dataset.fetching is not None:
        dataset.fetching.close()
    return found


@pytest.mark.parametrize(
    ("name", "lost"), [("shard-000001.tar", 10), ("cached.rows", COUNT), ("cached.indexes", 0)]
)
@pytest.mark.parametrize("harm", ["removed", "cut", "emptied"])
def test_files_that_somebody_removed_or_cut_are_fetched_again(
    packed: Path, server: StoreServer, opened: Opened, name: str, lost: int, harm: str
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    path = dataset.folder / name
    if harm == "removed":
        path.unlink()
    else:
        os.truncate(path, 0 if harm == "emptied" else path.stat().st_size - 1)
    assert read_all(opened()) == expected == read_all(Dataset(packed))
    assert len(server.tars) == asked + lost


def test_what_the_system_had_not_written_when_the_machine_went_down_is_fetched_again(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    (dataset.folder / "boot").write_text("another")
    for name in ("dataset.json", "cached.indexes", "shard-000001.tar"):
        path = dataset.folder / name
        path.write_bytes(bytes(path.stat().st_size))
    assert read_all(opened()) == expected
    assert len(server.tars) == asked + 10
    assert read_all(Dataset(dataset.folder)) == expected
