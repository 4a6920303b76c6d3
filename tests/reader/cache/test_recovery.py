"""A cache that somebody or the system has damaged: it is used as far as it is sound."""

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


@pytest.mark.parametrize("suffix", [".tar", ".rows", ".safetensors"])
@pytest.mark.parametrize("harm", ["removed", "cut"])
def test_files_that_somebody_removed_or_cut_are_fetched_again(
    packed: Path, server: StoreServer, opened: Opened, suffix: str, harm: str
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    path = (dataset.folder / "shard-000001.tar").with_suffix(suffix)
    if harm == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    assert read_all(opened()) == expected == read_all(Dataset(packed))
    assert len(server.tars) == asked + (0 if suffix == ".safetensors" else 10)


def test_what_the_system_had_not_written_when_the_machine_went_down_is_fetched_again(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    (dataset.folder / "boot").write_text("another")
    for name in ("dataset.json", "shard-000000.safetensors", "shard-000001.tar"):
        path = dataset.folder / name
        path.write_bytes(bytes(path.stat().st_size))
    (dataset.folder / "shard-000002.rows").write_bytes(b"")
    assert read_all(opened()) == expected
    assert len(server.tars) == asked + 20
    assert read_all(Dataset(dataset.folder)) == expected
