"""A cache that keeps a share of the data serves that share of every epoch, as a server counts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from store_server import serving

import reader
from reader import Dataset, Loader

pytestmark = pytest.mark.usefixtures("needs_store")

COUNT = 160
SIZE = 100_000  # bytes of a sample
EPOCHS = 4


@pytest.fixture
def folder(
    write_samples: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """160 samples of 100 kB, nearly all of it a member that is not decoded."""
    rng = np.random.default_rng(2)
    image = encode(make_image(0, 8, 8), "PNG")
    samples = {f"{n:03d}": {"png": image, "bin": rng.bytes(SIZE)} for n in range(COUNT)}
    return write_samples(samples, shard_samples=40)


@pytest.mark.filterwarnings("ignore:This loop waits for the network")  # on a busy machine
@pytest.mark.parametrize(
    "share",
    [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.1, 0.25, 0.75, 0.9))],
)
def test_as_much_of_an_epoch_is_served_by_the_cache_as_it_holds(
    folder: Path, tmp_path: Path, share: float
) -> None:
    content = sum(path.stat().st_size for path in folder.glob("*.tar"))
    fields = ("index", reader.Member("bin", decode=len))
    hits = []
    with serving(folder) as server:
        opened = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=content * 2)
        indexes = sum(path.stat().st_blocks * 512 for path in (tmp_path / "cache").rglob("*"))
        opened.fetching.close()
        limit = indexes + int(share * content)
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=limit)
        with Loader(
            dataset, batch_size=2, shuffle=True, seed=1, workers=0, fields=fields
        ) as loader:
            for _ in range(1 + EPOCHS):
                before = len(server.tars)
                for _, sizes in loader:
                    assert set(sizes.tolist()) == {SIZE}
                fetched = sum(stop - first for _, first, stop in server.tars[before:])
                hits.append(1 - fetched / content)
        dataset.fetching.close()
    of_epochs = ", ".join(f"{hit:.1%}" for hit in hits)
    mean = float(np.mean(hits[1:]))
    print(f"cache {share:.0%}: hits {mean:.1%} of epochs 2 to {1 + EPOCHS}; of each: {of_epochs}")
    # An eighth of a small cache is its transit window, which is for what is fetched ahead, and four
    # samples, with the blocks at their ends.
    assert 7 / 8 * share - 0.04 - 1 / COUNT < mean < share + 0.02
