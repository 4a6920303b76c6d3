"""The ring is registered with CUDA once, and unregistered before its memory goes."""

import ctypes
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_workers import started, workers

from reader import CenterCrop, Loader
from reader.batch.layout import ArraySpec, BatchLayout
from reader.batch.pinned import page_lock
from reader.batch.ring import RingMemory

LAYOUT = BatchLayout(2, (ArraySpec("image", "|u1", (4, 6, 3)),))


class FakeCUDA:
    """Remembers the calls; refuses with `error`."""

    def __init__(self, error: str = "") -> None:
        self.error = error
        self.calls: list[str] = []
        self.places: set[tuple[int, int]] = set()

    def register(self, address: int, size: int) -> str:
        self.calls.append("register")
        self.places.add((address, size))
        return self.error

    def unregister(self, address: int) -> None:
        # The memory must still be there: writing a page that is unmapped would end the process.
        ctypes.c_ubyte.from_address(address).value = 1
        self.calls.append("unregister")


@pytest.fixture
def memory() -> Iterator[RingMemory]:
    created = RingMemory.create(3, LAYOUT)
    yield created
    if created.bytes.size:
        created.close()


def test_all_slots_are_registered_in_one_call_and_unregistered_at_close(memory: RingMemory) -> None:
    cuda = FakeCUDA()
    assert page_lock(memory.bytes, cuda)
    assert cuda.places == {(memory.slot(0).ctypes.data, 3 * LAYOUT.slot_bytes)}
    assert cuda.calls == ["register"]
    memory.close()
    assert cuda.calls == ["register", "unregister"]


def test_it_stays_registered_while_a_batch_of_it_is_held(memory: RingMemory) -> None:
    cuda = FakeCUDA()
    page_lock(memory.bytes, cuda)
    image = memory.layout.arrays(memory.slot(2))["image"][1:]
    memory.close()
    assert len(cuda.calls) == 1
    del image
    assert len(cuda.calls) == 2


def test_memory_that_cuda_refuses_is_used_as_it_is_with_a_warning(memory: RingMemory) -> None:
    cuda = FakeCUDA(error="out of memory")
    with pytest.warns(RuntimeWarning, match=r"page-lock.*\(out of memory\)"):
        assert not page_lock(memory.bytes, cuda)
    memory.slot(1)[:] = 7
    memory.close()
    assert len(cuda.calls) == 1


def test_a_fork_leaves_the_memory_registered(memory: RingMemory) -> None:
    cuda = FakeCUDA()
    page_lock(memory.bytes, cuda)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that forking with threads may deadlock
        child = os.fork()
    if not child:
        memory.close()
        os._exit(len(cuda.calls))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def loader(packed: Path) -> Loader:
    return Loader(packed, batch_size=16, workers=1, transforms=[CenterCrop(32)])


def test_a_loader_warns_once_of_memory_that_cannot_be_registered(packed: Path) -> None:
    cuda = FakeCUDA(error="operation not supported")
    with loader(packed) as opened:
        with pytest.warns(RuntimeWarning, match="operation not supported"):
            opened.page_lock(cuda)
        opened.page_lock(cuda)
        assert sum(len(label) for _, label in opened) == 39


needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")


@needs_affinity
@pytest.mark.usefixtures("no_leftovers")
def test_the_workers_stay_on_the_cores_near_the_gpu(packed: Path) -> None:
    allowed = os.sched_getaffinity(0)
    near = {max(allowed)}
    with loader(packed) as opened:
        assert opened.pin_memory is False
        opened.page_lock(FakeCUDA(), near)
        assert opened.pin_memory is True
        assert sum(len(label) for _, label in opened) == 39
        (worker,) = workers()
        assert worker.cpu_affinity() == list(near)
        worker.kill()
        while not opened.statistics().restarts:
            list(opened)
        for _ in range(3):  # some of which is not decoded yet
            list(opened)
        (other,) = workers()
        assert other != worker
        assert other.cpu_affinity() == list(near)
    assert os.sched_getaffinity(0) == allowed


@needs_affinity
def test_more_workers_than_there_are_cores_near_the_gpu_stay_anywhere(packed: Path) -> None:
    allowed = os.sched_getaffinity(0)
    with Loader(packed, batch_size=16, workers=2, transforms=[CenterCrop(32)]) as opened:
        opened.page_lock(FakeCUDA(), {max(allowed)})
        assert sum(len(label) for _, label in opened) == 39
        assert [worker.cpu_affinity() for worker in started(2)] == [sorted(allowed)] * 2
