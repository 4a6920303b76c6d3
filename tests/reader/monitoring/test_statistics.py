"""What a loader counts, and the sentence that says what holds it back."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from counted import statistics_of
from delivered import slow
from made_images import encode, make_image

from reader import CenterCrop, Loader, Statistics, Transform

CROP = CenterCrop((48, 64))


def statistics(**changes: Any) -> Statistics:
    """Ten seconds of four workers, all of which decoding took, unless `changes` tell otherwise."""
    counts = {"batches": 100, "samples": 800, "workers": 4, "cores": 64, "elapsed": 10.0}
    counts |= {"worker_seconds": 40.0, "cpu": 39.0, "busy": 39.0}
    return statistics_of(**{**counts, **changes})


def test_statistics_print_as_a_table_that_ends_with_the_bottleneck() -> None:
    seen = statistics(read=3.0, transform=6.0, read_bytes=88_000_000, slots=6, slot_bytes=10**6)
    assert str(seen).splitlines() == [
        "read        800 samples in 100 batches, 80 images/s",
        "consumer    waited 0.00 s of 10.00 s (0%)",
        "workers     4 on 64 cores, busy 98% of 40.00 s",
        "their work  decode 30.00 s, transforms 6.00 s, reading 3.00 s (88.0 MB)",
        "ready       0 of 6 batches, of 1.0 MB each",
        seen.bottleneck,
    ]
    troubled = str(statistics(bad=2, dropped_boxes=1_234, restarts=1)).splitlines()
    assert troubled[5:-1] == [
        "besides     samples that could not be read: 2; boxes dropped: 1,234; workers replaced: 1"
    ]


def test_workers_are_never_busier_than_the_whole_time() -> None:
    # Of a store, most is done ahead while nobody asks: then no loop's time is counted.
    assert "busy 100% of 40.00 s" in str(statistics(busy=70.0))


def test_a_notebook_shows_them_as_a_table() -> None:
    page = statistics(bad=2)._repr_html_()
    assert "<th" in page
    assert "samples that could not be read: 2" in page
    assert statistics().bottleneck.split(":")[0] in page


SLOW_DISK = {"waited": 5.0, "read": 28.0, "cpu": 9.0, "read_bytes": 3e8}
SLOW_STORE = {"waited": 9.0, "waiting": 30.0, "requests": 1000, "asking": 98.0}
SLOW_STORE["fetched_bytes"] = 250_000_000


# What the sentence names, and a part of it, or with a full stop its end.
TOLD: list[tuple[str, dict[str, Any], str]] = [
    ("consumer", {"waited": 0.1, "busy": 30.0}, "consumer-bound: workers busy 75%, the consumer"),
    ("consumer", {"waited": 0.1, "busy": 30.0}, "waited 1% of the time; the reader keeps up."),
    ("consumer", {"waited": 0.1, "busy": 12.0}, "workers=2 would be enough."),
    ("consumer", {"waited": 0.1, "busy": 0.5}, "workers=1 would be enough."),
    # Slow steps after a first batch that was waited for.
    (
        "consumer",
        {"waited": 1.2, "waited_first": 1.0, "busy": 2.0},
        "keeps up; workers=1 would be enough.",
    ),
    ("decode", {"waited": 5.0}, "decode-bound: workers busy 98%, the consumer waited 50% of"),
    ("decode", {"waited": 5.0}, "the consumer waited 50% of the time; workers=8 would keep up."),
    ("decode", {"waited": 2.0}, "workers=5 would keep up."),
    ("decode", {"waited": 9.0}, "workers=39 would keep up."),
    ("decode", {"waited": 5.0, "workers": 0}, "the work itself (workers=0): leave workers= out."),
    ("decode", {"waited": 0.6}, "workers=5 would keep up."),
    ("decode", {"waited": 9.9, "busy": 40.0}, "each further worker adds about 20 images/s."),
    ("decode", {"waited": 5.0, "cores": 6}, "keep up, but there are only 6 usable cores."),
    ("decode", {"waited": 5.0, "cpu": 20.0}, "got 51% of a core, so free some cores; more"),
    ("decode", {"waited": 5.0, "cpu": 20.0}, "more workers would not help."),
    (
        "decode",
        {"waited": 9.0, "waiting": 15.6},
        "store 40% of their time; workers=39 would keep up.",
    ),
    # Time in which workers waited for a store is no lack of cores.
    ("decode", {"waited": 5.0, "waiting": 15.0, "cpu": 24.0}, "workers=8 would keep up."),
    ("splice", {"waited": 5.0, "work": "splice"}, "splice-bound: workers busy 98%"),
    ("transform", {"waited": 5.0, "transform": 30.0}, "transforms took 77% of the workers' time"),
    ("transform", {"waited": 5.0, "transform": 30.0}, "of the time; workers=8 would keep up."),
    ("storage", SLOW_DISK, "reading took 72% of the workers' time at 30 MB/s"),
    ("store", SLOW_STORE, "77% of their time, with 10 requests in flight at 98 ms and 25.0 MB/s"),
    ("start-up", {"waited": 5.0, "busy": 10.0, "restarts": 3}, "3 died"),
    ("start-up", {"waited": 6.0, "waited_first": 5.9, "busy": 2.0}, "being started, or"),
    ("start-up", {"waited": 2.2, "waited_first": 1.0, "busy": 2.0}, "being started, or"),
]


@pytest.mark.parametrize(("bound_by", "changes", "told"), TOLD)
def test_the_bottleneck_is_told_with_its_figures_and_a_remedy(
    bound_by: str, changes: dict[str, Any], told: str
) -> None:
    found = statistics(**changes)
    assert found.bound_by == bound_by
    assert told in found.bottleneck
    assert found.bottleneck.endswith(told) or not told.endswith(".")


def test_parts_of_the_workers_time_are_what_they_are_called() -> None:
    found = statistics(busy=30.0, read=5.0, transform=4.0, ready_sum=250)
    assert (found.decode, found.idle, found.images_per_second) == (21.0, 10.0, 80.0)
    assert (found.ready_mean, found.busy_share) == (2.5, 0.75)
    # The consumer takes 4 s for its steps on what cost the workers 40 s.
    assert statistics(waited=6.0, busy=40.0).needed_workers == 10
    assert "the store" not in statistics(waiting=0.01, waited=9.0).bottleneck
    assert (Statistics().bound_by, Statistics().bottleneck) == ("", "No batch was read yet.")


def test_since_subtracts_what_adds_up_and_keeps_what_is() -> None:
    early = statistics(batches=40, elapsed=4.0, waited=3.0, workers=2, ready=7, restarts=1)
    late = statistics(waited=3.5, ready=5, restarts=3)
    found = late.since(early)
    assert (found.batches, found.elapsed, found.waited, found.restarts) == (60, 6.0, 0.5, 2)
    assert (found.workers, found.ready) == (4, 5)


def from_slow_storage(seconds: float) -> Transform:
    """A transform that, where it is unpickled, makes each of the system's reads take that long."""

    class Throttled(CenterCrop):
        def __reduce__(self) -> tuple[Callable[..., object], tuple[float, object]]:
            def throttle(seconds: float, size: object) -> CenterCrop:
                read = os.preadv

                def preadv(*arguments: Any) -> int:
                    time.sleep(seconds)
                    return read(*arguments)

                os.preadv = preadv
                return CenterCrop(size)

            return throttle, (seconds, self.size)

    return Throttled((48, 64))


def test_a_loop_that_only_reads_is_bound_by_decoding(make_dataset: Callable[..., Path]) -> None:
    large = encode(make_image(0, 600, 800), "WEBP", lossless=True)  # which is decoded whole
    folder = make_dataset({f"{number}.webp": large for number in range(2)})
    with Loader(folder, batch_size=2, workers=1, transforms=[CROP], epochs=7) as loader:
        batches = iter(loader)
        next(batches)  # the worker has started
        before = loader.statistics()
        assert sum(1 for _ in batches) == 6
        found = loader.statistics().since(before)
    assert found.bound_by == "decode", found
    assert (found.batches, found.samples) == (6, 12)


def step(batches: Any) -> None:
    """A step that takes long, and until the next batch is ready."""
    time.sleep(0.1)
    while not batches.is_ready():
        time.sleep(0.1)


def test_a_loop_with_slow_steps_is_bound_by_them(packed: Path) -> None:
    with Loader(packed, batch_size=13, workers=2, transforms=[CROP]) as loader:
        batches: Any = iter(loader)
        next(batches)
        before = loader.statistics()
        step(batches)
        for _ in batches:
            step(batches)
        found = loader.statistics().since(before)
    assert found.bound_by == "consumer", found
    assert found.elapsed > 0.2  # the step after the last batch counts
    assert found.ready_mean > 0


@pytest.mark.parametrize(
    ("slowed", "part"), [(from_slow_storage(0.005), "storage"), (slow(0.01), "transform")]
)
def test_the_time_of_slow_storage_and_of_transforms_is_counted_as_theirs(
    packed: Path, slowed: Transform, part: str
) -> None:
    with Loader(packed, batch_size=13, workers=2, transforms=[slowed, CROP]) as loader:
        list(loader)
        before = loader.statistics()
        list(loader)
        found = loader.statistics().since(before)
    if part == "storage":
        assert found.read_bytes > 39 * 500
        assert found.read > 39 * 0.005
    else:
        assert found.transform > 39 * 0.01
    assert 0 < found.read + found.transform < found.busy
    assert 0 < found.cpu < found.busy


def test_time_between_two_epochs_is_nobodys(packed: Path) -> None:
    with Loader(packed, batch_size=13, workers=1, transforms=[CROP]) as loader:
        list(loader)
        before, began = loader.statistics(), time.perf_counter()
        time.sleep(0.1)  # validation, say
        list(loader)
        passed = time.perf_counter() - began
        found = loader.statistics().since(before)
    assert 0 < found.elapsed < passed - 0.1


def test_batches_that_are_kept_are_copied_and_counted(packed: Path) -> None:
    with Loader(packed, batch_size=1, workers=1, transforms=[CROP], epochs=3) as loader:
        kept = list(loader)
        found = loader.statistics()
    assert 0 < found.copied < len(kept)
    assert found.copying > 0
    assert found.slot_bytes >= 48 * 64 * 3


def test_workers_are_not_idle_before_they_have_started(packed: Path) -> None:
    with Loader(packed, batch_size=13, workers=2, transforms=[CROP]) as loader:
        next(iter(loader))
        found = loader.statistics()
    assert found.worker_seconds < 2 * found.elapsed
