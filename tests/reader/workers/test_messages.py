"""What is not a message, or comes at the wrong time, is an error on the side that reads it."""

import pickle
import socket
import struct
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from reader import WorkerError
from reader.workers.messages import Done, Signal, Sync, receive
from reader.workers.worker import serve


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket.socket]]:
    """A connection, and the raw other end of it."""
    ours, theirs = socket.socketpair()
    with theirs, Connection(ours.detach()) as connection:
        yield connection, theirs


def framed(content: bytes) -> bytes:
    return struct.pack("!i", len(content)) + content


def test_a_message_comes_as_it_was_sent(ends: tuple[Connection, socket.socket]) -> None:
    connection, other = ends
    other.sendall(framed(pickle.dumps(Sync(7))))
    assert receive(connection, (Signal, Sync)) == Sync(7)


@pytest.mark.parametrize(
    "content",
    [
        framed(b""),
        framed(b"garbage"),
        framed(pickle.dumps(Sync(7))[:-1]),
        struct.pack("!i", -2),
        struct.pack("!iQ", -1, 2**63),
    ],
)
def test_what_is_no_message_is_an_error(
    ends: tuple[Connection, socket.socket], content: bytes
) -> None:
    connection, other = ends
    other.sendall(content)
    with pytest.raises(WorkerError, match=r"message .* cannot be read"):
        receive(connection, (Sync,))


@pytest.mark.parametrize("message", [None, "Sync", Sync, Sync(1), [Signal.GO]], ids=repr)
def test_what_nobody_expects_is_an_error_that_shows_it(
    ends: tuple[Connection, socket.socket], message: object
) -> None:
    connection, other = ends
    other.sendall(framed(pickle.dumps(message)))
    with pytest.raises(WorkerError, match="unexpected message"):
        receive(connection, (Signal,))


@pytest.mark.parametrize("cut", [0, 2, 4, 9])
def test_a_message_cut_short_by_a_death_is_the_end_of_the_connection(
    ends: tuple[Connection, socket.socket], cut: int
) -> None:
    connection, other = ends
    other.sendall(framed(pickle.dumps(Sync(7)))[:cut])
    other.close()
    with pytest.raises((EOFError, OSError)):
        receive(connection, (Sync,))


class NoWorker:
    """What must not be asked."""


@pytest.mark.parametrize("task", [b"", b"garbage", pickle.dumps(Signal.GO), pickle.dumps(None)])
def test_a_worker_refuses_a_task_that_is_none(
    ends: tuple[Connection, socket.socket], task: bytes
) -> None:
    connection, other = ends
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        other.sendall(framed(pickle.dumps(Signal.GO)))
        ours.send(task)
        with pytest.raises(WorkerError, match=r"message .* cannot be read"):
            serve(connection, theirs, NoWorker())  # type: ignore[arg-type]


def test_a_worker_answers_and_retires(ends: tuple[Connection, socket.socket]) -> None:
    connection, other = ends
    with Connection(other.detach()) as parent, socket.socket() as tasks:
        for message in (Sync(3), Signal.RETIRE, Done):
            parent.send(message)
        serve(connection, tasks, NoWorker())  # type: ignore[arg-type]
        assert [parent.recv(), parent.recv()] == [Sync(3), Signal.RETIRED]
