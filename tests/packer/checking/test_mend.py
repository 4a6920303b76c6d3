"""A manifest with a flipped bit is mended, and nothing is made up."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packer.checking.mend import mend
from reader.format import Manifest


@given(st.data())
@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_flipped_bit_is_mended(packed: Path, data: st.DataObject) -> None:
    content = Manifest.load(packed)
    text = bytearray(content.dump().encode())
    text[data.draw(st.integers(0, len(text) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert mend(bytes(text), content.shards) == content


def test_damage_to_a_shard_s_entry_is_mended_from_its_index(packed: Path) -> None:
    content = Manifest.load(packed)
    text = content.dump().replace(content.shards[2].checksum, "?" * 41).encode()
    assert mend(text, content.shards[::-1]) == content


@pytest.mark.parametrize("hit", [1, 2])
def test_damage_to_an_entry_is_mended_where_another_shard_is_gone(packed: Path, hit: int) -> None:
    content = Manifest.load(packed)
    checksum = content.shards[hit].index_checksum
    text = content.dump().replace(checksum, checksum[:-1] + chr(ord(checksum[-1]) ^ 1)).encode()
    assert mend(text, content.shards[:2]) == content


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xff", b'{"shards": 3}'])
def test_what_cannot_be_proven_is_not_mended(packed: Path, text: bytes) -> None:
    assert mend(text, Manifest.load(packed).shards) is None


def test_two_wrong_values_are_not_mended(packed: Path) -> None:
    content = Manifest.load(packed)
    text = replace(content, rejected=1).dump().replace('"rejected": 1', '"rejected": 2')
    assert mend(text.replace('"seed": 0', '"seed": 7').encode(), content.shards) is None
