"""Arguments that a class does not have are named in one sentence for each."""

from pathlib import Path
from typing import Any

import pytest

import reader

MAKE: Any = reader  # with arguments that mypy refuses


@pytest.mark.parametrize(
    ("wrong", "remedies"),
    [
        (
            lambda shards: MAKE.Dataset(local=shards),
            'A Dataset has no local=: write reader.Dataset("shards"), with the folder',
        ),
        (
            lambda shards: MAKE.Dataset(shards, slpit="train", cachedir=3),
            "no slpit=. Did you mean split='train'? | no cachedir=. Did you mean cache_dir=3?",
        ),
        (
            lambda shards: MAKE.Dataset(shards, batch_size=8, gpu=1),
            'no batch_size=: write reader.Loader("shards", batch_size=8). | has no gpu=.',
        ),
        (
            lambda shards: MAKE.Dataset(shards, gpu=1),
            "reader.Dataset: | unexpected keyword argument 'gpu' | folder, split, upright, ",
        ),
        (lambda _: MAKE.Mix(weights=[1]), "A Mix has no weights=: write reader.Mix([(first, 0.7"),
        (lambda _: MAKE.Mix(), "reader.Mix: missing | 'datasets' | datasets, by, replacement"),
        (
            lambda shards: MAKE.Loader(shards, 8),
            "reader.Loader: too many positional arguments | dataset, split, batch_size, ",
        ),
        (
            lambda shards: MAKE.Loader(shards, batchsize=8, shufle=True, prefetch_factor=3, gpu=1),
            "mean batch_size=8? | mean shuffle=True? | write batches_ahead=3 | no gpu=.",
        ),
    ],
)
def test_all_arguments_that_do_not_fit_are_named_with_those_that_do(
    packed: Path, wrong: Any, remedies: str
) -> None:
    with pytest.raises(reader.ArgumentError) as caught:
        wrong(packed)
    assert [remedy for remedy in remedies.split(" | ") if remedy not in str(caught.value)] == []


def test_a_type_error_of_the_users_own_is_raised_as_it_is() -> None:
    class Wrong:
        def __fspath__(self) -> str:
            raise TypeError("my own")

    with pytest.raises(TypeError, match="my own"):
        reader.Dataset(Wrong())
