"""Compressed tars: the dataset of the tar in it, once, and nothing left behind."""

import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from made_images import encode, make_image, write_files
from packing import files_of, pack, run_pack

from packer.errors import Rejected, UnusableInput
from packer.options.declared import PackOptions

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


def _tar_gz(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files of one length so that their order and content do not change the size."""
    with (
        path.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=0, mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    os.utime(path, (1, 1))


def _images(*, is_swapped: bool = False) -> dict[str, bytes]:
    images = [encode(make_image(seed), "BMP") for seed in range(6)]
    classes = ("bee", "ant") if is_swapped else ("ant", "bee")
    names = [f"{classes[number % 2]}/{number}.bmp" for number in range(6)]
    return dict(sorted(zip(names, images, strict=True))) | {"bee/bad.bmp": b"broken"}


def test_an_archive_that_took_the_place_of_another_of_its_size_and_time_is_packed(
    tmp_path: Path,
) -> None:
    src, options = tmp_path / "images.tar.gz", PackOptions(shard_samples=2)
    _tar_gz(src, _images())
    with pytest.raises(Rejected):
        pack(src, tmp_path / "dst", options)
    before = os.stat(src)
    _tar_gz(src, _images(is_swapped=True))
    assert (before.st_size, before.st_mtime_ns) == (src.stat().st_size, src.stat().st_mtime_ns)
    for dst in ("dst", "other"):
        pack(src, tmp_path / dst, options, skip_rejected=True)
    assert files_of(tmp_path / "dst") == files_of(tmp_path / "other")


def test_an_archive_that_was_copied_or_moved_is_not_unpacked_again(tmp_path: Path) -> None:
    src = tmp_path / "images.tar.gz"
    _tar_gz(src, _images())
    with pytest.raises(Rejected):
        run_pack(src, tmp_path / "dst")
    unpacked = tmp_path / ".dst.unpacked" / "images.tar"
    before = unpacked.stat().st_ino
    shutil.copy2(src, tmp_path / "copy")
    (tmp_path / "copy").replace(src)
    with pytest.raises(Rejected):
        run_pack(src, tmp_path / "dst")
    assert unpacked.stat().st_ino == before


def test_what_packer_did_not_unpack_is_neither_replaced_nor_removed(
    tmp_path: Path, source: Path
) -> None:
    folder, elsewhere = tmp_path / ".dst.unpacked", tmp_path / "elsewhere"
    own = ("own.tar", ".own.tar.json", ".hidden", "made-notes", ".lock", "sub/x.tar", "images.tar")
    write_files(folder, dict.fromkeys(own, b"mine"))
    elsewhere.mkdir()
    run_pack(source, tmp_path / "dst")
    assert files_of(folder) == dict.fromkeys(own, b"mine")
    src = tmp_path / "images.tar.gz"
    _tar_gz(src, _images())
    shutil.rmtree(tmp_path / "dst")
    with pytest.raises(UnusableInput, match="Move it away"):
        run_pack(src, tmp_path / "dst")
    assert files_of(folder) == dict.fromkeys(own, b"mine")
    folder.rename(elsewhere / "folder")
    folder.symlink_to(elsewhere / "folder")
    with pytest.raises(UnusableInput, match="is a symbolic link"):
        run_pack(src, tmp_path / "dst")
    assert files_of(elsewhere / "folder") == dict.fromkeys(own, b"mine")
