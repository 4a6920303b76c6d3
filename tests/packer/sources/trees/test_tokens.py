"""What all names of a folder begin and end with, in words, numbers, zeros and scales."""

import pytest

from packer.sources.trees.tokens import Affix

NAMES = {
    ("img_", "", "_L"): ["img_103_L", "img_104_L"],
    ("", "0", ""): ["0103", "0104"],
    ("", "", "x2"): ["barnx2", "roadx2"],
    ("", "", ""): ["fox1", "box2"],
}


@pytest.mark.parametrize("affix", NAMES)
def test_an_affix_is_what_names_share(affix: tuple[str, ...]) -> None:
    assert Affix.of(NAMES[affix]) == affix


def test_names_without_a_word_share_nothing() -> None:
    assert Affix.of(["", ""]) == ("", "", "")
