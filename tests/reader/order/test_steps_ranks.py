"""Which share of the dataset a process reads, and who says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, indexes, load

from reader import ArgumentError, ReaderError

Begin = Callable[[int, int], None]


def torchrun(monkeypatch: pytest.MonkeyPatch, rank: object, world_size: object) -> None:
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", str(world_size))


def test_the_share_is_that_of_torch_distributed_then_of_torchrun_then_all(
    packed: Path, monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    with load(packed) as loader:
        assert (loader.rank, loader.world_size, len(loader)) == (0, 1, 10)
        torchrun(monkeypatch, 2, 5)
        assert (loader.rank, loader.world_size, len(loader)) == (2, 5, 2)
        begin(1, 3)
        assert (loader.rank, loader.world_size, len(loader)) == (1, 3, 4)


def test_torchruns_variables_divide_an_epoch_before_there_is_a_group(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun(monkeypatch, 1, 2)
    with (
        load(packed, shuffle=True) as loader,
        load(packed, shuffle=True, rank=1, world_size=2) as own,
    ):
        assert indexes(loader) == indexes(own)


def test_a_rank_that_is_given_stays_as_it_is_given(
    packed: Path, monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    torchrun(monkeypatch, 2, 5)
    with load(packed, rank=0, world_size=1) as loader:
        begin(1, 3)
        assert (loader.rank, loader.world_size) == (0, 1)
        assert sorted(indexes(loader)) == list(range(COUNT))


@pytest.mark.parametrize(("rank", "world_size"), [("", "4"), ("1", ""), ("one", "4"), ("-1", "4")])
def test_variables_that_are_not_torchruns_are_left_alone(
    packed: Path, monkeypatch: pytest.MonkeyPatch, rank: str, world_size: str
) -> None:
    torchrun(monkeypatch, rank, world_size)
    with load(packed) as loader:
        assert (loader.rank, loader.world_size) == (0, 1)


def test_variables_that_contradict_each_other_are_refused(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun(monkeypatch, 4, 4)
    with pytest.raises(ReaderError, match=r"RANK=4 and WORLD_SIZE=4.*rank= and world_size="):
        load(packed)


@pytest.mark.parametrize(
    "given",
    [
        {"rank": 1},
        {"world_size": 2},
        {"rank": 2, "world_size": 2},
        {"rank": -1, "world_size": 2},
        {"rank": 0, "world_size": 0},
        {"rank": 0.0, "world_size": 2},
        {"rank": "0", "world_size": "2"},
        {"rank": False, "world_size": True},
    ],
    ids=str,
)
def test_a_rank_that_is_none_is_refused(packed: Path, given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"rank=.* and world_size=.*: give both, as integers"):
        load(packed, **given)
