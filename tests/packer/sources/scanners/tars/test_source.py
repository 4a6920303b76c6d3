import gc
import io
import os
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import webdataset

from packer.errors import PackingFailed, UnusableInput
from packer.run.pack import PackReport
from reader.format import Manifest

MakeJpegs = Callable[..., dict[str, bytes]]
WriteTar = Callable[..., Path]
ScanOf = Callable[..., Any]

NAMES = [f"{number:04d}" for number in range(6)]


@pytest.fixture(scope="module")
def members(make_jpegs: MakeJpegs) -> dict[str, bytes]:
    """Six samples with an image, a class and a caption each."""
    images = make_jpegs(*NAMES)
    found = {}
    for number, name in enumerate(NAMES):
        found[f"{name}.jpg"] = images[name]
        found[f"{name}.cls"] = b"%d\n" % (number % 3)
        found[f"{name}.txt"] = f"caption {name}".encode()
    return found


def by_webdataset(*tars: Path) -> dict[str, dict[str, bytes]]:
    """Key -> extension -> bytes, as the library has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files to be collected
        found = list(webdataset.WebDataset([str(tar) for tar in tars], shardshuffle=False))
        gc.collect()
    return {
        sample["__key__"]: {ext: data for ext, data in sample.items() if not ext.startswith("__")}
        for sample in found
    }


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_is_repacked_with_every_member(
    tmp_path: Path,
    members: dict[str, bytes],
    write_tar: WriteTar,
    run_pack: Callable[..., PackReport],
    kind: int,
) -> None:
    tar = write_tar(tmp_path / "a.tar", members, kind=kind)
    run_pack(tar, tmp_path / "dst", jpeg="verbatim")
    packed = by_webdataset(tmp_path / "dst" / "shard-000000.tar")
    expected = by_webdataset(tar)
    for sample in expected.values():
        sample["cls"] = sample["cls"].strip()
    assert len(expected) == len(NAMES)
    assert packed == expected


def test_repacking_what_packer_wrote_changes_no_tar(
    tmp_path: Path, packed: Path, run_pack: Callable[..., PackReport]
) -> None:
    run_pack(packed, tmp_path / "again", shard_samples=10, seed=None, jpeg="verbatim")
    for name in sorted(path.name for path in packed.glob("*.tar")):
        assert (tmp_path / "again" / name).read_bytes() == (packed / name).read_bytes()
    assert Manifest.load(tmp_path / "again").classes == ("class0", "class1", "class2")


def test_long_and_odd_names_keep_their_samples_apart(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, scan: ScanOf
) -> None:
    stems = ["a b", "50%", "dir.v1/x", "猫", "d" * 90 + "/" + "e" * 90 + "/" + "f" * 180, "a%20c"]
    files = {}
    for stem, image in make_jpegs(*stems).items():
        files |= {f"{stem}.jpg": image, f"{stem}.cls": b"1"}
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        found = scan(write_tar(tmp_path / "odd.tar", files, kind=kind))
        assert not found.skipped
        assert [sample.key for sample in found.samples] == [
            *("a%20b", "50%25", "dir.v1/x", "猫", stems[4], "a%20c")
        ]
        assert list(found.contents.values()) == [files[f"{stem}.jpg"] for stem in stems]


def test_members_that_would_have_one_name_are_refused(
    tmp_path: Path,
    make_jpegs: MakeJpegs,
    write_tar: WriteTar,
    run_pack: Callable[..., PackReport],
) -> None:
    images = make_jpegs("x.jpeg", "x.jpg", "y.jpg")
    tar = write_tar(tmp_path / "a.tar", images | {"y.cls": b"0"})
    report = run_pack(tar, tmp_path / "dst", skip_rejected=True)
    assert report.samples == 1
    assert ("a.tar/x.jpeg", "another member of its sample is a .jpg, too") in report.rejected


def test_what_belongs_to_no_sample_is_named(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, scan: ScanOf
) -> None:
    images = make_jpegs("a.jpg", "b.jpg", "b.JPG")
    files = {
        "__meta__/info.json": b"{}",
        "noextension": b"x",
        "dir/.hidden": b"x",
        "a.jpg": images["a.jpg"],
        "a.cls": b"0",
        "b.jpg": images["b.jpg"],
        "b.JPG": images["b.JPG"],
        "b.cls": b"1",
        "c.cls": b"2",
        "c.txt": b"without an image",
        "d.jpg": b"",
        "d.cls": b"1",
        "a.json": b"apart from its image",
    }
    found = scan(write_tar(tmp_path / "a.tar", files))
    assert [sample.key for sample in found.samples] == ["a", "b"]
    reasons = {name.removeprefix("a.tar/"): reason for name, reason in found.skipped.items()}
    assert reasons.keys() == {
        *("__meta__/info.json", "noextension", "dir/.hidden", "b.JPG", "c.cls", "c.txt"),
        *("d.jpg", "d.cls", "a.json"),
    }
    assert "no image" in reasons["c.cls"]
    assert "no image" in reasons["a.json"]
    assert "empty" in reasons["d.jpg"]
    assert "already" in reasons["b.JPG"]


def test_a_key_twice_in_one_tar_is_refused_by_name(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, run_pack: Callable[..., PackReport]
) -> None:
    images = make_jpegs("a.jpg", "b.jpg", "a.png")
    again = {"a.png": images.pop("a.png")}
    tar = write_tar(tmp_path / "a.tar", {"0.cls": b"0", **images, "b.cls": b"0", **again})
    report = run_pack(tar, tmp_path / "dst", skip_rejected=True)
    assert report.samples == 2
    assert dict(report.rejected)["a.tar/a.png"] == "its key, 'a', is that of 'a.tar/a.jpg'"


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("../../x.jpg", tarfile.REGTYPE, "leads outside"),
        ("/etc/x.jpg", tarfile.REGTYPE, "leads outside"),
        ("x.jpg", tarfile.SYMTYPE, "link"),
        ("x.jpg", tarfile.LNKTYPE, "link"),
        ("x.jpg", tarfile.CHRTYPE, "not a regular file"),
        ("x.jpg", tarfile.FIFOTYPE, "not a regular file"),
    ],
)
def test_a_hostile_member_is_refused_by_name(
    tmp_path: Path, members: dict[str, bytes], scan: ScanOf, name: str, kind: bytes, reason: str
) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for inside, data in members.items():
            info = tarfile.TarInfo(inside)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "0000.jpg"
        archive.addfile(info)
    found = scan(path)
    assert len(found.samples) == len(NAMES)
    assert list(found.skipped) == [f"a.tar/{name}"]
    assert reason in found.skipped[f"a.tar/{name}"]


@pytest.mark.parametrize("damage", ["cut", "header", "size"])
def test_a_damaged_tar_is_named(
    tmp_path: Path, members: dict[str, bytes], write_tar: WriteTar, scan: ScanOf, damage: str
) -> None:
    path = write_tar(tmp_path / "broken.tar", members)
    data = bytearray(path.read_bytes())
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    if damage == "cut":
        del data[last.offset_data + 3 :]
    elif damage == "header":
        data[last.offset + 5] ^= 1
    else:  # a size of 8 GiB, in a header that is right otherwise
        last.size = 8**11 - 1
        data[last.offset : last.offset_data] = last.tobuf(tarfile.USTAR_FORMAT)
    path.write_bytes(data)
    with pytest.raises(UnusableInput, match=r"broken\.tar is not a tar, or damaged"):
        scan(path)


def test_a_tar_that_changed_since_the_scan_stops_packing(
    tmp_path: Path, members: dict[str, bytes], write_tar: WriteTar, scan: ScanOf
) -> None:
    found = scan(write_tar(tmp_path / "a.tar", members))
    with open(tmp_path / "a.tar", "ab") as file:
        file.write(bytes(512))
    with pytest.raises(PackingFailed, match=r"a\.tar changed"):
        found.source.files.read(found.samples[0])


def test_jobs_do_not_change_a_byte(
    tmp_path: Path,
    members: dict[str, bytes],
    write_tar: WriteTar,
    run_pack: Callable[..., PackReport],
    files_of: Callable[[Path], dict[str, bytes]],
) -> None:
    tar = write_tar(tmp_path / "a.tar", members)
    for jobs in (1, 2):
        run_pack(tar, tmp_path / str(jobs), jobs, shard_samples=2)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


def test_a_name_that_is_no_utf8_becomes_a_key_that_tells_its_bytes(
    tmp_path: Path, members: dict[str, bytes], write_tar: WriteTar, scan: ScanOf
) -> None:
    named = {
        os.fsdecode(b"caf\xe9." + ext): members[f"0001.{ext.decode()}"]
        for ext in (b"jpg", b"cls", b"txt")
    }
    found = scan(write_tar(tmp_path / "a.tar", named))
    assert found.labels == {"caf%E9": 1}
