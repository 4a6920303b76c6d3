"""The fixture `no_leftovers` fails a test that leaves something behind, and names it."""

import gc
import mmap
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from leftovers import none_left


@contextmanager
def process() -> Iterator[None]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        yield
        child.communicate()


@contextmanager
def descriptor() -> Iterator[None]:
    number = os.open(os.devnull, os.O_RDONLY)
    yield
    os.close(number)


@contextmanager
def thread() -> Iterator[None]:
    end = threading.Event()
    waiting = threading.Thread(target=end.wait)
    waiting.start()
    yield
    end.set()
    waiting.join()


@contextmanager
def memory() -> Iterator[None]:
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        file.truncate(mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    yield
    mapped.close()


@contextmanager
def anonymous_memory() -> Iterator[None]:
    number = os.memfd_create("left")
    os.truncate(number, mmap.PAGESIZE)
    mapped = mmap.mmap(number, mmap.PAGESIZE)
    os.close(number)
    yield
    mapped.close()


@contextmanager
def temporary_file() -> Iterator[None]:
    number, path = tempfile.mkstemp()
    os.close(number)
    yield
    os.unlink(path)


@contextmanager
def temporary_folder() -> Iterator[None]:
    path = tempfile.mkdtemp()
    yield
    os.rmdir(path)


@pytest.mark.parametrize(
    ("leak", "name"),
    [
        (process, r"process \d+"),
        (descriptor, r"descriptor \d+ of /dev/null"),
        (thread, "thread Thread-"),
        (memory, "memory .*/dev/shm/"),
        (anonymous_memory, "memory .*/memfd:left"),
        (temporary_file, f"temporary file {tempfile.gettempdir()}/"),
        (temporary_folder, f"temporary file {tempfile.gettempdir()}/"),
    ],
)
def test_what_a_test_leaves_fails_it_by_name(
    leak: Callable[[], "contextmanager[None]"], name: str
) -> None:
    with none_left(), leak():
        pass
    leaked = leak()
    with pytest.raises(AssertionError, match=f"leaves behind: .*{name}"), none_left(patience=0):
        leaked.__enter__()
    leaked.__exit__(None, None, None)


def test_garbage_that_holds_a_file_is_collected_and_no_leftover(tmp_path: Path) -> None:
    class Holder:
        def __init__(self) -> None:
            self.itself = self
            self.number = os.open(tmp_path, os.O_RDONLY)

        def __del__(self) -> None:
            os.close(self.number)

    gc.disable()
    try:
        with none_left(patience=0):
            Holder()
        Holder()  # of a test that has not been checked
        with (
            pytest.raises(AssertionError, match=f"descriptor .*{tmp_path}"),
            none_left(patience=0),
        ):
            kept = Holder()
        kept.itself = kept
    finally:
        gc.enable()
