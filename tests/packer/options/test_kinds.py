"""Values of options, as a command line writes them."""

from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.options.chosen import PackArguments, checked
from packer.options.kinds import CLASSES, DEPTH, HEIGHT_WIDTH, PAIRS, SHARES, Kind, size, whole


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("1", 1), ("500", 500), ("10MB", 10**7), ("1GB", 10**9), ("1GiB", 2**30)),
        *(("2kb", 2000), ("1.5k", 1500), ("64KiB", 2**16), ("0.5 GB", 5 * 10**8), ("7b", 7)),
        *((" 3TB ", 3 * 10**12), ("1G", 10**9), ("500mb", 5 * 10**8), ("2gib", 2**31)),
    ],
)
def test_sizes_may_have_units(text: str, count: int) -> None:
    assert size().parse(text) == count


@pytest.mark.parametrize(
    "text",
    ["", "ten", "MB", "B", "1XB", "1M5", "0", "0.1", "-1MB", "nan", "inf", "1e400", "1MBB", "1 2"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        size().parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10", "'10' is 10 bytes, which is too small. For megabytes, pass 10MB"),
        ("9.9k", "9900 bytes, .* 9.9MB"),
    ],
)
def test_a_shard_size_without_its_unit_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        size(10**4).parse(text)


def test_a_pair_may_be_named_by_several_words(tmp_path: Path) -> None:
    assert PAIRS.parse(f"copy.2?={tmp_path}") == ("copy.2?", tmp_path)


@pytest.mark.parametrize("engine", ["spark", "ray://", "dask://here", "ray:10001", "", 7])
def test_what_is_no_executor_is_refused_with_those_that_are(engine: object) -> None:
    known = r"must be one of local, ray, ray://HOST:PORT and dask://HOST:PORT, or an Executor"
    with pytest.raises(UnusableInput, match=known):
        checked({"executor": engine}, PackArguments)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (whole(1, 100), "101", "'101' is not an integer from 1 to 100"),
        (whole(1), "1.5", "'1.5' is not an integer of at least 1"),
        (whole(), "9" * 5000, "is not an integer"),
        (HEIGHT_WIDTH, "32", "not a height and width such as 32x32"),
        (SHARES, "train=0.5", "do not add up to 1"),
        (SHARES, "../a=1", "not of the form train=0.9,val=0.1"),
        (DEPTH, "0", "is not a number of levels of at least 1, or 'all'"),
        (PAIRS, "mask", "not of the form mask=DIR"),
        (PAIRS, "mask=/nowhere", "'/nowhere' is not a folder"),
        (CLASSES, "/nowhere", "cannot be read"),
    ],
)
def test_a_text_that_is_no_such_value_is_refused(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind.parse(text)
