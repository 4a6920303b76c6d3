import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import BadImage
from packer.sources.table.thrift import read_struct


def test_a_struct_gives_its_integers_structs_and_lists() -> None:
    data = bytes.fromhex(
        "15 04"  # field 1: i32 2
        "15 80 01"  # field 2: i32 64
        "1c 15 03 00"  # field 3: struct {1: i32 -2}
        "18 03 61 62 63"  # field 4: "abc"
        "19 25 02 04"  # field 5: list of two i32: 1, 2
        "11"  # field 6: true
        "17 0000000000000000"  # field 7: a double
        "05 28 0a"  # field 20, its number in full: i32 5
        "00"
    )
    assert read_struct(io.BytesIO(data)) == {
        1: 2,
        2: 64,
        3: {1: -2},
        4: None,
        5: [1, 2],
        6: None,
        7: None,
        20: 5,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",  # no value
        b"\x1c" * 100,  # structs in structs
        b"\x19\x19" + b"\x19" * 100,  # lists in lists
        b"\x18\xff\xff\xff\xff\x07a",  # text that is not there
        b"\x19\xf5\xff\xff\xff\xff\x07",  # a list that is not there
        b"\x15" + b"\xff" * 20,  # a number without end
        b"\x1b\x00\x00",  # a map
    ],
)
def test_what_is_no_struct_is_refused(data: bytes) -> None:
    with pytest.raises(BadImage, match="its structure is"):
        read_struct(io.BytesIO(data))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_struct_or_refused(data: bytes) -> None:
    with contextlib.suppress(BadImage):
        assert isinstance(read_struct(io.BytesIO(data)), dict)
