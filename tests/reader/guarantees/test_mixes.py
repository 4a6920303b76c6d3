"""A Mix goes into a Loader as any dataset does, each of its datasets as often as it says."""

import json
import pickle
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import Write, digest, indexes, load
from made_images import encode
from PIL import Image
from store_server import serving
from torch.utils.data import ConcatDataset, Subset

from reader import (
    ArgumentError,
    BlockShuffle,
    Boxes,
    ClassBalanced,
    CUDAPrefetcher,
    Dataset,
    Member,
    Mix,
)
from reader.format import BoxEncoding, Manifest


@pytest.fixture
def mix(packed: Path, others: Path) -> Mix:
    """An epoch of 24 samples of one dataset and 8 of the other."""
    return Mix({"a": (Dataset(packed), 24), "b": (Dataset(others), 8)}, by="choose")


@pytest.mark.parametrize("shuffle", [True, BlockShuffle(2, streams=2)], ids=str)
def test_every_epoch_has_what_the_mix_says_and_all_samples_come_equally_often(
    mix: Mix, shuffle: Any
) -> None:
    with load(mix, shuffle=shuffle, fields=("index", "source")) as loader:
        assert len(loader) == 8
        found: Counter[int] = Counter()
        for _ in range(13 * 7):  # 24 of 39 take 13 epochs to be whole passes, 8 of 7 take 7
            batches = list(loader)
            sources = [source.tolist() for _, source in batches]
            assert sorted(chain(*sources)) == [0] * 24 + [1] * 8
            assert all(sum(batch) <= 2 for batch in sources)
            found.update(indexes(batches))
    assert [found[number] for number in range(46)] == [56] * 39 + [104] * 7


def test_classes_of_both_come_alike_where_they_are_balanced(packed: Path, others: Path) -> None:
    mix = Mix([Dataset(packed), Dataset(others)])
    with load(mix, sampler=ClassBalanced(), fields=("label",), epochs=20) as loader:
        shares = np.bincount([label for (labels,) in loader for label in labels.tolist()])
        assert (np.abs(shares / shares.sum() - 0.25) < 0.06).all()


def test_the_same_dataset_may_come_twice_by_different_subsets(packed: Path) -> None:
    whole = Dataset(packed)
    mix = Mix([(whole.subset([30, 5]), 2), (whole.subset([7, 30, 9]), 4)], by="repeat")
    for shuffle in (False, True, BlockShuffle(2)):
        with load(mix, shuffle=shuffle, fields=("key",)) as loader:
            found = Counter(key for (keys,) in loader for key in keys)
        times = {30: 6, 5: 2, 7: 4, 9: 4}
        assert found == {whole.keys[number]: count for number, count in times.items()}
    with load(mix, batch_size=16) as loader:
        assert [n for n in indexes(loader) if n < 2] == [0, 1, 0, 1]  # in the subset's own order


def test_a_loader_takes_torchs_sums_of_datasets(packed: Path, others: Path) -> None:
    one, other = Dataset(packed), Dataset(others)
    both: Any = ConcatDataset([one, Subset(one, [3, 1])])  # type: ignore[list-item, arg-type]
    with load(both, fields=("key",)) as loader:
        assert [*loader][-1][0] == [one.keys[38], one.keys[3], one.keys[1]][-1:]
    with load(Subset(both, [40, 0])) as loader:
        assert isinstance(loader.dataset, Mix)
        assert loader.dataset.keys[:] == [one.keys[1], one.keys[0]]
    with load(one + one.subset([4])) as loader:
        assert len(indexes(loader)) == 40
    with pytest.raises(ArgumentError, match=r"different classes.*reader.Mix\(datasets\)"):
        load(one + other)


def test_drawn_with_replacement_it_has_its_shares_on_average(packed: Path, others: Path) -> None:
    parts = [(Dataset(packed), 0.25), (Dataset(others), 0.75)]
    with load(Mix(parts, replacement=True), fields=("source", "index"), epochs=100) as loader:
        assert len(loader) == 46 * 100 // 4
        drawn = [(source, index) for batch in loader for source, index in zip(*batch, strict=True)]
    sources, found = zip(*drawn, strict=True)
    assert abs(np.mean(sources) - 0.75) < 0.03
    assert set(map(int, found)) == set(range(46))
    first = found[:46]
    assert len(set(map(int, first))) < 46


@pytest.fixture
def detection(write_samples: Write) -> Callable[..., Dataset]:
    """`detection("cat", "dog")`: a sample with a box of each of these classes."""

    def make(*classes: str, text: bytes | None = None, **changes: Any) -> Dataset:
        numbers = list(range(len(classes)))
        found = {"boxes": [[n, n, 29, 29] for n in numbers]}
        content = json.dumps(found | dict.fromkeys(("categories", "ids"), numbers)).encode()
        members = {"png": encode(Image.new("RGB", (40, 40)), "PNG"), "json": content}
        folder = write_samples({"one": members | ({"txt": text} if text else {})}, labels=[0])
        given: dict[str, Any] = {"format": "xywh", "labels": "categories", **changes}
        boxes = {"json": BoxEncoding(**given)}
        manifest = replace(Manifest.load(folder), classes=classes, boxes=boxes)
        (folder / "dataset.json").write_text(manifest.dump())
        return Dataset(folder)

    return make


def test_a_member_that_a_dataset_lacks_is_asked_for_with_a_mark(
    detection: Callable[..., Dataset], write_samples: Write
) -> None:
    mix = Mix([detection("cat", text=b"a cat"), detection("dog")])
    for given in ("txt", Member("txt", decode=len)):
        with pytest.raises(ArgumentError, match=r'samples1, .* no members \.txt: write "txt\?"'):
            load(mix, fields=(given,))
    with load(mix, fields=("txt?", "source")) as loader:
        [(texts, sources)] = loader
    assert (texts, sources.tolist()) == (["a cat", None], [0, 1])
    mix = Mix(
        [detection("cat"), Dataset(write_samples({"b": {"png": mix.parts[1].read(0, "png")}}))]
    )
    with pytest.raises(ArgumentError, match=r'no members \.json: write "json\.boxes\?" among'):
        load(mix, fields=("json.boxes",))
    with load(mix, fields=("json.boxes?",)) as loader:
        [(boxes,)] = loader
    assert boxes == [[[0, 0, 29, 29]], None]


@pytest.mark.parametrize(("classes", "labels"), [("join", [0, 1, 2, 1]), ("apart", [0, 1, 2, 3])])
def test_labels_of_boxes_are_those_of_the_mix(
    detection: Callable[..., Dataset], classes: Any, labels: list[int]
) -> None:
    mix = Mix([detection("cat", "dog"), detection("emu", "dog")], classes=classes)
    with load(mix, fields=("label", Boxes("json"))) as loader:
        [(own, boxes)] = loader
    assert own.tolist() == [0, labels[2]]
    assert [label for one in boxes for label in one["labels"].tolist()] == labels
    ids = Boxes("json", labels="ids")  # which are no classes
    with load(mix, fields=(ids,)) as loader:
        [(boxes,)] = loader
    assert [one["labels"].tolist() for one in boxes] == [[0, 1], [0, 1]]


def test_boxes_that_are_held_differently_are_refused(detection: Callable[..., Dataset]) -> None:
    mix = Mix([detection("cat"), detection("cat", normalized=True)])
    with pytest.raises(ArgumentError, match=r"holds boxes as BoxEncoding.*pack both alike"):
        load(mix, fields=(Boxes("json"),))
    with load(mix, fields=("json",)) as loader:
        assert len([*loader]) == 1


def test_boxes_that_are_held_differently_come_in_the_format_that_is_asked_for(
    detection: Callable[..., Dataset],
) -> None:
    parts = [detection("cat"), detection("dog", format="xyxy"), detection("cat", normalized=True)]
    for out, expected in (
        ("xyxy", [[0, 0, 29, 29], [0, 0, 29, 29]]),
        ("xywh", [[0, 0, 29, 29], [0, 0, 29, 29]]),
        ("cxcywh", [[14.5, 14.5, 29, 29], [14.5, 14.5, 29, 29]]),
    ):
        boxes = Boxes("json", out=out)
        with load(Mix(parts[:2]), fields=(boxes,), transforms=[]) as loader:
            [(found,)] = loader
        assert [one["boxes"][0].tolist() for one in found] == expected
        assert [one["labels"].tolist() for one in found] == [[0], [1]]  # of the mix
    two = [detection("cat", "ant"), detection("dog", "ant", format="xyxy")]
    given: dict[str, Any] = {"fields": (Boxes("json", out="xyxy"),), "transforms": []}
    with load(Mix(two), workers=1, **given) as loader:
        [(found,)] = loader
    assert [one["boxes"][1].tolist() for one in found] == [[1, 1, 30, 30], [1, 1, 29, 29]]
    for others in ([parts[0], detection("cat", labels=None)], [parts[0], Mix(parts[1:2])]):
        with pytest.raises(ArgumentError, match=r"pack both alike"):
            load(Mix(others), fields=(Boxes("json", out="xyxy"),))
    with pytest.raises(ArgumentError, match=r"format='xyxy' contradicts dataset.json"):
        load(Mix(parts[:2]), fields=(Boxes("json", format="xyxy", out="xyxy"),))


def test_raw_images_are_gathered_across_datasets(write_samples: Write) -> None:
    def raw(count: int) -> Dataset:
        images = {f"s{n}": {"raw": bytes([count * n]) * 8 * 8 * 3} for n in range(count)}
        return Dataset(write_samples(images, 4, labels=range(count), raw=(8, 8, 3)))

    mix = Mix([(raw(9), 1), (raw(5), 1)], classes="apart")
    options = {"transforms": [], "fields": ("image", "label", "index", "source"), "batch_size": 14}
    with load(mix, shuffle=True, **options) as loader:
        [(images, labels, index, sources)] = loader
    assert Counter(sources.tolist()) == {0: 7, 1: 7}
    assert labels.tolist() == [mix.targets[number] for number in index.tolist()]
    assert images[:, 0, 0, 0].tolist() == [mix[number][0][0, 0, 0] for number in index.tolist()]


def test_map_sample_and_collate_fn_see_the_source(mix: Mix) -> None:
    def check(sample: dict[str, Any]) -> dict[str, Any]:
        assert sample["source"] == (sample["index"] >= 39)
        return sample

    fields = ("image", "index", "source")
    with load(mix, map_sample=check, collate_fn=list, fields=fields) as loader:
        assert all(row[2] == (row[1] >= 39) for batch in loader for row in batch)


@pytest.mark.usefixtures("shared_memory_alone")
def test_caches_change_nothing(mix: Mix, packed: Path, others: Path) -> None:
    options: dict[str, Any] = {"shuffle": True, "fields": ("image", "label", "source")}
    with load(mix, **options) as loader:
        expected = [digest(loader) for _ in range(2)]
    with load(mix, cache="decoded", **options) as loader:
        assert [digest(loader) for _ in range(2)] == expected
        assert loader.statistics().cached
    held = [(Dataset(packed, cache="ram"), 24), (Dataset(others, cache="ram"), 8)]
    with load(Mix(held, by="choose"), **options) as loader:
        assert [digest(loader) for _ in range(2)] == expected


def test_it_goes_through_a_prefetcher_a_pickle_and_a_preview(mix: Mix) -> None:
    options: dict[str, Any] = {"shuffle": True, "fields": ("image", "label", "source")}
    with load(mix, **options) as loader, load(mix, decode="gpu", **options) as encoded:
        twin = pickle.loads(pickle.dumps(loader))
        expected = [source.tolist() for _, _, source in loader]
        with twin:
            assert [source.tolist() for _, _, source in twin] == expected
        for found in (loader, encoded):
            found.set_epoch(0)
            assert [s.tolist() for _, _, s in CUDAPrefetcher(found, device="cpu")] == expected
        loader.set_epoch(0)
        assert str(loader.preview()).startswith("<reader.Sheet of 4 images")
        assert loader.statistics().samples == 64


@pytest.mark.usefixtures("no_leftovers", "needs_store")
def test_from_stores_the_same_comes_and_each_dataset_is_fetched_ahead(
    packed: Path, others: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"shuffle": BlockShuffle(2), "fields": ("image", "label", "index")}
    near, far = [], []
    with ExitStack() as opened:
        servers = [opened.enter_context(serving(folder)) for folder in (packed, others)]
        for folder, server, count in zip((packed, others), servers, (24, 8), strict=True):
            dataset = Dataset(server.url, cache_dir=tmp_path / folder.parent.name)
            assert dataset.fetching
            opened.callback(dataset.fetching.close)
            near.append((Dataset(folder), count))
            far.append((dataset, count))
        with load(Mix(near, by="choose"), **options) as loader:
            expected = [digest(loader) for _ in range(3)]
        with load(Mix(far, by="choose"), workers=1, **options) as loader:
            assert [digest(loader) for _ in range(3)] == expected
            assert loader.statistics().fetched == 39 + 7
    assert [len(server.tars) for server in servers] == [4, 3]  # each shard in one request
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("no_leftovers", "needs_store")
def test_subsets_of_one_store_are_fetched_by_one_process(packed: Path, tmp_path: Path) -> None:
    with serving(packed) as server:
        whole = Dataset(server.url, cache_dir=tmp_path / "cache")
        mix = Mix([whole.subset([3, 30]), whole.subset([4, 30])])
        with load(mix, sampler=[0, 3, 2], fields=("key", "image")) as loader:
            [(keys, _)] = loader
            assert keys == [whole.keys[3], whole.keys[30], whole.keys[4]]
        with load(mix, shuffle=True, fields=("key", "image")) as loader:
            [(keys, _)] = loader
            assert Counter(keys) == {whole.keys[3]: 1, whole.keys[4]: 1, whole.keys[30]: 2}
        tars = sorted(server.tars)  # neighbours may come together, and nothing twice
        assert len(tars) in (2, 3)
        assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(tars))
        assert whole.fetching
        whole.fetching.close()


def test_states_of_other_shares_are_refused(mix: Mix, packed: Path, others: Path) -> None:
    with load(mix, shuffle=True) as loader:
        next(iter(loader))
        state = loader.state_dict()
        assert all(isinstance(value, (int, str, type(None))) for value in state.values())
    other = Mix([(Dataset(packed), 25), (Dataset(others), 7)], by="choose")
    with (
        load(other, shuffle=True) as loader,
        pytest.raises(ArgumentError, match=r"weights=24 of 39, 8 of 7, but this .*25 of 39"),
    ):
        loader.load_state_dict(state)
