"""Every task ends exactly once, whatever becomes of the workers."""

import gc
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from delivered import slow
from live_workers import workers
from other_process import done_by_a_fork, wait_until

from reader import CenterCrop, Dataset, Geometry, SampleError, Transform, WorkerError
from reader.batch.ring import RingMemory
from reader.fields.built_in import BUILT_IN
from reader.fields.columns import BatchSchema
from reader.fields.field import Recipe
from reader.rng import SampleRandom
from reader.workers.messages import Done, Failed, Setup, Task
from reader.workers.pool import Pool, failure

FIELDS = BUILT_IN["image"], BUILT_IN["label"]
SCHEMA = BatchSchema.of_images(4, (16, 16))
LAYOUT = SCHEMA.layout
SLOTS = 6

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture
def start(packed: Path) -> Iterator[Callable[..., Pool]]:
    """`start(workers, *transforms, memory=...)`: a pool over `packed`."""
    with ExitStack() as stack:

        def make(workers: int, *transforms: Transform, memory: RingMemory | None = None) -> Pool:
            if memory is None:
                memory = stack.enter_context(closing(RingMemory.create(SLOTS, LAYOUT)))
            setup = Setup(
                Dataset(packed), Recipe((*transforms, CenterCrop(16)), 0, FIELDS), SLOTS, SCHEMA
            )
            return stack.enter_context(closing(Pool(workers, setup, memory.descriptor)))

        yield make


def tasks(count: int) -> list[Task]:
    return [
        Task(number, number % SLOTS, 0, 0, number, np.arange(4) + number % 35, 4)
        for number in range(count)
    ]


def ended(pool: Pool, count: int) -> list[Done | Failed]:
    found: list[Done | Failed] = []
    while len(found) < count:
        found += pool.poll(None)
    return found


def numbers(messages: Sequence[Done | Failed]) -> list[int]:
    assert all(isinstance(message, Done) for message in messages)
    return sorted(message.number for message in messages)


def test_more_tasks_than_the_queue_holds_all_end_exactly_once(start: Callable[..., Pool]) -> None:
    pool = start(2)
    pool.submit(tasks(500))
    assert numbers(ended(pool, 500)) == list(range(500))
    assert pool.poll(0) == []


def test_what_a_task_writes_lies_in_its_rows(start: Callable[..., Pool]) -> None:
    with closing(RingMemory.create(SLOTS, LAYOUT)) as memory:
        pool = start(1, memory=memory)
        pool.submit([Task(0, 3, 1, 0, 0, np.array([7, 11]), 1)])
        assert numbers(ended(pool, 1)) == [0]
        arrays = LAYOUT.arrays(memory.slot(3))
        assert arrays["index"].tolist() == [0, 7, 11, 0]
        assert arrays["valid"].tolist() == [False, True, False, False]
        assert [bool(image.any()) for image in arrays["image"]] == [False, True, True, False]


def test_a_cancelled_task_never_ends_and_all_others_do(start: Callable[..., Pool]) -> None:
    pool = start(2, slow(0.002))
    pool.submit(tasks(60))
    first = ended(pool, 5)
    taken = pool.cancel(set(range(20, 60)))
    assert taken  # some had not begun
    rest = ended(pool, 60 - len(first) - len(taken))
    assert numbers([*first, *rest]) == sorted(set(range(60)) - taken)
    assert pool.poll(0.05) == []


def test_every_task_ends_exactly_once_while_workers_are_killed(start: Callable[..., Pool]) -> None:
    rng = random.Random(0)
    pool = start(3, slow(0.001))
    pool.submit(tasks(200))
    found: list[Done | Failed] = []
    kills = 0
    while len(found) < 200:
        found += pool.poll(None)
        if kills < 7 and len(found) > 20 * kills:
            for child in rng.sample(workers(), rng.randint(1, 2)):
                child.kill()
            kills += 1
    assert (numbers(found), kills, pool.poll(0.05)) == (list(range(200)), 7, [])
    assert pool.restarts >= 7
    pool.submit(tasks(30))
    found = ended(pool, 5)
    pool.resize(1)
    for child in workers():  # some of them are to end
        child.kill()
    found += ended(pool, 30 - len(found))
    assert (numbers(found), pool.size) == (list(range(30)), 1)


def test_every_task_ends_exactly_once_while_the_pool_grows_and_shrinks(
    start: Callable[..., Pool],
) -> None:
    rng = random.Random(0)
    pool = start(2, slow(0.002))
    pool.submit(tasks(200))
    found: list[Done | Failed] = []
    resized = 0
    while len(found) < 200:
        found += pool.poll(None)
        if len(found) > 16 * resized:
            pool.resize(size := rng.choice([1, 2, 4]))
            assert pool.size == size
            resized += 1
    assert numbers(found) == list(range(200))
    assert resized >= 10
    assert pool.restarts == 0


def test_a_pool_that_shrank_has_no_more_processes_than_it_says(start: Callable[..., Pool]) -> None:
    pool = start(3)
    pool.submit(tasks(10))
    ended(pool, 10)
    pool.resize(1)
    while not pool.is_settled:
        pool.poll(None)
    assert len(workers()) == pool.size == 1
    pool.submit(tasks(20)[10:])
    assert numbers(ended(pool, 10)) == list(range(10, 20))


def test_a_stopped_worker_delays_only_its_own_task(start: Callable[..., Pool]) -> None:
    pool = start(2, slow(0.001))
    pool.submit(tasks(4))
    first = ended(pool, 4)
    stopped = workers()[0]
    pool.submit(tasks(100)[4:])
    stopped.suspend()
    rest = ended(pool, 95)
    stopped.resume()
    rest += ended(pool, 96 - len(rest))
    assert numbers([*first, *rest]) == list(range(100))


def test_workers_that_are_stopped_before_they_are_set_up_keep_nobody_waiting(
    start: Callable[..., Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.send_signal(signal.SIGSTOP)

    monkeypatch.setattr(subprocess, "Popen", Stopped)
    large = slow(0)
    large.content = bytes(10**7)  # type: ignore[attr-defined]  # no socket takes so much
    pool = start(2, large)
    pool.resize(3)
    pool.submit(tasks(8))
    assert pool.poll(0) == []
    for process in psutil.Process().children():
        process.resume()
    assert numbers(ended(pool, 8)) == list(range(8))


def test_a_worker_that_dies_is_missed_even_if_its_child_lives_on(
    start: Callable[..., Pool], tmp_path: Path
) -> None:
    class LeaveAChild:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            with suppress(FileExistsError), (tmp_path / "child").open("x") as file:
                if child := os.fork():
                    file.write(str(child))
                    file.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(100)

    pool = start(1, LeaveAChild())
    pool.submit(tasks(8))
    try:
        assert numbers(ended(pool, 8)) == list(range(8))
        assert pool.restarts == 1
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


@pytest.mark.slow  # in a process that many tests have used, it may wait for a descriptor of theirs
def test_without_descriptors_a_pool_says_so_and_leaves_none(start: Callable[..., Pool]) -> None:
    # In a process of its own: servers that other tests keep would be counted.
    def descriptors() -> int:
        gc.collect()  # errors hold the frames that they came through
        return psutil.Process().num_fds()

    def run_out() -> None:
        gc.freeze()
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        start(1).close()  # the server of workers stays
        told = []
        with closing(RingMemory.create(SLOTS, LAYOUT)) as memory:
            for spare in range(11):
                open_now = descriptors()
                resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + spare, before[1]))
                try:
                    start(1, memory=memory).close()
                except (OSError, WorkerError) as error:
                    told.append(str(error))
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, before)
                # On a busy machine a process that did not start may end later than the error comes.
                wait_until(lambda most=open_now: descriptors() <= most)
        assert told
        assert all("[Errno 24] Too many open files" in text for text in told), told
        assert f"{sys.executable} cannot be started" in told[-1], told[-1]

    assert done_by_a_fork(run_out)


def test_an_error_in_a_task_is_that_tasks_alone(start: Callable[..., Pool]) -> None:
    class Picky:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            if geometry.width == 91:
                raise ZeroDivisionError("no 91")

    pool = start(2, Picky())
    work = [Task(number, 0, 0, 0, 0, np.array([number]), 1) for number in range(39)]
    pool.submit(work)
    messages = ended(pool, 39)
    failed = [message for message in messages if isinstance(message, Failed)]
    assert Counter(message.number for message in messages) == Counter(range(39))
    assert 0 < len(failed) < 39
    assert all("no 91" in message.text and message.kind is WorkerError for message in failed)


def test_a_failure_becomes_the_error_of_its_kind() -> None:
    for kind in (SampleError, WorkerError):
        found = failure(Failed(1, "shard.tar: sample 'a'", kind))
        assert (type(found), str(found)) == (kind, "shard.tar: sample 'a'")
    assert isinstance(failure(Failed(1, "...", WorkerError, KeyError("own"))), KeyError)
