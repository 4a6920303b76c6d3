"""In an epoch every sample comes once over all ranks, and padding is marked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, CROP, augmented, indexes
from made_images import encode, make_image

from reader import Loader

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 8, 39, 100])
def test_an_epoch_has_every_sample_in_batches_of_any_size(
    packed: Path, size: int, drop_last: bool
) -> None:
    whole, rest = divmod(COUNT, size)
    sizes = [size] * whole + [rest] * (rest > 0 and not drop_last)
    if not sizes:
        pytest.skip("which is refused")
    options: dict[str, Any] = {"shuffle": True, "drop_last": drop_last, "fields": ["index"]}
    with Loader(packed, batch_size=size, workers=0, transforms=[CROP], **options) as loader:
        for _ in range(2):
            batches = list(loader)
            assert [len(index) for (index,) in batches] == sizes
            assert len(loader) == len(sizes)
            assert len(set(indexes(batches))) == sum(sizes)


def test_more_ranks_than_samples_pad_whole_batches(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset({f"{n}.png": encode(make_image(n), "PNG") for n in range(2)})
    valid = []
    for rank in range(3):
        with augmented(folder, workers=0, rank=rank, world_size=3) as loader:
            ((image, _, _, rows, _),) = loader
            valid += rows.tolist()
            assert image.any()
    assert valid == [True, True, False]


def test_drop_last_gives_every_rank_whole_batches_of_its_own_samples(packed: Path) -> None:
    seen: list[int] = []
    for rank in range(3):
        with augmented(packed, workers=0, rank=rank, world_size=3, drop_last=True) as loader:
            for _, _, index, valid, _ in loader:
                assert len(index) == 4
                assert valid.all()
                seen += index.tolist()
    assert len(set(seen)) == len(seen) == 36
