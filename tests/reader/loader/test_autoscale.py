"""The number of workers settles where more are of no use and fewer too few."""

from pathlib import Path
from typing import Any

import pytest
from counted import statistics_of
from delivered import AUGMENT, augmented, digest, slow
from hypothesis import given
from hypothesis import strategies as st

from reader import Statistics
from reader.loader.autoscale import Choice, choose


def run(workers: int, step: float, work: float, saturated: float = float("inf")) -> Statistics:
    """A second of a loop whose steps take `step` seconds an image and whose workers `work`.

    Whatever the workers, storage gives no more than `saturated` images a second.
    """
    rate = min(1 / step, workers / work, saturated)
    spent = workers * 1.0 if rate < 1 / step else rate * work
    return statistics_of(
        batches=10,
        samples=round(rate * 1000),
        elapsed=1000.0,
        waited=1000 * (1 - rate * step),
        worker_seconds=1000.0 * workers,
        busy=1000 * spent,
        cpu=1000 * spent,
        workers=workers,
        cores=64,
    )


def settled(choice: Choice, step: float, work: float, saturated: float = float("inf")) -> Choice:
    for _ in range(100):
        following = choose(choice, run(choice.workers, step, work, saturated))
        if following == choice:
            return choice
        choice = following
    raise AssertionError(f"it never settles: {choice}")


def test_it_begins_with_two_workers_if_there_are_cores() -> None:
    assert Choice.first(8).workers == 2
    assert Choice.first(1).workers == 1


def test_it_grows_to_what_the_consumer_needs_and_at_most_doubles_at_a_time() -> None:
    assert settled(Choice.first(64), step=0.001, work=0.01).workers in (10, 11)
    assert settled(Choice.first(16), step=1e-6, work=0.01).workers == 16  # it only waits
    assert choose(Choice.first(64), run(2, 1e-6, 0.01)).workers == 4


def test_growth_of_no_use_is_taken_back_and_not_tried_again() -> None:
    choice = settled(Choice.first(64), step=1e-6, work=0.01, saturated=400)
    assert choice.workers == 4
    assert choice.ceiling == 4
    assert choice.renewed(64).ceiling == 64


def test_a_consumer_at_ease_gets_fewer_workers() -> None:
    choice = choose(Choice(16, 16), run(16, step=0.01, work=0.02))
    assert choice.workers == 3  # of which it uses two


def test_workers_that_were_too_few_are_not_tried_again() -> None:
    shrunk = choose(Choice(8, 8), run(8, step=0.01, work=0.02))
    assert shrunk.workers == 3
    grown = choose(shrunk, run(3, step=0.01, work=0.05))
    assert grown.workers > 3
    assert choose(grown, run(grown.workers, step=0.01, work=0.02)).workers == grown.workers


def test_it_stays_while_workers_are_being_started_or_nothing_was_read() -> None:
    counts = {"batches": 3, "samples": 30, "elapsed": 1.0, "waited": 0.9, "worker_seconds": 2.0}
    for seen in (statistics_of(**counts, busy=0.3, workers=2), Statistics()):
        assert choose(Choice.first(8), seen) == Choice.first(8)


@given(
    cores=st.integers(1, 200),
    step=st.floats(1e-5, 1e-1),
    work=st.floats(1e-4, 1e-1),
    saturated=st.sampled_from([100.0, 1000.0, float("inf")]),
)
def test_it_always_settles_within_the_cores(
    cores: int, step: float, work: float, saturated: float
) -> None:
    choice = settled(Choice.first(cores), step, work, saturated)
    assert 1 <= choice.workers <= cores


@pytest.mark.parametrize("cores", [1, 3, 12])
def test_it_is_as_fast_as_all_cores_would_be(cores: int) -> None:
    for step in (1e-5, 1e-3, 1e-2, 1e-1):
        workers = settled(Choice.first(cores), step, work=0.01).workers
        best = run(cores, step, 0.01).images_per_second
        assert run(workers, step, 0.01).images_per_second > 0.9 * best


def test_auto_settles_on_more_workers_and_delivers_what_a_number_of_them_would(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reader.loader.pipeline.usable_cores", lambda: 4)

    def read(workers: Any, seconds: float) -> tuple[str, set[int]]:
        seen, numbers = [], set()
        options = {"transforms": (slow(seconds), *AUGMENT), "epochs": 8, "batch_size": 8}
        with augmented(packed, workers=workers, **options) as loader:
            for batch in loader:
                seen.append(digest([batch]))
                numbers.add(loader.statistics().workers)
        return digest([seen]), numbers

    found, numbers = read("auto", 0.008)
    assert numbers == {2, 4}
    assert read(3, 0) == (found, {3})
