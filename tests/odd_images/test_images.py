"""The odd images of docs/odd-images.md: packed, indexed, verified and read."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from odd_images.jpegs import odd_jpegs
from odd_images.others import odd_files
from odd_images.tried import Files, Tried, pillows, table_of, try_indexed, try_packed

from packer.images.tiles import can_tile

WAYS: dict[str, dict[str, Any]] = {
    "JPEG": {
        "packed": {},
        "verbatim": {"jpeg": "verbatim"},
        "shrunk": {"max_side": 100, "quality": 90},
        "indexed": None,
    },
    "Other formats": {
        "packed": {},
        "shrunk": {"max_side": 40, "quality": 90, "jpeg": "verbatim"},
        "indexed": None,
    },
}
CASES = [(kind, how) for kind, ways in WAYS.items() for how in ways]


@pytest.fixture(scope="module")
def made() -> dict[str, Mapping[str, bytes | None]]:
    """By the heading of their table; None where the machine lacks the program that makes it."""
    return {"JPEG": odd_jpegs(), "Other formats": odd_files()}


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The heading of files, and the way in which they are packed."""
    if request.param == ("JPEG", "packed") and not can_tile():
        pytest.skip("nothing here tiles JPEGs")
    return request.param


@pytest.fixture(scope="module")
def files(case: tuple[str, str], made: dict[str, Files]) -> Files:
    """Those that this machine can make."""
    return {name: data for name, data in made[case[0]].items() if data is not None}


@pytest.fixture(scope="module")
def tried(case: tuple[str, str], files: Files, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    kind, how = case
    root = tmp_path_factory.mktemp("odd")
    options = WAYS[kind][how]
    if options is None:
        return try_indexed(root, files, "jpg" if kind == "JPEG" else "png")
    return try_packed(root, files, **options)


def test_the_table_has_a_row_for_each_file(made: dict[str, Files]) -> None:
    for kind, files in made.items():
        assert table_of(kind).keys() == files.keys()


def test_the_table_tells_what_happens_and_what_is_packed_is_sound_and_can_be_cropped(
    case: tuple[str, str], tried: Tried
) -> None:
    table = {name: table_of(case[0])[name] for name in tried.outcomes}
    is_tiled = case == ("JPEG", "packed") or case[0] != "JPEG"
    if not is_tiled:  # what is rejected is rejected whatever becomes of the rest
        table = {name: "rejected" if said == "rejected" else "" for name, said in table.items()}
        tried.outcomes |= {n: "" for n, said in tried.outcomes.items() if said != "rejected"}
    assert tried.outcomes == table
    assert tried.damages == []
    assert tried.crops == len(tried.pixels)


def test_what_is_packed_looks_as_pillow_shows_the_file(
    case: tuple[str, str], files: Files, tried: Tried
) -> None:
    kind, how = case
    max_side = WAYS[kind][how]["max_side"] if how == "shrunk" else None
    for name, pixels in tried.pixels.items():
        expected = pillows(files[name], max_side=max_side)
        assert pixels.shape == expected.shape, name
        difference = np.abs(pixels.astype(int) - expected)
        if max_side is None:
            assert difference.max() <= (3 if kind == "JPEG" else 0), name
        else:  # noise of 16 bits and letters on black suffer most as JPEG
            assert difference.mean() < (8 if kind == "JPEG" else 20), name


@pytest.mark.parametrize(
    "case", [case for case in CASES[4:] if "shrunk" not in case], indirect=True, ids="-".join
)
def test_a_grey_value_of_any_bits_is_as_bright(tried: Tried) -> None:
    for bits in ("12 bits, grey", "32 bits, grey", "16 bits, grey, big-endian"):
        found = tried.pixels[f"TIFF, {bits}"]
        assert np.array_equal(found, tried.pixels["TIFF, 16 bits, grey"])
        assert 100 < found.mean() < 156


def test_no_reason_holds_what_another_run_would_say_otherwise(tried: Tried) -> None:
    assert tried.reasons
    assert not [why for why in tried.reasons if " at 0x" in why or "/" in why]
