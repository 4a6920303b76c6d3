"""All indexes in one file: used while they are those of the shards, and checked once a process."""

import os
from pathlib import Path

import numpy as np
import pytest

import packer
from reader import Dataset
from reader.format import Index
from reader.format.manifest import JOINED

MANY = 64  # shards from which on a dataset has the file


@pytest.fixture
def many(tmp_path: Path) -> Path:
    with packer.Writer(tmp_path / "many", raw=(2, 2), progress=False, shard_samples=1) as writer:
        for number in range(MANY):
            image = np.full((2, 2, 3), number, np.uint8)
            writer.write({"image": image, "key": str(number), "label": number})
    return tmp_path / "many"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Of each opened index: whether it came from the one file, and was not checked again."""
    found: list[tuple[bool, bool]] = []
    init = Index.__init__

    def noted(self: Index, *given: object) -> None:
        init(self, *given)  # type: ignore[arg-type]
        found.append((given[3] is not None, bool(given[5])))

    monkeypatch.setattr(Index, "__init__", noted)
    return found


def test_an_index_comes_from_the_one_file_and_is_checked_once(
    many: Path, opened: list[tuple[bool, bool]]
) -> None:
    dataset = Dataset(many)
    assert dataset.labels.tolist() == dataset.columns("label")["label"].tolist() == [*range(MANY)]
    assert opened == [(True, False)] * MANY + [(True, True)] * MANY


@pytest.mark.parametrize("what", ["missing", "cut short", "damaged", "older"])
def test_an_index_has_a_file_of_its_own_where_the_one_file_does_not_fit(
    many: Path, opened: list[tuple[bool, bool]], what: str
) -> None:
    joined, first = many / JOINED, many / "shard-000000.safetensors"
    if what == "missing":
        joined.unlink()
    elif what == "cut short":
        os.truncate(joined, 10)
    elif what == "damaged":
        joined.write_bytes(joined.read_bytes()[::-1])
    else:
        os.utime(first, ns=(0, joined.stat().st_mtime_ns + 1))
    assert Dataset(many).keys[0] == "0"
    assert opened == [(False, False)]
