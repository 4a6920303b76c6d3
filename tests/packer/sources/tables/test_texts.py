import gzip

import pytest

from packer.sources.tables.texts import strings_of

NAMES = b"\x05cat.jpg\x00\x01dog.jpg\x02"


@pytest.mark.parametrize("data", [NAMES, gzip.compress(NAMES)], ids=["plain", "gzip"])
def test_strings_end_where_they_name_an_image(data: bytes) -> None:
    assert strings_of(data) == b"cat.jpg\ndog.jpg"


@pytest.mark.parametrize(
    "rest", [b"", b"\x08\x00garbage", b"\xff"], ids=["cut", "garbage", "flags"]
)
def test_what_only_begins_like_gzip_has_no_strings(rest: bytes) -> None:
    assert not strings_of(b"\x1f\x8b" + rest)
