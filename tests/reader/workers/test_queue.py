"""Tasks are taken in their order, and what nobody has taken can be had back."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest

from reader.workers.messages import MAX_TASK_BYTES, Task, parse
from reader.workers.queue import TaskQueue

MANY = 5000  # more than a socket holds


@pytest.fixture
def queue() -> Iterator[TaskQueue]:
    with closing(TaskQueue()) as made:
        yield made


def tasks(numbers: Sequence[int]) -> list[Task]:
    return [Task(number, 0, 0, 0, 0, np.arange(4), 4) for number in numbers]


def taken(queue: TaskQueue, most: int = MANY) -> list[int]:
    """The numbers of the tasks that a worker finds there, `most` at the most."""
    found: list[int] = []
    while len(found) < most:
        try:
            content = queue.outlet.recv(MAX_TASK_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            break
        found.append(parse(content, (Task,)).number)
    return found


def test_tasks_are_taken_in_their_order_and_what_has_no_room_follows(queue: TaskQueue) -> None:
    queue.put(tasks(range(MANY)))
    first = taken(queue)
    assert 0 < len(first) < MANY
    rest = []
    while len(first) + len(rest) < MANY:
        queue.flush()
        rest += taken(queue)
    assert first + rest == list(range(MANY))


def test_what_nobody_has_taken_is_taken_back_and_handed_out_again(queue: TaskQueue) -> None:
    queue.put(tasks(range(MANY)))
    assert taken(queue, 3) == [0, 1, 2]
    assert queue.take_back() == set(range(3, MANY))
    assert taken(queue) == []
    queue.put_first(tasks([1, 2]))
    queue.flush()
    assert taken(queue, 4) == [1, 2, 3, 4]


def test_cancelled_tasks_are_told_and_never_taken(queue: TaskQueue) -> None:
    queue.put(tasks(range(10)))
    assert taken(queue, 2) == [0, 1]
    assert queue.cancel({1, 3, 5, 99}) == {3, 5}
    assert taken(queue) == [2, 4, 6, 7, 8, 9]
