"""Every sample is what its source says, whatever it is packed with and read by.

Each case is judged by what is drawn into the pictures. A case of each source, option, field, way
to read and transform is tried in each run, and a case of each pair of them with ``--all``.
"""

from collections.abc import Mapping
from functools import cache
from itertools import combinations, product

import pytest

pytest.importorskip("pyarrow", reason="its sources are of shardfeed[parquet], too")

from sampled import sampled

from crossing.covering import Case, cases_of
from crossing.exceptions import (
    DIMENSIONS,
    KNOWN,
    REFUSED,
    Cells,
    holds,
    is_allowed,
    is_possible,
)
from crossing.fields import FIELDS
from crossing.judge import Wrong
from crossing.sources import SOURCES
from crossing.trying import Packed, try_case
from crossing.world import Refused

USUAL = {"picture": "png", "option": "plain", "field": "default"}
USUAL |= {"loading": "plain", "transform": "none"}


@cache
def covering() -> tuple[Case, ...]:
    return tuple(cases_of(DIMENSIONS, is_allowed))


def named(case: Mapping[str, str]) -> str:
    return "-".join(value for name, value in case.items() if value != USUAL.get(name))


def is_costly(case: Mapping[str, str]) -> bool:
    """Whether it takes seconds: a page, or processes of its own."""
    of_processes = ("workers", "num_workers", "auto")
    return case["option"] in ("report", "two_jobs", "parts") or case["loading"] in of_processes


def first_of(cells: Cells) -> list[Case]:
    """Return the plainest case of each pair, or single value, that the cells name."""
    found = []
    for chosen in product(*(sorted(values) for values in cells.values.values())):
        case = dict(zip(cells.values, chosen, strict=True))
        for name, value in USUAL.items():
            case.setdefault(name, value)
        sources = [case["source"]] if "source" in case else DIMENSIONS["source"]
        pictures = [case["picture"]] if "picture" in cells.values else DIMENSIONS["picture"]
        for source, picture in product(sources, pictures):
            whole = {**case, "source": source, "picture": picture}
            if is_possible(whole):
                found.append({name: whole[name] for name in DIMENSIONS})
                break
    return found


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    return Packed(tmp_path_factory.mktemp("crossing"))


EACH = [*cases_of(DIMENSIONS, is_allowed, together=1)]


@pytest.mark.parametrize(
    "case",
    [
        *sampled([case for case in EACH if not is_costly(case)], 8),
        *sampled([{}, *filter(is_costly, EACH)], 2**10)[1:],
    ],
    ids=named,
)
def test_a_case_of_each_value_is_right(case: Case, packed: Packed) -> None:
    assert try_case(case, packed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "option"),
    [
        pair
        for pair in product(DIMENSIONS["source"], DIMENSIONS["option"])
        if is_possible(dict(zip(("source", "option"), pair, strict=True)))
    ],
)
def test_a_case_of_each_pair_is_right(source: str, option: str, packed: Packed) -> None:
    wrong = {}
    for case in covering():
        if (case["source"], case["option"]) == (source, option):
            try:
                try_case(case, packed)
            except Exception as error:
                wrong[named(case)] = f"{type(error).__name__}: {error}"
    assert wrong == {}


@pytest.mark.parametrize(
    ("cells", "case"),
    [
        pytest.param(cells, case, id=named(case), marks=pytest.mark.slow if number else ())
        for cells in REFUSED
        for number, case in enumerate(first_of(cells))
    ],
)
def test_what_is_refused_is_listed_with_its_reason(
    cells: Cells, case: Case, packed: Packed
) -> None:
    with pytest.raises(Refused, match=cells.says):
        try_case(case, packed)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=named(case), marks=pytest.mark.xfail(strict=True, reason=cells.says))
        for cells in KNOWN
        for case in first_of(cells)[:1]
    ],
)
def test_a_fault_that_is_known_is_still_there(case: Case, packed: Packed) -> None:
    assert try_case(case, packed)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=pytest.mark.slow if number else ())
        for number, name in enumerate(DIMENSIONS["source"])
    ],
)
def test_a_field_is_refused_where_the_source_has_nothing_of_it(source: str, packed: Packed) -> None:
    picture = SOURCES[source].pictures[0]
    case = {"source": source, **USUAL, "picture": picture}
    members = SOURCES[source].holds.values()
    for name, field in FIELDS.items():
        is_other_text = name in ("text", "decoded") and "txt" in members  # such as YOLO's lines
        if not (is_other_text or holds(source, field.needs)):
            with pytest.raises((Refused, Wrong), match=field.lacks):
                try_case({**case, "field": name}, packed)


def test_few_cases_have_each_pair_that_can_be() -> None:
    dimensions = {"a": "uvwxyz", "b": "uvwxyz", "c": "xyz", "d": "xy"}

    def is_possible(case: Mapping[str, str]) -> bool:  # no x of both c and d
        return (case.get("c"), case.get("d")) != ("x", "x")

    found = list(cases_of(dimensions, is_possible))
    assert all(map(is_possible, found))
    for first, second in combinations(dimensions, 2):
        pairs = {(case[first], case[second]) for case in found}
        missing = {*product(dimensions[first], dimensions[second])} - pairs
        assert missing == ({("x", "x")} if (first, second) == ("c", "d") else set())
    assert len(found) < 6 * 6 * 1.2
