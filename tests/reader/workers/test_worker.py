"""What a worker answers: rows, or what went wrong with them."""

import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import delivered
import pytest
import torch
from delivered import COUNT, CROP, in_a_worker, load

from reader import CenterCrop, Dataset, Geometry, Loader, ReaderError, SampleError, WorkerError

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_workers_that_cannot_be_set_up_close_the_loader(packed: Path) -> None:
    class Unloadable(CenterCrop):
        def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
            def load() -> None:
                raise RuntimeError("it is not here")

            return load, ()

    with Loader(packed, workers=2, transforms=[Unloadable(8)]) as loader:
        with pytest.raises(WorkerError, match="it is not here"):
            list(loader)
        with pytest.raises(ReaderError, match="closed"):
            iter(loader)


def test_a_transform_that_cannot_be_sent_leaves_nothing_behind(packed: Path) -> None:
    class Locked(CenterCrop):
        def __init__(self) -> None:
            super().__init__(8)
            object.__setattr__(self, "lock", threading.Lock())

    with pytest.raises(TypeError, match="pickle"):
        Loader(packed, workers=2, transforms=[Locked()])


def test_an_exception_in_a_transform_comes_with_its_traceback_and_the_loader_goes_on(
    packed: Path, truth: list[tuple[torch.Tensor, int, str]]
) -> None:
    def refuse(geometry: Geometry) -> None:
        if geometry.height == 78:
            raise ZeroDivisionError("no image of 78 rows")

    heights = Dataset(packed).columns("height")["height"].tolist()
    assert 0 < heights.count(78) < COUNT
    options: dict[str, Any] = {"transforms": [in_a_worker(refuse), CROP], "batch_size": 1}
    with load(packed, workers=2, fields=["image", "index"], **options) as loader:
        for _ in range(2):
            batches = iter(loader)
            for number in range(COUNT):
                if heights[number] != 78:
                    image, index = next(batches)
                    assert int(index) == number
                    assert torch.equal(image[0], truth[number][0])
                    continue
                with pytest.raises(ZeroDivisionError, match="no image of 78 rows") as caught:
                    next(batches)
                assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "refuse"
            assert next(batches, None) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("out of memory"), ValueError),
        (RuntimeError("Failed to allocate a name"), RuntimeError),
        (MemoryError(), WorkerError),
        (OSError("out of memory error when reading image file"), WorkerError),
    ],
    ids=repr,
)
def test_an_error_of_the_users_is_a_lack_of_memory_by_its_type_alone(
    packed: Path, error: Exception, kind: type[Exception]
) -> None:
    here = os.getpid()

    def refuse(sample: object) -> object:
        if os.getpid() != here:
            raise error
        return sample

    with Loader(packed, workers=1, transforms=[CROP], map_sample=refuse) as loader:
        with pytest.raises(kind) as caught:
            list(loader)
        text = "".join(traceback.format_exception(caught.value))
        assert ("Memory ran out" in text) is (kind is WorkerError)
        assert f"sample 0 {loader.dataset.keys[0]!r} of " in text


def test_a_transform_that_gives_an_unforeseen_size_is_an_error(packed: Path) -> None:
    def grow(geometry: Geometry) -> None:
        geometry.resize(500, 500)

    with (
        Loader(packed, workers=1, transforms=[CROP, in_a_worker(grow)]) as loader,
        pytest.raises(SampleError, match="500 x 500"),
    ):
        list(loader)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_damaged_sample_is_named_and_all_other_batches_come(
    packed_copy: Path, batch_size: int
) -> None:
    delivered.damage(packed_copy, 17)
    shard, row = Dataset(packed_copy).locate(17)
    place = str(shard.path), repr(shard.index.key(row)), str(shard.index.columns["offset"][row])
    with load(packed_copy, batch_size=batch_size, workers=2, fields=["index", "image"]) as loader:
        for _ in range(2):
            iterator, seen, errors = iter(loader), [], []
            for _ in range(len(loader)):
                try:
                    seen += next(iterator)[0].tolist()
                except SampleError as error:
                    errors.append(str(error))
            (told,) = errors
            assert all(part in told for part in place)
            first = 17 - 17 % batch_size
            assert seen == [n for n in range(COUNT) if n not in range(first, first + batch_size)]
