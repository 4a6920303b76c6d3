"""A dataset by sample number: pixels, labels, keys and raw members."""

import copy
import gc
import pickle
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import simplejpeg
from leftovers import collect
from made_images import encode, make_image
from other_process import done_by_a_fork
from packing import run_pack

from reader import CenterCrop, Dataset, FormatError, Loader, ReaderError, SampleError
from reader.format import Manifest


@pytest.fixture
def dataset(packed: Path) -> Dataset:
    return Dataset(packed)


@pytest.fixture
def two_splits(packed_copy: Path) -> Path:
    """The dataset with its last shard, of 9 samples, in a split of its own."""
    manifest = Manifest.load(packed_copy)
    shards = [replace(shard, split="train") for shard in manifest.shards[:3]]
    shards.append(replace(manifest.shards[3], split="val"))
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=tuple(shards)).dump())
    return packed_copy


def test_every_sample_is_the_image_and_the_class_of_its_file(
    dataset: Dataset, source: Path
) -> None:
    assert len(dataset) == len({*dataset.keys}) == 39
    for number in range(39):
        image, label = dataset[number]
        file = source / f"{dataset.keys[number]}.jpg"
        assert np.array_equal(image, simplejpeg.decode_jpeg(file.read_bytes(), "RGB"))
        assert dataset.classes[label] == file.parent.name
        assert isinstance(label, int)
        stored = dataset.read(number, "jpg")
        assert isinstance(stored, bytes)
        assert np.array_equal(simplejpeg.decode_jpeg(stored, "RGB"), image)
        assert dataset.read(number, "cls") == b"%d" % label
        assert np.array_equal(dataset[number - 39][0], image)  # counted from the end
    with pytest.raises(SampleError, match=rf"{dataset.keys[3]!r}.*\.txt"):
        dataset.read(3, "txt")


@pytest.mark.parametrize(
    ("number", "error", "reason"),
    [
        *((n, TypeError, "number is an integer, not ") for n in (slice(0, 2), "a", 1.0, None, [1])),
        *((n, IndexError, "39") for n in (39, -40, 10**12)),
    ],
    ids=str,
)
def test_what_is_no_number_of_a_sample_is_an_error_as_of_a_list(
    dataset: Dataset, number: Any, error: type[Exception], reason: str
) -> None:
    for look in (dataset.__getitem__, lambda number: dataset.read(number, "jpg")):
        with pytest.raises(error, match=reason):
            look(number)
    assert dataset[np.int64(3)][1] == dataset[3][1]


def test_keys_can_be_sliced_and_searched(dataset: Dataset) -> None:
    keys = list(dataset.keys)
    assert dataset.keys[5:9] == keys[5:9]
    assert dataset.keys[::-7] == keys[::-7]
    assert dataset.keys[-1] == keys[-1]
    assert dataset.keys.index(keys[17]) == 17
    with pytest.raises(IndexError):
        dataset.keys[39]


def test_classes_and_labels_agree_with_the_samples(dataset: Dataset) -> None:
    assert dataset.classes == ["class0", "class1", "class2"]
    assert dataset.class_to_idx == {"class0": 0, "class1": 1, "class2": 2}
    assert dataset.labels.dtype == np.int64
    assert dataset.labels.tolist() == [dataset[number][1] for number in range(39)]


def test_a_raw_image_is_the_files_own_bytes_if_it_was_packed_verbatim(
    source: Path, tmp_path: Path
) -> None:
    run_pack(source, tmp_path / "verbatim", jpeg="verbatim")
    dataset = Dataset(tmp_path / "verbatim")
    for number, key in enumerate(dataset.keys):
        assert dataset.read(number, "jpg") == (source / f"{key}.jpg").read_bytes()


def test_an_image_may_be_changed_without_changing_the_next_one(dataset: Dataset) -> None:
    first, _ = dataset[0]
    kept = first.copy()
    second, _ = dataset[1]
    assert np.array_equal(first, kept)
    first[:] = 0
    second[:] = 0
    assert np.array_equal(dataset[0][0], kept)


def test_a_pickled_dataset_reads_the_same_from_another_folder(
    two_splits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two_splits.parent)
    dataset = Dataset(two_splits.name, "train", upright=False)
    image, label = dataset[7]
    content = pickle.dumps(dataset)
    monkeypatch.chdir("/")
    twin = pickle.loads(content)
    assert (len(twin), twin.split, twin.upright) == (30, "train", False)
    assert np.array_equal(twin[7][0], image)
    assert twin[7][1] == label


class Noted(Dataset):
    """A user's dataset, made with other arguments and with an attribute of its own."""

    def __init__(self, note: str, folder: Path) -> None:
        super().__init__(folder, "val")
        self.note = note


def test_copies_of_a_users_own_kind_of_dataset_are_alike(two_splits: Path) -> None:
    dataset = Noted("mine", two_splits)
    image, samples = dataset[3][0], dataset.samples
    for twin in (pickle.loads(pickle.dumps(dataset)), copy.deepcopy(dataset), copy.copy(dataset)):
        assert (type(twin), twin.note, len(twin), twin.samples) == (Noted, "mine", 9, samples)
        assert np.array_equal(twin[3][0], image)
    assert len(pickle.dumps(dataset)) == len(pickle.dumps(Noted("mine", two_splits)))


def test_a_dataset_lists_all_splits_whichever_it_is(two_splits: Path, packed: Path) -> None:
    whole = Dataset(two_splits)
    assert whole.splits == Dataset(two_splits, "val").splits == ["train", "val"]
    assert pickle.loads(pickle.dumps(whole.subset([0]))).splits == ["train", "val"]
    assert Dataset(packed).splits == []


def test_a_dataset_prints_what_it_is(two_splits: Path) -> None:
    train, both, where = Dataset(two_splits, "train"), Dataset(two_splits), repr(str(two_splits))
    classes = f"in {len(train.classes)} classes"
    assert repr(train) == f"<Dataset({where}, split='train'): 30 samples {classes}, 3 shards>"
    some = f"2 of 30 samples {classes}, 3 shards"
    assert repr(train.subset([4, 3])) == f"<Dataset({where}, split='train'): {some}>"
    whole = f"39 samples {classes}, 4 shards, of the splits train, val"
    assert repr(both) == f"<Dataset({where}): {whole}>"
    first, second, third = map(repr, train.keys[:3])
    assert repr(train.keys) == f"<keys (30): {first}, {second}, {third}, ...>"
    assert repr(train.subset([1]).names) == f"<names (1): {train.names[1]!r}>"


def test_a_split_holds_its_own_shards_and_none_means_all(two_splits: Path) -> None:
    train, val, both = (Dataset(two_splits, split) for split in ("train", "val", None))
    assert (len(train), len(val), len(both)) == (30, 9, 39)
    assert [*train.keys, *val.keys] == list(both.keys)
    assert np.array_equal(val[0][0], both[30][0])
    assert val.labels.tolist() == both.labels[30:].tolist()
    assert train.classes == val.classes == both.classes


def test_a_split_that_is_not_there_is_refused_with_those_that_are_or_how_they_are_made(
    two_splits: Path, tmp_path: Path
) -> None:
    with pytest.raises(ReaderError, match=r"'test'.*'train', 'val'"):
        Dataset(two_splits, "test")
    whole = Manifest.load(two_splits)
    train = tuple(shard for shard in whole.shards if shard.split == "train")
    (tmp_path / "dataset.json").write_text(replace(whole, shards=train).dump())
    with pytest.raises(ReaderError, match=r"it has 'train'\. .* `--split train=0\.9,val=0\.1"):
        Dataset(tmp_path, "val")


def test_a_folder_may_lie_below_the_home_directory(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(packed.parent))
    for folder in (f"~/{packed.name}", Path("~", packed.name)):
        assert Dataset(folder).folder == packed


def test_a_flat_folder_has_no_labels_and_no_classes(make_dataset: Callable[..., Path]) -> None:
    dataset = Dataset(make_dataset({"a.png": encode(make_image(0), "PNG")}))
    assert (dataset.classes, dataset.class_to_idx) == ([], {})
    assert dataset.labels.tolist() == [-1]
    assert dataset[0][1] == -1
    with pytest.raises(SampleError, match=r"\.cls"):
        dataset.read(0, "cls")


@pytest.fixture(scope="module")
def many_shards(make_dataset: Callable[..., Path]) -> Path:
    """A dataset of 300 shards."""
    image = encode(make_image(0, 4, 4), "PNG")
    return make_dataset({f"{number}.png": image for number in range(300)}, shard_samples=1)


@pytest.fixture
def limit_descriptors() -> Iterator[Callable[[int], None]]:
    """`limit_descriptors(1024)`: as `ulimit -n 1024`, for this test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_worker_keeps_all_shards_open_without_the_limit_of_its_parent(
    many_shards: Path,
    limit_descriptors: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PRELOADED_FOR")  # this limit has a server of its own

    def count_descriptors(sample: dict[str, Any]) -> dict[str, Any]:
        return {"open": psutil.Process().num_fds()}

    options: dict[str, Any] = {"batch_size": 50, "transforms": [CenterCrop(4)], "workers": 1}
    options |= {"map_sample": count_descriptors, "fields": ["open?"], "batches_ahead": 1}
    limit_descriptors(256)
    with Loader(many_shards, **options) as loader:
        *_, (last,) = loader
    assert int(last[-1]) >= 300  # a tar for each shard
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256


def test_many_shards_are_read_with_few_descriptors_left(
    many_shards: Path, limit_descriptors: Callable[[int], None]
) -> None:
    dataset = Dataset(many_shards)
    limit_descriptors(psutil.Process().num_fds() + 4)
    assert dataset.labels.tolist() == [-1] * 300
    assert sorted(dataset.keys) == sorted(map(str, range(300)))
    assert dataset.sizes() == {(4, 4)}
    assert {dataset[number][0].shape for number in range(300)} == {(4, 4, 3)}


def test_workers_read_many_shards_under_a_low_limit_of_descriptors(many_shards: Path) -> None:
    def read() -> None:
        most = psutil.Process().num_fds() + 50
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        with Loader(many_shards, batch_size=10, workers=2, shuffle=True) as loader:
            assert sum(len(labels) for _, labels in loader) == 300

    assert done_by_a_fork(read)


def test_a_limit_of_descriptors_that_is_reached_is_told_and_no_shard_is_blamed(
    many_shards: Path, limit_descriptors: Callable[[int], None]
) -> None:
    dataset = Dataset(many_shards)
    limit_descriptors(3)  # which standard input, output and error have
    with pytest.raises(FormatError, match=r"Too many open files in .* `ulimit -n` allows 3; run"):
        dataset[0]


def test_a_forgotten_dataset_holds_no_descriptors(packed: Path) -> None:
    collect()
    before = psutil.Process().num_fds()
    dataset = Dataset(packed)
    assert len(list(dataset)) == 39
    assert psutil.Process().num_fds() > before
    del dataset
    gc.collect()
    assert psutil.Process().num_fds() == before


def test_threads_may_share_a_dataset(packed: Path) -> None:
    dataset = Dataset(packed)
    before = psutil.Process().num_fds()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(dataset.__getitem__, list(range(39)) * 10))
    for number, (image, label) in enumerate(found):
        expected, expected_label = dataset[number % 39]
        assert np.array_equal(image, expected)
        assert label == expected_label
    del dataset
    gc.collect()
    assert psutil.Process().num_fds() <= before


def test_an_index_of_other_samples_than_dataset_json_says_is_refused(packed_copy: Path) -> None:
    manifest = Manifest.load(packed_copy)
    shards = (replace(manifest.shards[0], samples=9), *manifest.shards[1:])
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    dataset = Dataset(packed_copy)
    for look in (lambda: dataset.labels, dataset.sizes, lambda: dataset[0]):
        with pytest.raises(FormatError, match=r"10 samples.* records 9"):
            look()


def test_a_checksum_that_is_no_text_still_has_a_fingerprint(packed_copy: Path) -> None:
    manifest = Manifest.load(packed_copy)
    shards = tuple(replace(shard, checksum="\ud800") for shard in manifest.shards)
    before = Dataset(packed_copy).fingerprint
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    assert Dataset(packed_copy).fingerprint != before
