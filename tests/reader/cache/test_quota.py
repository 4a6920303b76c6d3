"""The space of a cache: a limit that holds, what goes first, and what is never touched."""

import contextlib
import itertools
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import CROP
from PIL import Image
from store_server import StoreServer, serving

import reader
from reader import Dataset, Loader, StoreError
from reader.cache.quota import BLOCK, DiskQuota
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("needs_store")


COUNT = 96
SIZE = 20_000  # bytes of an image, about


def taken(folder: Path) -> int:
    """Bytes of disk: the least of three looks, between whose files one may go and another come."""
    looks: list[int] = []
    while len(looks) < 3:
        with contextlib.suppress(FileNotFoundError):
            looks.append(sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")))
    return min(looks)


@pytest.fixture(scope="module")
def noise(make_dataset: Callable[..., Path], encode: Callable[..., bytes]) -> Path:
    """96 images of some 20 kB, which no transcoder makes smaller, in 8 shards."""
    rng = np.random.default_rng(5)
    files = {}
    for number in range(COUNT):
        pixels = rng.integers(0, 256, (80, 84, 3), np.uint8)
        files[f"{number:03d}.png"] = encode(Image.fromarray(pixels), "PNG")
    return make_dataset(files, shard_samples=12)


@pytest.fixture(scope="module")
def content(noise: Path) -> int:
    """Bytes of all its shards."""
    return sum(path.stat().st_size for path in noise.glob("*.tar"))


def epochs(
    server: StoreServer, cache: Path, limit: int | None, count: int, **options: Any
) -> list[int]:
    """Requests for shards in each epoch; the limit is looked at after every batch.

    In this process: a worker could be ahead of what the loader has noticed of it.
    """
    dataset = Dataset(server.url, cache_dir=cache, cache_limit=limit)
    given = {"batch_size": 4, "workers": 0, "transforms": [CROP], "shuffle": True, "seed": 1}
    asked = []
    with Loader(dataset, **{**given, **options}) as loader:
        for _ in range(count):
            seen = 0
            for images, _ in loader:
                seen += len(images)
                assert limit is None or taken(cache) <= limit
            assert seen == COUNT
            asked.append(len(server.tars))
    dataset.fetching.close()
    return np.diff([0, *asked]).tolist()


def test_a_limit_holds_and_what_is_needed_last_goes_first(
    noise: Path, content: int, tmp_path: Path
) -> None:
    limit = content // 2 + 60 * BLOCK  # half of the data, and the indexes
    with serving(noise) as server:
        asked = epochs(server, tmp_path, limit, 6)
    fetched = sum(stop - first for _, first, stop in server.tars)
    assert 3 * content < fetched < 4.5 * content  # LRU would fetch 84% of it anew each time
    assert len(asked) == 6


@pytest.mark.parametrize(
    ("share", "options", "reason", "most"),
    [
        (0.5, {"shuffle": reader.BlockShuffle(3)}, "", 1.1),  # less than is read at a time
        (0.03, {}, "indexes take .* ", 1.5),
        (0.0, {}, "indexes take .* ", 1.5),
    ],
)
def test_a_limit_that_is_too_small_is_refused_with_one_that_is_enough(
    noise: Path,
    content: int,
    tmp_path: Path,
    share: float,
    options: Any,
    reason: str,
    most: float,
) -> None:
    limit = int(content * share) + 1
    with serving(noise) as server:
        with pytest.raises(StoreError, match=f"{reason}Give at least cache_limit=") as refused:
            epochs(server, tmp_path, limit, 1, **options)
        assert type(refused.value) is StoreError
        enough = int(str(refused.value).split("cache_limit=")[-1].rstrip("."))
        assert limit < enough < content * most
        epochs(server, tmp_path, enough, 2, **options)


def test_in_streams_a_rank_needs_room_for_its_own_part_alone(
    noise: Path, content: int, tmp_path: Path
) -> None:
    own = {"shuffle": reader.BlockShuffle(1, streams=8), "rank": 1, "world_size": 4}
    with serving(noise) as server:
        limit = int(0.4 * content) + 60 * BLOCK
        dataset = Dataset(server.url, cache_dir=tmp_path, cache_limit=limit)
        with Loader(dataset, batch_size=4, workers=0, transforms=[CROP], **own) as loader:
            seen = [sum(len(images) for images, _ in loader) for _ in range(3)]
        dataset.fetching.close()
        fetched = sum(stop - first for _, first, stop in server.tars)
    assert seen == [COUNT // 4] * 3
    assert fetched <= content / 4 + 10_000  # and no more from the second epoch on


def test_datasets_that_nobody_reads_go_before_what_is_read(
    noise: Path, content: int, packed: Path, tmp_path: Path
) -> None:
    with serving(packed) as other:
        dataset = Dataset(other.url, cache_dir=tmp_path)
        for number in range(len(dataset)):
            dataset[number]
        folder = dataset.folder
        with serving(noise) as server:
            limit = content + taken(folder) // 2 + 60 * BLOCK
            epochs(server, tmp_path, limit, 1)
            assert folder.is_dir()  # it is leased: half of the other one had to go
            dataset.fetching.close()
            epochs(server, tmp_path, limit, 2)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("shards", "share"),
    [
        (1, 0.75),
        (2, 0.5),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1, 0.5), (2, 0.0))),
    ],
)
def test_a_bounded_cache_asks_once_an_epoch_for_each_shard_that_it_does_not_keep(
    noise: Path, content: int, tmp_path: Path, shards: int, share: float
) -> None:
    limit = int(content * share) + 60 * BLOCK
    options = {"shuffle": reader.BlockShuffle(shards)}
    with serving(noise) as server:
        try:
            epochs(server, tmp_path, limit, 4, **options)
        except StoreError as error:  # the smallest one that is accepted
            limit = int(str(error).split("cache_limit=")[-1].rstrip("."))
            epochs(server, tmp_path, limit, 4, **options)
        asked = Counter(path for path, _, _ in server.tars)
        whole = {f"/{shard.file}": shard.samples for shard in Manifest.load(noise).shards}
        assert asked.keys() == whole.keys()
        assert max(asked.values()) <= 5  # the fifth epoch has begun
        fetched = sum(stop - first for _, first, stop in server.tars)
        assert fetched > (len(server.tars) - 1) * 11 * SIZE  # each request is for a whole shard


def test_what_is_not_of_the_cache_is_never_touched(
    noise: Path, content: int, tmp_path: Path
) -> None:
    own = tmp_path / "0123456789abcdef0123456789abcdef" / "thesis.txt"
    own.parent.mkdir()
    own.write_text("years of work" * 10**5)
    before = own.stat().st_mtime_ns
    with serving(noise) as server:
        dataset = Dataset(server.url, cache_dir=tmp_path, cache_limit=content // 3)
        for number in range(COUNT):
            dataset[number]
        dataset.fetching.close()
    assert own.stat().st_mtime_ns == before
    assert taken(dataset.folder) <= content // 3


def test_a_cache_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    reason = f"{tmp_path}/file/cache cannot hold the cache: Not a directory"
    for cache in (tmp_path / "file" / "cache", "~/file/cache"):
        with pytest.raises(StoreError, match=reason):
            Dataset("https://example.org/shards", cache_dir=cache)


def test_the_account_is_put_right_after_a_kill(tmp_path: Path) -> None:
    quota = DiskQuota(tmp_path, 10**6)
    with open(os.open(tmp_path / "tar", os.O_RDWR | os.O_CREAT), "r+b") as file:
        file.truncate(10**5)
        quota.reserve(file.fileno(), 0, 5000)
        assert quota.taken == 4 * BLOCK
        assert DiskQuota(tmp_path, 10**6).taken == 2 * BLOCK  # it is of no dataset's folder
        with pytest.raises(StoreError, match=r"is full: all 50,000 bytes.* cache_limit=110592,"):
            DiskQuota(tmp_path, 50_000).reserve(file.fileno(), 0, 10**5)


def test_loaders_of_several_orders_and_datasets_share_a_cache(
    noise: Path, content: int, packed: Path, tmp_path: Path
) -> None:
    options = {"batch_size": 4, "workers": 1, "transforms": [CROP], "epochs": 2}
    kinds = [(noise, {"shuffle": True, "seed": 1}), (noise, {"shuffle": True, "seed": 2})]
    kinds += [(packed, {"shuffle": True}), (noise, {"shuffle": reader.BlockShuffle(1)})]
    with serving(noise) as first, serving(packed) as second, contextlib.ExitStack() as open_now:
        urls = {noise: first.url, packed: second.url}
        pairs = []
        for folder, order in kinds:
            dataset = Dataset(urls[folder], cache_dir=tmp_path, cache_limit=content)
            open_now.callback(dataset.fetching.close)
            remote = open_now.enter_context(Loader(dataset, **options, **order))
            pairs.append((remote, open_now.enter_context(Loader(folder, **options, **order))))
        for batches in itertools.zip_longest(*(zip(*pair, strict=True) for pair in pairs)):
            for (images, labels), (expected, others) in filter(None, batches):
                assert torch.equal(images, expected)
                assert torch.equal(labels, others)
            assert taken(tmp_path) <= content
        assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2


@pytest.mark.parametrize(
    ("own", "is_opened_before"), [(1.0, True), (1.0, False), (0.6, True), (0.6, False)]
)
def test_a_dataset_has_room_of_another_that_fills_the_cache(
    noise: Path,
    content: int,
    make_dataset: Callable[..., Path],
    tmp_path: Path,
    own: float,
    is_opened_before: bool,
) -> None:
    """Here the other one has fewer shards, so less metadata, and perhaps a larger limit."""
    names = Dataset(noise)
    files = {f"{n:03d}.png": names.read(n, "png") for n in range(COUNT)}
    other = make_dataset(files, shard_samples=COUNT)
    limit = int(own * content)
    with serving(other) as first, serving(noise) as second, contextlib.ExitStack() as open_now:

        def opened(url: str, limit: int) -> Dataset:
            dataset = Dataset(url, cache_dir=tmp_path, cache_limit=limit)
            open_now.callback(dataset.fetching.close)
            return dataset

        filling = opened(first.url, content)
        asking = opened(second.url, limit) if is_opened_before else None
        for number in range(COUNT):
            filling[number]
        asking = asking or opened(second.url, limit)
        for number in range(COUNT):
            assert (asking[number][0] == names[number][0]).all()
        assert taken(tmp_path) <= limit


@pytest.mark.parametrize("share", [2, 0.5])
def test_raw_images_that_are_gathered_wait_for_their_shards_too(
    write_samples: Callable[..., Path], tmp_path: Path, share: float
) -> None:
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (60, 64, 80, 3), np.uint8)
    samples = {f"{number:02d}": {"raw": one.tobytes()} for number, one in enumerate(pixels)}
    folder = write_samples(samples, shard_samples=20, labels=range(60), raw=(64, 80, 3))
    options = {"batch_size": 4, "shuffle": True, "epochs": 3, "fields": ("image", "index")}
    with serving(folder) as server:
        limit = int(share * pixels.size) + 60 * BLOCK
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=limit)
        with Loader(dataset, workers=1, **options) as loader:
            for images, numbers in loader:
                expected = torch.from_numpy(pixels[numbers.numpy()]).permute(0, 3, 1, 2)
                assert torch.equal(images, expected)
        dataset.fetching.close()


@pytest.fixture
def samples(
    write_samples: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """160 samples of 100 kB, nearly all of it a member that is not decoded."""
    rng = np.random.default_rng(2)
    image = encode(make_image(0, 8, 8), "PNG")
    found = {f"{n:03d}": {"png": image, "bin": rng.bytes(100_000)} for n in range(160)}
    return write_samples(found, shard_samples=40)


@pytest.mark.filterwarnings("ignore:This loop waits for the network")  # on a busy machine
@pytest.mark.parametrize(
    "share",
    [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.1, 0.25, 0.75, 0.9))],
)
def test_as_much_of_an_epoch_is_served_by_the_cache_as_it_holds(
    samples: Path, tmp_path: Path, share: float
) -> None:
    content = sum(path.stat().st_size for path in samples.glob("*.tar"))
    fields = ("index", reader.Member("bin", decode=len))
    hits = []
    with serving(samples) as server:
        opened = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=content * 2)
        indexes = sum(path.stat().st_blocks * 512 for path in (tmp_path / "cache").rglob("*"))
        opened.fetching.close()
        limit = indexes + int(share * content)
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", cache_limit=limit)
        with Loader(
            dataset, batch_size=2, shuffle=True, seed=1, workers=0, fields=fields
        ) as loader:
            for _ in range(5):
                before = len(server.tars)
                for _, sizes in loader:
                    assert set(sizes.tolist()) == {100_000}
                fetched = sum(stop - first for _, first, stop in server.tars[before:])
                hits.append(1 - fetched / content)
        dataset.fetching.close()
    of_epochs = ", ".join(f"{hit:.1%}" for hit in hits)
    mean = float(np.mean(hits[1:]))
    print(f"cache {share:.0%}: hits {mean:.1%} of epochs 2 to 5; of each: {of_epochs}")
    # An eighth of a small cache is its transit window, which is for what is fetched ahead, and four
    # samples, with the blocks at their ends.
    assert 7 / 8 * share - 0.04 - 1 / 160 < mean < share + 0.02
