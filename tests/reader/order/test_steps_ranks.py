"""Which share of the dataset a process reads, and who says so."""

from pathlib import Path
from typing import Any

import pytest
import torch

from reader import ArgumentError, CenterCrop, Loader, ReaderError


def load(folder: Path, **options: Any) -> Loader:
    arguments = {"batch_size": 4, "workers": 0, "transforms": [CenterCrop(8)], "fields": ["index"]}
    return Loader(folder, **{**arguments, **options})


def distributed(monkeypatch: pytest.MonkeyPatch, rank: int, world_size: int) -> None:
    """Let torch.distributed say that this process is one of so many."""
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: rank)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: world_size)


def torchrun(monkeypatch: pytest.MonkeyPatch, rank: object, world_size: object) -> None:
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", str(world_size))


def share(loader: Loader) -> tuple[int, int]:
    return loader.rank, loader.world_size


def test_the_share_is_that_of_torch_distributed_then_of_torchrun_then_all(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with load(packed) as loader:
        assert (*share(loader), len(loader)) == (0, 1, 10)
        torchrun(monkeypatch, 2, 5)
        assert (*share(loader), len(loader)) == (2, 5, 2)
        distributed(monkeypatch, 1, 3)
        assert (*share(loader), len(loader)) == (1, 3, 4)


def test_torchruns_variables_divide_an_epoch_before_there_is_a_group(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun(monkeypatch, 1, 2)
    with (
        load(packed, shuffle=True) as loader,
        load(packed, shuffle=True, rank=1, world_size=2) as own,
    ):
        assert [i.tolist() for (i,) in loader] == [i.tolist() for (i,) in own]


def test_a_rank_that_is_given_stays_as_it_is_given(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun(monkeypatch, 2, 5)
    with load(packed, rank=0, world_size=1) as loader:
        distributed(monkeypatch, 1, 3)
        assert share(loader) == (0, 1)
        assert sorted(n for (index,) in loader for n in index.tolist()) == list(range(39))


@pytest.mark.parametrize(("rank", "world_size"), [("", "4"), ("1", ""), ("one", "4"), ("-1", "4")])
def test_variables_that_are_not_torchruns_are_left_alone(
    packed: Path, monkeypatch: pytest.MonkeyPatch, rank: str, world_size: str
) -> None:
    torchrun(monkeypatch, rank, world_size)
    with load(packed) as loader:
        assert share(loader) == (0, 1)


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
