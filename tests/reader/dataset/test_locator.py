"""Where samples lie: compared with a table of all of them, written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reader.dataset.locator import SampleLocator


@st.composite
def some_places(draw: st.DrawFn) -> tuple[list[int], SampleLocator, list[tuple[int, int]]]:
    """Samples of each shard, the places, and the (shard, row) of every sample."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    places = SampleLocator.of(counts)
    table = [(shard, row) for shard, count in enumerate(counts) for row in range(count)]
    for _ in range(draw(st.integers(0, 2))):
        if table:
            chosen = draw(st.lists(st.integers(0, len(table) - 1), max_size=9))
            places = places.choose(np.array(chosen, np.int64))
            table = [table[number] for number in chosen]
    return counts, places, table


@given(some_places())
def test_each_sample_is_found_in_its_shard_and_row(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]],
) -> None:
    counts, places, table = given_places
    assert (len(places), places.total, list(places.counts)) == (len(table), sum(counts), counts)
    assert [places.find(number) for number in range(len(table))] == table


@given(some_places(), st.data())
def test_many_are_found_as_each_is(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]], data: st.DataObject
) -> None:
    _, places, table = given_places
    if not table:
        return
    asked = np.array(data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1)), np.int64)
    found: list[tuple[int, int]] = [(-1, -1)] * len(asked)
    for shard, which, rows in places.find_all(asked):
        for at, row in zip(np.arange(len(asked))[which].tolist(), rows.tolist(), strict=True):
            found[at] = shard, row
    assert found == [table[number] for number in asked.tolist()]


@given(some_places())
def test_rows_and_shards_are_those_of_the_samples(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]],
) -> None:
    counts, places, table = given_places
    every = [
        (shard, row)
        for shard, rows in places.rows()
        for row in np.arange(counts[shard])[rows].tolist()
    ]
    assert every == sorted(table)
    numbers, sizes = places.by_shard()
    order = range(len(table)) if numbers is None else numbers.tolist()
    assert [table[number][0] for number in order] == sorted(shard for shard, _ in table)
    assert sizes == [sum(shard == one for one, _ in table) for shard in range(len(counts))]


def test_what_is_chosen_has_a_description_of_its_own() -> None:
    places = SampleLocator.of([3, 2])
    assert places.description is None
    some, others = places.choose(np.array([1, 4])), places.choose(np.array([4, 1]))
    assert some.description == places.choose(np.array([1, 4])).description != others.description
