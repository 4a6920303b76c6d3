"""Rows of an index, from samples to columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reader.format import FORMATS, Index
from reader.format.columns import ImageRow, MemberRow, Rows
from reader.format.index import metadata_of
from reader.format.safetensors import serialize

_IMAGES = st.builds(
    ImageRow,
    offset=st.integers(1, 2**40),
    size=st.integers(0, 2**40),
    label=st.integers(-1, 2**28 - 1),
    height=st.integers(1, 2**31 - 1),
    width=st.integers(1, 2**31 - 1),
    format=st.integers(0, len(FORMATS) - 1),
    channels=st.integers(1, 4),
    orientation=st.integers(1, 8),
    crc32=st.integers(0, 2**32 - 1),
)
_MEMBERS = st.builds(
    MemberRow, st.integers(1, 2**40), st.integers(0, 2**40), st.integers(0, 2**32 - 1)
)
_SAMPLES = st.tuples(
    st.text(st.characters(exclude_categories=["Cs"])),
    _IMAGES,
    st.dictionaries(st.sampled_from(["json", "mask.png", "txt"]), _MEMBERS),
)


@given(samples=st.lists(_SAMPLES, max_size=5))
def test_samples_are_found_in_the_index_as_they_were_added(
    samples: list[tuple[str, ImageRow, dict[str, MemberRow]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = Rows()
    for key, image, members in samples:
        rows.add(key.encode(), key.upper().encode(), image, members)
    assert len(rows) == len(samples)
    path = tmp_path_factory.mktemp("index") / "shard.safetensors"
    content = serialize(rows.columns(), metadata_of(2**42, "sum", [("a", "is damaged")]))
    path.write_bytes(content)
    index = Index(path)
    assert (index.tar_bytes, index.tar_checksum) == (2**42, "sum")
    assert (index.rejected, index.untiled, index.tiled) == ([("a", "is damaged")], [], False)
    assert set(index.members) == {ext for _, _, members in samples for ext in members}
    for row, (key, image, members) in enumerate(samples):
        assert index.key(row) == key
        assert index.bytes_of("name", row) == key.upper().encode()
        assert {name: int(index.columns[name][row]) for name in image._fields} == image._asdict()
        for ext in index.members:
            expected = members.get(ext)
            assert index.span(ext, row) == (expected and expected[:2])
            assert index.columns[f"{ext}.crc32"][row] == (expected.crc32 if expected else 0)
