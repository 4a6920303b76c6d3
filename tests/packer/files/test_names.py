"""Braces stand for several names."""

import pytest

from packer.errors import UnusableInput
from packer.files import names
from packer.files.names import expanded, has_braces


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("x-{08..11}.tar", ["x-08.tar", "x-09.tar", "x-10.tar", "x-11.tar"]),
        ("{a,b}-{0..1}", ["a-0", "a-1", "b-0", "b-1"]),
        ("x", ["x"]),
        ("{x}.tar", ["{x}.tar"]),
        ("x-{3..1}.tar", []),
    ],
)
def test_ranges_and_lists_are_expanded_in_their_order(pattern: str, meant: list[str]) -> None:
    assert list(expanded(pattern)) == meant
    assert has_braces(pattern) == (meant != [pattern])


def test_more_names_than_anybody_means_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_MOST", 1000)
    with pytest.raises(UnusableInput, match="more than 1,000 names"):
        list(expanded("{0..9}{0..9}{0..99}"))
