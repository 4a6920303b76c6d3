"""All indexes in one file: used while they are those of the shards, and checked once a process."""

import os
from pathlib import Path

import numpy as np
import pytest

import packer
from reader import Dataset
from reader.format import FormatError, Index
from reader.format.manifest import JOINED

MANY = 64  # shards from which on a dataset has the file


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return pack(tmp_path / "many", 0)


def pack(folder: Path, colour: int) -> Path:
    with packer.Writer(folder, raw=(2, 2), progress=False, shard_samples=1) as writer:
        for number in range(MANY):
            image = np.full((2, 2, 3), colour + number, np.uint8)
            writer.write({"image": image, "key": str(number), "label": number})
    return folder


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


@pytest.mark.parametrize("what", ["missing", "cut short", "damaged"])
def test_an_index_has_a_file_of_its_own_where_the_one_file_does_not_fit(
    many: Path, opened: list[tuple[bool, bool]], what: str
) -> None:
    joined = many / JOINED
    if what == "missing":
        joined.unlink()
    elif what == "cut short":
        os.truncate(joined, 10)
    else:
        joined.write_bytes(joined.read_bytes()[::-1])
    assert Dataset(many).keys[0] == "0"
    assert opened == [(False, False)]


def test_a_tar_that_was_copied_later_is_checked_once_by_the_index_beside_it(
    many: Path, opened: list[tuple[bool, bool]]
) -> None:
    os.utime(many / "shard-000000.tar", ns=(0, (many / JOINED).stat().st_mtime_ns + 1))
    dataset = Dataset(many)
    for _ in range(2):
        assert not dataset[0][0].any()
        dataset.keep_open()  # closes what was open
    assert opened == [(True, False), (False, False), (True, True)]


def test_a_shard_that_was_replaced_is_not_read_by_the_one_file(many: Path, tmp_path: Path) -> None:
    dataset = Dataset(many)
    assert not dataset[0][0].any()
    other = pack(tmp_path / "other", 100)
    for name in ("shard-000000.tar", "shard-000000.safetensors"):
        (other / name).replace(many / name)
    dataset.keep_open()
    with pytest.raises(FormatError, match="was replaced"):
        dataset[0]
