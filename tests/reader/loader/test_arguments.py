"""A mistake in an argument is told at once, by its name; sentences: `guarantees/refused.rows`."""

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import digest, only
from ids import named
from row_files import rows_of
from torch.utils.data import Subset, random_split

import reader
from reader import ArgumentError, CenterCrop, Dataset, Loader, ReaderError

pytestmark = pytest.mark.usefixtures("no_leftovers")

NAMES = {name: getattr(reader, name) for name in reader.__all__}
NAMES |= {"np": np, "cores": os.cpu_count() or 1}
WRONG: dict[str, tuple[Any, ...]] = {
    name: eval(values, NAMES) for name, values in rows_of(__file__, "wrong_arguments.rows")
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values if "." not in name],
    ids=lambda given: named(repr(given))[:40],
)
def test_a_value_of_another_kind_is_an_error_of_its_argument(
    packed: Path, name: str, value: Any
) -> None:
    arguments = {"dataset": packed, "workers": 0, "transforms": [CenterCrop(8)], name: value}
    if isinstance(value, list) and name == "views":
        del arguments["transforms"]
    with pytest.raises(ArgumentError) as caught:
        Loader(**arguments)
    assert isinstance(caught.value, ReaderError)
    assert isinstance(caught.value, ValueError)
    words = {"views": "", "fields": "field"}
    assert words.get(name, name) in str(caught.value)


def test_every_argument_of_a_loader_was_tried_with_a_wrong_value() -> None:
    known = set(inspect.signature(Loader).parameters) - {"torch_names"}
    assert len(known - {"dataset"}) <= 24
    assert known - set(WRONG) == {"rank", "world_size"}  # have tests of their own


def test_a_type_error_of_the_users_own_is_raised_as_it_is() -> None:
    class Wrong:
        def __fspath__(self) -> str:
            raise TypeError("my own")

    with pytest.raises(TypeError, match="my own"):
        Dataset(Wrong())  # type: ignore[arg-type]


def test_batches_ahead_chooses_the_memory(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "transforms": [CenterCrop(8)], "workers": 1}
    with Loader(packed, **options) as loader:
        usual, slots = digest(loader), loader.statistics().slots
    for ahead in (1, 2, slots + 3):
        with Loader(packed, batches_ahead=ahead, **options) as loader:
            assert loader.statistics().slots == ahead + 2
            assert digest(loader) == usual


def test_integers_and_numbers_of_numpy_are_taken(packed: Path) -> None:
    whole = {"batch_size": 8, "seed": 3, "epochs": 1, "workers": 1, "rank": 0, "world_size": 1}
    numbers = {name: np.int16(value) for name, value in {**whole, "timeout": 0}.items()}
    more: dict[str, Any] = {"drop_last": np.bool_(True), "max_bad": np.float32(0.5)}
    with Loader(packed, transforms=[CenterCrop(8)], **numbers, **more) as loader:
        assert len(list(loader)) == len(loader) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values if "." in name],
)
def test_a_field_of_wrong_arguments_is_refused_when_it_is_made(name: str, value: Any) -> None:
    field, argument = name.split(".")
    with pytest.raises(ArgumentError, match=f"^{argument} is "):
        getattr(reader, field)(**{"member": "json", argument: value})


def test_a_part_that_torch_has_chosen_is_the_subset_of_its_numbers(packed: Path) -> None:
    whole = Dataset(packed)
    part, rest = random_split(whole, [0.5, 0.5])
    half = Subset(part, range(0, len(part), 2))
    chosen = [part.indices[number] for number in half.indices]
    for given, numbers in ((half, chosen), (rest, rest.indices)):
        assert only(given, batch_size=39, fields=["key"]) == ([whole.keys[n] for n in numbers],)
