"""One of the processes of `processes`: does what its connection asks for."""

import os
import pickle
import select
import sys
import threading
import time
import traceback
from collections.abc import Sequence

from reader.processes.child import can_be_ended, end_with_parent

_TELL_SECONDS = 0.1  # how often a process tells its progress


def main(arguments: Sequence[str | int]) -> None:
    """Be one of the processes: do what the connection asks for, until the parent is gone."""
    connection, life, *_ = map(int, arguments)
    end_with_parent(life)
    tasks, answers = os.fdopen(connection, "rb"), os.fdopen(os.dup(connection), "wb")
    os.dup2(2, 1)  # what a library prints is for a person
    if not can_be_ended():
        threading.Thread(target=_die_with_parent, args=(connection,), daemon=True).start()
    sys.path[:] = pickle.load(tasks)
    sent, more = time.monotonic(), 0

    def say(message: bytes) -> None:
        try:
            answers.write(message)
            answers.flush()
        except OSError:  # nobody is left to hear it
            os._exit(1)

    def advance(count: int, at_least: float = _TELL_SECONDS) -> None:
        nonlocal sent, more
        more += count
        if time.monotonic() - sent >= at_least:
            say(pickle.dumps(more))
            sent, more = time.monotonic(), 0

    while True:
        try:
            function, item = pickle.load(tasks)
            advance(0, at_least=0)  # it has begun
            answer = pickle.dumps((function(item, advance), None, ""))
        except Exception as error:
            answer = pickle.dumps((None, error, traceback.format_exc()))
        advance(0, at_least=0)
        say(answer)


def _die_with_parent(connection: int) -> None:
    """Wait for nothing but the end of the parent, which holds the other end."""
    poll = select.poll()
    poll.register(connection, 0)
    poll.poll()
    os._exit(1)
