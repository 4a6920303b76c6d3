"""A Mix is a Dataset of several: numbers, labels, names and counts."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_images import encode, make_image
from PIL import Image
from row_files import rows_of

import packer
from reader import ArgumentError, Dataset, Mix

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def dogs(make_dataset: Callable[..., Path]) -> Dataset:
    """Five samples of the classes class1 and dog, in two shards."""
    names = [f"{name}/{n}.png" for name in ("class1", "dog") for n in range(3)][:5]
    files = {name: encode(make_image(50 + at), "PNG") for at, name in enumerate(names)}
    return Dataset(make_dataset(files, shard_samples=3))


@pytest.fixture
def whole(packed: Path) -> Dataset:
    return Dataset(packed)


def test_it_has_the_samples_of_one_dataset_after_the_other(whole: Dataset, dogs: Dataset) -> None:
    few = whole.subset([38, 1, 17])
    mix = Mix([few, dogs, few])
    assert len(mix) == 11
    parts = [(part, number) for part in (few, dogs, few) for number in range(len(part))]
    for number, (part, inside) in enumerate(parts):
        image, label = part[inside]
        assert np.array_equal(mix[number][0], image)
        assert mix.classes[mix[number][1]] == part.classes[label]
        assert mix.keys[number] == part.keys[inside]
        assert mix.read(number, "cls") == part.read(inside, "cls")
    assert mix.names[:] == [part.names[inside] for part, inside in parts]
    assert mix.samples == list(zip(mix.names, mix.targets, strict=True))
    assert mix.sources(np.arange(11)).tolist() == [0] * 3 + [1] * 5 + [2] * 3
    assert mix.sizes() == few.sizes() | dogs.sizes()


def test_classes_of_one_name_are_joined(whole: Dataset, dogs: Dataset) -> None:
    mix = Mix({"a": whole, "b": dogs})
    assert whole.classes == ["class0", "class1", "class2"]
    assert mix.classes == ["class0", "class1", "class2", "dog"]
    assert mix.class_to_idx["dog"] == 3
    assert mix.targets == [*whole.targets, *({0: 1, 1: 3}[label] for label in dogs.targets)]


def test_classes_of_different_tasks_stay_apart(whole: Dataset, dogs: Dataset) -> None:
    mix = Mix({"a": whole, "b": dogs}, classes="apart")
    assert mix.classes == ["a/class0", "a/class1", "a/class2", "b/class1", "b/dog"]
    assert mix.targets == [*whole.targets, *(3 + label for label in dogs.targets)]
    inner = Mix([dogs, Mix([dogs, whole], classes="apart")], classes="apart")
    assert inner.classes[2:5] == ["1/0/class1", "1/0/dog", "1/1/class0"]
    assert inner.targets[10:] == [4 + label for label in whole.targets]


def test_labels_without_names_are_numbers(write_samples: Write) -> None:
    image = {"png": encode(Image.new("L", (8, 8)), "PNG")}
    labelled = Dataset(write_samples({f"s{n}": image for n in range(3)}, labels=[1, -1, 0]))
    nameless = Dataset(write_samples({"a": image, "b": image}, labels=[-1, -1]))
    for dataset in (labelled, nameless):
        dataset.classes = []  # as of tars made elsewhere
    assert Mix([labelled, labelled]).targets == [1, -1, 0] * 2
    apart = Mix([labelled, nameless, labelled], classes="apart")
    assert apart.targets == [1, -1, 0, -1, -1, 3, -1, 2]
    assert apart.classes == ["0/0", "0/1", "2/0", "2/1"]
    names = Dataset(write_samples({"a": image}, labels=[1]))
    assert Mix([names, nameless]).targets == [1, -1, -1]
    with pytest.raises(ArgumentError, match=r'labels without class names.*classes="apart"'):
        Mix([names, labelled])


def test_a_subset_of_a_mix_and_a_pickled_one_are_of_the_same_samples(
    whole: Dataset, dogs: Dataset
) -> None:
    mix = Mix([(whole, 1), (dogs, 1)])
    for found in (mix.subset([40, 3]), pickle.loads(pickle.dumps(mix)).subset([40, 3])):
        assert found.keys[:] == [dogs.keys[1], whole.keys[3]]
        assert found.targets == [mix.targets[40], mix.targets[3]]
        assert found.sources(np.arange(2)).tolist() == [1, 0]
        assert found.counts() == {"0": 1, "1": 1}
        assert np.array_equal(found[0][0], dogs[1][0])


def test_an_error_names_the_dataset_and_its_shard(whole: Dataset, dogs: Dataset) -> None:
    mix = Mix([whole, Mix([whole, dogs])])
    assert mix.describe(3) == f"sample 3 {whole.keys[3]!r} of {whole.source}/shard-000000.tar"
    last = f"sample 82 {dogs.keys[4]!r} of {dogs.source}/shard-000001.tar"
    assert mix.describe(82) == last


@pytest.mark.parametrize(("numbers", "by", "size", "counts"), rows_of(__file__, "counts.rows"))
def test_numbers_are_shares_or_repetitions_or_counts(
    whole: Dataset,
    dogs: Dataset,
    numbers: str,
    by: Any,
    size: str,
    counts: str,
) -> None:
    first, second = eval(numbers)
    entries = {"a": (whole, first), "b": (dogs, second)}
    given: Any = {"a": whole, "b": dogs} if first is None else entries
    assert tuple(Mix(given, by=by).counts(eval(size)).values()) == eval(counts)


def test_a_dataset_that_would_never_come_is_refused(whole: Dataset, dogs: Dataset) -> None:
    mix = Mix({"a": (whole, 1000), "b": (dogs, 1)})
    with pytest.raises(ArgumentError, match=r"'b' of the Mix has no sample of an epoch of 44: .*"):
        mix.counts()
    assert mix.counts(2002) == {"a": 2000, "b": 2}
    with pytest.raises(ArgumentError, match="'1' of the Mix has no sample to give"):
        Mix([(whole, 1), (dogs.subset([]), 1)]).counts()
    assert Mix([(whole, 1), (dogs.subset([]), 0)]).counts() == {"0": 39, "1": 0}


def test_a_column_that_only_some_datasets_have_is_refused_with_the_others_name(
    write_samples: Callable[..., Path], tmp_path: Path
) -> None:
    def made(name: str, **options: Any) -> Dataset:
        source = tmp_path / name
        source.mkdir()
        for number in range(4):
            (source / f"{number}.png").write_bytes(encode(make_image(number, 16, 16), "PNG"))
        rows = "".join(f"{n}.png,{'north' if n % 2 else 'south'}\n" for n in range(4))
        (source / "table.csv").write_text(f"file,site\n{rows}")
        packer.pack(source, tmp_path / f"{name}-shards", progress=False, jobs=1, **options)
        return Dataset(tmp_path / f"{name}-shards")

    has, other, lacks = made("a", columns=["site"]), made("b", columns=["site"]), made("c")
    words = r"c-shards, a dataset of the Mix, has no column 'site'.*--column site.*before"
    for parts in ([has, lacks], [lacks, has], [has, other, lacks], [has, lacks.subset([1])]):
        with pytest.raises(ArgumentError, match=words):
            Mix(parts).subset(lambda columns: columns["site"] == "north")
        with pytest.raises(ArgumentError, match=words):
            Mix(parts).columns("label", "site")
    with pytest.raises(ArgumentError, match=words):
        Mix([other, Mix([has, lacks])]).columns("site")
    for parts in ([has, other], [has, lacks.subset([])], [Mix([has, other]), has]):
        chosen = Mix(parts).subset(lambda columns: columns["site"] == "north")
        assert len(chosen) == sum(len(part) for part in parts) // 2
    with pytest.raises(ArgumentError, match="there is no column 'site'"):
        Mix([lacks, lacks]).columns("site")
