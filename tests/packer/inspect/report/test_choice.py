"""Which samples are looked at, and which are shown."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from packer.inspect.report.choice import chosen, gallery


def table(label: list[int], split: list[int]) -> Any:
    class Few(SimpleNamespace):
        def __len__(self) -> int:
            return len(label)

    return Few(label=np.array(label), split=np.array(split), splits=("train", "val"))


def test_the_seed_decides_what_is_looked_at() -> None:
    first = chosen(1000, 50, seed=1)
    assert len(set(first.tolist())) == 50
    assert first.tolist() == sorted(first.tolist()) == chosen(1000, 50, seed=1).tolist()
    assert first.tolist() != chosen(1000, 50, seed=2).tolist()
    assert chosen(30, 50, seed=1).tolist() == list(range(30))


def test_every_class_and_split_is_shown_before_one_is_shown_again() -> None:
    label = [0] * 100 + [1, 2, 3] + [0]
    split = [0] * 103 + [1]
    shown = gallery(table(label, split), 6, seed=0)
    assert {100, 101, 102, 103} <= set(shown)
    assert len(set(shown)) == 6


def test_all_are_shown_of_few() -> None:
    assert sorted(gallery(table([0, 1, 1], [0, 0, 1]), 10, seed=0)) == [0, 1, 2]
    assert gallery(table([], []), 10, seed=0) == []
