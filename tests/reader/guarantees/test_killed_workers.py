"""Workers that are killed at any moment change nothing, or are told of."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from delivered import AUGMENT, COUNT, CROP, augmented, digest, in_a_worker, slow
from live_workers import started, workers

from reader import Dataset, Geometry, Loader, ReaderError, WorkerError

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_workers_that_are_killed_in_mid_epoch_change_nothing(packed: Path) -> None:
    options: dict[str, Any] = {"transforms": (slow(), *AUGMENT), "workers": 2}
    with augmented(packed, **options) as loader:
        expected = [digest(loader) for _ in range(3)]
        assert loader.statistics().restarts == 0
    with augmented(packed, **options) as loader:
        for number in range(3):
            found = []
            for step, batch in enumerate(loader):
                found.append(batch)
                # One that was killed is replaced when its end is seen.
                if step % 3 == number and (alive := workers()):
                    alive[step % len(alive)].kill()
            assert digest(found) == expected[number]
        assert loader.statistics().restarts > 3


def test_all_workers_killed_at_once_after_hours_or_one_between_two_epochs_are_replaced(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic
    with augmented(packed, workers=3, transforms=(slow(), *AUGMENT)) as loader:
        expected = [digest(loader) for _ in range(3)]
        loader.set_epoch(0)
        for epoch, hours in enumerate((0, 2)):
            iterator = iter(loader)
            found = [next(iterator)]
            monkeypatch.setattr(time, "monotonic", lambda hours=hours: now() + 3600 * hours)
            for worker in workers():
                worker.kill()
            found += iterator
            assert digest(found) == expected[epoch]
            assert len(workers()) == 3
        before = loader.statistics().restarts
        time.sleep(0.3)  # idle by now, or not: neither must matter
        killed = workers()[0]
        killed.kill()
        killed.wait()
        assert digest(loader) == expected[2]
        assert loader.statistics().restarts == before + 1


def test_workers_killed_before_they_are_ready_are_replaced(packed: Path) -> None:
    with augmented(packed, workers=2) as loader:
        for worker in started(2):
            worker.kill()
        for _ in range(2):  # on a busy machine one of them may have decoded the first epoch
            assert len(list(loader)) == 10
        assert loader.statistics().restarts >= 2


def test_a_sample_that_kills_every_worker_is_named_and_closes_the_loader(packed: Path) -> None:
    dataset = Dataset(packed)
    deadly = next(number for number in range(10, COUNT) if dataset[number][0].shape[0] == 78)

    def die(geometry: Geometry) -> None:
        if geometry.height == 78:
            os.kill(os.getpid(), signal.SIGKILL)

    with Loader(packed, workers=1, transforms=[in_a_worker(die), CROP], fields=["index"]) as loader:
        loader.load_state_dict({**loader.state_dict(), "position": deadly})
        with pytest.raises(WorkerError, match=rf"SIGKILL.* sample {deadly} '.*' of .*\.tar"):
            list(loader)
        with pytest.raises(ReaderError, match="closed"):
            next(iter(loader))
