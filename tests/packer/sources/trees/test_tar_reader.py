"""Tars that attack who reads them; `test_index.py` and `test_webdataset.py` read sound ones."""

import os
import tarfile
import time
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.trees.tar_reader import Member, is_tar, members

GIB = 1 << 30
FILE = tarfile.TarInfo("a.jpg").tobuf(tarfile.USTAR_FORMAT)  # an empty one
END = bytes(1024)


def extended(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    """A tar whose only file has such an extended header."""
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, len(body) if size is None else size
    header = info.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % tarfile.BLOCKSIZE)
    return header + tarfile.TarInfo("a.jpg").tobuf(tarfile.GNU_FORMAT) + bytes(1024)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_long_run_of_digits_in_a_pax_record_is_refused_at_once(
    tmp_path: Path, kind: bytes
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(extended(kind, b"12 path=a.b\n" + b"1" * 1_000_000))
    began = time.process_time()
    with pytest.raises(UnusableInput, match="more than 300 digits"):
        list(members(path))
    assert time.process_time() - began < 20  # it took a quarter of an hour


def test_a_name_of_many_digits_is_a_name(tmp_path: Path) -> None:
    name = "1" * 250 + ".jpg"
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo(name))
    assert [member.name for member in members(path)] == [name]


def test_a_name_that_no_path_can_have_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for depth in (2000, 100_000):  # which would take minutes to look through
            archive.addfile(tarfile.TarInfo("a/" * depth + "b.jpg"))
    kept, skipped = members(path)
    assert isinstance(kept, Member)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "its name has 200005 bytes; 4096 are the most"


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_name_of_gigabytes_is_no_beginning_of_a_tar(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(extended(kind, b"x", size=200 * GIB))
    assert not is_tar(path)


@pytest.mark.parametrize("content", [b"", b"text", bytes(511), b"\xff" * 1024], ids=len)
def test_what_does_not_begin_with_a_header_is_no_tar(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert not is_tar(tmp_path / "a")


@pytest.mark.parametrize("zeros", [0, 1, 10240, 3 << 20, 8 * GIB])
def test_zeros_after_the_end_of_archive_belong_to_it(tmp_path: Path, zeros: int) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(FILE + END)
    os.truncate(path, len(FILE + END) + zeros)  # a hole
    assert [member.name for member in members(path)] == ["a.jpg"]


@pytest.mark.parametrize("end", [bytes(512), END, bytes(10240), bytes(3 << 20)], ids=len)
@pytest.mark.parametrize("more", [FILE + END, b"x"], ids=["tar", "byte"])
def test_what_follows_the_end_of_archive_is_not_skipped_in_silence(
    tmp_path: Path, end: bytes, more: bytes
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(FILE + end + more)
    with pytest.raises(UnusableInput, match=rf"a\.tar continues at byte {len(FILE + end)}, after"):
        list(members(path))


def test_what_lies_behind_a_hole_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(FILE + END)
    with open(path, "ab") as file:
        file.truncate(GIB)
        file.write(FILE)
    with pytest.raises(UnusableInput, match=f"continues at byte {GIB}, after"):
        list(members(path))


def test_a_tar_in_a_tar_ends_before_the_next_member(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(FILE + END + FILE)
    assert [member.name for member in members(path, 0, len(FILE + END))] == ["a.jpg"]
    with pytest.raises(UnusableInput, match="continues"):
        list(members(path, 0, len(FILE + END + FILE)))


def test_an_empty_tar_is_a_tar(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w"):
        pass
    assert is_tar(tmp_path / "a.tar")
