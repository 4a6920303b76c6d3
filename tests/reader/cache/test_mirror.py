"""A shard in the cache: what is taken of it is what was to be taken."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reader import Dataset
from reader.cache.files import CachedFiles
from reader.cache.mirror import MirroredShard
from reader.cache.quota import DiskQuota
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("needs_store")


def nobody(row: int) -> bool:
    return False


@pytest.mark.parametrize("beside", [1, -1])
def test_who_gives_up_what_another_process_has_given_up_leaves_what_lies_beside_it(
    packed: Path, opened: Callable[..., Dataset], tmp_path: Path, beside: int
) -> None:
    dataset = opened(cache_dir=tmp_path)
    for number in range(len(dataset)):
        dataset[number]
    entry = Manifest.load(packed).shards[0]
    quota = DiskQuota(tmp_path, 10**8)
    files = CachedFiles.of(dataset.folder, Manifest.load(packed))
    ours, theirs = (MirroredShard(files, 0) for _ in range(2))
    begin, end = ours.spans
    kept = 4 + beside
    assert ours.evict(4 - beside, quota, nobody) >= 0
    assert ours.evict(4, quota, nobody) >= 0  # now `kept` is alone there beside it
    assert theirs.evict(4, quota, nobody) == 0
    span = slice(int(begin[kept]), int(end[kept]))
    assert theirs.rows.present().tolist() == [row not in (4, 4 - beside) for row in range(10)]
    in_cache = (dataset.folder / entry.file).read_bytes()
    assert in_cache[span] == (packed / entry.file).read_bytes()[span]
