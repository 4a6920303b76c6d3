"""Compressed tars: the dataset of the tar in it, once, and nothing left behind."""

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packing import files_of, run_pack

from packer.errors import Rejected, UnusableInput

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, own_source: Path) -> Write:
    """`write("images.tgz")`: class folders in a tar of that compression."""

    def make(name: str) -> Path:
        mode = {".tgz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz", ".tar": "w"}[Path(name).suffix]
        with tarfile.open(tmp_path / name, mode) as archive:
            archive.add(own_source, "images")
        return tmp_path / name

    return make


@pytest.mark.parametrize("name", ["images.tgz", "images.tar.bz2", "images.tar.xz"])
def test_a_compressed_tar_is_a_tar(name: str, tmp_path: Path, write: Write) -> None:
    run_pack(write("plain.tar"), tmp_path / "plain")
    report = run_pack(write(name), tmp_path / "dst")
    assert report.classes == 3
    assert files_of(tmp_path / "dst") == files_of(tmp_path / "plain")
    assert not (tmp_path / ".dst.unpacked").exists()
    assert run_pack(tmp_path / name, tmp_path / "dst").shards_written == 0
    assert not (tmp_path / ".dst.unpacked").exists()


def test_a_later_run_uses_what_is_unpacked(tmp_path: Path, own_source: Path, write: Write) -> None:
    (own_source / "class0" / "bad.jpg").write_bytes(b"")
    src = write("images.tgz")
    with pytest.raises(Rejected):
        run_pack(src, tmp_path / "dst")
    unpacked = tmp_path / ".dst.unpacked" / "images.tar"
    before = os.stat(unpacked)
    report = run_pack(src, tmp_path / "dst", skip_rejected=True)
    assert [name for name, _ in report.rejected] == ["images/class0/bad.jpg"[len("images/") :]]
    assert not unpacked.exists()
    with pytest.raises(Rejected):
        run_pack(src, tmp_path / "other")
    os.utime(src)  # another archive
    with pytest.raises(Rejected):
        run_pack(src, tmp_path / "other")
    assert os.stat(tmp_path / ".other.unpacked" / "images.tar").st_mtime_ns > before.st_mtime_ns


def test_a_truncated_compressed_tar_leaves_nothing(tmp_path: Path, write: Write) -> None:
    src = write("images.tgz")
    src.write_bytes(src.read_bytes()[:-100])
    with pytest.raises(UnusableInput, match=r"images\.tgz is damaged or truncated"):
        run_pack(src, tmp_path / "dst")
    assert not (tmp_path / "dst").exists()
    assert not list((tmp_path / ".dst.unpacked").iterdir())
