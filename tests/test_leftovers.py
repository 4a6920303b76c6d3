import gc
import os
import subprocess
import sys

import pytest
from leftovers import nothing_left


class _Open:
    def __init__(self) -> None:
        self._descriptor = os.open(os.devnull, os.O_RDONLY)

    def __del__(self) -> None:
        os.close(self._descriptor)


def _leave_garbage() -> None:
    cycle: list[object] = [_Open()]
    cycle.append(cycle)


def test_a_descriptor_that_is_left_is_found() -> None:
    opened = []
    with pytest.raises(AssertionError), nothing_left(seconds=0):
        opened.append(_Open())


def test_a_process_that_is_left_is_found() -> None:
    program, pipe = [sys.executable, "-c", "input()"], subprocess.PIPE
    started = []
    with pytest.raises(AssertionError), nothing_left(seconds=0):
        started.append(subprocess.Popen(program, stdin=pipe))
    started[0].communicate(b"\n")


def test_what_only_garbage_holds_is_not_left() -> None:
    for _ in range(2):  # the second time, nothing was left before
        with nothing_left(seconds=0):
            _leave_garbage()


def test_garbage_of_before_does_not_hide_what_is_left() -> None:
    with nothing_left():
        pass
    _leave_garbage()
    opened = []

    def collect_and_open() -> None:
        gc.collect()
        opened.append(_Open())

    with pytest.raises(AssertionError), nothing_left(seconds=0):
        collect_and_open()
