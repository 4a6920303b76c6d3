import io
import tarfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reader.format import tar

MAX_SIZE = 8**11 - 1

# Unicode names of up to 400 bytes, from one component to many; a tar's name holds no NUL.
names = (
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1),
        min_size=1,
        max_size=8,
    )
    .flatmap(lambda parts: st.integers(1, 8).map(lambda times: "/".join(parts * times)))
    .map(lambda name: name.encode()[:400].decode("utf-8", "ignore").rstrip("/"))
    .filter(bool)
)


def archive(*members: tuple[str, bytes]) -> bytes:
    parts = [tar.header(name, len(data)) + data + tar.padding(len(data)) for name, data in members]
    return b"".join([*parts, tar.END])


@given(st.lists(st.tuples(names, st.binary(max_size=1500)), max_size=4))
@example([("n" * 100, b""), ("n" * 101, b"x"), ("n" * 400, b"x" * 512)])
@example([("p" * 155 + "/" + "n" * 100, b"x"), ("p" * 156 + "/" + "n" * 100, b"y")])
@example([("p" * 155 + "/" + "n" * 50, b"x"), ("p" * 156 + "/" + "n" * 50, b"y")])
@example([("p" * 155 + "/" + "n" * 101, b"x"), ("p/" + "n" * 101, b"y"), ("猫" * 50, b"z")])
@settings(deadline=None)
def test_the_standard_library_reads_every_name_and_content(
    members: list[tuple[str, bytes]],
) -> None:
    data = archive(*members)
    assert len(data) % tar.BLOCK == 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errorlevel=2) as file:
        infos = file.getmembers()
        contents = [file.extractfile(info).read() for info in infos]  # type: ignore
    assert list(zip([info.name for info in infos], contents, strict=True)) == members


@given(names, st.integers(0, MAX_SIZE))
@example("猫/" * 30 + "a", MAX_SIZE)
@settings(deadline=None)
def test_the_header_tells_the_size_and_nothing_that_changes(name: str, size: int) -> None:
    block = tar.header(name, size)[-tar.BLOCK :]
    info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    assert info.size == size
    assert info.isreg()
    assert (info.mode, info.mtime, info.uid, info.gid) == (0o644, 0, 0, 0)
    assert (info.uname, info.gname) == ("", "")


@given(names)
@settings(deadline=None)
def test_a_pax_record_appears_only_where_a_plain_header_cannot_hold_the_name(name: str) -> None:
    raw = name.encode()
    splits = [at for at in range(1, len(raw)) if raw[at : at + 1] == b"/"]
    fits = len(raw) <= 100 or any(at <= 155 and 1 <= len(raw) - at - 1 <= 100 for at in splits)
    assert (len(tar.header(name, 0)) == tar.BLOCK) == fits


def test_a_member_of_more_than_eight_gibibytes_is_refused() -> None:
    assert len(tar.header("a", MAX_SIZE)) == tar.BLOCK
    with pytest.raises(ValueError, match="8 GiB"):
        tar.header("a", MAX_SIZE + 1)


@given(st.integers(0, 2**40))
def test_padding_fills_the_last_block(size: int) -> None:
    assert tar.padded(size) % tar.BLOCK == 0
    assert 0 <= tar.padded(size) - size < tar.BLOCK
    small = size % 5000
    assert tar.padding(small) == bytes(tar.padded(small) - small)
