"""What scripts read of a DataLoader, on a Loader and on the prefetcher that they hold."""

import inspect
import pickle
import re
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, CROP, indexes, load
from pretended_gpu import pretended_gpu
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, SequentialSampler

from reader import ArgumentError, CUDAPrefetcher, Dataset, Loader, ReaderError

BATCH = 8


opened = partial(load, shuffle=True, batch_size=BATCH)


def indices(loader: Any) -> list[list[int]]:
    return [index.tolist() for (index,) in loader]


@pytest.fixture(params=["loader", "prefetcher"])
def held(request: pytest.FixtureRequest, packed: Path) -> Iterator[Any]:
    """The object that a script holds."""
    with opened(packed) as loader:
        yield loader if request.param == "loader" else CUDAPrefetcher(loader, device="cpu")


def test_scripts_find_what_they_read_of_a_data_loader(held: Any) -> None:
    theirs = DataLoader(Dataset(held.dataset.folder), batch_size=BATCH)
    wanted = {name for name in vars(theirs) if not name.startswith("_")}
    assert {name for name in wanted if not hasattr(held, name)} == set()
    assert len(held.dataset) == COUNT
    assert (held.batch_size, held.drop_last, held.num_workers, held.timeout) == (BATCH, False, 0, 0)
    assert held.pin_memory is False
    assert len(held.sampler) == COUNT
    assert len(held.batch_sampler) == len(held) == 5


def test_a_data_loader_of_a_loader_says_what_to_give_it(packed: Path) -> None:
    with opened(packed) as loader, pytest.raises(TypeError, match=r"give it a reader\.Dataset"):
        next(iter(DataLoader(loader)))  # type: ignore[arg-type]


def test_a_prefetcher_has_all_that_its_loader_has(packed: Path) -> None:
    with opened(packed) as loader:
        prefetcher = CUDAPrefetcher(loader, device="cpu")
        public = [name for name in dir(loader) if not name.startswith("_")]
        assert [name for name in public if not hasattr(prefetcher, name)] == []
        assert prefetcher.statistics().workers == 0
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            prefetcher.nothing  # noqa: B018
    other = CUDAPrefetcher([torch.zeros(1)], device="cpu")
    assert not hasattr(other, "set_epoch")
    assert not hasattr(other, "dataset")


@pytest.mark.parametrize("name", [*inspect.signature(Loader).parameters][:-1])  # not torch's own
def test_an_argument_that_is_set_later_is_refused_with_what_to_do(held: Any, name: str) -> None:
    with pytest.raises(
        ArgumentError, match=rf"{name} cannot be set .* new reader.Loader with {name}="
    ):
        setattr(held, name, 2)
    assert (held.batch_size, held.drop_last, len(held)) == (BATCH, False, 5)


def test_what_a_data_loader_has_is_refused_later_but_for_what_lightning_sets(held: Any) -> None:
    for name in ("num_workers", "pin_memory", "generator", "prefetch_factor", "persistent_workers"):
        with pytest.raises(ValueError, match=rf"{name} cannot be set"):
            setattr(held, name, 2)
    held.worker_init_fn = held.of_a_script = partial(print)
    assert held.of_a_script is held.worker_init_fn


def test_a_prefetchers_arguments_are_refused_later_and_others_loaders_decide_of_theirs() -> None:
    theirs = DataLoader(range(8), batch_size=2)  # type: ignore[arg-type]
    prefetcher = CUDAPrefetcher(theirs, device="cpu")
    for name in inspect.signature(CUDAPrefetcher).parameters:
        with pytest.raises(ArgumentError, match=rf"new reader.CUDAPrefetcher with {name}=1"):
            setattr(prefetcher, name, 1)
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        prefetcher.batch_size = 4
    prefetcher.timeout = 3
    assert theirs.timeout == 3


@pytest.mark.parametrize("options", [{}, {"drop_last": True}, {"epochs": 2}, {"shuffle": False}])
@pytest.mark.parametrize("rank", [0, 1])
def test_the_samplers_tell_what_comes(packed: Path, options: dict[str, Any], rank: int) -> None:
    fields = ("index", "valid")
    with opened(packed, rank=rank, world_size=2, fields=fields, **options) as loader:
        for _ in range(2):
            numbers, batches = list(loader.sampler), list(loader.batch_sampler)
            seen = [index[valid].tolist() for index, valid in loader]
            assert batches == seen
            assert numbers == [number for batch in seen for number in batch]
            assert len(loader.sampler) == len(numbers)
            assert len(loader.batch_sampler) == len(loader)


def test_what_is_not_shuffled_has_a_sequential_sampler(packed: Path) -> None:
    for shuffle in (False, True):
        with opened(packed, shuffle=shuffle) as loader:
            assert isinstance(loader.sampler, SequentialSampler) is not shuffle
            assert isinstance(loader.batch_sampler, BatchSampler)


@pytest.mark.parametrize("which", ["sampler", "batch_sampler", "itself"])
def test_set_epoch_of_whichever_part_turns_to_that_epoch(held: Any, which: str) -> None:
    epochs = [indices(held) for _ in range(4)]
    part = held if which == "itself" else getattr(held, which)
    for epoch in (2, 0, 3):
        part.set_epoch(epoch)
        assert held.state_dict()["epoch"] == epoch
        assert indices(held) == epochs[epoch]


def test_a_sampler_counts_iterations_as_trainers_do(packed: Path) -> None:
    with opened(packed, epochs=2) as loader:
        whole = [indices(loader) for _ in range(2)]
        loader.sampler.set_epoch(1)
        assert indices(loader) == whole[1]
    with opened(packed, epochs=None) as loader:
        iterator = iter(loader)
        first = [next(iterator)[0].tolist() for _ in range(2)]
        del iterator
        loader.sampler.set_epoch(1)  # Lightning's, each time; the loader goes on where it was left
        assert [*first, next(iter(loader))[0].tolist()] == whole[0][:3]
        with pytest.raises(TypeError, match="no length"):
            len(loader.sampler)


def test_an_iterator_left_early_and_set_epoch_leave_the_state_of_that_epoch(held: Any) -> None:
    iterator = iter(held)
    next(iterator)
    held.set_epoch(3)
    assert (held.state_dict()["epoch"], held.state_dict()["position"]) == (3, 0)


def test_a_script_that_sets_the_epoch_of_its_own_sampler_gets_that_epoch(packed: Path) -> None:
    dataset = Dataset(packed)
    sampler = DistributedSampler(dataset, num_replicas=2, rank=1, seed=3)

    def expected(epoch: int) -> list[int]:
        sampler.set_epoch(epoch)
        return list(sampler)

    wanted = {epoch: expected(epoch) for epoch in range(7)}
    sampler.set_epoch(0)
    with opened(dataset, shuffle=False, sampler=sampler) as loader:
        assert loader.sampler is sampler
        for epoch in (5, 6, 2):  # as a script does that goes on from its checkpoint
            sampler.set_epoch(epoch)
            assert indexes(loader) == wanted[epoch]
        assert indexes(loader) == wanted[3]  # and one that never does


def test_a_data_loader_made_of_a_loaders_parts_says_what_to_do(packed: Path) -> None:
    with opened(packed) as loader:
        made = DataLoader(
            loader.dataset, batch_sampler=loader.batch_sampler, collate_fn=loader.collate_fn
        )
        with pytest.raises(ReaderError, match=r"loader.load_state_dict\(state\).*ignore_data_skip"):
            next(iter(made))


def fast_collate(batch: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """As apex's example batches PIL images."""
    images = [image for image, _ in batch]
    width, height = images[0].size[0], images[0].size[1]
    tensor = torch.zeros((len(images), 3, height, width), dtype=torch.uint8)
    for row, image in zip(tensor, images, strict=True):
        row += torch.from_numpy(np.rollaxis(np.asarray(image, dtype=np.uint8), 2).copy())
    return tensor, torch.tensor([label for _, label in batch])


def test_a_collate_fn_for_pil_images_fails_with_what_it_gets(packed: Path) -> None:
    fields = ("image", "label")
    with (
        opened(packed, fields=fields, collate_fn=fast_collate) as loader,
        pytest.raises(TypeError, match="not subscriptable") as caught,
    ):
        next(iter(loader))
    words = r"image: uint8 tensor \(3, .*\), label: int\).*fast_collate does, leave it out"
    assert re.search(words, str(caught.value.__cause__))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fast_collate"


def test_a_collate_fn_for_pil_images_batches_a_dataset_with_a_transform(packed: Path) -> None:
    def crop(image: Any) -> Any:
        return image.crop((0, 0, 32, 24))

    loader = DataLoader(Dataset(packed, transform=crop), BATCH, collate_fn=fast_collate)
    image, label = next(iter(loader))
    assert image.shape == (BATCH, 3, 24, 32)
    assert label.tolist() == Dataset(packed).targets[:BATCH]


def test_num_workers_and_pin_memory_mean_what_they_do_in_torch(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loader(packed, num_workers=1, pin_memory=False) as loader:
        assert (loader.num_workers, loader.pin_memory) == (1, False)
    with Loader(packed, num_workers=0, pin_memory=True) as loader:
        assert (loader.num_workers, loader.pin_memory) == (0, True)
        next(iter(loader))  # where there is no GPU, batches lie where they would
        again = pickle.loads(pickle.dumps(loader))
        assert (again.num_workers, again.pin_memory) == (0, True)
    with (
        pretended_gpu(monkeypatch) as gpu,
        Loader(packed, num_workers=0, pin_memory=True, transforms=[CROP]) as loader,
    ):
        images, labels = next(iter(loader))
        assert {gpu.address(images), gpu.address(labels)} <= gpu.pinned
