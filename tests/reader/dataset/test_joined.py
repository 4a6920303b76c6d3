"""Further members of the same samples, packed by --keys-of, are read beside the images."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_images import make_folder
from row_files import rows_of
from store_server import serving

import packer
import reader
from reader import ArgumentError, Dataset, FormatError, Loader, Member, Mix, SampleError, StoreError
from reader.format import ShardfeedError

SMALL = [reader.Resize((16, 16))]


def number_of(key: str) -> int:
    return int(re.sub(r"\D", "", key))


@pytest.fixture(scope="module")
def extra(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Members of all samples of `packed` but one: ``npy``, and ``json`` with a number."""
    root = tmp_path_factory.mktemp("joined")
    for key in Dataset(packed).keys[:-1]:
        path = root / "files" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(f"{path}.npy", np.full((2, 3), number_of(key), np.float32))
        Path(f"{path}.json").write_text(json.dumps({"number": number_of(key), "key": key}))
    packer.pack(
        root / "files",
        root / "extra",
        keys_of=packed,
        columns=["number", "key"],
        jobs=1,
        progress=False,
    )
    return root / "extra"


@pytest.fixture
def joined(packed: Path, extra: Path) -> Dataset:
    return Dataset(packed, join=extra)


def test_each_sample_has_the_members_of_its_key(joined: Dataset, packed: Path) -> None:
    plain = Dataset(packed)
    assert joined.extensions == (*plain.extensions, "json", "npy")
    for number, key in enumerate(joined.keys[:-1]):
        assert json.loads(joined.read(number, "json"))["key"] == key
        assert joined.read(number, "jpg") == plain.read(number, "jpg")
        assert np.array_equal(joined[number][0], plain[number][0])
    assert joined.labels.tolist() == plain.labels.tolist()
    assert joined.fingerprint == plain.fingerprint


def test_a_sample_without_the_member_is_refused_unless_it_is_optional(
    joined: Dataset, extra: Path
) -> None:
    last = joined.subset([len(joined) - 1])
    named = rf"^{extra}/shard-\d+\.tar: sample '{last.keys[0]}': it has no member \.npy"
    with pytest.raises(SampleError, match=named):
        last.read(0, "npy")
    with pytest.raises(SampleError, match=rf"^{last.folder}/.* it has no member \.txt"):
        last.read(0, "txt")
    options: dict[str, Any] = {"batch_size": 1, "workers": 0, "transforms": SMALL}
    with pytest.raises(SampleError, match=rf'{named}; .*write "npy\?" in fields='):
        Loader(last, fields=("image", "npy"), **options)
    with Loader(last, fields=("image", "npy?", "json.number?"), **options) as loader:
        _, arrays, numbers = next(iter(loader))
    assert arrays == numbers == [None]
    with pytest.raises(SampleError, match=rf"^{extra}/.* its \.npy cannot be decoded"):
        Loader(joined, fields=(Member("npy", decode=json.loads),), **options)


def test_a_name_in_a_dict_begins_the_names_of_members(packed: Path, extra: Path) -> None:
    dataset = Dataset(packed, join={"teacher": extra, "student": extra})
    assert dataset.extensions[-2:] == ("student.json", "student.npy")
    numbers = dataset.columns("teacher.number")["teacher.number"]
    for wrong, advice in (
        ("teacher.numbr", r"Did you mean 'teacher\.number'\?$"),
        ("teacher.json.score", r"pack with `--column score`\.$"),
        ("score", r"the columns are [^`]*$"),  # the images have no JSON
    ):
        with pytest.raises(ArgumentError, match=advice):
            dataset.columns(wrong)
    assert numbers[:-1].tolist() == list(map(number_of, dataset.keys[:-1]))
    with Loader(
        dataset,
        batch_size=4,
        fields=("key", "teacher.npy?", "student.json.number?"),
        workers=0,
    ) as loader:
        keys, arrays, found = next(iter(loader))
    assert found == list(map(number_of, keys)) == [int(array[0, 0]) for array in arrays]


def test_columns_of_the_joined_index_choose_samples(joined: Dataset) -> None:
    few = joined.subset(lambda columns: columns["number"] < 3)
    assert sorted(map(number_of, few.keys)) == sorted(
        number for key in joined.keys[:-1] if (number := number_of(key)) < 3
    )


def test_datasets_that_are_joined_can_be_mixed(joined: Dataset, packed: Path) -> None:
    mix = Mix({"joined": joined.subset(range(5)), "plain": Dataset(packed)})
    assert json.loads(mix.read(4, "json"))["key"] == joined.keys[4]
    with Loader(mix, batch_size=4, fields=("key", "npy?", "source"), workers=0) as loader:
        for keys, arrays, sources in loader:
            for key, array, source in zip(keys, arrays, sources.tolist(), strict=True):
                assert (array is None) == bool(source)
                assert array is None or int(array[0, 0]) == number_of(key)


def test_the_shards_in_memory_are_joined_to_members_on_disk(packed: Path, extra: Path) -> None:
    dataset = Dataset(packed, join=extra, cache="ram")
    assert json.loads(dataset.read(7, "json"))["key"] == dataset.keys[7]


def test_shards_without_any_member_are_read_from_a_store(packed: Path, tmp_path: Path) -> None:
    keys = Dataset(packed).keys
    for number in (1, 38):
        path = tmp_path / "files" / f"{keys[number]}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(keys[number])
    packer.pack(tmp_path / "files", tmp_path / "extra", keys_of=packed, jobs=1, progress=False)
    with serving(tmp_path / "extra") as server:
        dataset = Dataset(packed, join=server.url, cache_dir=tmp_path / "cache")
        with Loader(
            dataset,
            batch_size=13,
            shuffle=reader.BlockShuffle(2),
            fields=("key", "txt?"),
            workers=0,
        ) as loader:
            found = [pair for batch in loader for pair in zip(*batch, strict=True)]
        for fetching, _ in dataset.fetchings:
            fetching.close()
    assert sorted(key for key, _ in found) == sorted(keys)
    assert {(key, text) for key, text in found if text is not None} == {
        (keys[1], keys[1]),
        (keys[38], keys[38]),
    }


def test_a_limit_is_that_of_the_joined_store(packed: Path, extra: Path, tmp_path: Path) -> None:
    with serving(extra) as server, pytest.raises(StoreError, match="cache_limit=10,000 is too"):
        Dataset(packed, join=server.url, cache_dir=tmp_path / "cache", cache_limit=10_000)


def repacked(source: Path, dst: Path, **options: Any) -> Path:
    packer.pack(source, dst, jobs=1, progress=False, **options)
    return dst


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"shard_samples": 9}, ArgumentError),  # other shards
        ({"shard_samples": 10, "seed": 7}, FormatError),  # another order
        ({"shard_samples": 10, "split": {"train": 0.5, "val": 0.5}}, ArgumentError),
    ],
    ids=["shards", "order", "splits"],
)
def test_members_of_a_dataset_that_was_packed_again_are_refused(
    source: Path, extra: Path, tmp_path: Path, options: dict[str, Any], kind: type[Exception]
) -> None:
    base = repacked(source, tmp_path / "shards", **options)
    with pytest.raises(kind, match=f"packer pack SOURCE {extra} --keys-of {base} --overwrite"):
        Dataset(base, join=extra).read(0, "npy")


def test_members_of_other_keys_are_refused(extra: Path, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "images", images=13)
    (folder / "class0").rename(folder / "other")
    base = repacked(folder, tmp_path / "shards", shard_samples=10)
    with pytest.raises(FormatError, match="has other keys than"):
        Dataset(base, join=extra).read(0, "npy")


def test_a_dataset_that_grew_is_refused(source: Path, extra: Path, tmp_path: Path) -> None:
    base = repacked(source, tmp_path / "shards", shard_samples=10)
    repacked(make_folder(tmp_path / "more", images=14), base, shard_samples=10, append=True)
    with pytest.raises(ArgumentError, match="42 samples in 5 shards"):
        Dataset(base, join=extra)


@pytest.mark.parametrize(("join", "text"), rows_of(__file__, "not_joined.rows"))
def test_what_cannot_be_joined_is_refused(packed: Path, extra: Path, join: str, text: str) -> None:
    with pytest.raises(ShardfeedError, match=text):
        Dataset(packed, join=eval(join, {"images": packed, "extra": extra}))


def test_a_dataset_without_images_is_not_opened_by_itself(extra: Path) -> None:
    with pytest.raises(FormatError, match=r'reader\.Dataset\("DATASET", join='):
        Dataset(extra)


def test_a_truncated_tar_of_members_is_named(packed: Path, extra: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(extra, tmp_path / "extra"))
    tar = copy / "shard-000000.tar"
    tar.write_bytes(tar.read_bytes()[:-100])
    with pytest.raises(ShardfeedError, match=f"{tar} has"):
        Dataset(packed, join=copy).read(0, "npy")
