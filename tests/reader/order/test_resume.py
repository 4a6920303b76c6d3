"""A saved state goes on where it was saved, and is refused where it cannot."""

import io
import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_images import encode, make_image
from orders import options_of
from packing import run_pack
from torch.utils.data import DistributedSampler, RandomSampler

from reader import (
    BlockShuffle,
    CenterCrop,
    Dataset,
    Loader,
    ReaderError,
    Weighted,
)
from reader.format import Manifest

COUNT = 39

pytestmark = pytest.mark.usefixtures("no_leftovers")


def load(folder: Path | Dataset, subset: Any = None, **options: Any) -> Loader:
    if subset is not None:
        folder = Dataset(folder, subset=subset)
    arguments = {"batch_size": 4, "workers": 0, "transforms": [CenterCrop(8)], "fields": ["index"]}
    shuffle = "sampler" not in options
    return Loader(folder, **{"shuffle": shuffle, **arguments, **options})


def numbers(batches: Any) -> list[int]:
    return [number for (index,) in batches for number in index.tolist()]


def state_after(steps: int, folder: Path, **options: Any) -> tuple[dict[str, Any], list[int]]:
    """The state after so many steps, and what the epoch would have gone on with."""
    with load(folder, **options) as loader:
        iterator = iter(loader)
        numbers(islice(iterator, steps))
        state = loader.state_dict()
        return state, numbers(iterator)


def test_a_state_is_a_small_plain_dict_that_json_and_torch_give_back(packed: Path) -> None:
    state, _ = state_after(3, packed, subset=np.arange(COUNT), seed=np.int64(7))
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
    state, _ = state_after(0, packed, sampler=Weighted(np.arange(COUNT)))
    assert state["weights"] == "39 numbers, fingerprint 2b09f64e5576"


def test_a_state_of_every_other_order_is_refused(packed: Path) -> None:
    with ExitStack() as stack:
        orders = [*options_of(COUNT).values(), {"subset": [5, 3, 30, 12, 8, 9]}]
        loaders = [stack.enter_context(load(packed, **options)) for options in orders]
        for saved, loaded in product(loaders, repeat=2):
            if saved is loaded:
                loaded.load_state_dict(saved.state_dict())
            else:
                with pytest.raises(ReaderError, match="The state was saved with"):
                    loaded.load_state_dict(saved.state_dict())


@pytest.mark.parametrize(
    ("saved", "loaded", "difference"),
    [
        ({"seed": 5}, {"seed": 6}, "saved with seed=5, but this loader has seed=6"),
        (
            {"shuffle": BlockShuffle(shards=8)},
            {"shuffle": True},
            "saved with shuffle=BlockShuffle(shards=8), but this loader has shuffle=True",
        ),
        (
            {"shuffle": BlockShuffle(shards=8)},
            {"shuffle": BlockShuffle(shards=4)},
            "saved with shuffle=BlockShuffle(shards=8), "
            "but this loader has shuffle=BlockShuffle(shards=4)",
        ),
        (
            {"seed": 5, "shuffle": False},
            {},
            "saved with seed=5 and shuffle=False, but this loader has seed=0 and shuffle=True",
        ),
        (
            {"shuffle": BlockShuffle(2, streams=4)},
            {"shuffle": BlockShuffle(2)},
            "saved with shuffle=BlockShuffle(shards=2, streams=4), "
            "but this loader has shuffle=BlockShuffle(shards=2)",
        ),
        ({"epoch_size": 9}, {"epoch_size": 8}, "with samples=9, but this loader has samples=8"),
        ({"subset": [1, 2]}, {}, "saved with samples=2 and subset=2 numbers, fingerprint "),
        ({"subset": [1, 2]}, {"subset": [2, 1]}, "saved with subset=2 numbers, fingerprint "),
        (
            {"sampler": Weighted(np.arange(COUNT))},
            {"sampler": Weighted(np.arange(COUNT)[::-1])},
            "saved with weights=39 numbers, fingerprint ",
        ),
        (
            {"sampler": range(COUNT)},
            {"sampler": np.arange(COUNT)},
            "sampler=range of 39 numbers, but this loader has sampler=ndarray of 39 numbers",
        ),
    ],
    ids=str,
)
def test_the_option_that_differs_is_named(
    packed: Path, saved: dict[str, Any], loaded: dict[str, Any], difference: str
) -> None:
    state, _ = state_after(0, packed, **saved)
    with load(packed, **loaded) as loader:
        with pytest.raises(ReaderError) as caught:
            loader.load_state_dict(state)
        assert difference in str(caught.value)
        assert len(numbers(loader)) == loader.state_dict()["samples"]  # it is as it was


def test_the_same_samples_packed_in_another_order_are_another_dataset(
    packed: Path, source: Path, tmp_path: Path
) -> None:
    state, rest = state_after(2, packed)
    run_pack(source, tmp_path / "again", shard_samples=10)
    with load(tmp_path / "again") as loader:
        loader.load_state_dict(state)
        assert numbers(loader) == rest
    run_pack(source, tmp_path / "other", shard_samples=10, seed=1)
    wanted = rf"with dataset=.* reads {tmp_path / 'other'} \(39 samples .* another dataset \(39 s"
    with load(tmp_path / "other") as loader, pytest.raises(ReaderError, match=wanted):
        loader.load_state_dict(state)


def test_a_copy_of_the_dataset_elsewhere_is_the_same_dataset(packed: Path, tmp_path: Path) -> None:
    state, rest = state_after(2, packed)
    with load(Path(shutil.copytree(packed, tmp_path / "moved"))) as loader:
        loader.load_state_dict(state)
        assert numbers(loader) == rest


def test_a_state_of_another_split_is_refused(packed_copy: Path) -> None:
    manifest = Manifest.load(packed_copy)
    splits = ("train", "train", "val", "val")
    shards = tuple(map(lambda shard, split: replace(shard, split=split), manifest.shards, splits))
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    state, _ = state_after(1, packed_copy, split="train")
    with (
        load(packed_copy, split="val") as loader,
        pytest.raises(ReaderError, match=r"split=train.*this loader has .*split=val"),
    ):
        loader.load_state_dict(state)


@pytest.mark.parametrize(
    "damage",
    [{"version": 99}, {"epoch": -1}, {"position": "4"}, {"position": None}, {"position": COUNT}],
    ids=str,
)
def test_what_is_no_state_is_refused(packed: Path, damage: dict[str, Any]) -> None:
    with load(packed) as loader:
        with pytest.raises(ReaderError, match="state"):
            loader.load_state_dict({**loader.state_dict(), **damage})
        with pytest.raises(ReaderError, match=r"that loader\.state_dict\(\) returned: \{\}"):
            loader.load_state_dict({})
        with pytest.raises(ReaderError, match="The state has version 99; this reader supports 1"):
            loader.load_state_dict({"version": 99})


def test_a_state_is_saved_and_loaded_at_any_moment(packed: Path) -> None:
    with load(packed) as loader:
        epochs = [numbers(loader) for _ in range(3)]
    with load(packed) as loader, load(packed, batch_size=5) as other:
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
            assert numbers(other) == epochs[first][seen:]
            assert numbers(other) == epochs[first + 1]


def test_a_loop_that_sets_each_epoch_goes_on_in_the_middle_of_one(packed: Path) -> None:
    with load(packed) as loader:
        epochs = [numbers(loader) for _ in range(4)]
        loader.set_epoch(1)
        next(iter(loader))
        state = loader.state_dict()
    with load(packed) as loader:
        loader.load_state_dict(state)
        for epoch, expected in ((1, epochs[1][4:]), (2, epochs[2]), (1, epochs[1])):
            loader.set_epoch(epoch)
            assert numbers(loader) == expected
        with pytest.raises(ReaderError, match="-1"):
            loader.set_epoch(-1)


def test_an_endless_loader_goes_on_in_its_next_iterator_or_run(packed: Path) -> None:
    with load(packed, epochs=None) as loader:
        whole = numbers(islice(loader, 40))
    with load(packed, epochs=None) as loader:
        seen = numbers(islice(loader, 13))
        seen += numbers(islice(loader, 12))  # as in: train, validate, train on
        state = loader.state_dict()
    with load(packed, epochs=None, batch_size=2) as loader:
        loader.load_state_dict(state)
        seen += numbers(islice(loader, 30))
    assert seen == whole


def test_a_sampler_that_draws_otherwise_in_the_new_run_is_refused_in_mid_epoch_alone(
    packed: Path,
) -> None:
    def draws(seed: int) -> RandomSampler:
        return RandomSampler(range(COUNT), generator=torch.Generator().manual_seed(seed))

    state, rest = state_after(3, packed, sampler=draws(1))
    with load(packed, sampler=draws(1)) as loader:
        loader.load_state_dict(state)
        assert numbers(loader) == rest
    with load(packed, sampler=draws(2)) as loader:
        with pytest.raises(ReaderError, match="sampler=RandomSampler of 39 numbers, fingerprint"):
            loader.load_state_dict(state)
        loader.load_state_dict({**state, "position": 0, "sampler": "RandomSampler of 39 numbers"})
        assert sorted(numbers(loader)) == list(range(COUNT))


def test_the_state_of_one_rank_fits_a_distributed_sampler_on_another(packed: Path) -> None:
    def share(rank: int) -> Any:
        return DistributedSampler(range(COUNT), num_replicas=2, rank=rank, seed=5)

    with load(packed, sampler=share(1)) as loader:
        loader.set_epoch(3)
        whole = numbers(loader)
    with load(packed, sampler=share(0)) as loader:
        loader.set_epoch(3)
        numbers(islice(loader, 2))
        state = loader.state_dict()
    with load(packed, sampler=share(1)) as loader:
        loader.load_state_dict(state)
        assert numbers(loader) == whole[8:]


def test_loading_a_state_into_a_set_of_one_sample_works(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset({"a.png": encode(make_image(0), "PNG")})
    with load(folder) as loader:
        assert numbers(loader) == [0]
        state = loader.state_dict()
        assert (state["epoch"], state["position"]) == (1, 0)
        loader.load_state_dict(state)
        assert numbers(loader) == [0]


def test_a_loader_may_load_its_own_state_again(packed: Path) -> None:
    with load(packed) as loader:
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        expected = numbers(iterator)
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        assert numbers(loader) == expected
