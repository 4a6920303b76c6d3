import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.samples.records import Sample, Skipped
from packer.samples.table import SampleTable

SAMPLE = Sample("cat/a.jpg", "cat/a", 0, 100, 1_700_000_000_000_000_001)
ODD = Sample(os.fsdecode(b"\xff/\xe4\xb8\xad .jpg"), "%FF/中%20", -1, 2**40, -5)


def listing(*records: Sample | Skipped) -> SampleTable:
    result = SampleTable()
    for record in records:
        result.add(record)
    return result


def digest(given: SampleTable) -> str:
    return given.digest(np.arange(len(given)))


def test_a_listing_gives_back_what_was_added() -> None:
    assert list(listing(SAMPLE, ODD)) == [SAMPLE, ODD]
    assert listing(SAMPLE, ODD)[1] == ODD


def test_what_was_skipped_is_no_sample() -> None:
    skipped = Skipped("cat/b.jpg", "it is empty")
    result = listing(SAMPLE, skipped, ODD)
    assert len(result) == 2
    assert result.skipped == [skipped]
    assert result.sizes.tolist() == [100, 2**40]
    assert result.newest_ns == SAMPLE.mtime_ns


def test_an_empty_listing_has_no_samples() -> None:
    assert len(listing()) == 0
    assert listing().sizes.tolist() == []


@pytest.mark.parametrize(
    "other",
    [
        replace(SAMPLE, name="cat/b.jpg"),
        replace(SAMPLE, key="cat/b"),
        replace(SAMPLE, name="cat/a.jpgc", key="at/a"),
        replace(SAMPLE, label=1),
        replace(SAMPLE, size=101),
    ],
)
def test_the_fingerprint_tells_other_samples(other: Sample) -> None:
    assert listing(SAMPLE, ODD).fingerprint() != listing(other, ODD).fingerprint()
    assert digest(listing(SAMPLE, ODD)) != digest(listing(other, ODD))


def test_the_fingerprint_tells_another_order() -> None:
    assert listing(SAMPLE, ODD).fingerprint() != listing(ODD, SAMPLE).fingerprint()


def test_a_copy_of_the_source_has_the_same_fingerprint_and_another_digest() -> None:
    copy = replace(SAMPLE, mtime_ns=SAMPLE.mtime_ns + 1)
    assert listing(SAMPLE).fingerprint() == listing(copy).fingerprint()
    assert digest(listing(SAMPLE)) != digest(listing(copy))
    assert digest(listing(SAMPLE)) == digest(listing(replace(SAMPLE)))


MIXED = [
    SAMPLE,
    ODD,
    replace(SAMPLE, key="cat/b", members=("json",), split="val", places=[None, "b.json"], block=7),
    replace(ODD, key="%FF/b", split="train"),
]


@given(st.lists(st.integers(0, len(MIXED) - 1)))
def test_what_is_taken_is_as_if_it_had_been_added_in_that_order(numbers: list[int]) -> None:
    taken = listing(*MIXED).take(numbers)
    added = listing(*(MIXED[number] for number in numbers))
    assert list(taken) == list(added)
    assert taken.fingerprint() == added.fingerprint()
    for more in (MIXED[0], MIXED[3]):
        taken.add(more)
        added.add(more)
    assert list(taken) == list(added)
    assert digest(taken) == digest(added)
