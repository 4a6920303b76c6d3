from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from hypothesis import given
from hypothesis import strategies as st
from made_images import encode, make_image, write_files
from packing import files_of

import packer
import reader
from packer.keys import split_of
from packer.plan.stratify import seats, stratify
from packer.samples.records import Sample
from packer.samples.table import SampleTable

SHARES = {"train": 0.8, "val": 0.2}
IMAGE = encode(make_image(1, 8, 8), "PNG")

shares = (
    st.lists(st.integers(1, 40), min_size=1, max_size=4)
    .map(lambda parts: [part / sum(parts) for part in parts])
    .map(lambda parts: dict(zip("abcd", parts, strict=False)))
)
labels = st.dictionaries(
    st.integers(0, 10**6).map(str), st.integers(-1, 4), min_size=1, max_size=80
).filter(lambda found: max(found.values()) >= 0)


def table(samples: Mapping[str, int], order: Sequence[str] = ()) -> SampleTable:
    """Return samples with these keys and labels; every third has another member."""
    listing = SampleTable()
    for key in order or samples:
        members = ("json",) if int(key) % 3 == 0 else ()
        listing.add(Sample(key, key, samples[key], 1, 0, members))
    return listing


def divided(listing: SampleTable, given: Mapping[str, float]) -> dict[str, str]:
    stratify(listing, given, list("vwxyz"), None)
    return {sample.key: sample.split for sample in listing}


@given(labels, shares)
def test_each_class_is_divided_by_shares(samples: dict[str, int], given: dict[str, float]) -> None:
    listing = table(samples)
    before = [(sample.key, sample.label, sample.members) for sample in listing]
    counts = Counter((samples[key], split) for key, split in divided(listing, given).items())
    for label, size in Counter(samples.values()).items():
        assert sum(counts[label, split] for split in given) == size
        assert all(abs(counts[label, split] - size * part) < 1 for split, part in given.items())
    assert [(sample.key, sample.label, sample.members) for sample in listing] == before


@given(labels, shares, st.randoms(use_true_random=False))
def test_the_keys_decide_and_not_the_order_of_the_scan(
    samples: dict[str, int], given: dict[str, float], rng: Any
) -> None:
    order = list(samples)
    rng.shuffle(order)
    assert divided(table(samples), given) == divided(table(samples, order), given)


def test_few_samples_are_in_another_split_than_without() -> None:
    samples = {str(number): number % 5 for number in range(5000)}
    found = divided(table(samples), SHARES)
    same = sum(split == split_of(key, SHARES) for key, split in found.items())
    assert same > 4900


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.integers(1, 99).map(lambda percent: percent / 100),
)
def test_what_is_added_fills_what_the_shares_of_all_lack(added: list[int], share: float) -> None:
    parts, there = np.array([share, 1 - share]), np.zeros((1, 2), np.int64)
    for count in added:
        there += seats(np.array([count]), parts, there)
    assert there.sum() == sum(added)
    assert (np.abs(there - sum(added) * parts) < 1 + 1e-6).all()


def folder(root: Path, sizes: Mapping[str, int]) -> Path:
    names = (f"{name}/{at}.png" for name, count in sizes.items() for at in range(count))
    return write_files(root, dict.fromkeys(names, IMAGE))


def pack(src: Any, dst: Path, **given: Any) -> packer.PackReport:
    usual: dict[str, Any] = {"split": SHARES, "stratify": True, "jobs": 1, "progress": False}
    return packer.pack(src, dst, **{**usual, **given})


def splits(dst: Path) -> dict[str, dict[str, set[str]]]:
    """Return the keys of each split of each class."""
    found: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for split in SHARES:
        dataset = reader.Dataset(dst, split=split)
        for key, label in zip(dataset.keys, dataset.targets, strict=True):
            found[dataset.classes[label]].setdefault(split, set()).add(key)
    return found


def counts(dst: Path) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(len(keys.get(split, ())) for split in SHARES)
        for name, keys in splits(dst).items()
    }


def test_the_command_and_python_write_the_same_and_record_it(tmp_path: Path) -> None:
    src = folder(tmp_path / "src", {"cat": 10, "cow": 2, "dog": 25})
    options = ["--split", "train=0.8,val=0.2", "--stratify", "--jobs", 2, "--shard-samples", 4]
    done = call_packer("pack", src, tmp_path / "a", *options, code=0)
    lacking = "1 of 3 classes is too small for a sample in every split: cow (2 samples"
    assert lacking in done.stdout
    report = pack(src, tmp_path / "b", shard_samples=4)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert any(lacking in remark for remark in report.remarks)
    assert counts(tmp_path / "a") == {"cat": (8, 2), "cow": (2, 0), "dog": (20, 5)}
    content = reader.format.Manifest.load(tmp_path / "a")
    assert content.options["stratify"] is True
    assert pack(src, tmp_path / "b", shard_samples=4).shards_written == 0
    with pytest.raises(packer.UnusableInput, match=r"stratify \(true in the dataset, null now\)"):
        pack(src, tmp_path / "b", shard_samples=4, stratify=False)


def test_an_append_keeps_the_splits_of_samples_and_fills_the_shares(tmp_path: Path) -> None:
    src = folder(tmp_path / "src", {"cat": 3, "dog": 10})
    pack(src, tmp_path / "dst")
    before = splits(tmp_path / "dst")
    assert pack(src, tmp_path / "dst", append=True).shards_written == 0
    folder(src, {"cat": 9, "dog": 20, "owl": 5})
    assert not pack(src, tmp_path / "dst", append=True).remarks
    after = splits(tmp_path / "dst")
    assert counts(tmp_path / "dst") == {"cat": (7, 2), "dog": (16, 4), "owl": (4, 1)}
    assert all(
        keys <= after[name][split] for name in before for split, keys in before[name].items()
    )
    assert pack(src, tmp_path / "dst").shards_written == 0


def test_it_is_refused_without_labels_or_shares_and_for_items_of_python(tmp_path: Path) -> None:
    src = folder(tmp_path, {"src": 3}) / "src"
    with pytest.raises(packer.UnusableInput, match="no sample of the source has a label"):
        pack(src, tmp_path / "dst")
    with pytest.raises(packer.UnusableInput, match=r"Add split={'train': 0.9, 'val': 0.1}, or"):
        pack(src, tmp_path / "dst", split=None)
    done = call_packer("pack", src, tmp_path / "dst", "--stratify", code=2)
    assert "Add --split train=0.9,val=0.1, or remove --stratify" in done.stderr
    with pytest.raises(packer.UnusableInput, match="stratify= requires a path or a URL"):
        pack([(np.zeros((4, 4, 3), np.uint8), 0)], tmp_path / "dst")
