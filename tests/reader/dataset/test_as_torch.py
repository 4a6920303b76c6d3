"""A Dataset as torch sees it: one of its own, whichever was imported first."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.utils.data as torch_data

from reader import Dataset, Mix


class Derived(Dataset):
    """As people derive from it."""


class DerivedFromBoth(Dataset, torch_data.Dataset[Any]):
    """As people do who want to be sure."""


@pytest.mark.parametrize("kind", [Dataset, Derived, DerivedFromBoth])
def test_it_is_a_dataset_of_torchs_and_ours(packed: Path, kind: type[Dataset]) -> None:
    dataset = kind(packed)
    for same in (dataset, dataset.subset([3]), copy.copy(dataset), copy.deepcopy(dataset)):
        assert isinstance(same, torch_data.Dataset)
        assert isinstance(same, kind)
        assert not isinstance(same, torch_data.IterableDataset)
        assert type(same) is kind
    received = pickle.loads(pickle.dumps(dataset))
    assert type(received) is kind
    assert received.keys[3] == dataset.keys[3]


SCRIPT = """
    import pickle, sys
    import reader

    dataset = reader.Dataset(sys.argv[1])
    pickled = pickle.dumps(dataset)
    print(type(pickle.loads(pickled)), dataset.__class__, "torch" in sys.modules)
    import torch.utils.data
    print(isinstance(dataset, torch.utils.data.Dataset))
    print(isinstance(pickle.loads(pickled), torch.utils.data.Dataset))
"""


def test_torch_may_be_imported_later_or_never(packed: Path, run_script: Callable[..., Any]) -> None:
    done = run_script(SCRIPT, packed)
    assert done.stdout.splitlines() == [
        "<class 'reader.Dataset'> <class 'reader.Dataset'> False",
        "True",
        "True",
    ]


def test_datasets_are_added_as_torchs_are(packed: Path) -> None:
    one, few = Dataset(packed), Dataset(packed).subset([5, 6])
    part: Any = torch_data.Subset(one, [0])
    drawn = Dataset(packed, transform=np.asarray)  # is no other's, so it is not read as others are
    sums = {Mix: (one + few, one + few + few), torch_data.ConcatDataset: (part + few, drawn + few)}
    for kind, both in ((kind, both) for kind, found in sums.items() for both in found):
        assert isinstance(both, kind)
        image, label = both[len(both) - 1]
        assert np.array_equal(image, one[6][0])
        assert label == one[6][1]
    (labels,) = (
        label.tolist()
        for _, label in torch_data.DataLoader(
            one.subset([38]) + few,
            batch_size=3,
            collate_fn=lambda b: (0, np.array([y for _, y in b])),
        )
    )
    assert labels == [one.targets[number] for number in (38, 5, 6)]
