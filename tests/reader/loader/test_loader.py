"""What a training loop sees: every sample once, the same on every run, whatever happens."""

import gc
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from live_workers import workers
from PIL import Image

import reader
from reader import (
    CenterCrop,
    Dataset,
    FormatError,
    Geometry,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    ReaderError,
    SampleError,
    Transform,
    WorkerError,
)
from reader.format import Manifest
from reader.rng import SampleRandom

Script = Callable[..., "subprocess.CompletedProcess[str]"]

COUNT = 39
CROP = CenterCrop((48, 64))  # no image is smaller
AUGMENT = (RandomResizedCrop((24, 32)), RandomHorizontalFlip())
EVERYTHING = ("image", "label", "index", "valid", "key")

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture(scope="module")
def truth(packed: Path) -> list[tuple[torch.Tensor, int, str]]:
    """Each sample's pixels as `CROP` leaves them, its label and its key."""
    dataset = Dataset(packed)
    found = []
    for (image, label), key in zip(dataset, dataset.keys, strict=True):
        top, left = round((image.shape[0] - 48) / 2), round((image.shape[1] - 64) / 2)
        pixels = image[top : top + 48, left : left + 64].transpose(2, 0, 1)
        found.append((torch.from_numpy(pixels.copy()), label, key))
    return found


def digest(batches: Iterable[Sequence[Any]]) -> str:
    """A checksum of all that is in the batches, and of their order."""
    found = hashlib.sha256()
    for batch in batches:
        for field in batch:
            is_tensor = isinstance(field, torch.Tensor)
            found.update(field.numpy().tobytes() if is_tensor else repr(field).encode())
    return found.hexdigest()


def indexes(batches: Iterable[Sequence[Any]], field: int = 0) -> list[int]:
    return [number for batch in batches for number in batch[field].tolist()]


def slow(seconds: float = 0.005) -> Transform:
    class Slow:
        def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
            time.sleep(seconds)

    return Slow()


def in_a_worker(act: Callable[[Geometry], None]) -> Transform:
    """A transform that calls `act` with the geometry, but not in this process."""
    parent = os.getpid()

    class Act:
        def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
            if os.getpid() != parent:
                act(geometry)

    return Act()


# What is delivered


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
def test_an_epoch_delivers_every_sample_once_with_its_own_pixels_label_and_key(
    packed: Path, truth: list[tuple[torch.Tensor, int, str]], shuffle: bool, drop_last: bool
) -> None:
    with Loader(
        packed,
        batch_size=8,
        workers=2,
        transforms=[CROP],
        shuffle=shuffle,
        drop_last=drop_last,
        fields=EVERYTHING,
    ) as loader:
        sizes, seen = [], []
        for image, label, index, valid, key in loader:
            sizes.append(len(image))
            seen += index.tolist()
            assert valid.tolist() == [True] * len(image)
            for row, number in enumerate(index.tolist()):
                pixels, expected_label, expected_key = truth[number]
                assert torch.equal(image[row], pixels)
                assert int(label[row]) == expected_label
                assert key[row] == expected_key
        assert len(loader) == len(sizes)
    assert sizes == [8, 8, 8, 8] + [7] * (not drop_last)
    assert len(set(seen)) == len(seen) == sum(sizes)
    assert (seen == sorted(seen)) == (not shuffle)


def test_images_lie_in_channels_last_memory_and_the_types_are_as_promised(packed: Path) -> None:
    with Loader(packed, batch_size=5, workers=1, transforms=[CROP], fields=EVERYTHING) as loader:
        image, label, index, valid, key = next(iter(loader))
    assert image.shape == (5, 3, 48, 64)
    assert image.is_contiguous(memory_format=torch.channels_last)
    assert (image.dtype, label.dtype, index.dtype) == (torch.uint8, torch.int64, torch.int64)
    assert (valid.dtype, valid.shape) == (torch.bool, (5,))
    assert isinstance(key, list)


def test_a_batch_is_image_and_label_unless_other_fields_are_asked_for(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 39, "workers": 1, "transforms": [CROP]}
    with Loader(packed, **options) as loader, Loader(packed, **options, fields=["key"]) as keys:
        ((image, label),) = loader
        ((key,),) = keys
        assert image.shape[0] == len(label) == len(key) == COUNT
        assert loader.dataset.labels.tolist() == label.tolist()
        assert list(keys.dataset.keys) == key


@pytest.mark.parametrize("size", [1, 39, 100])
def test_any_batch_size_delivers_everything(packed: Path, size: int) -> None:
    with Loader(packed, batch_size=size, workers=2, transforms=[CROP], fields=["index"]) as loader:
        for _ in range(2):
            batches = list(loader)
            assert len(batches) == len(loader) == -(-COUNT // size)
            assert indexes(batches) == list(range(COUNT))


def test_images_of_different_sizes_come_as_a_list(packed: Path) -> None:
    dataset = Dataset(packed)
    with Loader(packed, batch_size=8, workers=2, shuffle=True, fields=EVERYTHING) as loader:
        seen = list(loader)
    assert sorted(indexes(seen, 2)) == list(range(COUNT))
    for images, _, index, _, _ in seen:
        assert isinstance(images, list)
        for image, number in zip(images, index.tolist(), strict=True):
            assert np.array_equal(image.permute(1, 2, 0).numpy(), dataset[number][0])


def test_images_of_one_size_come_as_one_tensor_without_transforms(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> None:
    images = [make_image(seed, 20, 30) for seed in range(5)]
    folder = make_dataset({f"{n}.png": encode(image, "PNG") for n, image in enumerate(images)})
    with Loader(folder, batch_size=5, workers=1) as loader:
        ((seen, label),) = loader
    assert torch.equal(seen, torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2))
    assert label.tolist() == [-1] * 5


def test_images_stay_as_stored_if_they_need_not_be_upright(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    folder = make_dataset({"a.png": encode(make_image(0, 20, 30), "PNG", exif=exif)})
    for upright, size in ((True, (30, 20)), (False, (20, 30))):
        for dataset in (folder, Dataset(folder, upright=upright)):
            with Loader(dataset, workers=1, upright=upright) as loader:
                ((image, _),) = loader
            assert image.shape == (1, 3, *size)
            assert np.array_equal(image[0].permute(1, 2, 0), loader.dataset[0][0])


def test_a_split_of_a_folder_is_loaded_by_its_name(packed_copy: Path) -> None:
    manifest = Manifest.load(packed_copy)
    shards = (*manifest.shards[:3], replace(manifest.shards[3], split="val"))
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    with Loader(packed_copy, split="val", workers=1, transforms=[CROP], fields=["key"]) as loader:
        assert [key for ((key,),) in loader] == list(Dataset(packed_copy).keys)[30:]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fields": ["image", "lable"]}, "lable.*label"),
        ({"batch_size": 0}, "^batch_size is an integer of at least 1, not 0"),
        ({"batch_size": True}, "^batch_size is an integer of at least 1, not True"),
        ({"timeout": "5"}, "^timeout is a number of seconds"),
        ({"batch_size": 2.5}, "^batch_size is .*, not 2.5"),
        ({"workers": 0}, "^workers is an integer of at least 1, 'auto' or None, not 0"),
        ({"workers": "all"}, "^workers is .*, not 'all'"),
        ({"rank": 1}, "rank=1"),
        ({"world_size": 2}, "world_size=2"),
        ({"rank": 2, "world_size": 2}, "rank=2"),
        ({"rank": -1, "world_size": 2}, "rank=-1"),
        ({"split": "test"}, "test"),
    ],
)
def test_arguments_that_cannot_be_met_are_refused_by_name(
    packed: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ReaderError, match=words):
        Loader(packed, **options)


def test_a_folder_without_data_or_without_samples_is_refused(
    packed_copy: Path, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=re.escape(str(tmp_path))):
        Loader(tmp_path)
    empty = replace(Manifest.load(packed_copy), shards=())
    (packed_copy / "dataset.json").write_text(empty.dump())
    with pytest.raises(ReaderError, match="no samples"):
        Loader(packed_copy)


# The same on every run


def two_epochs(packed: Path, count: int, **options: Any) -> list[str]:
    arguments: dict[str, Any] = {
        "batch_size": 7,
        "transforms": AUGMENT,
        "shuffle": True,
        "seed": 3,
        "fields": EVERYTHING,
        **options,
    }
    with Loader(packed, workers=count, **arguments) as loader:
        return [digest(loader), digest(loader)]


def test_neither_the_number_of_workers_nor_the_run_changes_anything(packed: Path) -> None:
    expected = two_epochs(packed, 1)
    assert expected[0] != expected[1]
    assert [two_epochs(packed, count) for count in (1, 2, 4)] == [expected] * 3


def test_a_seed_changes_the_order_and_the_augmentation(packed: Path) -> None:
    order: dict[str, Any] = {"fields": ["index"], "transforms": [CROP]}
    augmented: dict[str, Any] = {"fields": ["image"], "shuffle": False}
    for options in (order, augmented):
        digests = [*two_epochs(packed, 2, **options), *two_epochs(packed, 2, **options, seed=4)]
        assert len(set(digests)) == 4


def test_without_chance_every_epoch_is_the_same(packed: Path) -> None:
    first, second = two_epochs(packed, 2, transforms=[CROP], shuffle=False)
    assert first == second


def test_the_batch_size_does_not_change_a_sample(packed: Path) -> None:
    found = []
    for size in (1, 7, 39):
        with Loader(
            packed, batch_size=size, workers=2, transforms=AUGMENT, shuffle=True, fields=EVERYTHING
        ) as loader:
            images, _, numbers, _, _ = zip(*loader, strict=True)
            found.append((torch.cat(images), torch.cat(numbers)))
    assert all(torch.equal(images, found[0][0]) for images, _ in found)
    assert all(torch.equal(numbers, found[0][1]) for _, numbers in found)


def test_a_script_without_main_guard_and_close_but_with_its_own_transform_delivers_the_same(
    packed: Path, run_script: Script
) -> None:
    class Mine:
        def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
            geometry.crop(dice.integer(9), dice.integer(9), 40, 50)

    done = run_script(
        """
        import hashlib
        import sys

        import psutil
        import reader

        class Mine:
            def apply(self, geometry, dice):
                geometry.crop(dice.integer(EDGE), dice.integer(EDGE), 40, 50)

        EDGE = 9
        loader = reader.Loader(
            sys.argv[1], batch_size=7, workers=2, transforms=[Mine()], shuffle=True, seed=3
        )
        for _ in range(2):
            found = hashlib.sha256()
            for batch in loader:
                for field in batch:
                    found.update(field.numpy().tobytes())
            print(found.hexdigest())
        print(*[child.pid for child in psutil.Process().children()])
        """,
        packed,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *digests, pids = done.stdout.splitlines()
    assert digests == two_epochs(packed, 1, transforms=[Mine()], fields=["image", "label"])
    assert len(pids.split()) == 2
    assert not any(psutil.pid_exists(int(pid)) for pid in pids.split())


# Loops of every kind


def test_a_list_of_a_loader_holds_every_batch_as_it_was(packed: Path) -> None:
    with Loader(
        packed, batch_size=1, workers=2, transforms=AUGMENT, shuffle=True, fields=EVERYTHING
    ) as loader:
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
    with Loader(
        packed, batch_size=4, workers=2, transforms=[CROP], shuffle=True, fields=["index"]
    ) as loader:
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


def test_nested_loops_over_one_loader_are_epochs_of_their_own(packed: Path) -> None:
    options: dict[str, Any] = {
        "batch_size": 13,
        "workers": 2,
        "transforms": AUGMENT,
        "shuffle": True,
        "fields": EVERYTHING,
    }
    with Loader(packed, **options) as loader:
        expected = [digest(loader) for _ in range(4)]
    with Loader(packed, **options) as loader:
        outer, inner = [], []
        for batch in loader:
            outer.append(batch)
            inner.append(digest(loader))
    assert digest(outer) == expected[0]
    assert inner == expected[1:]


def test_iterators_of_one_loader_may_advance_in_any_order(packed: Path) -> None:
    with Loader(
        packed, batch_size=2, workers=2, transforms=[CROP], shuffle=True, fields=["index"]
    ) as loader:
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
    with Loader(
        packed, batch_size=10, workers=2, transforms=[CROP], shuffle=True, fields=["index"]
    ) as loader:
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
        assert [number for (index,) in kept for number in index.tolist()] == expected[2]
        loader.load_state_dict(before)
        iter(loader)
        assert [indexes(loader), indexes(loader)] == expected[:2]


def test_an_iterator_knows_how_many_steps_are_left_and_stays_at_its_end(packed: Path) -> None:
    with Loader(packed, batch_size=20, workers=1, transforms=[CROP]) as loader:
        iterator = iter(loader)
        lengths = [len(iterator)]
        for _ in iterator:
            lengths.append(len(iterator))
        assert lengths == [2, 1, 0]
        assert next(iterator, None) is next(iterator, None) is None


def test_two_loaders_run_side_by_side(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 5, "workers": 1, "transforms": AUGMENT}
    with Loader(packed, **options, seed=1) as one, Loader(packed, **options, seed=2) as other:
        pairs = list(zip(one, other, strict=True))
        one.set_epoch(0)
        other.set_epoch(0)
        assert digest(pair[0] for pair in pairs) == digest(one)
        assert digest(pair[1] for pair in pairs) == digest(other)


def test_an_epoch_may_be_iterated_in_another_thread(packed: Path) -> None:
    with Loader(
        packed, batch_size=4, workers=2, transforms=AUGMENT, shuffle=True, fields=EVERYTHING
    ) as loader:
        expected = digest(loader)
        loader.set_epoch(0)
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.append(digest(loader)))
        thread.start()
        thread.join(60)
    assert found == [expected]


def test_two_threads_may_each_iterate_an_epoch_at_once(packed: Path) -> None:
    with Loader(
        packed, batch_size=2, workers=2, transforms=[CROP], shuffle=True, fields=["index"]
    ) as loader:
        expected = sorted(indexes(loader) for _ in range(4))
        loader.set_epoch(0)
        found: list[list[int]] = []
        threads = [threading.Thread(target=lambda: found.append(indexes(loader))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(found) == expected


def test_tensors_stay_valid_after_close_and_after_the_loader_is_gone(
    packed: Path, truth: list[tuple[torch.Tensor, int, str]]
) -> None:
    loader = Loader(packed, batch_size=4, workers=1, transforms=[CROP], fields=["image", "index"])
    iterator = iter(loader)
    image, index = next(iterator)
    row = next(iterator)[0][1]  # a view of a batch that nothing else holds
    loader.close()
    del loader, iterator
    gc.collect()
    with Loader(packed, batch_size=4, workers=1, transforms=[CROP]) as other:
        list(other)
    assert torch.equal(image, torch.stack([truth[number][0] for number in index.tolist()]))
    assert torch.equal(row, truth[5][0])
    image.zero_()  # the memory is the consumer's


def test_many_epochs_leak_no_slots(packed: Path) -> None:
    with Loader(packed, batch_size=8, workers=2, transforms=[CROP], fields=["index"]) as loader:
        for _ in range(40):
            assert len(indexes(loader)) == COUNT
        statistics = loader.statistics()
    assert (statistics.batches, statistics.samples) == (200, 40 * COUNT)
    assert statistics.copied == 0


def test_many_abandoned_epochs_leak_no_slots(packed: Path) -> None:
    with Loader(packed, batch_size=2, workers=2, transforms=[CROP], fields=["index"]) as loader:
        for number in range(60):
            iterator = iter(loader)
            for _ in range(number % 7):
                next(iterator)
            del iterator
        assert indexes(loader) == list(range(COUNT))
        assert loader.statistics().copied == 0


def test_iterators_that_the_garbage_collector_drops_at_any_moment_do_no_harm(packed: Path) -> None:
    with Loader(packed, batch_size=2, workers=2, transforms=[CROP], fields=["index"]) as loader:
        thresholds = gc.get_threshold()
        try:
            for number in range(150):
                gc.disable()
                abandoned: list[Any] = [iter(loader)]
                abandoned.append(abandoned)  # a cycle, as exceptions with a traceback make them
                next(abandoned[0])
                iterator = iter(loader)
                gc.collect(0)
                del abandoned
                gc.set_threshold(1 + number)  # from here on it comes after so many allocations
                gc.enable()
                assert indexes(iterator) == list(range(COUNT))
        finally:
            gc.set_threshold(*thresholds)
            gc.enable()


# Resuming


def resumable(packed: Path, **options: Any) -> Loader:
    arguments: dict[str, Any] = {
        "batch_size": 4,
        "workers": 1,
        "transforms": AUGMENT,
        "shuffle": True,
        "seed": 5,
        "fields": EVERYTHING,
    }
    return Loader(packed, **{**arguments, **options})


def valid_rows(steps: Iterable[Sequence[Any]]) -> list[tuple[int, str]]:
    """(index, checksum of the pixels) of each row that is no padding, in order."""
    return [
        (int(index[row]), hashlib.sha256(image[row].numpy().tobytes()).hexdigest())
        for image, _, index, valid, _ in steps
        for row in np.flatnonzero(valid).tolist()
    ]


@pytest.mark.parametrize(
    ("consumed", "batch_size", "world_size", "count"),
    [(0, 7, 1, 1), (1, 4, 1, 2), (3, 1, 1, 1), (3, 3, 2, 1), (9, 7, 1, 1), (9, 5, 3, 1)],
)
def test_an_epoch_resumes_with_exactly_the_samples_not_yet_seen_in_the_same_order(
    packed: Path, consumed: int, batch_size: int, world_size: int, count: int
) -> None:
    with resumable(packed) as loader:
        whole = valid_rows(loader)
        following = valid_rows(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        for _ in range(consumed):
            next(iterator)
        state = json.loads(json.dumps(loader.state_dict()))
        del iterator
    ranks = []
    for rank in range(world_size):
        with resumable(
            packed, batch_size=batch_size, workers=count, rank=rank, world_size=world_size
        ) as loader:
            loader.load_state_dict(state)
            ranks.append((list(loader), list(loader)))
    for epoch, expected in ((0, whole[4 * consumed :]), (1, following)):
        steps = zip(*(rank[epoch] for rank in ranks), strict=True)
        assert valid_rows(batch for step in steps for batch in step) == expected


def test_the_state_of_many_ranks_resumes_on_one(packed: Path) -> None:
    with resumable(packed) as loader:
        whole = valid_rows(loader)
    states = []
    for rank in range(2):
        with resumable(packed, rank=rank, world_size=2) as loader:
            iterator = iter(loader)
            for _ in range(3):
                next(iterator)
            states.append(loader.state_dict())
    assert states[0] == states[1]
    with resumable(packed) as loader:
        loader.load_state_dict(states[0])
        assert valid_rows(loader) == whole[24:]


def test_the_state_after_an_epoch_is_the_beginning_of_the_next(packed: Path) -> None:
    with resumable(packed) as loader, resumable(packed) as other:
        for _ in loader:
            state = loader.state_dict()
        other.load_state_dict(state)
        assert digest(other) == digest(loader)
        other.load_state_dict(loader.state_dict())
        assert digest(other) == digest(loader)


def test_a_loader_may_load_its_own_state_again(packed: Path) -> None:
    with resumable(packed) as loader:
        whole = valid_rows(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        next(iterator)
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        assert valid_rows(loader) == whole[4:]


def test_any_epoch_can_be_chosen(packed: Path) -> None:
    with resumable(packed) as loader:
        expected = [digest(loader) for _ in range(4)]
        loader.set_epoch(2)
        assert [digest(loader), digest(loader)] == expected[2:]
        loader.set_epoch(1)
        assert digest(loader) == expected[1]
        iterator = iter(loader)
        next(iterator)
        loader.set_epoch(3)
        assert digest(loader) == expected[3]
        assert len(list(iterator)) == 9  # what was begun goes on
    with resumable(packed) as loader:
        loader.set_epoch(3)
        assert digest(loader) == expected[3]


# Ranks


@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_the_ranks_share_an_epoch_in_the_order_of_one(packed: Path, world_size: int) -> None:
    with resumable(packed) as loader:
        expected = valid_rows(loader)
    ranks = []
    for rank in range(world_size):
        with resumable(packed, rank=rank, world_size=world_size) as loader:
            assert (loader.rank, loader.world_size) == (rank, world_size)
            ranks.append(list(loader))
            assert len(loader) == len(ranks[-1]) == -(-COUNT // (4 * world_size))
    steps = list(zip(*ranks, strict=True))
    assert valid_rows(batch for step in steps for batch in step) == expected
    for step in steps:
        assert len({len(batch[0]) for batch in step}) == 1
    padding = sum(int((~valid).sum()) for rank in ranks for _, _, _, valid, _ in rank)
    assert padding == -COUNT % world_size
    seen = {number for rank in ranks for number in indexes(rank, 2)}
    assert seen == set(range(COUNT))  # padding repeats samples


def test_more_ranks_than_samples_pad_whole_batches(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> None:
    folder = make_dataset({f"{n}.png": encode(make_image(n), "PNG") for n in range(2)})
    valid = []
    for rank in range(3):
        with resumable(folder, rank=rank, world_size=3) as loader:
            ((image, _, _, rows, _),) = loader
            valid += rows.tolist()
            assert image.any()
    assert valid == [True, True, False]


def test_drop_last_gives_every_rank_whole_batches_of_its_own_samples(packed: Path) -> None:
    seen: list[int] = []
    for rank in range(3):
        with resumable(packed, rank=rank, world_size=3, drop_last=True) as loader:
            for _, _, index, valid, _ in loader:
                assert len(index) == 4
                assert valid.all()
                seen += index.tolist()
    assert len(set(seen)) == len(seen) == 36


# Workers that die, and errors


def test_a_map_sample_that_hangs_in_the_constructor_is_ended_by_the_timeout(packed: Path) -> None:
    let_go = threading.Event()
    options = {"map_sample": lambda sample: let_go.wait() and sample, "timeout": 0.2}
    before = random.getstate()
    try:
        with pytest.raises(WorkerError, match=r"sample 0 '.*' of .* longer than timeout=0\.2"):
            Loader(packed, transforms=[CROP], workers=1, **options)
        assert random.getstate() == before
    finally:
        let_go.set()


def test_a_timeout_leaves_what_map_sample_gives_and_raises_as_it_is(packed: Path) -> None:
    def throw(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"label": sample["label"] + random.random()}

    def fail(sample: dict[str, Any]) -> dict[str, Any]:
        raise TimeoutError("of its own")

    seen = []
    for timeout in (0, 60):
        options: dict[str, Any] = {"timeout": timeout, "transforms": [CROP], "workers": 1}
        with Loader(packed, batch_size=39, map_sample=throw, **options) as loader:
            seen.append(next(iter(loader))[1].tolist())
        with pytest.raises(RuntimeError, match="map_sample failed") as caught:
            Loader(packed, map_sample=fail, **options)
        assert isinstance(caught.value.__cause__, TimeoutError)
    assert seen[0] == seen[1]


def test_workers_that_are_killed_in_mid_epoch_change_nothing(packed: Path) -> None:
    options: dict[str, Any] = {"transforms": (slow(), *AUGMENT), "workers": 2}
    with resumable(packed, **options) as loader:
        expected = [digest(loader) for _ in range(3)]
        assert loader.statistics().restarts == 0
    with resumable(packed, **options) as loader:
        for number in range(3):
            found = []
            for step, batch in enumerate(loader):
                found.append(batch)
                if step % 3 == number:
                    workers()[step % 2].kill()
            assert digest(found) == expected[number]
        assert loader.statistics().restarts > 3


def test_all_workers_killed_at_once_are_replaced(packed: Path) -> None:
    with resumable(packed, workers=3, transforms=(slow(), *AUGMENT)) as loader:
        expected = digest(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        found = [next(iterator)]
        for worker in workers():
            worker.kill()
        found += iterator
        assert digest(found) == expected
        assert len(workers()) == 3


def test_workers_killed_before_they_are_ready_are_replaced(packed: Path) -> None:
    with resumable(packed, workers=2) as loader:
        for worker in workers():
            worker.kill()
        assert len(list(loader)) == 10
        assert loader.statistics().restarts >= 2


def test_a_worker_killed_between_two_epochs_is_replaced(packed: Path) -> None:
    with resumable(packed, workers=2) as loader:
        expected = [digest(loader) for _ in range(4)]
    with resumable(packed, workers=2) as loader:
        assert digest(loader) == expected[0]
        time.sleep(0.3)  # idle by now, or not: neither must matter
        workers()[0].kill()
        assert [digest(loader) for _ in range(3)] == expected[1:]
        assert loader.statistics().restarts == 1


def test_a_worker_killed_after_hours_is_replaced(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic
    with resumable(packed, workers=2, transforms=(slow(), *AUGMENT)) as loader:
        next(iter(loader))
        monkeypatch.setattr(time, "monotonic", lambda: now() + 7200)
        for worker in workers():
            worker.kill()
        assert len(list(loader)) == 10
        assert len(list(loader)) == 10


def test_a_sample_that_kills_every_worker_is_named_and_closes_the_loader(packed: Path) -> None:
    dataset = Dataset(packed)
    deadly = next(number for number in range(10, COUNT) if dataset[number][0].shape[0] == 78)

    def die(geometry: Geometry) -> None:
        if geometry.height == 78:
            os.kill(os.getpid(), signal.SIGKILL)

    with Loader(packed, workers=1, transforms=[in_a_worker(die), CROP], fields=["index"]) as loader:
        loader.load_state_dict({**loader.state_dict(), "position": deadly})
        with pytest.raises(WorkerError, match=rf"SIGKILL.* sample {deadly} '.*' of .*\.tar"):
            list(loader)
        with pytest.raises(ReaderError, match="closed"):
            next(iter(loader))


def test_a_random_worker_killed_every_tenth_of_a_second_changes_nothing(packed: Path) -> None:
    options: dict[str, Any] = {"transforms": (slow(0.01), *AUGMENT), "workers": 2}
    with resumable(packed, **options) as loader:
        expected = digest(loader)
    rng = random.Random(0)
    with resumable(packed, **options) as loader:
        iterator = iter(loader)
        found = [next(iterator)]
        is_over = threading.Event()

        def kill() -> None:
            for _ in range(15):  # a machine under load needs longer than this to start one
                if not is_over.wait(0.1) and (alive := workers()):
                    rng.choice(alive).kill()

        killer = threading.Thread(target=kill)
        killer.start()
        found += iterator
        is_over.set()
        killer.join()
        assert digest(found) == expected
        assert loader.statistics().restarts > 0


def test_an_interpreter_that_does_not_start_is_told_with_what_it_says(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'libpython is gone' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 10 * now())
    with (
        Loader(packed, workers=2) as loader,
        pytest.raises(WorkerError, match=r"exit status 3.*\n.*libpython is gone"),
    ):
        list(loader)


def test_an_interpreter_that_is_not_there_is_told_and_leaves_nothing_behind(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(WorkerError, match=re.escape(str(tmp_path / "python"))):
        Loader(packed, workers=2)


def test_workers_that_cannot_be_set_up_close_the_loader(packed: Path) -> None:
    class Unloadable(CenterCrop):
        def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
            def load() -> None:
                raise RuntimeError("it is not here")

            return load, ()

    with Loader(packed, workers=2, transforms=[Unloadable(8)]) as loader:
        with pytest.raises(WorkerError, match="it is not here"):
            list(loader)
        with pytest.raises(ReaderError, match="closed"):
            iter(loader)


def test_a_transform_that_cannot_be_sent_leaves_nothing_behind(packed: Path) -> None:
    class Locked(CenterCrop):
        def __init__(self) -> None:
            super().__init__(8)
            object.__setattr__(self, "lock", threading.Lock())

    with pytest.raises(TypeError, match="pickle"):
        Loader(packed, workers=2, transforms=[Locked()])


def test_an_exception_in_a_transform_comes_with_its_traceback_and_the_loader_goes_on(
    packed: Path, truth: list[tuple[torch.Tensor, int, str]]
) -> None:
    def refuse(geometry: Geometry) -> None:
        if geometry.height == 78:
            raise ZeroDivisionError("no image of 78 rows")

    dataset = Dataset(packed)
    expected = {number for number in range(COUNT) if dataset[number][0].shape[0] != 78}
    assert 0 < len(expected) < COUNT
    with Loader(
        packed, workers=2, transforms=[in_a_worker(refuse), CROP], fields=["image", "index"]
    ) as loader:
        for _ in range(2):
            iterator, seen = iter(loader), []
            for _ in range(COUNT):
                try:
                    image, index = next(iterator)
                except WorkerError as error:
                    text = str(error)
                    continue
                seen.append(int(index))
                assert torch.equal(image[0], truth[seen[-1]][0])
            assert next(iterator, None) is None
            assert set(seen) == expected
            assert len(seen) == len(expected)
            assert "Traceback" in text
            assert "in refuse" in text
            assert "ZeroDivisionError: no image of 78 rows" in text


def test_a_transform_that_gives_an_unforeseen_size_is_an_error(packed: Path) -> None:
    def grow(geometry: Geometry) -> None:
        geometry.resize(500, 500)

    with (
        Loader(packed, workers=1, transforms=[CROP, in_a_worker(grow)]) as loader,
        pytest.raises(WorkerError, match="500 x 500"),
    ):
        list(loader)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_damaged_sample_is_named_and_all_other_batches_come(
    packed_copy: Path, batch_size: int
) -> None:
    dataset = Dataset(packed_copy)
    shard, row = dataset.locate(17)
    offset = int(shard.index.columns["offset"][row])
    with shard.path.open("r+b") as file:
        file.seek(offset)
        file.write(bytes(255 - byte for byte in dataset.read(17, "jpg")))
    with Loader(
        packed_copy, batch_size=batch_size, workers=2, transforms=[CROP], fields=["index", "image"]
    ) as loader:
        for _ in range(2):
            iterator, seen, errors = iter(loader), [], []
            for _ in range(len(loader)):
                try:
                    seen += next(iterator)[0].tolist()
                except SampleError as error:
                    errors.append(str(error))
            assert len(errors) == 1
            for part in (str(shard.path), repr(loader.dataset.keys[17]), str(offset)):
                assert part in errors[0]
            first = 17 - 17 % batch_size
            assert seen == [n for n in range(COUNT) if n not in range(first, first + batch_size)]


def test_a_shard_that_is_cut_short_exchanged_or_lost_is_an_error(packed_copy: Path) -> None:
    first, second = sorted(packed_copy.glob("*.tar"))[:2]
    whole = first.read_bytes()
    for damage in (
        lambda: first.write_bytes(whole[:-512]),
        lambda: first.write_bytes(second.read_bytes()),
        lambda: first.unlink(),
    ):
        damage()
        with (
            Loader(packed_copy, batch_size=39, workers=1, transforms=[CROP]) as loader,
            pytest.raises(ReaderError, match=re.escape(str(first))),
        ):
            list(loader)


def test_a_shard_that_is_cut_short_while_it_is_read_is_an_error(packed_copy: Path) -> None:
    with Loader(packed_copy, workers=1, transforms=[CROP]) as loader:
        list(loader)  # the worker has opened every shard
        list(loader)
        for path in packed_copy.glob("*.tar"):
            os.truncate(path, 1024)
        with pytest.raises(SampleError, match="cut short"):
            list(loader) + list(loader)


def test_workers_do_not_import_torch(packed: Path) -> None:
    def look(geometry: Geometry) -> None:
        if "torch" in sys.modules:
            raise AssertionError("torch is imported")

    with Loader(packed, batch_size=8, workers=2, transforms=[in_a_worker(look), CROP]) as loader:
        assert len(list(loader)) == 5


def test_modules_in_the_working_directory_do_not_disturb_the_workers(
    packed: Path, tmp_path: Path, run_script: Script
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("reader", "pickle", "numpy"):
        (elsewhere / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    done = run_script(
        """
        import sys
        import reader

        with reader.Loader(sys.argv[1], workers=1) as loader:
            print(len(list(loader)))
        """,
        packed,
        cwd=elsewhere,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "39", "")


# What is left


def test_a_closed_loader_says_so_and_may_be_closed_again(packed: Path) -> None:
    loader = Loader(packed, batch_size=4, workers=2, transforms=[CROP])
    iterator = iter(loader)
    next(iterator)
    assert len(workers()) == 2
    loader.close()
    assert workers() == []
    loader.close()
    for use in (
        lambda: next(iterator),
        lambda: iter(loader),
        lambda: loader.set_epoch(3),
        lambda: loader.load_state_dict(loader.state_dict()),
    ):
        with pytest.raises(ReaderError, match="closed"):
            use()
    assert loader.statistics().batches == 1


def test_a_loader_that_is_forgotten_ends_its_workers(packed: Path) -> None:
    loader = Loader(packed, batch_size=4, workers=2, transforms=[CROP])
    iterator = iter(loader)
    batch = next(iterator)
    assert len(workers()) == 2
    del loader, iterator
    gc.collect()
    assert workers() == []
    assert batch[0].any()


def test_an_exception_in_the_loop_ends_the_workers(packed: Path) -> None:
    def train() -> None:
        with Loader(packed, batch_size=4, workers=2, transforms=[CROP]) as loader:
            for _ in loader:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train()
    assert workers() == []


def test_a_constructor_that_fails_leaves_no_workers(packed: Path) -> None:
    class Broken:
        def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Loader(packed, workers=2, transforms=[Broken()])
    assert workers() == []


def test_the_batches_lie_in_memory_without_a_name(packed: Path) -> None:
    with Loader(packed, batch_size=4, workers=2, transforms=[CROP]) as loader:
        next(iter(loader))
        for process in workers():
            mapped = ""
            while "memfd:shardfeed" not in mapped:  # a worker may still be starting
                mapped = Path(f"/proc/{process.pid}/maps").read_text()
            assert "/dev/shm" not in mapped


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # dead; its new parent has not asked yet
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("state", ["idle", "busy", "forked"])
def test_a_parent_that_is_killed_leaves_no_workers(packed: Path, state: str) -> None:
    code = """
import os, sys, time
import reader

class Slow:
    def apply(self, geometry, dice):
        time.sleep(0.05)

loader = reader.Loader(
    sys.argv[1], batch_size=2, workers=3, transforms=[Slow()] if sys.argv[2] == "busy" else []
)
batches = iter(loader)
next(batches)
if sys.argv[2] == "forked" and os.fork() == 0:  # as torch's DataLoader does
    time.sleep(100)
print("ready", flush=True)
while True:
    next(batches, None)
    time.sleep(0.01)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(packed), state],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        children = psutil.Process(parent.pid).children()
        forked = [child for child in children if child.cmdline()[1:] == parent.args[1:]]
        left = [child for child in children if child not in forked]
        assert (len(left), len(forked)) == (3, state == "forked")
        parent.kill()
    deadline = time.monotonic() + 2
    while not all(map(is_gone, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    remaining = [process for process in left if not is_gone(process)]
    for process in (*forked, *remaining):
        process.kill()
    assert remaining == []


def test_an_interrupt_from_the_keyboard_leaves_the_loader_usable(
    packed: Path, run_script: Script
) -> None:
    done = run_script(
        """
        import os
        import signal
        import sys
        import threading
        import time

        import reader

        class Slow:
            def apply(self, geometry, dice):
                time.sleep(0.02)

        loader = reader.Loader(
            sys.argv[1], batch_size=3, workers=2, transforms=[Slow()], fields=["index"]
        )
        for _ in range(2):
            try:
                for number, _ in enumerate(loader):
                    if number == 2:  # Ctrl-C reaches the whole process group
                        threading.Timer(0.05, os.killpg, (0, signal.SIGINT)).start()
            except KeyboardInterrupt:
                print("interrupted")
        print(sum(len(index) for (index,) in loader))
        """,
        packed,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["interrupted", "interrupted", "39"]


def test_a_forked_child_that_ends_leaves_the_parents_workers_alone(
    packed: Path, run_script: Script
) -> None:
    done = run_script(
        """
        import os
        import sys

        import reader

        loader = reader.Loader(sys.argv[1], batch_size=3, workers=2, fields=["index"])
        batches = iter(loader)
        next(batches)
        child = os.fork()
        if child == 0:
            for use in (lambda: next(batches), lambda: iter(loader), lambda: loader.set_epoch(3)):
                try:
                    use()
                except reader.ReaderError as error:
                    assert "forked" in str(error)
                else:
                    sys.exit(8)
            loader.close()
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print(1 + len(list(batches)), len(list(loader)), loader.statistics().restarts)
        """,
        packed,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["13", "13", "0"]


def test_the_statistics_count_what_was_delivered(packed: Path) -> None:
    with Loader(packed, batch_size=8, workers=2, transforms=[slow(), CROP]) as loader:
        assert loader.statistics().batches == 0
        iterator = iter(loader)
        next(iterator)
        next(iterator)
        statistics = loader.statistics()
    assert (statistics.batches, statistics.samples, statistics.workers) == (2, 16, 2)
    assert 0 <= statistics.waited <= statistics.elapsed
    assert statistics.busy > 0
    assert statistics.slot_bytes >= 8 * 48 * 64 * 3
