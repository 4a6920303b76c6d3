"""Samples that cannot be read, under each policy."""

from collections import deque
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, Write, damage, only
from made_images import encode, make_image, npy

from reader import Boxes, CenterCrop, Dataset, Loader, Points, Polygons, SampleError
from reader.order.shuffle import GlobalShuffle

BAD = [4, 17, 18, 38]


@pytest.fixture
def damaged(packed_copy: Path) -> Path:
    """A dataset in which the samples `BAD` do not decode."""
    for number in BAD:
        damage(packed_copy, number)
    return packed_copy


def load(folder: Path | Dataset, **options: Any) -> Loader:
    fields = ("image", "label", "index", "valid")
    arguments = {"batch_size": 8, "workers": 0, "transforms": [CenterCrop(16)], "fields": fields}
    return Loader(folder, **{**arguments, **options})


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        (range(COUNT), [{4: 5, 17: 19, 18: 19, 38: 0}.get(n, n) for n in range(COUNT)]),
        ([20, 4, 7, 17, 18, 3], [0, 2, 2, 5, 5, 5]),  # in the subset's own order
    ],
)
def test_substitutes_are_the_next_samples_that_can_be_read(
    damaged: Path, subset: Any, expected: list[int]
) -> None:
    dataset = Dataset(damaged, subset=subset)
    with load(dataset, on_error="substitute", max_bad=0.5) as loader:
        rows = [row for _, *batch in loader for row in zip(*batch, strict=True)]
        assert sorted(loader.bad_samples) == [n for n, own in enumerate(subset) if own in BAD]
    assert [int(index) for _, index, _ in rows] == expected
    assert [int(label) for label, _, _ in rows] == dataset.labels[expected].tolist()
    assert all(valid for _, _, valid in rows)


def test_where_all_that_follow_are_bad_too_a_substitute_is_masked(packed_copy: Path) -> None:
    for number in range(20):
        damage(packed_copy, number)
    options: dict[str, Any] = {"on_error": "substitute", "max_bad": 0.9, "batch_size": 1}
    with load(Dataset(packed_copy, subset=range(22)), **options) as loader:
        rows = [(int(index), bool(valid)) for _, _, index, valid in loader]
    assert rows == [*((n, False) for n in range(4)), *[(20, True)] * 17, (21, True)]


@pytest.mark.parametrize(
    "options", [{"epochs": None}, {"batch_size": 1}, {"batch_size": 2, "drop_last": True}], ids=str
)
def test_a_set_of_bad_samples_alone_is_an_error_where_they_are_to_be_substituted(
    damaged: Path, options: dict[str, Any]
) -> None:
    arguments = {"on_error": "substitute", "max_bad": 1, **options}
    reason = "None of 3 samples can be read, .* Restore the dataset. The first error: .*image"
    dataset = Dataset(damaged, subset=[4, 17, 38])
    with load(dataset, **arguments) as loader, pytest.raises(SampleError, match=reason):
        deque(chain(loader, loader, loader), maxlen=0)


RANKS = 3


@pytest.fixture(scope="module")
def one_in_twenty_damaged(make_dataset: Callable[..., Path]) -> tuple[Path, list[int]]:
    """400 small images, and the 20 of them that do not decode."""
    images = [encode(make_image(seed, 16, 16), "PNG") for seed in range(8)]
    folder = make_dataset({f"{n:03d}.png": images[n % 8] for n in range(400)}, shard_samples=64)
    bad = np.random.default_rng(1).choice(400, 20, replace=False)
    for number in bad.tolist():
        damage(folder, number)
    return folder, sorted(bad.tolist())


@pytest.mark.parametrize("policy", ["raise", "mask", "substitute"])
def test_ranks_stay_in_step_and_report_all_of_5_percent_bad_samples(
    one_in_twenty_damaged: tuple[Path, list[int]], policy: str
) -> None:
    folder, bad = one_in_twenty_damaged
    order = GlobalShuffle(400, seed=9).samples(np.arange(400), epoch=0).tolist()
    reported: dict[int, str] = {}
    delivered: dict[int, int] = {}  # sample by position in the order
    failed, shapes = 0, []
    for rank in range(RANKS):
        with load(
            folder, on_error=policy, max_bad=0.06, batch_size=7, shuffle=True, seed=9,
            rank=rank, world_size=RANKS,
        ) as loader:  # fmt: skip
            batches, shape = iter(loader), []
            for step in range(len(loader)):
                try:
                    image, label, index, valid = next(batches)
                except SampleError:
                    failed += 1
                    shape.append((0,))
                    continue
                assert len(image) == len(label) == len(index) == len(valid)
                shape.append(tuple(image.shape))
                begin = step * 7 * RANKS + rank * len(image)
                for row in np.flatnonzero(valid).tolist():
                    delivered[begin + row] = int(index[row])
            assert next(batches, None) is None
            shapes.append(shape)
            reported |= loader.bad_samples
            assert loader.statistics().bad == len(loader.bad_samples)
    places = [place for place, sample in enumerate(order) if sample in bad]
    sound = {place: sample for place, sample in enumerate(order) if sample not in bad}
    if policy == "raise":
        assert failed == len({(place // 21, place % 21 // 7) for place in places if place < 399})
        assert delivered.items() < sound.items()
        return
    assert failed == 0
    assert shapes == [[(7, 3, 16, 16)] * 19 + [(1, 3, 16, 16)]] * RANKS
    assert sorted(reported) == bad
    keys = Dataset(folder).keys
    assert all(repr(keys[number]) in reason for number, reason in reported.items())
    if policy == "mask":
        assert delivered == sound
    else:
        following = {
            place: next(s for s in order[place:] + order if s not in bad) for place in places
        }
        assert delivered == sound | following


@pytest.mark.parametrize(
    ("bad", "count", "options", "reason"),
    [
        (BAD, COUNT, {"max_bad": 0.05}, r"max_bad=0\.05 allows 2 of 39"),
        ([4], COUNT, {}, ""),  # one is within any share
        ([4], COUNT, {"max_bad": 0}, "give a larger max_bad"),
        # 0.28 * 25 is 7.000000000000001 in floating point
        ([*BAD[:3], 0, 1, 2, 3, 5], 25, {"max_bad": 0.28}, r"allows 7 of 25"),
    ],
)
def test_more_bad_samples_than_allowed_are_an_error(
    packed_copy: Path, bad: list[int], count: int, options: dict[str, Any], reason: str
) -> None:
    for number in bad:
        damage(packed_copy, number)
    with load(Dataset(packed_copy, subset=range(count)), on_error="mask", **options) as loader:
        if not reason:
            assert sum(len(batch[0]) for batch in loader) == count
            assert list(loader.bad_samples) == bad
            return
        with pytest.raises(SampleError, match=reason):
            list(loader)


# What there is of a bad sample, in fields of each kind

KINDS = ("image", "mask.png", Boxes("json"), Points("json"), Polygons("json"), "label", "json")
KINDS += ("json.n", "txt", "npy", "name", "size", "valid")


@pytest.mark.parametrize("bad", [0, 1])  # the shapes are learnt from the first that can be read
@pytest.mark.parametrize("member", ["png", "mask.png", "json", "npy"])
@pytest.mark.parametrize("sizes", [[(9, 16), (9, 16)], [(9, 16), (20, 12)]], ids=["one", "many"])
def test_of_a_bad_sample_there_is_nothing_in_any_field_or_all_of_another(
    write_samples: Write, bad: int, member: str, sizes: list[tuple[int, int]]
) -> None:
    content = b'{"boxes": [[1, 2, 5, 6]], "keypoints": [], "segmentation": [], "n": 7}'
    samples = {}
    for number, size in enumerate(sizes):
        image, mask = make_image(number, *size), make_image(5 + number, *size, "L")
        members = {"png": encode(image, "PNG"), "mask.png": encode(mask, "PNG"), "json": content}
        samples[f"s{number}"] = {**members, "txt": b"a", "npy": npy(np.ones(2))}
    sound = only(write_samples(samples, labels=[1, 1]), batch_size=2, fields=KINDS)
    if member != "png":
        samples[f"s{bad}"][member] = b"damaged"
    dataset = write_samples(samples, labels=[1, 1])
    if member == "png":
        damage(dataset, bad)
    options: dict[str, Any] = {"batch_size": 2, "max_bad": 1.0}
    masked = only(dataset, fields=KINDS, on_error="mask", **options)
    substituted = only(dataset, fields=KINDS, on_error="substitute", **options)
    for found, expected, other in zip(masked, sound, substituted, strict=True):
        assert_same(found[1 - bad], expected[1 - bad])
        assert_same(other[bad], expected[1 - bad])
    image, mask, boxes, points, polygons, label, *others = (column[bad] for column in masked)
    assert image.shape[0] == 3
    assert not image.any()
    assert not mask.any()
    assert (boxes, points, polygons, label) == (None, None, None, -1)
    content, number, text, array, name, size, valid = others
    assert (content, number, text, array.tolist(), name) == (None, 0, None, [0, 0], f"s{bad}")
    assert (size.tolist(), valid) == ([0, 0], False)
    crop: dict[str, Any] = {"transforms": [CenterCrop(8)], "views": 3}
    fields = (*KINDS[:3], "npy")
    images, masks, boxes, _ = only(dataset, fields=fields, on_error="mask", **crop, **options)
    for image, mask, found in zip(images, masks, boxes, strict=True):
        assert [part[bad].any().item() for part in (image, mask)] == [False, False]
        assert [part[1 - bad].any().item() for part in (image, mask)] == [True, True]
        assert [one is None for one in found] == [number == bad for number in range(2)]


def assert_same(one: Any, other: Any) -> None:
    assert torch.equal(one, other) if isinstance(one, torch.Tensor) else str(one) == str(other)


# Samples that `map_sample` drops by returning None

Row = tuple[int, int, bool]


def keep_even(sample: dict[str, Any]) -> dict[str, Any] | None:
    return sample if sample["index"] % 2 == 0 else None


def filtering(folder: Path | Dataset, **options: Any) -> Loader:
    return load(folder, **{"map_sample": keep_even, **options})


def rows(loader: Any) -> list[Row]:
    batches = [[part.tolist() for part in batch[1:]] for batch in loader]
    return [row for batch in batches for row in zip(*batch, strict=True)]


@pytest.mark.parametrize("workers", [0, 2])
def test_dropped_samples_are_masked_and_counted_apart_from_bad_ones(
    packed: Path, workers: int
) -> None:
    with filtering(packed, on_error="mask", max_bad=0, workers=workers) as loader:
        found = rows(loader)
        assert [(index, valid) for _, index, valid in found] == [
            (number, number % 2 == 0) for number in range(COUNT)
        ]
        assert all(label == -1 for label, index, _ in found if index % 2)
        statistics = loader.statistics()
        assert (statistics.filtered, statistics.bad, loader.bad_samples) == (19, 0, {})
        assert "samples that map_sample dropped: 19" in str(statistics)


def test_the_next_sample_takes_the_place_of_a_dropped_one(packed: Path) -> None:
    with filtering(packed, on_error="substitute", max_bad=0) as loader:
        found = rows(loader)
    assert [index for _, index, _ in found] == [
        number if number % 2 == 0 else (number + 1) % COUNT for number in range(COUNT)
    ]
    assert all(valid for *_, valid in found)


@pytest.mark.parametrize("policy", ["mask", "substitute"])
def test_a_resumed_epoch_is_that_of_one_run_whatever_the_workers(packed: Path, policy: str) -> None:
    options = {"on_error": policy, "shuffle": True, "seed": 3, "batch_size": 5}
    with filtering(packed, **options) as loader:
        whole = rows(loader)
    with filtering(packed, **options, workers=2) as loader:
        batches = iter(loader)
        begun = rows([next(batches), next(batches)])
        state = loader.state_dict()
    with filtering(packed, **options) as loader:
        loader.load_state_dict(state)
        assert begun + rows(loader) == whole


def test_none_is_an_error_that_names_the_sample_where_nothing_may_be_dropped(packed: Path) -> None:
    reason = "map_sample returned None for the sample '.*'. .* on_error=\"substitute\""
    with filtering(packed) as loader, pytest.raises(SampleError, match=reason):
        rows(loader)
    with pytest.raises(SampleError, match=reason):
        filtering(packed, map_sample=lambda sample: None)


def test_dropped_and_bad_samples_come_together(packed_copy: Path) -> None:
    for number in (4, 5):
        damage(packed_copy, number)
    with filtering(packed_copy, on_error="mask", max_bad=0.1) as loader:
        assert [index for _, index, valid in rows(loader) if valid] == [
            number for number in range(0, COUNT, 2) if number != 4
        ]
        assert sorted(loader.bad_samples) == [4, 5]
        assert loader.statistics().filtered == 18


def test_a_dataset_of_which_all_is_dropped_ends_in_an_error(packed: Path) -> None:
    odd = Dataset(packed, subset=[1, 3, 5])
    kept = {"map_sample": lambda s: s if s["name"].startswith("kept") else None}
    kept |= {"fields": ("label", "name", "valid")}
    with pytest.raises(SampleError, match="map_sample returned None"):
        filtering(odd, on_error="substitute", **kept)
    with (
        filtering(odd, on_error="substitute", **kept, collate_fn=list, batch_size=1) as loader,
        pytest.raises(SampleError, match="map_sample returned None for all of 3 samples"),
    ):
        deque(chain(loader, loader, loader), maxlen=0)
