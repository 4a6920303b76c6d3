"""The sentence that says what holds a loader back."""

from typing import Any

import pytest

from reader import Statistics


def statistics(**changes: Any) -> Statistics:
    counts: dict[str, Any] = {
        "batches": 100,
        "samples": 800,
        "workers": 4,
        "restarts": 0,
        "slots": 18,
        "slot_bytes": 4096,
        "copied": 0,
        "elapsed": 10.0,
        "waited": 0.0,
        "busy": 0.0,
    }
    return Statistics(**{**counts, **changes})


def test_nothing_is_said_before_anything_was_read() -> None:
    assert "Nothing" in statistics(batches=0, samples=0, elapsed=0.0).bottleneck


def test_a_consumer_that_never_waits_is_the_bottleneck() -> None:
    sentence = statistics(waited=0.1, busy=30.0).bottleneck
    assert sentence.startswith("consumer-bound")
    assert "75%" in sentence
    assert "1%" in sentence


@pytest.mark.parametrize(("waited", "more"), [(5.0, 4), (2.0, 1), (9.0, 36), (0.6, 1)])
def test_busy_workers_are_the_bottleneck_and_their_lack_is_told(waited: float, more: int) -> None:
    sentence = statistics(waited=waited, busy=39.0).bottleneck
    assert sentence.startswith("decode-bound")
    assert f" {more} more worker" in sentence


def test_idle_workers_and_a_waiting_consumer_point_to_storage() -> None:
    assert "storage" in statistics(waited=5.0, busy=10.0).bottleneck
