"""Loops over a loader, of every kind, and the epochs of one whose rank, or place, changes."""

import gc
import pickle
import threading
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import delivered
import numpy as np
import pytest
import torch
from delivered import COUNT, augmented, digest, indexes
from torch.utils.data import DistributedSampler

from reader import ArgumentError, CUDAPrefetcher

pytestmark = pytest.mark.usefixtures("no_leftovers")


load = partial(delivered.load, shuffle=True)


def test_a_loader_made_before_torch_distributed_reads_as_one_made_after(
    packed: Path, begin: Callable[[int, int], None]
) -> None:
    with load(packed) as early:
        begin(1, 3)
        with load(packed) as late:
            expected = [indexes(late) for _ in range(2)]
            assert len(early) == len(late) == 4
        with pytest.warns(RuntimeWarning, match="as rank 1 of 3, .* rank 0 of 1") as said:
            seen = indexes([*early])
        assert [seen, indexes(early)] == expected  # the second time without a word
        assert said[0].filename == __file__


def test_an_iterator_keeps_the_share_that_it_began_with(
    packed: Path, begin: Callable[[int, int], None]
) -> None:
    with load(packed, rank=0, world_size=1) as whole, load(packed, rank=1, world_size=2) as half:
        first, (_, second) = indexes(whole), (indexes(half), indexes(half))
    with load(packed) as loader:
        iterator = iter(loader)
        seen = indexes(islice(iterator, 2))
        begin(1, 2)
        assert seen + indexes(iterator) == first
        with pytest.warns(RuntimeWarning, match="rank 1 of 2"):
            assert indexes(loader) == second


def test_an_iterator_that_was_only_tried_leaves_nothing_of_another_share(
    packed: Path, begin: Callable[[int, int], None]
) -> None:
    with load(packed) as loader:
        iter(loader)
        gc.collect()
        begin(0, 2)
        with pytest.warns(RuntimeWarning, match="rank 0 of 2"):
            seen = indexes(loader)
    with load(packed) as loader:
        assert seen == indexes(loader)


@pytest.mark.parametrize("epochs", [1, 2])
def test_a_drop_last_that_leaves_one_step_is_not_refused(packed: Path, epochs: int) -> None:
    samples = epochs * COUNT
    with load(packed, batch_size=samples, drop_last=True, epochs=epochs) as loader:
        assert (len(loader), len(indexes(loader))) == (1, samples)


def test_a_drop_last_that_leaves_no_step_to_this_many_ranks_is_refused_when_they_are_known(
    packed: Path, begin: Callable[[int, int], None]
) -> None:
    with load(packed, batch_size=20, drop_last=True) as loader:
        begin(0, 2)
        reason = "batch_size=20 on world_size=2"
        with pytest.raises(ArgumentError, match=reason):
            len(loader)
        with pytest.warns(RuntimeWarning), pytest.raises(ArgumentError, match=reason):
            iter(loader)


def test_a_rest_that_fills_no_step_ends_at_once_with_drop_last(packed: Path) -> None:
    with load(packed, batch_size=2) as loader:
        next(islice(loader, 18, None))
        state = loader.state_dict()
    with load(packed, batch_size=4, drop_last=True) as loader:
        loader.load_state_dict(state)
        assert indexes(loader) == []
        assert len(indexes(loader)) == 36


# Pickled


def test_a_pickled_loader_goes_on_at_its_place_with_workers_of_its_own(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factor = 3

    def map_sample(sample: dict[str, Any]) -> dict[str, Any]:  # pickled by value
        return sample | {"label": factor * sample["label"]}

    options = {"map_sample": map_sample, "fields": ["label"], "workers": 1}
    monkeypatch.chdir(packed.parent)
    with load(Path(packed.name), **options) as loader:
        iterator = iter(loader)
        seen = indexes(islice(iterator, 3))
        content = pickle.dumps(loader)
        monkeypatch.chdir("/")
        with pickle.loads(content) as copy:
            assert copy.state_dict() == loader.state_dict()
            rest = [indexes(copy), indexes(copy)]
        assert rest == [indexes(iterator), indexes(loader)]
        assert len(seen) + len(rest[0]) == COUNT


def test_a_list_of_a_loader_holds_every_batch_as_it_was(packed: Path) -> None:
    with augmented(packed, batch_size=1, workers=2) as loader:
        copies = [
            [field.clone() if isinstance(field, torch.Tensor) else list(field) for field in batch]
            for batch in loader
        ]
        loader.set_epoch(0)
        kept = list(loader)
        later = list(loader)
    assert len(kept) == COUNT
    assert digest(kept) == digest(copies) != digest(later)


def test_breaking_out_of_a_loop_and_starting_again_works(packed: Path) -> None:
    with load(packed, batch_size=4, workers=2) as loader:
        firsts = []
        for stop in (0, 1, 5, 9):
            for number, (index,) in enumerate(loader):
                if number == 0:
                    firsts.append(tuple(index.tolist()))
                if number == stop:
                    break
        assert len(set(firsts)) == 4  # every loop is another epoch
        assert sorted(indexes(loader)) == list(range(COUNT))
        loader.set_epoch(2)
        assert tuple(next(iter(loader))[0].tolist()) == firsts[2]


@pytest.mark.parametrize("workers", [2, 0])
def test_iterators_of_one_loader_may_advance_in_any_order(packed: Path, workers: int) -> None:
    with load(packed, batch_size=2, workers=workers) as loader:
        expected = [indexes(loader) for _ in range(5)]
        loader.set_epoch(0)
        iterators = [iter(loader) for _ in range(5)]
        seen: list[list[int]] = [[] for _ in iterators]
        rng = np.random.default_rng(0)
        left = [number for number in range(5) for _ in range(20)]
        for number in rng.permutation(left).tolist():
            seen[number] += next(iterators[number])[0].tolist()
        assert [next(iterator, None) for iterator in iterators] == [None] * 5
    assert seen == expected


def test_an_iterator_that_is_gone_before_its_first_batch_leaves_its_epoch_to_the_next(
    packed: Path,
) -> None:
    with load(packed, batch_size=10, workers=2) as loader:
        expected = [indexes(loader) for _ in range(4)]
        loader.set_epoch(0)
        iter(loader)
        before = loader.state_dict()
        assert indexes(loader) == expected[0]
        iter(loader)
        loader.set_epoch(2)  # not the one that was left, which would be 1
        kept = iter(loader)
        iter(loader)
        iter(loader)
        assert indexes(loader) == expected[3]
        assert indexes(kept) == expected[2]
        loader.load_state_dict(before)
        iter(loader)
        assert [indexes(loader), indexes(loader)] == expected[:2]


def test_an_iterator_knows_how_many_steps_are_left_and_stays_at_its_end(packed: Path) -> None:
    with load(packed, batch_size=20) as loader:
        iterator = iter(loader)
        lengths = [len(iterator)]
        for _ in iterator:
            lengths.append(len(iterator))
        assert lengths == [2, 1, 0]
        assert next(iterator, None) is next(iterator, None) is None


def test_two_threads_may_each_iterate_an_epoch_at_once(packed: Path) -> None:
    with load(packed, batch_size=2, workers=2) as loader:
        expected = sorted(indexes(loader) for _ in range(4))
        loader.set_epoch(0)
        found: list[list[int]] = []
        threads = [threading.Thread(target=lambda: found.append(indexes(loader))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(found) == expected


# The epoch is set while an iterator runs


def place(loader: Any) -> tuple[int, int]:
    state = loader.state_dict()
    return state["epoch"], state["position"]


@pytest.mark.parametrize("which", ["itself", "sampler", "batch_sampler"])
@pytest.mark.parametrize("taken", [0, 2])
@pytest.mark.parametrize("epoch", [0, 5])
@pytest.mark.parametrize("is_prefetched", [False, True])
def test_the_state_follows_the_iterator_that_goes_on_after_set_epoch(
    packed: Path, which: str, taken: int, epoch: int, is_prefetched: bool
) -> None:
    with load(packed) as loader:
        epochs = [indexes(loader) for _ in range(6)]
        loader.set_epoch(0)
        held = CUDAPrefetcher(loader, device="cpu") if is_prefetched else loader
        iterator = iter(held)
        seen = indexes(islice(iterator, taken))
        (held if which == "itself" else getattr(held, which)).set_epoch(epoch)
        assert place(held) == ((0, 4 * taken) if epoch == 0 else (5, 0))
        seen += next(iterator)[0].tolist()
        assert place(held) == (0, 4 * len(seen) // 4)
        with load(packed) as other:
            other.load_state_dict(held.state_dict())
            rest = indexes(iterator)
            assert indexes(other) == rest
        assert seen + rest == epochs[0]
        following = epoch or 1  # that the running epoch was named does not repeat it
        assert place(held) == (following, 0)
        assert indexes(held) == epochs[following]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_resumed_iterator_stays_where_it_is_if_its_epoch_is_set(
    packed: Path, workers: int
) -> None:
    with load(packed) as loader:
        epochs = [indexes(loader) for _ in range(3)]
        loader.set_epoch(1)
        iterator = iter(loader)
        indexes(islice(iterator, 3))
        state = loader.state_dict()
    with load(packed, workers=workers) as loader:
        loader.load_state_dict(state)
        iterator = iter(loader)
        loader.sampler.set_epoch(1)  # Lightning's
        assert place(loader) == (1, 12)
        seen = indexes(islice(iterator, 2))
        assert place(loader) == (1, 20)
        assert seen + indexes(iterator) == epochs[1][12:]
        loader.sampler.set_epoch(2)
        assert indexes(loader) == epochs[2]


def test_a_new_iterator_begins_the_epoch_again_that_was_set_while_another_was_in_it(
    packed: Path,
) -> None:
    with load(packed) as loader:
        epochs = [indexes(loader) for _ in range(3)]
        loader.set_epoch(1)
        for taken in (0, 2):
            left = iter(loader)
            indexes(islice(left, taken))
            loader.set_epoch(1)
            again = iter(loader)
            indexes(islice(again, 3))
            indexes(islice(left, 5))  # an older iterator moves nothing
            assert place(loader) == (1, 12)
            assert indexes(again) == epochs[1][12:]
            loader.set_epoch(1)
        assert [indexes(loader), indexes(loader)] == epochs[1:]


def test_an_iterator_that_is_gone_leaves_the_state_to_the_epoch_that_was_set(packed: Path) -> None:
    with load(packed) as loader:
        epochs = [indexes(loader) for _ in range(3)]
        for taken in (0, 2):
            for epoch in (0, 2):
                loader.set_epoch(0)
                left = iter(loader)
                indexes(islice(left, taken))
                loader.set_epoch(epoch)
                del left
                loader.set_epoch(epoch)
                assert place(loader) == (epoch, 0)
                assert indexes(loader) == epochs[epoch]


def test_an_iterator_over_several_epochs_is_followed_past_the_epoch_that_is_set(
    packed: Path,
) -> None:
    with load(packed, epochs=2) as loader:
        whole = [indexes(loader) for _ in range(2)]
        loader.set_epoch(0)
        iterator = iter(loader)
        loader.sampler.set_epoch(0)
        seen = indexes(islice(iterator, 12))
        assert place(loader) == (1, 9)
        loader.set_epoch(1)  # it is in this one
        seen += indexes(iterator)
        assert seen == whole[0]
        assert place(loader) == (2, 0)
        assert indexes(loader) == whole[1]


def test_an_iterator_without_an_end_is_followed_until_the_next_one_begins_at_the_epoch_set(
    packed: Path,
) -> None:
    with load(packed, epochs=None) as loader:
        iterator = iter(loader)
        loader.set_epoch(3)
        indexes(islice(iterator, 2))
        assert place(loader) == (0, 8)
        iterator = iter(loader)
        assert place(loader) == (3, 0)


def test_the_state_heeds_the_epoch_that_a_script_sets_on_its_own_sampler(packed: Path) -> None:
    sampler = DistributedSampler(range(COUNT), num_replicas=2, rank=1)
    with load(packed, shuffle=False, sampler=sampler) as loader:
        sampler.set_epoch(3)
        assert place(loader) == (3, 0)
        iterator = iter(loader)
        indexes(islice(iterator, 2))
        sampler.set_epoch(6)
        next(iterator)
        assert place(loader) == (3, 12)
        indexes(iterator)
        assert place(loader) == (6, 0)
