"""A saved state goes on where it was saved, and is refused where it cannot."""

import io
import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, indexes, load
from orders import options_of
from packing import run_pack
from row_files import rows_of
from torch.utils.data import DistributedSampler, RandomSampler

from reader import ArgumentError, BlockShuffle, Dataset, Loader, ReaderError, Weighted
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("no_leftovers")

NUMBERS = np.arange(COUNT)
WEIGHTED = Weighted(NUMBERS)
NAMES = {"BlockShuffle": BlockShuffle, "Weighted": Weighted}
NAMES |= {"WEIGHTED": WEIGHTED, "NUMBERS": NUMBERS}


def opened(folder: Any, subset: Any = None, **options: Any) -> Loader:
    folder = folder if subset is None else Dataset(folder, subset=subset)
    return load(folder, **{"shuffle": "sampler" not in options, **options})


def state_after(steps: int, folder: Path, **options: Any) -> tuple[dict[str, Any], list[int]]:
    """The state after so many steps, and what the epoch would have gone on with."""
    with opened(folder, **options) as loader:
        iterator = iter(loader)
        indexes(islice(iterator, steps))
        state = loader.state_dict()
        return state, indexes(iterator)


def test_a_state_is_a_small_plain_dict_that_json_and_torch_give_back(packed: Path) -> None:
    state, _ = state_after(3, packed, subset=NUMBERS, seed=np.int64(7))
    assert len(json.dumps(state)) < 500
    assert json.loads(json.dumps(state)) == state
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    assert torch.load(file, weights_only=True) == state
    assert (state["seed"], state["epoch"], state["position"]) == (7, 0, 12)


def test_subset_and_weights_are_named_in_a_state_as_loaders_before_named_them(packed: Path) -> None:
    state, _ = state_after(0, packed, subset=[5, 3, 30, 12, 8, 9])
    assert state["subset"] == "6 numbers, fingerprint b4cbaccd7f86"
    state, _ = state_after(0, packed, sampler=WEIGHTED)
    assert state["weights"] == "39 numbers, fingerprint 2b09f64e5576"


def test_a_state_of_every_other_order_is_refused(packed: Path) -> None:
    with ExitStack() as stack:
        orders = [*options_of(COUNT).values(), {"subset": [5, 3, 30, 12, 8, 9]}]
        loaders = [stack.enter_context(opened(packed, **options)) for options in orders]
        for saved, loaded in product(loaders, repeat=2):
            if saved is loaded:
                loaded.load_state_dict(saved.state_dict())
            else:
                with pytest.raises(ReaderError, match="The state was saved with"):
                    loaded.load_state_dict(saved.state_dict())


@pytest.mark.parametrize(("saved", "loaded", "theirs", "ours"), rows_of(__file__, "states.rows"))
def test_the_option_that_differs_is_named(
    packed: Path, saved: str, loaded: str, theirs: str, ours: str
) -> None:
    before, now = (eval(f"dict({options})", {**NAMES}) for options in (saved, loaded))
    state, _ = state_after(0, packed, **before)
    with opened(packed, **now) as loader:
        with pytest.raises(ReaderError) as caught:
            loader.load_state_dict(state)
        assert re.search(
            rf"saved with .*{re.escape(theirs)}.*, but .*{re.escape(ours)}", str(caught.value)
        )
        assert len(indexes(loader)) == loader.state_dict()["samples"]  # it is as it was


def test_a_copy_is_the_same_dataset_and_the_same_samples_in_another_order_are_not(
    packed: Path, source: Path, tmp_path: Path
) -> None:
    state, rest = state_after(2, packed)
    run_pack(source, tmp_path / "again", shard_samples=10)
    for same in (tmp_path / "again", Path(shutil.copytree(packed, tmp_path / "moved"))):
        with opened(same) as loader:
            loader.load_state_dict(state)
            assert indexes(loader) == rest
    run_pack(source, tmp_path / "other", shard_samples=10, seed=1)
    wanted = rf"with dataset=.* reads {tmp_path / 'other'} \(39 samples .* another dataset \(39 s"
    with opened(tmp_path / "other") as loader, pytest.raises(ReaderError, match=wanted):
        loader.load_state_dict(state)


def test_a_state_of_another_split_is_refused(packed_copy: Path) -> None:
    manifest = Manifest.load(packed_copy)
    splits = ("train", "train", "val", "val")
    shards = tuple(map(lambda shard, split: replace(shard, split=split), manifest.shards, splits))
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    state, _ = state_after(1, packed_copy, split="train")
    with (
        opened(packed_copy, split="val") as loader,
        pytest.raises(ReaderError, match=r"split=train.*this loader has .*split=val"),
    ):
        loader.load_state_dict(state)


@pytest.mark.parametrize(("state", "reason"), rows_of(__file__, "no_states.rows"))
def test_what_is_no_state_is_refused(packed: Path, state: str, reason: str) -> None:
    with opened(packed) as loader, pytest.raises(ArgumentError, match=reason):
        loader.load_state_dict(eval(state, {"now": loader.state_dict()}))


def test_a_state_is_saved_and_loaded_at_any_moment(packed: Path) -> None:
    with opened(packed) as loader:
        epochs = [indexes(loader) for _ in range(3)]
    with opened(packed) as loader, opened(packed, batch_size=5) as other:
        states = [loader.state_dict()]  # before iter
        iterator = iter(loader)
        states.append(loader.state_dict())  # before the first batch
        for _ in range(len(loader)):
            next(iterator)
            states.append(loader.state_dict())
        assert next(iterator, None) is None
        states.append(loader.state_dict())  # at the very end
        for step, state in enumerate(states):
            other.load_state_dict(state)
            if step % 3 == 0:
                next(iter(other))  # an iterator that has begun makes no difference
                other.load_state_dict(state)
            first, seen = divmod(min(4 * max(step - 1, 0), COUNT), COUNT)
            assert indexes(other) == epochs[first][seen:]
            assert indexes(other) == epochs[first + 1]


def test_a_loop_that_sets_each_epoch_goes_on_in_the_middle_of_one(packed: Path) -> None:
    with opened(packed) as loader:
        epochs = [indexes(loader) for _ in range(4)]
        loader.set_epoch(1)
        next(iter(loader))
        state = loader.state_dict()
    with opened(packed) as loader:
        loader.load_state_dict(state)
        for epoch, expected in ((1, epochs[1][4:]), (2, epochs[2]), (1, epochs[1])):
            loader.set_epoch(epoch)
            assert indexes(loader) == expected
        for wrong in (-1, 1.5, "1", None, True):
            with pytest.raises(ArgumentError, match="epoch is an integer from 0, not"):
                loader.set_epoch(wrong)


def test_a_sampler_that_draws_otherwise_in_the_new_run_is_refused_in_mid_epoch_alone(
    packed: Path,
) -> None:
    def draws(seed: int) -> RandomSampler:
        return RandomSampler(range(COUNT), generator=torch.Generator().manual_seed(seed))

    state, rest = state_after(3, packed, sampler=draws(1))
    with opened(packed, sampler=draws(1)) as loader:
        loader.load_state_dict(state)
        assert indexes(loader) == rest
    with opened(packed, sampler=draws(2)) as loader:
        with pytest.raises(ReaderError, match="sampler=RandomSampler of 39 numbers, fingerprint"):
            loader.load_state_dict(state)
        loader.load_state_dict({**state, "position": 0, "sampler": "RandomSampler of 39 numbers"})
        assert sorted(indexes(loader)) == list(range(COUNT))


def test_the_state_of_one_rank_fits_a_distributed_sampler_on_another(packed: Path) -> None:
    def share(rank: int) -> Any:
        return DistributedSampler(range(COUNT), num_replicas=2, rank=rank, seed=5)

    with opened(packed, sampler=share(1)) as loader:
        loader.set_epoch(3)
        whole = indexes(loader)
    with opened(packed, sampler=share(0)) as loader:
        loader.set_epoch(3)
        indexes(islice(loader, 2))
        state = loader.state_dict()
    with opened(packed, sampler=share(1)) as loader:
        loader.load_state_dict(state)
        assert indexes(loader) == whole[8:]
