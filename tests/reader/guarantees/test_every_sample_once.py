"""In an epoch every sample comes once over all ranks, and padding is marked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, CROP, augmented, indexes, valid_rows
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


@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_the_ranks_share_an_epoch_in_the_order_of_one(packed: Path, world_size: int) -> None:
    with augmented(packed, workers=0) as loader:
        expected = valid_rows(loader)
    ranks = []
    for rank in range(world_size):
        with augmented(packed, workers=0, rank=rank, world_size=world_size) as loader:
            assert (loader.rank, loader.world_size) == (rank, world_size)
            ranks.append(list(loader))
            assert len(loader) == len(ranks[-1]) == -(-COUNT // (4 * world_size))
    steps = list(zip(*ranks, strict=True))
    assert valid_rows(batch for step in steps for batch in step) == expected
    for step in steps:
        assert len({len(batch[0]) for batch in step}) == 1
    padding = sum(int((~valid).sum()) for rank in ranks for _, _, _, valid, _ in rank)
    assert padding == -COUNT % world_size
    seen = {number for rank in ranks for number in indexes(rank, 2)}
    assert seen == set(range(COUNT))  # padding repeats samples


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
