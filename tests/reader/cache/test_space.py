"""What stays in the cache: the work of choosing it grows as what is read, not as the dataset."""

import asyncio
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from growth import assert_linear
from PIL import Image

from reader.cache.files import CachedFiles
from reader.cache.messages import Begin, Join
from reader.cache.mirror import Mirror
from reader.cache.opening import opened
from reader.cache.quota import DiskQuota
from reader.cache.ranges import Part, kept_bytes
from reader.cache.schedule import Client, Schedule
from reader.cache.space import Space
from reader.order.access import AccessPattern
from reader.order.shuffle import GlobalShuffle
from reader.order.steps import Steps
from reader.store.client import Store

pytestmark = pytest.mark.usefixtures("needs_store")


def read_all(mirror: Mirror, quota: DiskQuota, epochs: int) -> tuple[int, int]:
    """Read epochs as a fetcher does that is always in time; return parts that came, and hits."""
    numbers = mirror.numbers(None)
    space = Space(quota, mirror)
    space.read(numbers)
    sizes = tuple(mirror.shards[number].samples for number in numbers)
    order, came, hits = GlobalShuffle(sum(sizes), 3), 0, 0
    steps = Steps(epochs * order.count, 1, 0, 1, False)
    client = Client(numbers, Join(None, quota.limit))
    schedule = Schedule(
        Begin(0, AccessPattern(order, steps, sizes), 1), client, mirror, quota.limit
    )
    schedule.most = schedule.window.ahead * space.open_window(schedule.window.transit)
    for step in range(len(steps)):
        while schedule.done <= step + 1 and (part := schedule.peek()) is not None:
            shard = mirror.shard(part.shard)
            is_absent = bool(shard.rows.absent(part.first, part.stop))
            if is_absent:
                fetch(space, mirror, part)
            schedule.pop(part.stop, space.need(part))
            came, hits = came + is_absent, hits + (not is_absent)
        space.let_go(schedule.take(step + 1))
    return came, hits


def fetch(space: Space, mirror: Mirror, part: Part) -> None:
    shard, rows = mirror.shard(part.shard), [*range(part.first, part.stop)]
    stay = space.admit(shard, part, rows, is_urgent=False)
    assert stay is not None
    for row in rows:
        shard.rows.fill(row, is_moved=bool(stay.runs))
    space.came(stay)


@pytest.mark.parametrize(
    "direction", ["samples", pytest.param("cache limit", marks=pytest.mark.slow)]
)
def test_what_stays_in_a_bounded_cache_is_chosen(
    direction: str,
    write_samples: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reader.cache.space._PAUSE_SECONDS", 10**9)  # it depends on no clock
    image, caches = encode(make_image(0, 8, 8), "PNG"), count()

    def use(n: int) -> Callable[[], object]:
        total, share = (n, 0.5) if direction == "samples" else (144, n / 288)
        samples = {f"{number:03d}": {"png": image, "bin": bytes(30_000)} for number in range(total)}
        quota = DiskQuota(tmp_path / f"cache{next(caches)}", 10**9)
        store = Store(f"file://{write_samples(samples)}", {}, None)
        place = asyncio.run(opened(store, quota, None, lambda *_: None))
        mirror = Mirror(CachedFiles.of(place.folder, place.manifest), quota)
        data = sum(shard.bytes for shard in mirror.shards)
        quota.limit = kept_bytes(mirror.shards) + int(data * share)

        def run() -> None:
            came, hits = read_all(mirror, quota, 3)
            assert total < came < 3 * total  # some of it was kept, and some streamed
            assert hits > total * share
            assert quota.taken <= quota.limit

        return run

    # A shuffle of 72 (9 x 8) or 144 (12 x 12) samples skips no numbers.
    assert_linear(use, 72, allocations=direction != "samples")


def test_nothing_of_a_cache_that_has_room_for_all_is_evicted(packed: Path, tmp_path: Path) -> None:
    quota = DiskQuota(tmp_path, 10**9)
    place = asyncio.run(opened(Store(f"file://{packed}", {}, None), quota, None, lambda *_: None))
    mirror = Mirror(CachedFiles.of(place.folder, place.manifest), quota)
    assert read_all(mirror, quota, 3) == (39, 2 * 39)
    assert all(mirror.rows(number).present().all() for number in range(4))
