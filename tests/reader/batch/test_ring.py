"""A slot's memory belongs to whoever holds an array of it, and only then to the next batch."""

import errno
import gc
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import ReaderError
from reader.batch.layout import ArraySpec, BatchArrays, BatchLayout
from reader.batch.ring import Ring, RingMemory

SLOTS = 5


def layout_of(rows: int, height: int, width: int) -> BatchLayout:
    """Images, and numbers of each kind."""
    image = ArraySpec("image", "|u1", (height, width, 3))
    shape = ArraySpec("shape", "<i4", (2,))
    numbers = (ArraySpec("label", "<i8"), ArraySpec("index", "<i8"), ArraySpec("valid", "|b1"))
    return BatchLayout(rows, (image, *numbers, shape))


LAYOUT = layout_of(3, 4, 6)


@pytest.fixture
def ring() -> Iterator[Ring]:
    memory = RingMemory.create(SLOTS, LAYOUT)
    yield Ring(memory)
    memory.close()


def fill(ring: Ring, slot: int, value: int) -> None:
    """Write a batch as a worker would."""
    arrays = LAYOUT.arrays(ring.memory.slot(slot))
    arrays["image"][:] = arrays["label"][:] = arrays["index"][:] = value
    arrays["valid"][:] = True
    arrays["shape"][:] = 4, 6


def deliver(ring: Ring, value: int, rows: int = 3) -> BatchArrays:
    slot = ring.take()
    assert slot is not None
    fill(ring, slot, value)
    return ring.deliver(slot, rows)


def test_every_slot_is_taken_once_until_it_is_released(ring: Ring) -> None:
    taken = [ring.take() for _ in range(SLOTS)]
    assert sorted(slot for slot in taken if slot is not None) == list(range(SLOTS))
    assert ring.take() is None
    assert not ring.has_free()
    ring.release(3)
    assert ring.has_free()
    assert ring.take() == 3
    assert ring.take() is None


def test_a_slot_comes_back_when_the_last_array_over_it_is_gone(ring: Ring) -> None:
    batch = deliver(ring, 1)
    view = batch["image"][1:, 2, ::2]
    others = [ring.take() for _ in range(SLOTS - 1)]
    assert None not in others
    del batch
    assert ring.take() is None
    assert (view == 1).all()
    del view
    assert ring.take() is not None


def test_what_a_consumer_keeps_is_never_overwritten_and_slots_are_left_for_workers(
    ring: Ring,
) -> None:
    for value in range(4 * SLOTS):
        batch = deliver(ring, value)
        assert (batch["image"] == value).all()
    assert ring.copied == 0  # each was let go
    del batch
    kept = [deliver(ring, value) for value in range(4 * SLOTS)]
    for value, batch in enumerate(kept):
        assert (batch["image"] == value).all()
        assert (batch["label"] == value).all()
    assert ring.copied > 0
    assert [ring.take() is not None for _ in range(2)] == [True, True]


def test_a_batch_that_is_copied_out_frees_its_slot(ring: Ring) -> None:
    taken = [ring.take() for _ in range(SLOTS)]
    slot = taken[0]
    assert slot is not None
    fill(ring, slot, 9)
    copy = ring.copy_out(slot, 2)
    assert ring.take() == slot
    fill(ring, slot, 1)
    assert copy["label"].tolist() == [9, 9]
    assert (copy["image"] == 9).all()


def test_arrays_outlive_the_ring_and_its_memory() -> None:
    memory = RingMemory.create(SLOTS, LAYOUT)
    ring = Ring(memory)
    batch = deliver(ring, 5)
    memory.close()
    del ring, memory
    gc.collect()
    assert (batch["image"] == 5).all()
    batch["image"][:] = 6
    assert (batch["image"] == 6).all()


def test_two_processes_map_the_same_memory(ring: Ring) -> None:
    other = RingMemory(ring.memory.descriptor, SLOTS, LAYOUT)  # as a worker does
    LAYOUT.arrays(other.slot(2))["label"][:] = 11, 12, 13
    assert LAYOUT.arrays(ring.memory.slot(2))["label"].tolist() == [11, 12, 13]


@given(rows=st.integers(1, 20), height=st.integers(1, 40), width=st.integers(1, 40), data=st.data())
@settings(deadline=None)
def test_the_arrays_of_a_slot_never_overlap_and_are_aligned(
    rows: int, height: int, width: int, data: st.DataObject
) -> None:
    layout = layout_of(rows, height, width)
    assert layout.slot_bytes % 4096 == 0
    arrays = layout.arrays(np.zeros(layout.slot_bytes, np.uint8))
    values = {
        "image": data.draw(st.integers(0, 255)),
        "label": data.draw(st.integers(-1, 2**62)),
        "index": data.draw(st.integers(0, 2**62)),
        "shape": data.draw(st.integers(0, 2**31 - 1)),
        "valid": data.draw(st.booleans()),
    }
    for name, value in values.items():
        arrays[name][:] = value
    for name, value in values.items():
        array = arrays[name]
        assert len(array) == rows
        assert (array == value).all()
        assert array.flags.aligned


def test_batches_that_memory_cannot_hold_are_refused_with_the_numbers() -> None:
    numbers = r"4 batches of 3,[\d,]+ bytes .*, 12,[\d,]+ in all, but [\d,]+ are available"
    with pytest.raises(ReaderError, match=numbers):
        RingMemory.create(4, layout_of(1_000_000, 1000, 1000))


def test_a_limit_on_files_or_addresses_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, size: int) -> None:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(os, "ftruncate", refuse)
    with pytest.raises(ReaderError, match=r"5 batches of 4,096 bytes .*: File too large"):
        RingMemory.create(SLOTS, LAYOUT)
    assert os.listdir("/proc/self/fd") == before
