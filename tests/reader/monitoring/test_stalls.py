"""What is said of workers that do not get on, and when."""

import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from reader import Dataset, WorkerError
from reader.monitoring.stalls import PATIENCE, TICK, StallDetector, WorkerState, within
from reader.workers.progress import CurrentSample, ProgressBoard

IDLE = CurrentSample(-1, -1)
HERE = os.getpid()


def hands(*notes: CurrentSample, is_ready: bool = True) -> list[WorkerState]:
    return [WorkerState(HERE, is_ready, *note) for note in notes]


def look(watch: StallDetector, seen: Sequence[WorkerState], seconds: float) -> list[str]:
    """The warnings that come of so many seconds without news."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(int(seconds / watch.tick)):
            watch.look(seen)
    return [str(warning.message) for warning in caught]


def test_a_stall_is_warned_of_once_when_patience_is_over(packed: Path) -> None:
    watch = StallDetector(Dataset(packed), timeout=0)
    stuck = hands(CurrentSample(3, 17), IDLE)
    assert look(watch, stuck, PATIENCE) == []
    (text,) = look(watch, stuck, 10 * PATIENCE)
    dataset = Dataset(packed)
    shard = dataset.locate(17)[0].path
    assert (
        f"worker {HERE} is computing and has sample 17 {dataset.keys[17]!r} of {shard} for" in text
    )
    assert "timeout=" in text
    assert look(watch, hands(CurrentSample(4, 20)), PATIENCE) == []
    assert len(look(watch, hands(CurrentSample(4, 20)), PATIENCE)) == 1


def test_one_worker_that_gets_on_is_progress(packed: Path) -> None:
    watch = StallDetector(Dataset(packed), timeout=PATIENCE)
    for number in range(100):
        seen = hands(CurrentSample(0, 5), CurrentSample(1, number % 39))
        assert look(watch, seen, PATIENCE / 3) == []


MANY = [CurrentSample(number, number) for number in range(30)]


@pytest.mark.parametrize(
    ("notes", "named", "count"),
    [
        ([CurrentSample(0, 38)], r"timeout=5 .* sample 38 '.*' of .*\.tar", 1),
        ([IDLE, CurrentSample(0, 5)], "^(?!.*has no sample).* sample 5 ", 1),
        ([IDLE], "has no sample", 0),
        (MANY, "; 26 more workers have", 4),
    ],
    ids=["one", "one of two", "idle", "many"],
)
def test_a_timeout_is_an_error_that_names_who_holds_what(
    packed: Path, notes: list[CurrentSample], named: str, count: int
) -> None:
    watch = StallDetector(Dataset(packed), timeout=5)
    assert look(watch, hands(*notes), 5) == []
    with pytest.raises(WorkerError, match=named) as caught:
        look(watch, hands(*notes), 5)
    assert str(caught.value).count("is computing and has sample") == count


def test_workers_that_start_are_given_the_time_for_it(packed: Path) -> None:
    watch = StallDetector(Dataset(packed), timeout=2 * TICK)
    starting = hands(IDLE, is_ready=False)
    assert look(watch, starting, PATIENCE) == []
    with pytest.raises(WorkerError, match="has not yet started"):
        look(watch, starting, 2 * TICK)


def test_without_its_shards_a_sample_is_named_by_number_and_tar(packed_copy: Path) -> None:
    dataset = Dataset(packed_copy)
    for path in packed_copy.glob("*.safetensors"):
        path.unlink()
    watch = StallDetector(dataset, timeout=2)
    with pytest.raises(WorkerError, match=r"sample 5 of .*shard-000000\.tar"):
        look(watch, hands(CurrentSample(0, 5)), 10)


def test_what_is_noted_in_a_place_is_read_by_whoever_maps_the_board() -> None:
    board = ProgressBoard.create()
    other = ProgressBoard(board.descriptor)
    mine, neighbour = board.slot(3), board.slot(4)
    assert other.slot(3).read() == (-1, -1)
    mine.begin(0, 7)
    neighbour.begin(2**40, 2**50)
    assert other.slot(3).read() == CurrentSample(0, 7)
    mine.turn_to(0)
    assert other.slot(3).read() == CurrentSample(0, 0)
    mine.end()
    assert other.slot(3).read() == (-1, -1)
    assert other.slot(4).read() == CurrentSample(2**40, 2**50)
    board.close()
    board.close()


def test_a_call_is_given_its_time_though_this_process_was_stopped_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_over, join = threading.Event(), threading.Thread.join
    waits: list[float] = []

    def join_late(thread: threading.Thread, seconds: float) -> None:
        """The first wait is over at once, as where the process was stopped in it."""
        waits.append(seconds)
        if len(waits) > 1:
            is_over.set()
            join(thread, seconds)

    monkeypatch.setattr(threading.Thread, "join", join_late)
    assert within(20 * TICK, lambda: is_over.wait() and "done", lambda: "given up") == "done"
