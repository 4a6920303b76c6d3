import io
import os
import random
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_images import encode, make_image
from packing import run_pack

from packer.errors import BadImage, PackingFailed, UnusableInput
from packer.options.declared import SourceOptions
from reader.format import Manifest

MakeJpegs = Callable[..., dict[str, bytes]]
Write = Callable[..., Path]
ScanOf = Callable[..., Any]

ONE_CLASS = SourceOptions(kind="folder")
NAMES = [
    *("cat/a.jpg", "cat/deep/b.jpg", "cat/a b.JPEG", "dog v1.0/é.jpg", "cat-2/猫.jpg"),
    "dog v1.0/" + "d" * 90 + "/" + "n" * 120 + ".jpg",
]


def write_zip(path: Path, files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return path


@pytest.fixture(scope="module")
def files(make_jpegs: MakeJpegs) -> dict[str, bytes]:
    """Class folders with sidecars, in no order."""
    found = make_jpegs(*NAMES) | {
        "cat/a.json": b"{}",
        "cat/a.mask.png": encode(make_image(0, 16, 24), "PNG"),
        "cat/.DS_Store": b"x",
    }
    names = sorted(found)
    random.Random(0).shuffle(names)
    return {name: found[name] for name in names}


@pytest.fixture(params=["tar", "pax", "stored", "deflated"])
def archived(request: pytest.FixtureRequest, write_tar: Write) -> Callable[..., Path]:
    """`archived(path, files)`: a tar or zip; each test runs with all kinds."""

    def write(path: Path, files: Mapping[str, bytes]) -> Path:
        if request.param in ("tar", "pax"):
            kind = tarfile.GNU_FORMAT if request.param == "tar" else tarfile.PAX_FORMAT
            return write_tar(path, files, kind=kind)
        method = zipfile.ZIP_STORED if request.param == "stored" else zipfile.ZIP_DEFLATED
        return write_zip(path, files, method)

    return write


@pytest.mark.parametrize("top", ["", "./", "some/where/"])
@pytest.mark.parametrize("splits", [("",), ("train/", "val/")])
def test_an_archive_gives_the_same_shards_as_its_folder(
    tmp_path: Path,
    files: dict[str, bytes],
    archived: Callable[..., Path],
    write_files: Write,
    top: str,
    splits: tuple[str, ...],
) -> None:
    content = {f"{split}{name}": data for split in splits for name, data in files.items()}
    archive = archived(tmp_path / "a", {top + name: data for name, data in content.items()})
    folder = write_files(tmp_path / "folder", content)
    for source, dst in ((archive, "one"), (folder, "two")):
        report = run_pack(source, tmp_path / dst, shard_samples=4, jpeg="verbatim")
        assert len(report.ignored) == len(splits)
    shards = Manifest.load(tmp_path / "one").shards
    assert shards == Manifest.load(tmp_path / "two").shards
    assert sum(shard.samples for shard in shards) == len(NAMES) * len(splits)
    assert Manifest.load(tmp_path / "one").classes == ("cat", "cat-2", "dog v1.0")


def test_every_member_is_read_in_place(
    tmp_path: Path, files: dict[str, bytes], archived: Callable[..., Path], scan: ScanOf
) -> None:
    found = scan(archived(tmp_path / "a", files))
    assert not found.skipped
    assert found.contents == {name: data for name, data in files.items() if "DS_" not in name}


def test_a_tar_of_a_tar_for_each_class_is_read_in_place(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: Write, scan: ScanOf
) -> None:
    images = make_jpegs("n02/n02_1.JPEG", "n02/n02_2.JPEG", "n01/n01_1.JPEG")
    classes = {}
    for name in ("n02", "n01"):
        inside = {path[4:]: data for path, data in images.items() if path.startswith(name)}
        classes[f"{name}.tar"] = write_tar(tmp_path / f"{name}.tar", inside).read_bytes()
    found = scan(write_tar(tmp_path / "train.tar", classes))
    assert found.source.classes == ("n01", "n02")
    assert found.labels == {"n01/n01_1": 0, "n02/n02_1": 1, "n02/n02_2": 1}
    assert found.contents == images


def test_a_damaged_tar_in_a_tar_is_named(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: Write, scan: ScanOf
) -> None:
    inner = write_tar(tmp_path / "n01.tar", make_jpegs("a.jpg", "b.jpg")).read_bytes()
    path = write_tar(tmp_path / "train.tar", {"n01.tar": inner[:700], "n02.tar": inner})
    with pytest.raises(UnusableInput, match=r"train\.tar.* damaged"):
        scan(path)


def test_names_that_are_no_utf_8_are_kept(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    (image,) = make_jpegs("a").values()
    name = os.fsdecode(b"cat/\xff.jpg")
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(image)
        archive.addfile(info, io.BytesIO(image))
    found = scan(tmp_path / "a.tar", options=ONE_CLASS)
    assert found.labels == {"cat/%FF": 0}
    assert found.contents == {name: image}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_files_with_one_name_the_last_is_packed_and_the_others_named(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    one, two = make_jpegs("1", "2").values()
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for data in (one, two):
            info = tarfile.TarInfo("cat/a.jpg")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        for data in (one, two):
            zipped.writestr("cat/a.jpg", data)
    for name in ("a.tar", "a.zip"):
        found = scan(tmp_path / name, options=ONE_CLASS)
        assert found.contents == {"cat/a.jpg": two}
        assert "later file" in found.skipped["cat/a.jpg"]


def test_an_absolute_name_is_refused(
    tmp_path: Path, make_jpegs: MakeJpegs, archived: Callable[..., Path], scan: ScanOf
) -> None:
    found = scan(archived(tmp_path / "a", make_jpegs("cat/a.jpg", "/etc/x.jpg")), options=ONE_CLASS)
    assert found.labels == {"cat/a": 0}
    assert "leads outside" in found.skipped["/etc/x.jpg"]


def test_links_and_devices_are_refused_by_name(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    (image,) = make_jpegs("a").values()
    kinds = {
        "soft.jpg": tarfile.SYMTYPE,
        "hard.jpg": tarfile.LNKTYPE,
        "device.jpg": tarfile.BLKTYPE,
        "fifo.jpg": tarfile.FIFOTYPE,
    }
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        info = tarfile.TarInfo("cat/a.jpg")
        info.size = len(image)
        archive.addfile(info, io.BytesIO(image))
        for name, kind in kinds.items():
            info = tarfile.TarInfo(f"cat/{name}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    found = scan(tmp_path / "a.tar", options=ONE_CLASS)
    assert found.skipped.keys() == {f"cat/{name}" for name in kinds}
    linked = zipfile.ZipInfo("cat/link.jpg")
    linked.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("cat/a.jpg", image)
        zipped.writestr(linked, "/etc/passwd")
    assert scan(tmp_path / "a.zip", options=ONE_CLASS).skipped == {
        "cat/link.jpg": "it is a symbolic link"
    }


def test_a_zip_bomb_is_refused_by_name(tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf) -> None:
    path = write_zip(tmp_path / "a.zip", make_jpegs("cat/a.jpg") | {"cat/b.jpg": bytes(65 << 20)})
    found = scan(path, options=ONE_CLASS)
    assert found.labels == {"cat/a": 0}
    assert "bomb" in found.skipped["cat/b.jpg"]


@pytest.mark.parametrize("size", [100, 10**6, 2**31])
def test_a_zip_that_lies_about_a_size_is_found_out(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf, size: int
) -> None:
    path = write_zip(tmp_path / "a.zip", make_jpegs("cat/a.jpg", "cat/b.jpg"))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, size)
    path.write_bytes(data)
    found = scan(path, options=ONE_CLASS)
    if size == 2**31:
        assert "bomb" in found.skipped["cat/b.jpg"]
        return
    assert [sample.key for sample in found.samples] == ["cat/a", "cat/b"]
    with pytest.raises(BadImage, match=f"declares {size} bytes"):
        found.source.files.read(found.samples[1])


def test_files_of_a_zip_that_share_their_bytes_are_refused(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    path = write_zip(tmp_path / "a.zip", make_jpegs("cat/a.jpg", "cat/b.jpg"), zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 42, 10)
    path.write_bytes(data)
    reasons = scan(path, options=ONE_CLASS).skipped
    assert list(reasons) == ["cat/a.jpg"]
    assert "another file" in reasons["cat/a.jpg"]


def test_what_cannot_be_read_beside_a_list_is_named_too(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    files = {"labels.csv": b"image,label\na.jpg,x\nb.jpg,y\n", **make_jpegs("a.jpg", "b.jpg")}
    path = write_zip(tmp_path / "a.zip", files)
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name that is there
        archive.writestr("a.jpg", files["a.jpg"])
        archive.writestr("../c.jpg", files["a.jpg"])
    found = scan(path)
    assert found.labels == {"a": 0, "b": 1}
    assert "leads outside" in found.skipped["../c.jpg"]
    assert "later file of the same name" in found.skipped["a.jpg"]


def test_an_encrypted_or_exotic_file_of_a_zip_is_refused_by_name(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    path = write_zip(tmp_path / "a.zip", make_jpegs("cat/a.jpg", "cat/b.jpg", "cat/c.jpg"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("cat/d.jpg", b"x" * 1000, zipfile.ZIP_LZMA)
    data = bytearray(path.read_bytes())
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[second + 8] |= 1
    path.write_bytes(data)
    reasons = scan(path, options=ONE_CLASS).skipped
    assert reasons.keys() == {"cat/b.jpg", "cat/d.jpg"}
    assert "encrypted" in reasons["cat/b.jpg"]
    assert "lzma" in reasons["cat/d.jpg"]


def test_a_flipped_bit_in_a_zip_is_found(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    (image,) = make_jpegs("a").values()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = write_zip(tmp_path / "a.zip", {"cat/a.jpg": image}, method)
        stamp = path.stat().st_mtime_ns
        found = scan(path, options=ONE_CLASS)
        data = bytearray(path.read_bytes())
        data[200] ^= 4
        path.write_bytes(data)
        os.utime(path, ns=(stamp, stamp))
        with pytest.raises(BadImage, match=r"the zip is damaged|is wrong"):
            found.source.files.read(found.samples[0])


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_an_archive_that_was_cut_is_refused(
    tmp_path: Path,
    files: dict[str, bytes],
    archived: Callable[..., Path],
    scan: ScanOf,
    keep: float,
) -> None:
    path = archived(
        tmp_path / "a", {f"cat/{n}.jpg": random.Random(n).randbytes(9999) for n in range(9)}
    )
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(UnusableInput, match=r"damaged|not a readable zip"):
        scan(path)


@pytest.mark.parametrize(
    ("mode", "command"), [("w:gz", "gunzip"), ("w:bz2", "bunzip2"), ("w:xz", "unxz")]
)
def test_a_compressed_tar_is_refused_with_the_command_that_unpacks_it(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: Write, scan: ScanOf, mode: str, command: str
) -> None:
    path = write_tar(tmp_path / "a.tar.gz", make_jpegs("cat/a.jpg"), mode)
    with pytest.raises(UnusableInput, match=rf"{command} -k .*a\.tar\.gz"):
        scan(path)


def test_an_archive_that_changed_since_the_scan_stops_packing(
    tmp_path: Path, make_jpegs: MakeJpegs, archived: Callable[..., Path], scan: ScanOf
) -> None:
    path = archived(tmp_path / "a.tar", make_jpegs("cat/a.jpg"))
    found = scan(path, options=ONE_CLASS)
    os.utime(path, ns=(0, 1))
    with pytest.raises(PackingFailed, match=r"a\.tar changed"):
        found.source.files.read(found.samples[0])


def test_splits_in_archives_of_their_own_share_the_classes(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: Write, scan: ScanOf
) -> None:
    root = tmp_path / "set"
    root.mkdir()
    train, val = make_jpegs("cat/a.jpg", "fox/b.jpg"), make_jpegs("dog/a.jpg", "fox/b.jpg")
    write_tar(root / "train.tar", train)
    write_zip(root / "val.zip", val)
    found = scan(root)
    assert found.source.classes == ("cat", "dog", "fox")
    assert found.labels == {"train/cat/a": 0, "train/fox/b": 2, "val/dog/a": 1, "val/fox/b": 2}
    assert [sample.split for sample in found.samples] == ["train", "train", "val", "val"]
    expected = {f"train/{name}": data for name, data in train.items()}
    assert found.contents == expected | {f"val/{name}": data for name, data in val.items()}
    assert zlib.crc32(found.contents["val/fox/b.jpg"]) == zlib.crc32(val["fox/b.jpg"])


def test_a_name_in_a_zip_that_no_path_can_have_is_skipped(
    tmp_path: Path, make_jpegs: MakeJpegs, scan: ScanOf
) -> None:
    (image,) = make_jpegs("a").values()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("cat/1.jpg", image)
        archive.writestr("cat/" + "a/" * 30_000 + "2.jpg", image)
    found = scan(tmp_path / "a.zip", options=ONE_CLASS)
    assert list(found.labels) == ["cat/1"]
    assert list(found.skipped.values()) == ["its name has 60009 bytes; 4096 are the most"]
